"""An exported model decides as foretask does: the ONNX graph against ``foretask predict``.

Models are made, and their predictions read, through the command line (FORETASK_CLI is its path). The
slope, offsets and costs that `decision` is made of are read from the model file, not from the export.
"""

from __future__ import annotations

import csv
import json
import os
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import xxhash

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
reference = pytest.importorskip("onnx.reference")

CLI = os.environ.get("FORETASK_CLI")
pytestmark = pytest.mark.skipif(not CLI, reason="FORETASK_CLI does not name the foretask binary")

# Relative and absolute. Sums in another order differ by about 1e-15 of their largest term.
AGREEMENT = 1e-10

FEATURES = 6


@dataclass
class Problem:
    """Tasks `north` (the target) and `south`, and how to learn them."""

    classes: list[str]
    options: list[str] = field(default_factory=list)
    spreads: list[float] | None = None
    """One per class; all one if left out."""
    offset: float = 0.0
    """Added to every feature."""

    def draw(self, counts: dict[str, int], seed: int) -> list[tuple[str, str, np.ndarray]]:
        """Rows of (task, class, features), `counts` of each class: class c lies along feature c."""
        random = np.random.default_rng(seed)
        spreads = self.spreads or [1.0] * len(self.classes)
        rows = []
        for task, count in counts.items():
            for c, name in enumerate(self.classes):
                values = spreads[c] * random.standard_normal((count, FEATURES)) + self.offset
                values[:, c % FEATURES] += 1.5
                rows += [(task, name, row) for row in values]
        return rows


PROBLEMS = {
    "two classes": Problem(["cat", "dog"]),
    "three classes": Problem(["a", "b", "c"]),
    "whole numbers": Problem(["-3", "0", "12"]),
    "two whole numbers": Problem(["0", "1"]),
    "not quite whole numbers": Problem(["07", "7", "8"]),
    "names that need quotes": Problem(['é, "x"', "snow ☃"]),
    "votes, ties by margins": Problem(list("abcd"), ["--rule", "one-vs-one"]),
    "votes, ties by order": Problem(list("abcd"), ["--rule", "one-vs-one", "--ties", "first"]),
    "one-versus-all": Problem(["a", "b", "c"], ["--rule", "one-vs-all"]),
    "bayes, linear": Problem(["a", "b", "c"], ["--rule", "bayes", "--theory", "pooled"]),
    "bayes, quadratic": Problem(
        ["a", "b", "c"], ["--rule", "bayes", "--theory", "spherical"], [0.5, 1.0, 2.0]
    ),
    "bayes, quadratic, two classes": Problem(
        ["cat", "dog"], ["--rule", "bayes", "--theory", "spherical"], [0.5, 2.0]
    ),
    "false alarm": Problem(["cat", "dog"], ["--null", "dog", "--false-alarm", "0.1"]),
    "two costs": Problem(["cat", "dog"], ["--cost", "cat=5,dog=1"]),
    "three costs": Problem(["a", "b", "c"], ["--cost", "a=5,b=1,c=0.2"]),
    "priors": Problem(["a", "b", "c"], ["--prior", "a=0.8,b=0.1,c=0.1"]),
}


