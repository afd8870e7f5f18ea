"""Data that no formula was made for: package, command line and ONNX agree, or all refuse."""

import json
import os
import subprocess

import numpy as np
import pytest

from foretask import MultiTaskClassifier

CLI = os.environ.get("FORETASK_CLI")
onnxruntime = pytest.importorskip("onnxruntime")


def drawn(features=4, tasks=3, classes=2, rows=16):
    """Draw a plain problem."""
    rng = np.random.default_rng(7)
    y = np.arange(tasks * rows) % classes
    X = rng.standard_normal((tasks * rows, features)) + (np.arange(features) % classes == y[:, None])
    return X, y, np.repeat(np.arange(tasks), rows)


def bent(change):
    """Return a plain problem whose rows are changed: of rows, classes and tasks."""

    def made():
        X, y, task = drawn()
        return np.array(np.broadcast_to(change(X.copy(), y, task), X.shape), dtype=np.float64), y, task

    return made


def labelled(change):
    """Return a plain problem whose classes and tasks are changed."""

    def made():
        X, y, task = drawn()
        return X, *change(y.copy(), task.copy())

    return made


def at(place, value):
    def change(X, y, task):
        X[place] = value
        return X

    return bent(change)


PROBLEMS = {
    "plain": bent(lambda X, y, task: X),
    "all constant": bent(lambda X, y, task: 3.0),
    "all zero": bent(lambda X, y, task: 0.0),
    "one constant": at((slice(None), 1), 5.0),
    "one duplicated": bent(lambda X, y, task: X[:, [0, 0, 2, 3]]),
    "one feature varies": bent(lambda X, y, task: X * [1, 0, 0, 0]),
    "no spread within classes": bent(lambda X, y, task: y[:, None] * [1.0, 2.0, 3.0, 4.0]),
    "no spread within one class": bent(lambda X, y, task: np.where(y[:, None] == 0, 1.0, X)),
    "classes far apart": bent(lambda X, y, task: X + 1e9 * y[:, None]),
    "two values": bent(lambda X, y, task: (X > 0.5) * 1.0),
    "whole numbers": bent(lambda X, y, task: X.round()),
    "copies of rows": bent(lambda X, y, task: X[np.arange(len(X)) % 4 + y]),
    "identical tasks": bent(lambda X, y, task: X[np.arange(len(X)) % 16]),
    "large offset": bent(lambda X, y, task: X + 1e12),
    "large offset of one feature": bent(lambda X, y, task: X + [0, 1e12, 0, 0]),
    "an offset for each task": bent(lambda X, y, task: X + 1e6 * task[:, None]),
    "one outlier": at((3, 1), 1e100),
    "one outlier of a source": at((20, 2), -1e100),
    "features of all scales": bent(lambda X, y, task: X * [1e-60, 1, 1e30, 1e60]),
    "denormal": bent(lambda X, y, task: X * 1e-310),
    "one denormal": at((0, 0), 5e-324),
    "opposed": bent(lambda X, y, task: np.where(task[:, None] == 1, -X, X)),
    "sources of another scale": bent(lambda X, y, task: X * np.where(task[:, None] == 0, 1, 1e50)),
    "collinear": bent(lambda X, y, task: np.column_stack([X[:, 0], X[:, 1], X[:, 0] + X[:, 1], -X[:, 0]])),
    "positive": bent(lambda X, y, task: np.exp(X)),
    "heavy": bent(lambda X, y, task: X**9),
    "negative zero": bent(lambda X, y, task: np.where(X < 0, -0.0, 1.0)),
    "sorted": bent(lambda X, y, task: np.sort(X, axis=0)),
    "a counter": bent(lambda X, y, task: np.arange(X.size).reshape(X.shape)),
    "1e-150": bent(lambda X, y, task: X * 1e-150),
    "1e-60": bent(lambda X, y, task: X * 1e-60),
    "1e60": bent(lambda X, y, task: X * 1e60),
    "1e150": bent(lambda X, y, task: X * 1e150),
    "1e300": bent(lambda X, y, task: X * 1e300),
    "one feature": lambda: drawn(features=1),
    "many features": lambda: drawn(features=200),
    "one task": lambda: drawn(tasks=1),
    "two rows of each task": lambda: drawn(rows=2),
    "three rows of each task": lambda: drawn(rows=3),
    "forty tasks": lambda: drawn(tasks=40, rows=4),
    "five classes": lambda: drawn(classes=5, rows=20),
    "one to fifteen": labelled(lambda y, task: ((np.arange(len(y)) % 16 == 3) * 1, task)),
    "no shared class": labelled(lambda y, task: (np.where(task == 0, y, y + 5), task)),
    "one class": labelled(lambda y, task: (y * 0, task)),
    "one sample of a class": labelled(lambda y, task: ((np.arange(len(y)) == 0) * 1, task)),
    "sources of one class": labelled(lambda y, task: (np.where(task == 0, y, 0), task)),
    "labels by lot": labelled(lambda y, task: (np.random.default_rng(1).integers(0, 2, len(y)), task)),
    "infinite": at((5, 2), np.inf),
}


def command(*arguments):
    return subprocess.run([CLI, *map(str, arguments)], check=False, capture_output=True, text=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PROBLEMS)
def test_all_faces_agree(name, tmp_path):
    X, y, task = PROBLEMS[name]()
    data, file = tmp_path / "data.npz", tmp_path / "model"
    np.savez(data, X=X, y=y, task=task)
    told = command("fit", data, "--target", "0", "-o", file, "--json") if CLI else None
    try:
        model = MultiTaskClassifier(target=0).fit(X, y, task)
    except ValueError as error:
        assert told is None or (told.returncode == 2 and not file.exists()), f"{error}; {told.stderr}"
        return
    error, (low, high) = model.forecast_.error, model.forecast_.interval
    assert low <= error <= high
    probabilities, decided = model.predict_proba(X), model.predict(X)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=0, atol=1e-12)
    if told is not None:
        assert told.returncode == 0, told.stderr
        forecast = json.loads(told.stdout)["forecast"]
        assert (forecast["error"], forecast["interval"]) == (error, [low, high])
        theirs = MultiTaskClassifier.load(file)
        np.testing.assert_array_equal(theirs.predict_proba(X), probabilities)
        model.save(tmp_path / "again")
        lines = command("predict", tmp_path / "again", data).stdout.splitlines()
        assert [line.split(",")[1] for line in lines[1:]] == [str(label) for label in decided]
    session = onnxruntime.InferenceSession(model.to_onnx())
    label, exported = session.run(["label", "probabilities"], {session.get_inputs()[0].name: X})
    # Doubles near 1e12 hold a tenth of a thousandth of what the features vary by.
    rounding = 1e-9 + (1e-15 * np.nanmax(np.abs(X)) if name.startswith("large offset") else 0)
    np.testing.assert_allclose(exported, probabilities, rtol=0, atol=rounding)
    # Ties may be broken by rounding.
    best = np.sort(probabilities, axis=1)
    clear = best[:, -1] - best[:, -2] > rounding
    np.testing.assert_array_equal(label[clear], decided[clear])
