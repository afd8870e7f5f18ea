"""Compare foretask with scikit-learn and skada on real tasks: accuracy, fit time, error foretold.

Ten groups of problems, each with a target of few labels and one or more sources: Office+Caltech with two
kinds of features, half of the target or three images per class to learn from; MNIST pairs; heartbeats.
A trial is the same problem in every run, and every method gets the same rows.

Run from the root of the repository:

    python python/benchmarks/peers.py --data ../shared/data

A method stops in a group when its time there is used up (``--budget``). So the run ends, but means may rest
on different problems; compare by the paired differences, which never do. The first problem of a group is
always finished, however long it takes: minutes for some peers with 4096 features.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegressionCV, RidgeClassifier, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

import foretask
from foretask import MultiTaskClassifier, _foretask

try:
    import skada
except ImportError:
    skada = None
else:
    # skada turns this on for everybody; the peers are to run as their users run them.
    sklearn.set_config(enable_metadata_routing=False)

Array = NDArray[Any]
Part = tuple[Array, Array]

OURS = "foretask"
TARGET = "target"


# Problems


@dataclass(frozen=True)
class Problem:
    """Labelled tasks, the target last, and test rows of the target.

    Classes of the sources have the codes of the target's classes they are pooled with.
    """

    name: str
    tasks: list[Part]
    test: Part

    @property
    def target(self) -> Part:
        """Training rows of the target."""
        return self.tasks[-1]

    @cached_property
    def pooled(self) -> Part:
        """Training rows of all tasks."""
        return np.vstack([X for X, _ in self.tasks]), np.concatenate([y for _, y in self.tasks])

    @cached_property
    def task(self) -> Array:
        """The task of each pooled row."""
        names = [f"source {number}" for number in range(1, len(self.tasks))] + [TARGET]
        return np.repeat(names, [len(y) for _, y in self.tasks])


def office(
    data: Path, features: str, labels: str, trials: int, pairs: int | None
) -> Iterator[Callable[[], Problem]]:
    """Ten kinds of objects in four collections of images, each pair a source and a target."""
    domains = ["amazon", "caltech", "dslr", "webcam"]
    with np.load(data / f"office_caltech_{features}.npz") as file:
        y = {domain: file[f"{domain}_y"] for domain in domains}
        X = {domain: file[f"{domain}_X"].astype(float) for domain in domains}
    if features == "surf":
        # Counts of visual words: roots of their shares.
        X = {domain: np.sqrt(x / np.maximum(x.sum(axis=1, keepdims=True), 1)) for domain, x in X.items()}
    with np.load(data / "office_caltech_splits.npz") as file:
        splits = {name: file[name] for name in file.files}

    def half(source: str, target: str, trial: int) -> Problem:
        rng = np.random.default_rng(1000 * trial + 7)
        train, test = [], []
        for label in np.unique(y[target]):
            rows = rng.permutation(np.flatnonzero(y[target] == label))
            train.extend(rows[: len(rows) // 2])
            test.extend(rows[len(rows) // 2 :])
        return problem(source, target, trial, slice(None), train, test)

    def three(source: str, target: str, trial: int) -> Problem:
        pair = f"{source}2{target}"
        rows = [splits[f"{pair}_{part}"][trial] for part in ("src_train", "tgt_train", "tgt_test")]
        return problem(source, target, trial, *rows)

    def problem(source: str, target: str, trial: int, learn: Any, train: Any, test: Any) -> Problem:
        return Problem(
            f"{source[0]}>{target[0]}/{trial}",
            [(X[source][learn], y[source][learn]), (X[target][train], y[target][train])],
            (X[target][test], y[target][test]),
        )

    chosen = [(source, target) for source in domains for target in domains if source != target]
    # Out of order, so that few pairs, or a run cut short, still see every kind.
    chosen = [chosen[place] for place in np.random.default_rng(0).permutation(len(chosen))][:pairs]
    build = {"half": half, "3": three}[labels]
    if labels == "3":
        trials = min(trials, len(splits["amazon2dslr_tgt_train"]))
    for trial in range(trials):
        for source, target in chosen:
            yield lambda source=source, target=target, trial=trial: build(source, target, trial)


def mnist(data: Path, per_class: int, trials: int) -> Iterator[Callable[[], Problem]]:
    """The digits 1 and 4 with few labels; other pairs, related or not, with a hundred per digit."""
    with np.load(data / "mnist.npz") as file:
        images, digits = file["train_images"].reshape(-1, 784) / 255, file["train_labels"]
        rows = np.isin(file["test_labels"], (1, 4))
        test_images = file["test_images"][rows].reshape(-1, 784) / 255
        test_classes = (file["test_labels"][rows] == 4).astype(int)
    sources = {
        "95": [(9, 5)],
        "59": [(5, 9)],
        "62": [(6, 2)],
        "83": [(8, 3)],
        "all": [(7, 9), (8, 3), (2, 9), (5, 6), (3, 7)],
    }

    def problem(name: str, trial: int) -> Problem:
        rng = np.random.default_rng(77 * trial + per_class)
        tasks = []
        for pair, count in [(pair, 100) for pair in sources[name]] + [((1, 4), per_class)]:
            drawn = [rng.choice(np.flatnonzero(digits == digit), count, replace=False) for digit in pair]
            tasks.append((images[np.concatenate(drawn)], np.repeat([0, 1], count)))
        training = np.vstack([X for X, _ in tasks])
        mean = training.mean(axis=0)
        components = np.linalg.svd(training - mean, full_matrices=False)[2][:100].T
        return Problem(
            f"{name}/{trial}",
            [((X - mean) @ components, y) for X, y in tasks],
            ((test_images - mean) @ components, test_classes),
        )

    for trial in range(trials):
        for name in sources:
            yield lambda name=name, trial=trial: problem(name, trial)


def heartbeats(data: Path, per_class: int, trials: int) -> Iterator[Callable[[], Problem]]:
    """Fusion beats against unknown ones; the source has two other kinds of beats."""
    with np.load(data / "mitbih.npz") as file:
        X, kinds = file["X_train"], file["y_train"]
        rows = np.isin(file["y_test"], (3, 4))
        test = file["X_test"][rows].astype(float), (file["y_test"][rows] == 4).astype(int)

    def problem(trial: int) -> Problem:
        rng = np.random.default_rng(5 * trial + per_class)
        tasks = []
        for pair, count in (((1, 2), 500), ((3, 4), per_class)):
            drawn = [rng.choice(np.flatnonzero(kinds == kind), count, replace=False) for kind in pair]
            tasks.append((X[np.concatenate(drawn)].astype(float), np.repeat([0, 1], count)))
        return Problem(str(trial), tasks, test)

    for trial in range(trials):
        yield lambda trial=trial: problem(trial)


GROUPS = [
    *(f"office_{features}_{labels}" for features in ("surf", "vgg") for labels in ("half", "3")),
    *(f"mnist_{count}" for count in (10, 20, 60)),
    *(f"mitbih_{count}" for count in (20, 100, 300)),
]


def problems_of(group: str, data: Path, trials: int, pairs: int | None) -> Iterator[Callable[[], Problem]]:
    """Return what builds the problems of a group, trial by trial."""
    name, *rest = group.split("_")
    if name == "office":
        return office(data, *rest, trials, pairs)
    return {"mnist": mnist, "mitbih": heartbeats}[name](data, int(rest[0]), trials)


# Methods


@dataclass(frozen=True)
class Fitted:
    """A trained rule, and what its method says its error will be."""

    predict: Callable[[Array], Array]
    told: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Method:
    """A way to make a rule from a problem."""

    name: str
    about: str
    fit: Callable[[Problem], Fitted]
    tuned: bool = True


def ours(labels: str) -> Callable[[Problem], Fitted]:
    """Train foretask; the forecast is part of it."""

    def fit(problem: Problem) -> Fitted:
        X, y = problem.pooled
        model = MultiTaskClassifier(target=TARGET, labels=labels).fit(X, y, task=problem.task)
        forecast = model.forecast_
        return Fitted(model.predict, forecast.error, forecast.interval)

    return fit


def folds(y: Array) -> StratifiedKFold:
    """Five folds, or fewer where a class has fewer rows. Shuffled, since pooled rows come task by task."""
    return StratifiedKFold(min(5, np.bincount(y).min()), shuffle=True, random_state=0)


def ridge(y: Array) -> Any:
    """Ridge tuned by leave-one-out. With cv=5 this class is the grid search over ridge, listed apart."""
    return RidgeClassifierCV(np.logspace(-3, 4, 12))


def logistic(y: Array) -> Any:
    """Logistic regression."""
    return LogisticRegressionCV(Cs=10, cv=folds(y), max_iter=200)


def discriminant(y: Array) -> Any:
    """Linear discriminant analysis, shrunk as Ledoit and Wolf do."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def grid_svc(y: Array) -> Any:
    """Support-vector machine."""
    return GridSearchCV(LinearSVC(dual="auto"), {"C": np.logspace(-4, 2, 7)}, cv=folds(y))


