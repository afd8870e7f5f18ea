"""Measure how accurate the default is: against labels by name, peers, and an earlier version.

Problems are those of development: protocol (images, heartbeats) and protocol2 (tables, sensors, text), whose
generators are not part of the repository; or simulated settings, columns in different units, sources with
swapped classes, one or two labels per class; or tables that nobody tuned to (``--untouched``, untouched.py).
Run from the root of the repository, on one core:

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1
    python python/benchmarks/accuracy.py --data ../shared/data --protocols ../shared/recipe --json new.json

The default was developed on the first and the peers were not, so what it gains there is an upper bound.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_problems import OTHERS, REAL, THEORY_HOLDS, Array, Patterns, Problem, real
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, RidgeClassifierCV
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from untouched import untouched

import foretask
from foretask import MultiTaskClassifier

TARGET = "target"


# Methods

# Predicted classes of the test rows, and a forecast if there is one.
Outcome = tuple[Array, Any]
Method = Callable[[Problem], Outcome]


def ours(problem: Problem, **settings: Any) -> Outcome:
    """Train foretask; the forecast is part of it."""
    X, y, task = problem.pooled
    names = np.where(task == task[-1], TARGET, task.astype(str))
    model = MultiTaskClassifier(target=TARGET, **settings).fit(X, y, task=names)
    return model.predict(problem.Xt), model.forecast_


def peer(problem: Problem, train: Callable[[Array, Array], Any], rows: str) -> Outcome:
    """Train a classifier on rows of the target, or on all rows: with an indicator of the task, or in blocks.

    Features are centred and divided by one number, so that one grid of penalties serves all problems. The
    support-vector machine has standardised columns too, and keeps what its folds prefer.
    """
    X, y, task = problem.pooled
    if rows == "target":
        X, y, task = problem.Xs[-1], problem.ys[-1], np.zeros(len(problem.ys[-1]), dtype=int)
    mean, last, best = X.mean(axis=0), task[-1], (-math.inf, y)
    for axis in (None, 0) if train is support else (None,):
        deviation = np.std(X - mean, axis=axis)
        scale = np.where(deviation > 0, deviation, 1)
        model = train(table((X - mean) / scale, task, last, rows), y)
        new = table((problem.Xt - mean) / scale, np.full(len(problem.Xt), last), last, rows)
        score = getattr(model, "best_score_", 0.0)
        if score > best[0]:
            best = score, model.predict(new)
    return best[1], None


def table(X: Array, task: Array, last: int, rows: str) -> Array:
    """Append an indicator of the task, and in blocks a copy of the features for each (Daumé)."""
    if last == 0:
        return X
    places = task[:, np.newaxis] == np.arange(last + 1)
    own = [X * place[:, np.newaxis] for place in places.T] if rows == "blocks" else []
    return np.hstack([X, *own, places])


def folds(y: Array) -> StratifiedKFold | None:
    """Five folds, three of many rows, fewer where a class has fewer; none where a class has one row."""
    count = min(5 if len(y) <= 1000 else 3, np.unique(y, return_counts=True)[1].min())
    return StratifiedKFold(count, shuffle=True, random_state=0) if count > 1 else None


def ridge(X: Array, y: Array) -> Any:
    """Ridge tuned by leave-one-out."""
    return RidgeClassifierCV(np.logspace(-3, 4, 12)).fit(X, y)


def logistic(X: Array, y: Array) -> Any:
    """Logistic regression, with fewer penalties where there is much data."""
    if (cv := folds(y)) is None:
        return LogisticRegression().fit(X, y)
    penalties = np.logspace(-4, 2, 10 if X.size < MUCH else 5)
    return LogisticRegressionCV(Cs=penalties, cv=cv, max_iter=200).fit(X, y)


def support(X: Array, y: Array) -> Any:
    """Support-vector machine with an RBF kernel; as a function it is computed by matrix products."""
    widths = [partial(rbf_kernel, gamma=factor / X.shape[1]) for factor in (0.1, 0.3, 1, 3)]
    if (cv := folds(y)) is None:
        return SVC(C=10, kernel=widths[2]).fit(X, y)
    grid = {"kernel": widths, "C": [0.3, 1, 10, 100] if X.size < MUCH else [1, 10]}
    return GridSearchCV(SVC(), grid, cv=cv).fit(X, y)


def forest(X: Array, y: Array) -> Any:
    """Random forest."""
    return RandomForestClassifier(200, random_state=0).fit(X, y)


def boosting(X: Array, y: Array) -> Any:
    """Gradient boosting, with leaves that few rows allow, and 200 of many columns for each split."""
    return HistGradientBoostingClassifier(
        min_samples_leaf=max(2, min(20, len(y) // 10)),
        max_features=min(1.0, 200 / X.shape[1]),
        random_state=0,
    ).fit(X, y)


# Numbers in a table beyond which grids are smaller.
MUCH = 500_000
SIMPLE = ("pooled", "alone", "classical")
OURS: dict[str, Method] = {
    "default": ours,
    "linear": partial(ours, views="linear"),
    **{labels: partial(ours, labels=labels) for labels in (*SIMPLE, "optimal")},
    # Optimal labels at the coupling that the theory chooses, not leave-one-out.
    "theory": partial(ours, labels="optimal", theory="isotropic"),
}
PEERS: dict[str, Method] = {
    f"{train.__name__}/{rows}": partial(peer, train=train, rows=rows)
    for train in (logistic, ridge, support, forest, boosting)
    for rows in ("target", "all")
}
PEERS["ridge/blocks"] = partial(peer, train=ridge, rows="blocks")


# Measurement


@dataclass(frozen=True)
class Record:
    """What one method did on one problem. Errors are shares, seconds those of the processor.

    ``expected`` weighs test classes as the target's training rows have them: all that a forecast can know.
    """

    collection: str
    group: str
    problem: str
    method: str
    error: float
    expected: float
    tested: int
    seconds: float
    told: float | None = None
    interval: tuple[float, float] | None = None


def measure(problem: Problem, name: str, method: Method) -> Record:
    """Fit, and classify the test rows."""
    start = time.process_time()
    predicted, forecast = method(problem)
    seconds = time.process_time() - start
    wrong = predicted != problem.yt
    counts = np.bincount(problem.ys[-1], minlength=1 + problem.yt.max())
    tested = np.bincount(problem.yt, minlength=len(counts))
    expected = np.average(wrong, weights=(counts / np.maximum(tested, 1))[problem.yt])
    record = Record(
        problem.collection,
        problem.group,
        problem.name,
        name,
        float(wrong.mean()),
        float(expected),
        len(wrong),
        seconds,
    )
    return record if forecast is None else replace(record, told=forecast.error, interval=forecast.interval)


def run(
    problems: Iterable[Problem], methods: dict[str, Method], found: list[Record], path: Path | None
) -> None:
    """Measure every method on every problem; store after each, since a run may take hours."""
    for problem in problems:
        _ = problem.pooled  # stacking is not part of anybody's fit
        for name, method in methods.items():
            try:
                found.append(measure(problem, name, method))
            except Exception as error:  # a method that fails must not end the run
                print(f"{name} failed on {problem.name}: {error}", flush=True)
        write(path, found)


def write(path: Path | None, records: list[Record]) -> None:
    """Store records."""
    if path is not None:
        path.write_text(json.dumps([asdict(record) for record in records]))


def read(path: Path) -> list[Record]:
    """Return stored records."""
    return [Record(**record) for record in json.loads(path.read_text())]


# Report

# Records by group, method and problem.
Results = dict[str, dict[str, dict[str, Record]]]


def of(records: Iterable[Record], collection: str) -> Results:
    """Return the results of one collection."""
    found: Results = {}
    for record in records:
        if record.collection == collection:
            methods = found.setdefault(record.group, {})
            methods.setdefault(record.method, {})[record.problem] = record
    return found


def mean(values: Sequence[float]) -> float:
    """Return the mean of what is known, NaN of nothing."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def accuracy(results: Results, method: str, *groups: str) -> float:
    """Return the accuracy in percent, the mean over groups."""
    groups = groups or tuple(results)
    return mean([100 - 100 * mean([r.error for r in results[g].get(method, {}).values()]) for g in groups])


