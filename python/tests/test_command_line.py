"""The command line and the package are one: same numbers, same files."""

import json
import os
import subprocess

import numpy as np
import pytest
from conftest import draw

from foretask import MultiTaskClassifier, Study, evaluate

CLI = os.environ.get("FORETASK_CLI")
pytestmark = pytest.mark.skipif(not CLI, reason="FORETASK_CLI does not name the foretask binary")


def run(*arguments):
    done = subprocess.run([CLI, *map(str, arguments)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


PROBLEMS = {
    "two classes": (draw(0), {}, []),
    "three classes": (draw(1, classes=("a", "b", "c"), few=45), {}, []),
    "whole numbers": (draw(2, classes=(10, 9, -1)), {}, []),
    "more features than rows": (draw(3, p=300), {}, []),
    "single precision": (draw(4), {}, []),
    "theory": (
        draw(5),
        {"theory": "common", "labels": "optimal"},
        ["--theory", "common", "--labels", "optimal"],
    ),
    "rule": (
        draw(6, classes=("a", "b", "c")),
        {"rule": "one-vs-one", "ties": "first"},
        ["--rule", "one-vs-one", "--ties", "first"],
    ),
    "pooled": (draw(10), {"labels": "pooled"}, ["--labels", "pooled"]),
    "coupling": (
        draw(7),
        {"lam": 2.0, "gamma": {"webcam": 1.0, "amazon": 0.5}},
        ["--lambda", "2", "--gamma", "0.5,1"],
    ),
    "stakes": (
        draw(8),
        {"priors": {"bike": 0.3, "mug": 0.7}, "costs": {"bike": 4.0}, "rehearse": False, "scale": "none"},
        ["--prior", "bike=0.3,mug=0.7", "--cost", "bike=4", "--no-rehearsal", "--scale", "none"],
    ),
    "false alarm": (
        draw(9, few=60),
        {"null_class": "bike", "false_alarm": 0.1, "tail": "gaussian"},
        ["--null", "bike", "--false-alarm", "0.1", "--tail", "gaussian"],
    ),
}


# Files of the command line always name their features.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", PROBLEMS)
def test_both_give_the_same_bits(name, tmp_path):
    (X, y, task), params, options = PROBLEMS[name]
    if name == "single precision":
        X = X.astype(np.float32)
    data = tmp_path / "data.npz"
    np.savez(data, X=X, y=y, task=task)
    model = MultiTaskClassifier(target="webcam", **params).fit(X, y, task)
    file = tmp_path / "cli.safetensors"
    report = json.loads(run("fit", data, "--target", "webcam", *options, "-o", file, "--json"))
    assert report["forecast"]["error"] == model.forecast_.error
    assert report["forecast"]["interval"] == list(model.forecast_.interval)

    theirs = MultiTaskClassifier.load(file)
    assert theirs.classes_.dtype.kind == model.classes_.dtype.kind
    np.testing.assert_array_equal(theirs.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(theirs.decision_function(X), model.decision_function(X))
    assert theirs.forecast_.error == model.forecast_.error

    ours = tmp_path / "python.safetensors"
    model.save(ours)
    (rows,) = [np.genfromtxt(_lines(run("predict", ours, data, "--probabilities")), dtype=str)]
    names = [cell.removeprefix("probability_") for cell in rows[0][2:]]
    order = [names.index(str(label)) for label in model.classes_]
    np.testing.assert_array_equal(rows[1:, 1], model.predict(X).astype(str))
    np.testing.assert_array_equal(rows[1:, 2:].astype(float)[:, order], model.predict_proba(X))


def _lines(text):
    return [line.replace(",", " ") for line in text.splitlines()]


def test_details_of_a_forecast_agree(tmp_path):
    X, y, task = draw(0)
    data = tmp_path / "data.npz"
    np.savez(data, X=X, y=y, task=task)
    report = json.loads(
        run(
            *("forecast", data, "--target", "webcam", "--json", "--compare", "--added", "10,50"),
            *("--reach", "0.01,0.05", "--budget", "9"),
        )
    )
    study = Study(X, y, task, target="webcam")
    curve = study.learning_curve([10, 50])
    assert [point["error"] for point in report["learning_curve"]] == list(curve.error)
    ends = [point["foretold_interval"] for point in report["learning_curve"]]
    np.testing.assert_array_equal(ends, curve.foretold_interval)
    needed = [(one["error"], one["added"], tuple(one["interval"])) for one in report["labels_needed"]]
    assert needed == [(one.error, one.added, one.interval) for one in study.labels_needed([0.01, 0.05])]
    assert report["budget"]["added"] == study.budget(9).added
    assert report["budget"]["error"] == study.budget(9).error
    values = study.task_values()
    verdicts = [(one["paired"]["difference"], one["paired"]["verdict"]) for one in report["sources"]]
    assert verdicts == list(zip(values.difference, values.verdict, strict=True))
    assert [value["error_without"] for value in report["sources"]] == list(values.error_without)
    assert abs(report["relatedness"]["amazon"] - study.relatedness()[0, 1]) < 1e-12
    assert report["forecast"]["source"] == study.forecast().source
    rules = [(one["rule"], one["labels"], one["forecast"]["error"]) for one in report["compare"]["rules"]]
    assert rules == [(one.rule, one.labels, one.forecast.error) for one in study.compare()]
    theories = [(one["source"], one["error"]) for one in report["theories"] if not one["chosen"]]
    assert theories == [(one.source, one.error) for one in study.theories()]


def test_both_measure_the_same(tmp_path):
    X, y, task = draw(0, few=40)
    model = MultiTaskClassifier(target="webcam", null_class="bike", false_alarm=0.2).fit(X, y, task)
    model.save(tmp_path / "m.safetensors")
    X, y, task = draw(0, few=60, many=4)
    np.savez(tmp_path / "test.npz", X=X, y=y, task=task)
    report = json.loads(run("evaluate", tmp_path / "m.safetensors", tmp_path / "test.npz", "--json"))
    own = task == "webcam"
    measured = evaluate(model, X[own], y[own])
    theirs = report["measured"]
    assert theirs["error"] == measured.error and theirs["interval"] == list(measured.interval)
    assert theirs["foretold"] == list(measured.foretold) and theirs["log_loss"] == measured.log_loss
    assert theirs["alarm"]["detection"]["share"] == measured.alarm.detection.share


def test_names_of_features_travel(tmp_path):
    import pandas as pd

    X, y, task = draw(0, p=3)
    frame = pd.DataFrame(X, columns=["red", "green", "blue"])
    model = MultiTaskClassifier(target="webcam").fit(frame, y, task)
    model.save(tmp_path / "m.safetensors")
    report = json.loads(run("inspect", tmp_path / "m.safetensors", "--json"))
    assert report["feature_names"] == ["red", "green", "blue"]
    again = MultiTaskClassifier.load(tmp_path / "m.safetensors")
    assert list(again.feature_names_in_) == ["red", "green", "blue"]
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_vectors_of_spark_are_sparse_rows(tmp_path):
    """A column of vectors, as Spark writes it, means what the same rows mean in a column each."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rng = np.random.default_rng(3)
    rows, width = 120, 40
    labels = np.array(["ham", "spam"])[np.arange(rows) % 2]
    X = np.where(rng.random((rows, width)) < 0.1, rng.random((rows, width)), 0.0)
    X[:, 3] += 0.5 * (labels == "ham")
    kind = pa.struct(
        [
            pa.field("type", pa.int8(), nullable=False),
            ("size", pa.int32()),
            ("indices", pa.list_(pa.int32())),
            ("values", pa.list_(pa.float64())),
        ]
    )

    def vector(row, place):
        if place % 10 == 0:
            return {"type": 1, "size": None, "indices": None, "values": row.tolist()}
        at = np.flatnonzero(row)
        return {"type": 0, "size": width, "indices": at.tolist(), "values": row[at].tolist()}

    words = pa.array([vector(row, place) for place, row in enumerate(X)], kind)
    vectors, columns = tmp_path / "vectors.parquet", tmp_path / "columns.parquet"
    pq.write_table(pa.table({"label": labels, "words": words}), vectors, row_group_size=50)
    pq.write_table(pa.table({"label": labels} | {f"words[{j}]": X[:, j] for j in range(width)}), columns)
    scores = []
    for path in (vectors, columns):
        model = tmp_path / f"{path.stem}.safetensors"
        run("fit", path, "--views", "linear", "--no-rehearsal", "--target", path.stem, "-o", model)
        for other in (vectors, columns):
            lines = run("predict", model, other, "--scores").splitlines()[1:]
            scores.append([float(line.split(",")[-1]) for line in lines])
    np.testing.assert_allclose(scores[1:], [scores[0]] * 3, rtol=0, atol=1e-8)