def grid_ridge(y: Array) -> Any:
    """Ridge tuned by folds."""
    return GridSearchCV(RidgeClassifier(), {"alpha": np.logspace(-3, 4, 8)}, cv=folds(y))


def cross_validated_error(model: Any) -> float | None:
    """Return the best error that a tuned peer found in its folds."""
    if isinstance(model, GridSearchCV):
        return 1 - float(model.best_score_)
    if isinstance(model, LogisticRegressionCV):
        scores = model.scores_
        # By class in older versions, all the same where the model is multinomial.
        scores = next(iter(scores.values())) if isinstance(scores, dict) else scores
        return 1 - float(np.reshape(scores, (len(scores), -1)).mean(axis=0).max())
    return None


def peer(build: Callable[[Array], Any], pooled: bool) -> Callable[[Problem], Fitted]:
    """Train a classifier that knows no tasks."""

    def fit(problem: Problem) -> Fitted:
        X, y = problem.pooled if pooled else problem.target
        model = build(y).fit(X, y)
        return Fitted(model.predict, cross_validated_error(model))

    return fit


def adapted(adapter: Callable[[], Any], weighs: bool) -> Callable[[Problem], Fitted]:
    """Train ridge behind an adapter of skada, on labelled rows of all tasks."""

    def fit(problem: Problem) -> Fitted:
        X, y = problem.pooled
        y = y.astype(int)
        number = len(problem.tasks)
        domain = np.repeat(np.arange(1, number + 1), [len(rows) for _, rows in problem.tasks])
        if weighs:
            # Weights are given to sources only: the target is one of them, and is what they are drawn to.
            X, y = np.vstack([X, problem.target[0]]), np.concatenate([y, problem.target[1]])
            domain = np.concatenate([domain, np.full(len(problem.target[1]), -number - 1)])
        else:
            domain[domain == number] = -number
        with sklearn.config_context(enable_metadata_routing=True):
            final = ridge(y).set_fit_request(sample_weight=True)
            model = skada.make_da_pipeline(adapter(), final, mask_target_labels=weighs)
            # skada writes into the labels.
            model.fit(X, y.copy(), sample_domain=domain)

        def predict(rows: Array) -> Array:
            with sklearn.config_context(enable_metadata_routing=True):
                return model.predict(rows, sample_domain=np.full(len(rows), domain.min()))

        return Fitted(predict)

    return fit