def gain(mine: dict[str, Record], other: dict[str, Record]) -> tuple[float, float]:
    """Return the mean difference in accuracy on problems that both have, in points, and its standard error.

    One problem has no spread: the largest error that its test rows allow.
    """
    both = [(mine[name], other[name]) for name in mine if name in other]
    points = [100 * (b.error - a.error) for a, b in both]
    if len(points) == 1:
        return points[0], 100 * math.sqrt((both[0][0].error + both[0][1].error) / both[0][0].tested)
    return mean(points), float(np.std(points, ddof=1) / math.sqrt(len(points))) if points else math.nan


def overall(gains: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean over groups, and its standard error."""
    known = [each for each in gains if not math.isnan(each[0])]
    return mean([value for value, _ in known]), math.hypot(*(e for _, e in known)) / max(1, len(known))


def signed(value: float, error: float) -> str:
    """Format a difference and its standard error."""
    return "-" if math.isnan(value) else f"{value:+.2f} ± {error:.2f}"


def told(records: Iterable[Record]) -> list[str]:
    """Return how far forecasts are from what was measured, and how often their intervals hold it."""
    gaps = [100 * (r.told - r.expected) for r in records if r.told is not None]
    held = [r.interval[0] <= r.expected <= r.interval[1] for r in records if r.interval is not None]
    return [f"{mean([abs(gap) for gap in gaps]):.1f}", f"{mean(gaps):+.1f}", f"{100 * mean(held):.0f} %"]


def print_table(title: str, header: Sequence[str], rows: list[list[str]]) -> None:
    """Print columns, the first to the left, the others to the right."""
    print(f"\n{title}")
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    for first, *rest in [header, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]).rstrip())


def print_accuracy(title: str, results: Results) -> None:
    """Print accuracy by group and method, and the mean over groups."""
    methods = [name for name in [*OURS, *PEERS] if any(name in found for found in results.values())]
    most = {group: max(map(len, found.values())) for group, found in results.items()}
    columns = []
    for name in methods:
        found = {group: results[group].get(name, {}) for group in results}
        marks = {group: "" if len(found[group]) == most[group] else "*" for group in results}
        cells = [f"{accuracy(results, name, group):.1f}{marks[group]}" for group in results]
        seconds = mean([record.seconds for records in found.values() for record in records.values()])
        columns.append([*cells, f"{accuracy(results, name):.2f}{max(marks.values())}", f"{seconds:.2f}"])
    counts = [*map(str, most.values()), str(sum(most.values())), ""]
    rows = [list(row) for row in zip([*results, "mean", "seconds"], counts, *columns, strict=True)]
    print_table(f"{title}: accuracy in %, * on fewer problems; seconds a problem", ["", "n", *methods], rows)


def print_simple(title: str, results: Results, rivals: Sequence[str], slack: float) -> None:
    """Print the default less the best of some labels by name, and the forecasts of the default."""
    rows, gains = [], []
    every: list[Record] = []
    for group, found in results.items():
        known = [name for name in rivals if name in found]
        if known and "default" in found:
            best = max(known, key=lambda name: accuracy(results, name, group))  # noqa: B023
            value, error = gain(found["default"], found[best])
            flag = "BELOW" if value < -slack - 2 * error else ""
            rows.append([group, best, signed(value, error), flag, *told(found["default"].values())])
            gains.append((value, error))
            every.extend(found["default"].values())
    if rows:
        below = sum(row[3] != "" for row in rows)
        rows.append(["mean", "", signed(*overall(gains)), f"{below} groups", *told(every)])
        title += f": default less the best of {', '.join(rivals)}; BELOW: by more than {slack} + 2 SE;"
        title += "\nerror foretold less measured, absolute and signed; measured within the 90 % interval"
        print_table(title, ["", "best", "default less best", "", "|foretold|", "foretold", "covered"], rows)


def print_oracle(title: str, results: Results) -> None:
    """Print the default less each peer, and how far it is from the best peer to the best method by group."""
    default = accuracy(results, "default")
    peers = {name: accuracy(results, name) for name in PEERS}
    peers = {name: value for name, value in peers.items() if not math.isnan(value)}
    if not peers or math.isnan(default):
        return
    rows = []
    for name, value in peers.items():
        gains = [gain(found.get("default", {}), found.get(name, {})) for found in results.values()]
        rows.append([name, f"{value:.2f}", signed(*overall(gains)), "AHEAD" if value >= default else ""])
    print_table(
        f"{title}: default less each peer, same problems", ["", "accuracy", "default less it", ""], rows
    )
    best = max(peers, key=lambda name: peers[name])
    oracle = mean([max(accuracy(results, name, group) for name in found) for group, found in results.items()])
    print(
        f"best peer {best} {peers[best]:.2f}, default {default:.2f}, best method of each group {oracle:.2f}"
    )
    if oracle > peers[best]:
        print(f"the default closes {(default - peers[best]) / (oracle - peers[best]):.0%} of the gap")


def print_between(title: str, new: Results, old: Results, method: str, other: str) -> None:
    """Print one method less another on the same problems, and the worst group."""
    rows, gains = [], {}
    for group in [group for group in new if method in new[group] and other in old.get(group, {})]:
        mine, before = new[group][method], old[group][other]
        gains[group] = gain(mine, before)
        ratio = mean([r.seconds for r in mine.values()]) / mean([r.seconds for r in before.values()])
        row = [group, str(len(mine.keys() & before.keys())), signed(*gains[group]), f"{ratio:.2f}", ""]
        if group in THEORY_HOLDS and "theory" in old[group]:
            theory = {name: record for name, record in old[group]["theory"].items() if name in mine}
            way = gain(theory, before)[0]
            row[-1] = f"{gains[group][0] / way:.0%} of {way:+.1f}"
        rows.append(row)
    if rows:
        worst = min(gains, key=lambda group: gains[group][0])
        rows.append(["mean", str(sum(int(row[1]) for row in rows)), signed(*overall(gains.values())), "", ""])
        median = float(np.median([value for value, _ in gains.values()]))
        rows.append(["median", "", f"{median:+.2f}", "", ""])
        rows.append([f"worst: {worst}", "", signed(*gains[worst]), "", ""])
        print_table(title, ["", "n", "points", "time ratio", "way to the theory"], rows)


def print_report(records: list[Record], old: list[Record]) -> None:
    """Print everything, collection by collection."""
    print(f"foretask {foretask.__version__}; the default was developed on all of these but untouched tables")
    goals = {"swapped": (("alone",), 0.5), "few": (("classical",), 0.0)}
    for name in dict.fromkeys(record.collection for record in records):
        results = of(records, name)
        print_accuracy(name, results)
        print_simple(name, results, *goals.get(name, (SIMPLE, 1.0)))
        print_oracle(name, results)
        for method in ("default", "linear"):
            title = f"{name}: {method} less the default of the other version"
            print_between(title, results, of(old, name), method, "default")
            if name == "standardised":
                title = f"units: {method} less itself with standardised columns"
                print_between(title, of(records, "units"), results, method, method)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the npz files")
    parser.add_argument(
        "--protocols", type=Path, default=Path("../shared/recipe"), help="folder of protocol.py"
    )
    parser.add_argument("--trials", type=int, default=1, help="trials of each problem, draws of each setting")
    parser.add_argument("--groups", default="*", help="groups or patterns, by commas")
    parser.add_argument("--methods", help=f"or patterns, by commas: {', '.join([*OURS, *PEERS])}")
    for name in OTHERS:
        parser.add_argument(
            f"--{name}", action="store_true", help="in place of the two protocols; without peers"
        )
    parser.add_argument("--untouched", action="store_true", help="in place of the two protocols; with peers")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn outside the protocols")
    parser.add_argument("--json", type=Path, help="where to store every single result")
    parser.add_argument("--reuse", type=Path, nargs="+", default=[], help="stored results of methods not run")
    parser.add_argument(
        "--baseline", type=Path, nargs="+", default=[], help="stored results of another version"
    )
    options = parser.parse_args()
    for folder in (options.data, options.protocols):
        if not (options.untouched or folder.is_dir()):
            parser.error(f"no folder {folder}; say where it is with --data or --protocols")
    options.groups = Patterns(*options.groups.split(","))
    return options


def main() -> None:
    """Measure and report."""
    options = arguments()
    collections = {**OTHERS, "untouched": untouched}
    others = [name for name in collections if getattr(options, name)]
    with_peers = not others or options.untouched
    wanted = Patterns(
        *(options.methods.split(",") if options.methods else [*OURS, *(PEERS if with_peers else {})])
    )
    methods = {name: method for name, method in {**OURS, **PEERS}.items() if name in wanted}
    if "linear" in methods and "views" not in inspect.signature(MultiTaskClassifier).parameters:
        print("linear is left out: this version of foretask has no views")
        del methods["linear"]
    sources = [collections[name](options) for name in others] or [real(options, name) for name in REAL]
    names = {*(others or REAL), *(["standardised"] if options.units else [])}
    earlier = [record for path in options.reuse for record in read(path)]
    records = [
        r for r in earlier if r.method not in methods and r.collection in names and r.group in options.groups
    ]
    with warnings.catch_warnings():
        # Solvers that stop early, and notices about versions to come.
        warnings.simplefilter("ignore")
        run(chain(*sources) if methods else (), methods, records, options.json)
    write(options.json, records)
    print_report(records, [record for path in options.baseline for record in read(path)])


if __name__ == "__main__":
    main()