def run(*arguments: str | Path) -> None:
    done = subprocess.run([CLI, *map(str, arguments)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def write(path: Path, rows: list[tuple[str, str, np.ndarray]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "label", *(f"x{i}" for i in range(FEATURES))])
        writer.writerows([task, label, *map(repr, map(float, values))] for task, label, values in rows)


def fit(problem: Problem, folder: Path) -> tuple[Path, np.ndarray]:
    """A trained model and new rows, of the classes and far from all of them."""
    write(folder / "train.csv", problem.draw({"north": 15, "south": 30}, seed=1))
    test = problem.draw({"north": 60}, seed=2)
    # Where probabilities are clamped and votes tie.
    test += [("north", problem.classes[0], 300 * row) for _, _, row in test[:20]]
    test += [("north", problem.classes[0], np.full(FEATURES, problem.offset))]
    write(folder / "test.csv", test)
    model = folder / "model.safetensors"
    run("fit", folder / "train.csv", "--target", "north", *problem.options, "-o", model)
    return model, np.array([row for _, _, row in test])


@dataclass
class Predictions:
    label: list[str]
    decision: np.ndarray
    probabilities: np.ndarray


#: Of model files.
FORMAT = "foretask-model-3"


def tensors(model: Path) -> tuple[dict[str, np.ndarray], dict, bytes]:
    """The arrays of a safetensors file, its header, and the bytes of the arrays."""
    content = model.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    body = content[8 + length :]
    arrays = {
        name: np.frombuffer(body[slice(*entry["data_offsets"])]).reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__"
    }
    return arrays, header, body


def with_numbers(model: Path, **changed: dict[int, float]) -> Path:
    """The same model with other numbers in some of its arrays."""
    arrays, header, body = tensors(model)
    content = bytearray(body)
    for name, numbers in changed.items():
        values = arrays[name].ravel().copy()
        for index, number in numbers.items():
            values[index] = number
        start, end = header[name]["data_offsets"]
        content[start:end] = values.tobytes()
    if "decision" in changed:
        # What it says of itself must be what it does.
        description = json.loads(header["__metadata__"][FORMAT])
        threshold = changed["decision"].get(0)
        if description["rule"]["threshold"] is not None and threshold is not None:
            description["rule"]["threshold"] = threshold if np.isfinite(threshold) else None
        header["__metadata__"][FORMAT] = json.dumps(description)
    other = model.with_name("changed.safetensors")
    other.write_bytes(sealed(header, bytes(content)))
    return other


def sealed(header: dict, body: bytes) -> bytes:
    """A safetensors file whose checksum is that of its other bytes."""
    text = json.dumps(header, ensure_ascii=False).encode()
    content = struct.pack("<Q", len(text)) + text + body
    start, end = (8 + len(text) + offset for offset in header["checksum"]["data_offsets"])
    hashed = xxhash.xxh64(content[:start] + content[end:], seed=0).intdigest()
    return content[:start] + struct.pack("<dd", hashed >> 32, hashed & 0xFFFFFFFF) + content[end:]


def agree_or_refused(model: Path, x: np.ndarray) -> None:
    """Numbers that no training gives are refused when the file is read, or mean the same everywhere."""
    command = [os.environ["FORETASK_CLI"], "inspect", str(model)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    if told.returncode == 2:
        assert "cannot be read: " in told.stderr
    else:
        assert_agree(model, x)


def of_foretask(model: Path) -> Predictions:
    output = model.with_name("predictions.csv")
    run("predict", model, model.with_name("test.csv"), "--scores", "--probabilities", "-o", output)
    with output.open(newline="") as file:
        header, *rows = csv.reader(file)
    first = header.index("prediction") + 1
    numbers = np.array([[float(cell) for cell in row[first:]] for row in rows])
    one = header[first] == "score"
    scores, probabilities = np.split(numbers, [1 if one else numbers.shape[1] // 2], axis=1)
    parameters = tensors(model)[0]["decision"]
    with np.errstate(divide="ignore", invalid="ignore"):
        if one:
            decision = scores - parameters[0]
        else:
            offsets, costs = np.split(parameters[1:], 2)
            decision = parameters[0] * scores + offsets + np.log(costs)
    return Predictions([row[first - 1] for row in rows], decision, probabilities)


Inputs = np.ndarray | dict[str, np.ndarray]
"""All features, or columns by name."""


def of_onnx(model: Path, x: Inputs, tolerance: float = AGREEMENT) -> tuple[Predictions, onnx.ModelProto]:
    feed = x if isinstance(x, dict) else {"X": x}
    rows = len(next(iter(feed.values())))
    output = model.with_name("model.onnx")
    run("export", model, "--onnx", output)
    exported = onnx.load(output)
    onnx.checker.check_model(exported, full_check=True)
    session = onnxruntime.InferenceSession(output, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_outputs()]
    assert names == ["label", "decision", "probabilities"]
    label, decision, probabilities = session.run(None, feed)
    assert decision.dtype == probabilities.dtype == np.float64
    shapes = {entry.name: entry.shape for entry in session.get_outputs()}
    for name, got in zip(names, (label, decision, probabilities), strict=True):
        assert shapes[name][0] == "N" and tuple(shapes[name][1:]) == got.shape[1:]
        assert got.shape[0] == rows
    # A second runtime, which treats NaN differently: what is undefined would show.
    with np.errstate(all="ignore"):
        by_definition = reference.ReferenceEvaluator(exported).run(None, feed)
    assert list(map(str, by_definition[0])) == list(map(str, label))
    np.testing.assert_allclose(by_definition[1], decision, rtol=AGREEMENT, atol=tolerance)
    np.testing.assert_allclose(by_definition[2], probabilities, rtol=0, atol=tolerance)
    return Predictions([str(name) for name in label], decision, probabilities), exported


def assert_agree(model: Path, x: Inputs, tolerance: float = AGREEMENT) -> Predictions:
    expected, (got, _) = of_foretask(model), of_onnx(model, x)
    assert got.label == expected.label
    np.testing.assert_allclose(got.decision, expected.decision, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(got.probabilities, expected.probabilities, rtol=0, atol=tolerance)
    return got


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_graph_decides_as_the_library(name: str, tmp_path: Path) -> None:
    problem = PROBLEMS[name]
    model, x = fit(problem, tmp_path)
    got = assert_agree(model, x)
    assert set(got.label) == set(problem.classes), "every class should be called now and then"
    np.testing.assert_allclose(got.probabilities.sum(axis=1), 1.0, atol=1e-12)
    form = {"votes": "thresholds", "quadratic": "precisions"}
    for word, array in form.items():
        assert (word in name) == (array in tensors(model)[0]), "not the rule that the name says"


def test_batches_of_any_size_agree(tmp_path: Path) -> None:
    for problem in (PROBLEMS["bayes, quadratic"], PROBLEMS["false alarm"]):
        model, x = fit(problem, tmp_path)
        whole, _ = of_onnx(model, x)
        one, _ = of_onnx(model, x[:1])
        assert one.label == whole.label[:1]
        np.testing.assert_allclose(one.decision, whole.decision[:1], rtol=1e-12)
        none, _ = of_onnx(model, x[:0])
        assert none.label == []


@pytest.mark.parametrize(
    ("name", "kind"), [("whole numbers", "int64"), ("not quite whole numbers", "string")]
)
def test_labels_are_integers_only_where_nothing_is_lost(name: str, kind: str, tmp_path: Path) -> None:
    model, x = fit(PROBLEMS[name], tmp_path)
    _, exported = of_onnx(model, x)
    elements = {output.name: output.type.tensor_type.elem_type for output in exported.graph.output}
    expected = {"int64": onnx.TensorProto.INT64, "string": onnx.TensorProto.STRING}[kind]
    assert elements["label"] == expected


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("threshold", "slope", "centre"),
    [
        (INF, 1.0, INF),
        (-INF, 1.0, -INF),
        (INF, 0.0, INF),  # 0 times infinity
        (0.0, 1e306, 0.0),  # clamped
        (0.0, INF, 0.0),
        (NAN, NAN, NAN),
    ],
)
def test_degenerate_thresholds_agree(threshold: float, slope: float, centre: float, tmp_path: Path) -> None:
    model, x = fit(PROBLEMS["two classes"], tmp_path)
    changed = with_numbers(model, decision={0: threshold, 1: slope, 2: centre})
    if np.isnan(threshold):
        return agree_or_refused(changed, x)
    got = assert_agree(changed, x)
    assert np.isfinite(got.probabilities).all()


@pytest.mark.parametrize(
    "numbers",
    [
        {4: 0.0},  # the cost of the first class
        {4: 0.0, 5: 0.0},
        {4: 0.0, 5: 0.0, 6: 0.0},  # nothing matters: the first class
        {0: 0.0},  # no slope: the offsets decide
        {0: 0.0, 1: 0.0, 2: 0.0, 3: 0.0},  # all alike: the first class
        {1: -INF, 2: -INF},  # classes that never occur
        {2: INF, 5: 0.0},  # infinity minus infinity
    ],
)
@pytest.mark.parametrize("name", ["three classes", "bayes, quadratic"])
def test_degenerate_costs_and_offsets_agree(numbers: dict[int, float], name: str, tmp_path: Path) -> None:
    model, x = fit(PROBLEMS[name], tmp_path)
    agree_or_refused(with_numbers(model, decision=numbers), x)


def test_classes_of_no_density_agree(tmp_path: Path) -> None:
    model, x = fit(PROBLEMS["bayes, quadratic"], tmp_path)
    agree_or_refused(with_numbers(model, constants={0: -INF}), x)
    # Without a slope, 0 times -infinity: never a label that does not exist.
    agree_or_refused(with_numbers(model, constants={0: -INF}, decision={0: 0.0}), x)


def with_description(model: Path, change: Callable[[dict], object]) -> Path:
    """The same model with another description of itself."""
    _, header, body = tensors(model)
    described = header["__metadata__"]
    description = json.loads(described[FORMAT])
    change(description)
    described[FORMAT] = json.dumps(description)
    other = model.with_name("described.safetensors")
    other.write_bytes(sealed(header, body))
    return other


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_missing_value_is_filled_or_shows_in_the_decision(name: str, tmp_path: Path) -> None:
    model, x = fit(PROBLEMS[name], tmp_path)
    x[3, 1] = NAN
    write(model.with_name("test.csv"), [("north", PROBLEMS[name].classes[0], row) for row in x])
    assert np.isfinite(assert_agree(model, x).decision).all()
    got, exported = of_onnx(with_description(model, lambda known: known.pop("preparation")), x)
    assert np.isnan(got.decision[3]).all() or name == "votes, ties by order"
    assert np.isfinite(np.delete(got.decision, 3, axis=0)).all()
    assert got.label[3] in PROBLEMS[name].classes
    assert "fills" not in {tensor.name for tensor in exported.graph.initializer}


# By column: what it holds, the share of gaps in training, and the share in new rows.
RAW = {
    "island": (["Biscoe", "Dream", "Torgersen"], 0.1, 0.2),
    "ring colour": (["blue", "é, red", "true"], 0.0, 0.2),
    "grade": (["1", "2", "3"], 0.1, 0.1),
    "tagged": (["no", "yes"], 0.1, 0.2),
    "adult": (["FALSE", "True"], 0.0, 0.2),
    "mass": (None, 0.1, 0.2),
    "bill length (mm)": (None, 0.0, 0.2),
    # The names of an output, of a constant and of a step.
    "decision": (None, 0.0, 0.0),
    "weights": (["light", "heavy"], 0.1, 0.1),
    "column_3_code": (None, 0.1, 0.1),
}
# Written otherwise than in training, and never seen there.
OTHERWISE = {"tagged": ["N", "YES", "t", "0"], "adult": ["fAlse", "T", "1"]}
UNSEEN = {
    "island": ["Atlantis", "biscoe"],
    "ring colour": ["snow ☃"],
    "grade": ["4", "1.5"],
    "weights": ["weights"],
}


def draw_raw(classes: list[str], rows: int, seed: int, *, new: bool) -> dict[str, list[str]]:
    """Cells as text by column; a column leans towards the class, half of `new` texts are strange."""
    random = np.random.default_rng(seed)
    sides = random.integers(len(classes), size=rows)
    table = {
        "task": list(random.choice(["north", "south"], rows)),
        "label": [classes[side] for side in sides],
    }
    for place, (name, (kinds, gaps, new_gaps)) in enumerate(RAW.items()):
        if kinds is None:
            cells = [repr(float(value)) for value in 100 * place + sides + random.standard_normal(rows)]
        else:
            codes = np.where(random.random(rows) < 0.5, sides, random.integers(len(kinds), size=rows))
            cells = [kinds[code % len(kinds)] for code in codes]
            strange = OTHERWISE.get(name, []) + UNSEEN.get(name, [])
            if new and strange:
                cells = [random.choice(strange) if random.random() < 0.5 else cell for cell in cells]
        share = new_gaps if new else gaps
        table[name] = ["" if random.random() < share else cell for cell in cells]
    return table


def write_raw(path: Path, table: dict[str, list[str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))


def raw_inputs(table: dict[str, list[str]]) -> dict[str, np.ndarray]:
    feed = {}
    for name, (kinds, _, _) in RAW.items():
        cells = np.array(table[name], dtype=object)[:, None]
        if kinds is None:
            cells = np.where(cells == "", "nan", cells).astype(np.float64)
        feed["decision_" if name == "decision" else name] = cells
    return feed


def fit_raw(classes: list[str], folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
    write_raw(folder / "train.csv", draw_raw(classes, 200, 1, new=False))
    new = draw_raw(classes, 150, 2, new=True)
    write_raw(folder / "test.csv", new)
    model = folder / "model.safetensors"
    run("fit", folder / "train.csv", "--target", "north", "--categorical", "grade", "-o", model)
    return model, raw_inputs(new)


@pytest.mark.parametrize("classes", [["cat", "dog"], ["a", "b", "c"]])
def test_columns_become_features_in_the_graph(classes: list[str], tmp_path: Path) -> None:
    model, feed = fit_raw(classes, tmp_path)
    got = assert_agree(model, feed)
    assert set(got.label) == set(classes)
    exported = onnx.load(model.with_name("model.onnx"))
    assert [entry.name for entry in exported.graph.input] == list(feed)
    types = {entry.name: entry.type.tensor_type.elem_type for entry in exported.graph.input}
    assert types["island"] == types["adult"] == onnx.TensorProto.STRING
    assert types["mass"] == onnx.TensorProto.DOUBLE
    assert [(used.domain, used.version) for used in exported.opset_import] == [("", 17), ("ai.onnx.ml", 3)]
    # Indicators where gaps were common in training, and nowhere else.
    metadata = {entry.key: entry.value for entry in exported.metadata_props}
    absent = {name for name in json.loads(metadata["feature_names"]) if name.endswith(" is missing")}
    assert absent == {f"{name} is missing" for name, (_, gaps, _) in RAW.items() if gaps > 0}
    # Every column counts: what was compared is not a few of them.
    one = {name: cells[:1] for name, cells in feed.items()}
    before, _ = of_onnx(model, one)
    for name, cells in one.items():
        kinds = RAW[name.rstrip("_")][0]
        values = [np.nan, 0.0, 1e3] if kinds is None else ["", *kinds]
        others = [of_onnx(model, {**one, name: np.array([[value]], cells.dtype)})[0] for value in values]
        assert any((other.decision != before.decision).any() for other in others), name
    none, _ = of_onnx(model, {name: cells[:0] for name, cells in feed.items()})
    assert none.label == []


def test_a_flag_that_is_neither_shows_in_the_decision(tmp_path: Path) -> None:
    model, feed = fit_raw(["cat", "dog"], tmp_path)
    feed["adult"][5, 0] = "perhaps"
    got, _ = of_onnx(model, feed)
    assert list(np.flatnonzero(np.isnan(got.decision[:, 0]))) == [5]


def test_equal_votes_go_to_the_first_class(tmp_path: Path) -> None:
    for name in ("votes, ties by margins", "votes, ties by order"):
        model, x = fit(PROBLEMS[name], tmp_path)
        # a over b over c over a, and d loses: three classes with two votes and no margin.
        pairs = dict(enumerate([-1.0, 1.0, -1.0, -1.0, -1.0, -1.0]))
        weights = {i: 0.0 for i in range(tensors(model)[0]["weights"].size)}
        bias = {i: 0.0 for i in pairs}
        changed = with_numbers(model, weights=weights, bias=bias, thresholds=pairs, decision={0: 1.0})
        parameters = {i: 0.0 for i in range(1, 5)} | {i: 1.0 for i in range(5, 9)}
        changed = with_numbers(changed, decision=parameters)
        assert set(assert_agree(changed, x).label) == {"a"}


@pytest.mark.parametrize(("name", "decided"), [("two classes", "dog"), ("votes, ties by order", "a")])
def test_what_a_score_at_its_threshold_decides(name: str, decided: str, tmp_path: Path) -> None:
    """The second of two classes; of a pair each has half a vote, and the order of all classes decides."""
    model, x = fit(PROBLEMS[name], tmp_path)
    zero = {array: dict.fromkeys(range(values.size), 0.0) for array, values in tensors(model)[0].items()}
    zero["decision"] |= {0: 1.0, **dict.fromkeys(range(5, 9), 1.0)} if "thresholds" in zero else {}
    zero.pop("ties", None)
    zero.pop("rbf.width", None)
    assert set(assert_agree(with_numbers(model, **zero), x).label) == {decided}


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    model, x = fit(PROBLEMS["two classes"], tmp_path)
    _, exported = of_onnx(model, x)
    metadata = {entry.key: entry.value for entry in exported.metadata_props}
    description = json.loads(tensors(model)[1]["__metadata__"][FORMAT])
    assert metadata["target"] == "north"
    assert json.loads(metadata["classes"]) == ["cat", "dog"]
    assert json.loads(metadata["forecast_error"]) == description["forecast"]["error"]
    assert json.loads(metadata["forecast_interval"]) == description["forecast"]["interval"]
    assert json.loads(metadata["feature_names"]) == [f"x{i}" for i in range(FEATURES)]
    assert exported.producer_name == "foretask" and exported.producer_version
    assert "north" in exported.doc_string and "%" in exported.doc_string
    assert exported.ir_version == 8
    assert [(used.domain, used.version) for used in exported.opset_import] == [("", 17)]
    first = model.with_name("model.onnx").read_bytes()
    run("export", model, "--onnx", model.with_name("again.onnx"))
    assert model.with_name("again.onnx").read_bytes() == first


def test_far_from_the_origin_both_lose_the_same_digits(tmp_path: Path) -> None:
    """Weights act on raw features, so that at a distance D scores are good to about 1e-16 D, in both.

    Log-odds are so many times the scores as the slope says, and lose as many times the digits.
    """
    offset = 1e6
    model, x = fit(Problem(["cat", "dog"], offset=offset), tmp_path)
    near = np.abs(x).max(axis=1) < 2 * offset  # without the far rows of `fit`
    arrays = tensors(model)[0]
    rounding = FEATURES * np.finfo(float).eps * offset * np.abs(arrays["weights"]).sum()
    _, slope, _ = arrays["decision"]
    expected, (got, _) = of_foretask(model), of_onnx(model, x, rounding * max(1.0, slope))
    assert np.abs(got.decision - expected.decision)[near].max() <= rounding