def all_methods() -> list[Method]:
    """Return foretask first, then the peers."""
    methods = [
        Method(OURS, "all defaults; the forecast is part of the fit", ours("auto")),
        Method("foretask-classical", "the same label values in every task", ours("classical")),
        Method("foretask-alone", "target only", ours("alone")),
    ]
    peers: list[tuple[str, Callable[[Array], Any], str]] = [
        ("ridge-cv", ridge, "RidgeClassifierCV, 12 alphas, leave-one-out"),
        ("logistic-cv", logistic, "LogisticRegressionCV, 10 Cs, 200 iterations"),
        ("lda", discriminant, "LinearDiscriminantAnalysis(solver='lsqr', shrinkage='auto'), not tuned"),
        ("grid-svc", grid_svc, "GridSearchCV over LinearSVC, 7 Cs"),
        ("grid-ridge", grid_ridge, "GridSearchCV over RidgeClassifier, 8 alphas"),
    ]
    for name, build, about in peers:
        for rows in ("target", "pooled"):
            tuned = build is not discriminant
            methods.append(
                Method(f"{name}/{rows}", f"{about}; {rows} rows", peer(build, rows == "pooled"), tuned)
            )
    if skada is not None:
        mapped = "sources mapped to the training rows of the target, then ridge-cv on all labelled rows"
        weighed = "rows of all tasks weighed towards the training rows of the target, then ridge-cv"
        methods += [
            Method(
                "skada-ot",
                f"OTMapping that knows the target's labels: {mapped}",
                adapted(skada.OTMappingAdapter, weighs=False),
            ),
            Method(
                "skada-kmm",
                f"KMMReweight: {weighed}",
                adapted(skada.KMMReweightAdapter, weighs=True),
            ),
            Method(
                "skada-nn",
                f"NearestNeighborReweight: {weighed}",
                adapted(skada.NearestNeighborReweightAdapter, weighs=True),
            ),
        ]
    return methods


# Measurement


@dataclass(frozen=True)
class Record:
    """What one method did on one problem. Errors are shares.

    ``error`` is that of the test rows as they are. ``expected_error`` weighs their classes as the training
    rows of the target have them, which is all that a forecast or a cross-validation can know.
    """

    group: str
    problem: str
    method: str
    seconds: float
    error: float
    expected_error: float
    told: float | None
    interval: tuple[float, float] | None


def measure(method: Method, group: str, problem: Problem) -> Record:
    """Fit, and try on the test rows."""
    start = time.perf_counter()
    fitted = method.fit(problem)
    seconds = time.perf_counter() - start
    X, y = problem.test
    wrong = fitted.predict(X) != y
    classes, counts = np.unique(problem.target[1], return_counts=True)
    by_class = [wrong[y == label].mean() for label in classes]
    return Record(
        group,
        problem.name,
        method.name,
        seconds,
        float(wrong.mean()),
        float(np.average(by_class, weights=counts)),
        fitted.told,
        fitted.interval,
    )


class Results:
    """Records by group and method."""

    def __init__(self, groups: list[str], methods: list[Method]) -> None:
        self.groups = groups
        self.methods = methods
        self.records: dict[tuple[str, str], dict[str, Record]] = {}
        self.failures: dict[tuple[str, str], str] = {}

    def of(self, group: str, method: str) -> dict[str, Record]:
        """Return the records of a method in a group, by problem."""
        return self.records.setdefault((group, method), {})

    def paired(self, group: str, method: str) -> list[tuple[Record, Record]]:
        """Return the records of foretask and of a method on the problems both have seen."""
        mine = self.of(group, OURS)
        return [(mine[name], record) for name, record in self.of(group, method).items() if name in mine]

    def may_go_on(self, group: str, method: str, budget: float) -> bool:
        """Whether one more problem, as long as those before, fits into the budget. The first always does."""
        if (group, method) in self.failures:
            return False
        seconds = [record.seconds for record in self.of(group, method).values()]
        return not seconds or sum(seconds) + np.mean(seconds) <= budget


def warm_up(methods: list[Method]) -> None:
    """Fit each method once, so that what is loaded late is not counted."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    tasks = [(rng.normal(size=(40, 5)) + y[:, np.newaxis], y) for _ in range(2)]
    for method in methods:
        method.fit(Problem("", tasks, tasks[0]))


def run(results: Results, data: Path, trials: int, pairs: int | None, budget: float) -> None:
    """Run every method on every problem, one after the other, until its budget is used up."""
    for group in results.groups:
        for number, build in enumerate(problems_of(group, data, trials, pairs), 1):
            able = [m for m in results.methods if results.may_go_on(group, m.name, budget)]
            if not able:
                break
            problem = build()
            # Stacking is not part of anybody's fit.
            _ = problem.pooled, problem.task
            for method in able:
                progress(f"{group} problem {number} {problem.name} {method.name}")
                try:
                    record = measure(method, group, problem)
                except Exception as error:  # a peer that fails must not end the run
                    results.failures[group, method.name] = f"{problem.name}: {error}"
                else:
                    results.of(group, method.name)[problem.name] = record
    progress("")


def progress(text: str) -> None:
    """Show where we are, if somebody looks."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text[:100]}")
        sys.stderr.flush()


@dataclass(frozen=True)
class Bridge:
    """Seconds of a fit from Python, of the part inside the bridge, and of the Python around it."""

    fit: float
    inside: float
    around: float


def bridge_overhead(samples: int = 2000, features: int = 800, repetitions: int = 5) -> Bridge:
    """Time the same fit with and without the Python layer, in turns; the least of each counts."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(samples, features)), rng.integers(2, size=samples)
    X[:, 0] += 2 * y
    task = np.repeat(["source", TARGET], samples // 2)
    times = []
    for repetition in range(repetitions):
        progress(f"bridge {repetition + 1}/{repetitions}")
        model = MultiTaskClassifier(target=TARGET)
        start = time.perf_counter()
        model.fit(X, y, task=task)
        fitted = time.perf_counter()
        problem = model._problem(X, y, task)
        prepared = time.perf_counter()
        found = _foretask.fit(problem.samples, problem.choices)
        trained = time.perf_counter()
        model._keep(problem.tasks, problem.classes, *found)
        kept = time.perf_counter()
        times.append((fitted - start, trained - prepared, prepared - fitted + kept - trained))
    progress("")
    return Bridge(*np.min(times, axis=0).tolist())


# Report


FOOTER = """\
The defaults of foretask were developed on these three data sets (Office+Caltech, MNIST, MIT-BIH), on their
first two or three trials; those of the peers were not. Of twelve adapters of skada, those shown did best on
nine problems of mnist_20, mitbih_100 and office_surf_3 (trial 0), judged by test rows. Features are not
standardised for anybody. Peers use 5 stratified folds, fewer where a class has fewer rows. Problems of a
group share rows, so true standard errors are larger.
Intervals are for endless test data; these are finite."""


def mean(values: list[float]) -> float:
    """Return the mean of what is known, NaN of nothing."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def shown(value: float, form: str = ".1f") -> str:
    """Format a number that may be missing."""
    return "-" if math.isnan(value) else format(value, form)


def with_error(value: float, spread: float, digits: int) -> str:
    """Format a number and its standard error, where one problem gives none."""
    text = shown(value, f"+.{digits}f")
    return text if math.isnan(spread) else f"{text}±{spread:.{digits}f}"


def difference(pairs: list[tuple[Record, Record]]) -> tuple[float, float]:
    """Return the mean difference in accuracy, foretask less method, in points, and its standard error."""
    points = [100 * (other.error - mine.error) for mine, other in pairs]
    if not points:
        return math.nan, math.nan
    spread = float(np.std(points, ddof=1) / math.sqrt(len(points))) if len(points) > 1 else math.nan
    return float(np.mean(points)), spread


def time_ratio(pairs: list[tuple[Record, Record]]) -> float:
    """Return the fit time of a method over that of foretask on the same problems."""
    if not pairs:
        return math.nan
    return sum(other.seconds for _, other in pairs) / sum(mine.seconds for mine, _ in pairs)


def print_table(title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print columns, the first to the left, the others to the right."""
    print(f"\n{title}")
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    for row in [header, *rows]:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        print("  ".join(cells).rstrip())


def print_accuracy(results: Results, header: list[str]) -> None:
    """Print the accuracies, then foretask less each method on the same problems."""
    rows, counts, gains = [], [], []
    for method in results.methods:
        by_group = [list(results.of(group, method.name).values()) for group in results.groups]
        accuracies = [100 * (1 - mean([record.error for record in records])) for records in by_group]
        marks = [
            "*" if len(records) < len(results.of(group, OURS)) else ""
            for group, records in zip(results.groups, by_group, strict=True)
        ]
        rows.append(
            [
                method.name,
                *(shown(value) + mark for value, mark in zip(accuracies, marks, strict=True)),
                shown(mean(accuracies), ".2f") + max(marks),
            ]
        )
        counts.append(
            [method.name, *(str(len(records)) for records in by_group), str(sum(map(len, by_group)))]
        )
        if method.name == OURS:
            continue
        found = [difference(results.paired(group, method.name)) for group in results.groups]
        error = math.sqrt(sum(spread**2 for _, spread in found)) / len(found)
        gains.append(
            [
                method.name,
                *(with_error(value, spread, 1) for value, spread in found),
                with_error(mean([value for value, _ in found]), error, 2),
            ]
        )
    print_table("Accuracy, % (* on fewer problems than foretask: compare below)", [*header, "mean"], rows)
    print_table("Problems that each figure rests on", [*header, "all"], counts)
    print_table(
        "foretask less method on the very same problems, points of accuracy ± standard error",
        [*header, "mean"],
        gains,
    )


def print_times(results: Results, header: list[str]) -> None:
    """Print fit times as ratios to foretask's."""
    rows = []
    for method in results.methods:
        seconds = [
            mean([record.seconds for record in results.of(group, method.name).values()])
            for group in results.groups
        ]
        if method.name == OURS:
            rows.append(
                [
                    f"{OURS}, seconds",
                    *(shown(value, ".3f") for value in seconds),
                    "1.0",
                    shown(mean(seconds), ".3f"),
                ]
            )
            continue
        ratios = [time_ratio(results.paired(group, method.name)) for group in results.groups]
        overall = math.exp(mean([math.log(ratio) for ratio in ratios]))
        rows.append(
            [
                method.name + ("" if method.tuned else " (not tuned)"),
                *(shown(ratio, ".2f") for ratio in ratios),
                shown(overall, ".2f"),
                shown(mean(seconds), ".3f"),
            ]
        )
    print_table(
        "Fit time, ratio to foretask's on the same problems (above 1: slower than foretask); geometric mean",
        [*header, "mean", "seconds"],
        rows,
    )


def print_forecasts(results: Results, header: list[str]) -> None:
    """Print how far the error that a method foretells is from the measured one."""
    rows = []
    for method in results.methods:
        told = {
            group: [(a, b) for a, b in results.paired(group, method.name) if b.told is not None]
            for group in results.groups
        }
        if not any(told.values()):
            continue

        def by_group(far: Callable[[Record], float], place: int = 1, told: Any = told) -> list[float]:
            return [100 * mean([far(pair[place]) for pair in told[group]]) for group in results.groups]

        def gap(record: Record) -> float:
            return abs(record.told - record.expected_error)

        intervals = [b for pairs in told.values() for _, b in pairs if b.interval is not None]
        held = sum(b.interval[0] <= b.expected_error <= b.interval[1] for b in intervals)
        rows.append(
            [
                method.name + (" (mixes tasks)" if method.name.endswith("/pooled") else ""),
                *(shown(value) for value in by_group(gap)),
                shown(mean(by_group(gap)), ".2f"),
                shown(mean(by_group(gap, place=0)), ".2f"),
                shown(mean(by_group(lambda record: record.told - record.expected_error)), "+.2f"),
                shown(mean(by_group(lambda record: abs(record.told - record.error))), ".2f"),
                f"{held}/{len(intervals)}" if intervals else "-",
            ]
        )
    print_table(
        "Error foretold (foretask: forecast; peers: best mean of their own folds) against error measured\n"
        "with test classes weighed as in training: mean absolute difference, points",
        [*header, "mean", "foretask there", "signed", "plain test", "in 90 % interval"],
        rows,
    )


def print_verdict(results: Results) -> None:
    """Print which goals were met."""
    ahead, faster, sometimes = [], [], []
    for method in results.methods:
        if method.name.startswith(OURS):
            continue
        pairs = [results.paired(group, method.name) for group in results.groups]
        if mean([difference(each)[0] for each in pairs]) < 0:
            ahead.append(method.name)
        ratios = [time_ratio(each) for each in pairs]
        if method.tuned and mean([math.log(ratio) for ratio in ratios]) < 0:
            faster.append(method.name)
        if method.tuned and any(ratio < 1 for ratio in ratios):
            sometimes.append(method.name)
    print()
    print("More accurate than foretask (mean over groups, same problems):", ", ".join(ahead) or "none")
    print("Tuned, and faster than foretask (geometric mean over groups):", ", ".join(faster) or "none")
    print("Tuned, and faster than foretask in some group:", ", ".join(sometimes) or "none")


def print_report(results: Results, bridge: Bridge | None) -> None:
    """Print everything."""
    print(
        f"foretask {foretask.__version__}, scikit-learn {sklearn.__version__}, "
        f"skada {skada.__version__ if skada else 'not installed'}, numpy {np.__version__}, "
        f"Python {platform.python_version()}, {os.cpu_count()} processors, default threads"
    )
    print("No method saw the test rows before it was asked to classify them, not even without labels.")
    print("\nMethods")
    for method in results.methods:
        print(f"{method.name:20}{method.about}")
    header = ["", *(group.removeprefix("office_") for group in results.groups)]
    print_accuracy(results, header)
    print_times(results, header)
    print_forecasts(results, header)
    for (group, method), reason in results.failures.items():
        print(f"\n{method} failed in {group}, {reason}")
    print_verdict(results)
    if bridge is not None:
        print(
            f"Bridge at n = 2000, p = 800: fit {bridge.fit:.3f} s, inside {bridge.inside:.3f} s, overhead "
            f"{1 - bridge.inside / bridge.fit:+.2%} (Python timed by itself {bridge.around / bridge.fit:.2%})"
        )
    print(f"\n{FOOTER}")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the npz files")
    parser.add_argument("--trials", type=int, default=20, help="trials of each problem")
    parser.add_argument("--groups", default=",".join(GROUPS), help="groups, by commas")
    parser.add_argument(
        "--methods", default="*", help="methods or patterns, by commas; foretask is always there"
    )
    parser.add_argument("--pairs", type=int, help="how many of the 12 Office pairs")
    parser.add_argument("--budget", type=float, default=30, help="seconds for a method in a group")
    parser.add_argument("--no-bridge", action="store_true", help="leave out the overhead of the bridge")
    parser.add_argument("--json", type=Path, help="where to store every single result")
    options = parser.parse_args()
    options.groups = options.groups.split(",")
    unknown = [group for group in options.groups if group not in GROUPS]
    if unknown:
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(GROUPS)}")
    if not options.data.is_dir():
        parser.error(f"no folder {options.data}; say where the data are with --data")
    return options


def main() -> None:
    """Measure and report."""
    options = arguments()
    patterns = options.methods.split(",")
    methods = [
        method
        for method in all_methods()
        if method.name == OURS or any(fnmatch.fnmatch(method.name, pattern) for pattern in patterns)
    ]
    results = Results(options.groups, methods)
    with warnings.catch_warnings():
        # Solvers that stop early, and notices about versions to come.
        warnings.simplefilter("ignore")
        warm_up(methods)
        run(results, options.data, options.trials, options.pairs, options.budget)
    bridge = None if options.no_bridge else bridge_overhead()
    print_report(results, bridge)
    if options.json is not None:
        content = {
            "trials": options.trials,
            "pairs": options.pairs,
            "budget": options.budget,
            "records": [asdict(record) for found in results.records.values() for record in found.values()],
            "failures": [[*key, reason] for key, reason in results.failures.items()],
            "bridge": None if bridge is None else asdict(bridge),
        }
        options.json.write_text(json.dumps(content, indent=1))


if __name__ == "__main__":
    main()
