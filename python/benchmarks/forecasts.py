"""Measure forecasts against what comes true: noise, known truth, real data, claims, thresholds.

Each part prints one table. Run from the root of the repository, on one thread per process:

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 RAYON_NUM_THREADS=1
    python python/benchmarks/forecasts.py noise --draws 200
    python python/benchmarks/forecasts.py truth --draws 8
    python python/benchmarks/forecasts.py claims --draws 60
    python python/benchmarks/forecasts.py unequal --draws 12
    python python/benchmarks/forecasts.py skewed --draws 8 --data ../shared/data
    python python/benchmarks/forecasts.py real --data ../shared/data --protocols ../shared/recipe
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_problems import Array, Patterns, real
from sklearn.datasets import load_digits

from foretask import MultiTaskClassifier, Study, forecast

TARGET = "target"
#: Added to shares before their ratio is taken.
FLOOR = 0.002
DIGITS = load_digits()


@dataclass(frozen=True)
class Tables:
    """Rows, classes and tasks for training, the target last."""

    X: Array
    y: Array
    task: Array

    @classmethod
    def of(cls, parts: list[tuple[Array, Array]]) -> Tables:
        """Join the parts of all tasks."""
        names = [f"source {j}" for j in range(len(parts) - 1)] + [TARGET]
        task = np.repeat(names, [len(y) for _, y in parts])
        return cls(np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts]), task)

    def study(self, **settings: Any) -> Study:
        """Study the target."""
        return Study(self.X, self.y, self.task, target=TARGET, **settings)

    def without(self, *tasks: str) -> Tables:
        """Leave out some tasks."""
        kept = ~np.isin(self.task, tasks)
        return Tables(self.X[kept], self.y[kept], self.task[kept])


def seeds(options: argparse.Namespace) -> range:
    """The draws that were asked for."""
    return range(options.first, options.first + options.draws)


def error(study: Study, X: Array, y: Array) -> float:
    """Test the study's own classifier."""
    return float((study.classifier().predict(X) != y).mean())


# Noise

NOISE = [(2, 20), (2, 5), (5, 8), (10, 3)]
BY_NAME: list[dict[str, Any]] = [
    {},
    {"rehearse": False},
    *({"labels": labels} for labels in ("classical", "pooled", "alone", "optimal")),
    *({"rule": rule, "labels": "optimal"} for rule in ("one-hot", "one-vs-all", "bayes")),
]


def of_noise(classes: int, each: int, settings: dict[str, Any], seed: int) -> tuple[float, bool]:
    """Forecast classes that do not differ; whether the interval holds chance."""
    rng = np.random.default_rng(seed)
    parts = [(rng.normal(size=(classes * n, 30)), np.repeat(np.arange(classes), n)) for n in (20, 20, each)]
    tables = Tables.of(parts)
    told = forecast(tables.X, tables.y, tables.task, target=TARGET, **settings)
    chance = 1 - 1 / classes
    return told.error, told.interval[0] <= chance <= told.interval[1]


def noise(options: argparse.Namespace, pool: Any) -> None:
    """Print what is foretold where nothing can be learnt."""
    print(
        f"Pure noise, {options.draws} draws: mean forecast (standard error), chance, intervals that hold it"
    )
    for classes, each in NOISE:
        for settings in BY_NAME:
            found = pool.map(partial(of_noise, classes, each, settings), seeds(options))
            told = np.array([error for error, _ in found])
            name = ", ".join(f"{key} {value}" for key, value in settings.items()) or "default"
            print(
                f"{classes:>2} x {each:<2}  {name:<32} {100 * told.mean():5.1f} "
                f"({100 * told.std() / np.sqrt(len(told)):.1f})  {100 - 100 / classes:5.1f}  "
                f"{100 * np.mean([held for _, held in found]):4.0f} %",
                flush=True,
            )


# Problems whose truth is known


@dataclass(frozen=True)
class Setting:
    """How a problem is drawn; how far classes are apart, and how alike tasks are."""

    kind: str
    classes: int
    tasks: int
    many: int
    features: int
    apart: float
    alike: float

    def maker(self, rng: np.random.Generator) -> Callable[[int, int], tuple[Array, Array]]:
        """Return what draws so many samples of each class of a task."""
        m, p = self.classes, self.features
        if self.kind == "digits":
            groups = [rng.permutation(10)[:m] for _ in range(self.tasks)]
            if self.alike == 1:
                groups = [groups[0]] * self.tasks
            shift = [2 * rng.normal(size=p) for _ in range(self.tasks)]

            def digits(task: int, each: int) -> tuple[Array, Array]:
                y = np.repeat(np.arange(m), each)
                own = [np.flatnonzero(DIGITS.target == digit) for digit in groups[task]]
                rows = np.concatenate([rng.choice(candidates, each) for candidates in own])
                noise = self.apart * rng.normal(size=(m * each, p))
                return DIGITS.data[rows] + noise + shift[task], y

            return digits
        common = rng.normal(size=(m, p))
        means = [
            (self.alike * common + np.sqrt(1 - self.alike**2) * rng.normal(size=(m, p)))
            * self.apart
            / np.sqrt(2 * p)
            for _ in range(self.tasks)
        ]

        def drawn(task: int, each: int) -> tuple[Array, Array]:
            y = np.repeat(np.arange(m), each)
            size = (m * each, p)
            noise = rng.normal(size=size) if self.kind == "gauss" else rng.standard_t(3, size) / np.sqrt(3)
            return noise + means[task][y], y

        return drawn


SETTINGS = [
    Setting("gauss", 2, 4, 50, 20, 3, 0.9),
    Setting("gauss", 2, 4, 50, 100, 3, 0.5),
    Setting("gauss", 5, 3, 30, 40, 4, 0.9),
    Setting("gauss", 2, 1, 0, 20, 3, 1),
    Setting("t3", 2, 4, 50, 20, 3, 0.9),
    Setting("t3", 5, 3, 30, 40, 4, 0.7),
    Setting("t3", 2, 3, 30, 50, 2.5, 0),
    Setting("digits", 2, 5, 40, 64, 3, 1),
    Setting("digits", 2, 5, 40, 64, 3, 0),
    Setting("digits", 10, 3, 20, 64, 3, 1),
    Setting("digits", 5, 3, 30, 64, 6, 0.5),
]
LABELS = (3, 5, 10, 20)


@dataclass(frozen=True)
class Told:
    """A forecast, what came true, and the same at four times the labels."""

    setting: Setting
    each: int
    error: float
    held: bool
    truth: float
    later: float
    later_held: bool
    later_truth: float

    @property
    def factor(self) -> float:
        """The logarithm of the foretold factor over the true one."""
        foretold = (self.later + FLOOR) / (self.error + FLOOR)
        return float(np.log(foretold * (self.truth + FLOOR) / (self.later_truth + FLOOR)))


def come_true(job: tuple[Setting, int, int]) -> Told:
    """Forecast, and test on thousands of samples; then with four times the labels."""
    setting, each, seed = job
    rng = np.random.default_rng([seed, setting.classes, each, setting.tasks, setting.features])
    make = setting.maker(rng)
    sources = [make(j, setting.many) for j in range(setting.tasks - 1)]
    own, more = make(setting.tasks - 1, each), make(setting.tasks - 1, 3 * each)
    X, y = make(setting.tasks - 1, 4000 // setting.classes)
    study = Tables.of([*sources, own]).study()
    told, later = study.forecast(), study.learning_curve([3 * each])
    grown = (np.vstack([own[0], more[0]]), np.concatenate([own[1], more[1]]))
    truth = error(study, X, y)
    later_truth = error(Tables.of([*sources, grown]).study(rehearse=False), X, y)
    return Told(
        setting,
        each,
        told.error,
        told.interval[0] <= truth <= told.interval[1],
        truth,
        float(later.error[0]),
        bool(later.interval[0][0] <= later_truth <= later.interval[0][1]),
        later_truth,
    )


def summary(name: str, found: list[Told]) -> str:
    """One line of the table of known truths."""
    gap = 100 * np.array([one.error - one.truth for one in found])
    factor = np.array([one.factor for one in found])
    return (
        f"{name:<34} {len(found):>4} {100 * np.mean([one.truth for one in found]):6.1f} {gap.mean():+6.1f} "
        f"{np.abs(gap).mean():6.1f} {100 * np.mean([one.held for one in found]):5.0f} % "
        f"{factor.mean():+7.2f} {np.sqrt(np.mean(factor**2)):6.2f} "
        f"{100 * np.mean([one.later_held for one in found]):5.0f} %"
    )


def truth(options: argparse.Namespace, pool: Any) -> None:
    """Print forecasts and learning curves beside what came true."""
    jobs = [(setting, each, seed) for seed in seeds(options) for each in LABELS for setting in SETTINGS]
    found = pool.map(come_true, jobs, chunksize=2)
    print(
        "Known truth: error, forecast less truth, its size, intervals that hold it; with four times as many\n"
        "labels the logarithm of the foretold over the true factor, its root mean square, the intervals"
    )
    groups: dict[tuple[Setting, int], list[Told]] = defaultdict(list)
    for one in found:
        groups[one.setting, one.each].append(one)
    for (setting, each), own in groups.items():
        name = f"{setting.kind} {setting.classes} x {each}, {setting.tasks} tasks, alike {setting.alike}"
        print(summary(name, own))
    for each in LABELS:
        print(summary(f"{each} labels per class", [one for one in found if one.each == each]))
    print(summary("all", found))
    lowest = min(np.mean([one.held for one in own]) for own in groups.values())
    print(f"lowest coverage of a setting: {100 * lowest:.0f} %")


# Learning curves of classes with unequal numbers of labels

UNEQUAL = [
    (Setting("t3", 4, 3, 40, 30, 3, 0.7), (60, 20, 6, 3)),
    (Setting("gauss", 5, 3, 40, 30, 4, 0.8), (60, 30, 12, 6, 4)),
    (Setting("gauss", 8, 2, 30, 40, 4.5, 0.5), (80, 40, 20, 10, 6, 4, 3, 3)),
    (Setting("digits", 10, 3, 20, 64, 6, 1), (80, 50, 30, 20, 12, 8, 6, 4, 3, 3)),
]


def worth(counts: Array, added: int, weights: Array) -> float:
    """How many times less the noise of the class means is with more labels of each class."""
    return float((weights / counts).sum() / (weights / (counts + added)).sum())


def rarer(job: tuple[Setting, tuple[int, ...], int, int]) -> tuple[float, float, float]:
    """By which factor more labels lower the error: in truth, as foretold, with classes that matter alike."""
    setting, each, added, seed = job
    rng = np.random.default_rng([seed, setting.classes, 77])
    make, target, counts = setting.maker(rng), setting.tasks - 1, np.array(each)
    shares = counts / counts.sum()

    def drawn(many: Array) -> tuple[Array, Array]:
        X, y = make(target, many.max())
        rows = np.concatenate([np.flatnonzero(y == c)[:count] for c, count in enumerate(many)])
        return X[rows], y[rows]

    sources = [make(j, setting.many) for j in range(target)]
    own, more = drawn(counts), make(target, added)
    tested = drawn((6000 * shares).astype(int))
    study = Tables.of([*sources, own]).study(rehearse=False)
    told, later = study.forecast().error, float(study.learning_curve([added]).error[0])
    grown = (np.vstack([own[0], more[0]]), np.concatenate([own[1], more[1]]))
    priors = {c: float(share) for c, share in enumerate(shares)}
    after = error(Tables.of([*sources, grown]).study(rehearse=False, priors=priors), *tested)
    foretold = np.log(later / told)
    growths = [worth(counts, added, weights) for weights in (shares * (1 - shares), np.ones(len(counts)))]
    alike = foretold * np.log(growths[1]) / np.log(growths[0])
    return float(np.log(after / error(study, *tested))), float(foretold), float(alike)


def unequal(options: argparse.Namespace, pool: Any) -> None:
    """Print learning curves where some classes have few labels."""
    print(
        "Unequal classes, more labels of each: mean logarithm of the factor by which the error falls, in\n"
        "truth, as foretold, with classes that matter alike; root mean square off, of both"
    )
    for added in (10, 40):
        every = []
        for setting, each in UNEQUAL:
            jobs = [(setting, each, added, seed) for seed in seeds(options)]
            found = np.array(pool.map(rarer, jobs))
            every.append(found)
            means = "".join(f"{mean:7.2f}" for mean in found.mean(axis=0))
            print(f"+{added:<3} {setting.kind:<7} {setting.classes:>2} {means}")
        found = np.vstack(every)
        off = np.sqrt(((found[:, 1:] - found[:, :1]) ** 2).mean(axis=0))
        print(f"+{added:<3} all {off[0]:21.2f}{off[1]:7.2f}", flush=True)


# Claims about sources

CLAIMED = [
    (Setting("gauss", 2, 3, 100, 100, 4, 0.95), 10),
    (Setting("gauss", 2, 3, 100, 100, 4, 0.95), 30),
    (Setting("gauss", 2, 4, 50, 40, 3, 0.7), 20),
    (Setting("gauss", 2, 3, 50, 40, 2.5, 0), 20),
    (Setting("t3", 5, 3, 40, 40, 4, 0.8), 10),
    (Setting("digits", 2, 4, 40, 64, 5, 1), 10),
    (Setting("gauss", 2, 3, 20, 30, 0, 0), 20),
    (Setting("gauss", 2, 3, 200, 200, 4, 0.95), 60),
    (Setting("gauss", 5, 3, 60, 60, 4, 0.9), 20),
    (Setting("digits", 10, 3, 40, 64, 3, 1), 10),
]


def claimed(job: tuple[Setting, int, int]) -> list[tuple[str, float]]:
    """Return every verdict on a source, or on all, and what it is truly worth."""
    setting, each, seed = job
    rng = np.random.default_rng([seed, setting.classes, each, setting.tasks, 7])
    make = setting.maker(rng)
    parts = [make(j, setting.many if j < setting.tasks - 1 else each) for j in range(setting.tasks)]
    X, y = make(setting.tasks - 1, 6000 // setting.classes)
    tables = Tables.of(parts)
    study = tables.study(rehearse=False)
    now, values = error(study, X, y), study.task_values()
    told = [
        (str(verdict), (str(name),)) for verdict, name in zip(values.verdict, values.sources, strict=True)
    ]
    if values.all_sources is not None:
        told.append((str(values.all_sources.paired.verdict), tuple(map(str, values.sources))))
    return [
        (verdict, error(tables.without(*left_out).study(rehearse=False), X, y) - now)
        for verdict, left_out in told
    ]


def claims(options: argparse.Namespace, pool: Any) -> None:
    """Print how often a claim is made, and how often it is wrong."""
    print("Claims about sources: statements, claims of help or harm, claims whose sign is wrong")
    total = np.zeros(3, int)
    for setting, each in CLAIMED:
        jobs = [(setting, each, seed) for seed in seeds(options)]
        found = [one for own in pool.map(claimed, jobs) for one in own]
        made = [one for one in found if one[0] != "cannot be told"]
        wrong = [one for one in made if (one[0] == "helps") != (one[1] > 0)]
        name = (
            "noise"
            if setting.apart == 0
            else f"{setting.kind}, {setting.classes} x {each}, alike {setting.alike}"
        )
        print(f"{name:<28} {len(found):>5} {len(made):>5} {len(wrong):>5}", flush=True)
        total += [len(found), len(made), len(wrong)]
    print(f"{'all':<28} {total[0]:>5} {total[1]:>5} {total[2]:>5}")


# Skewed classes

Drawn = tuple[list[tuple[Array, Array]], Array, Array]


def heartbeats(data: dict[str, Array], rng: np.random.Generator, labels: int) -> Drawn:
    """Normal beats against ten times fewer of one kind; other kinds are the sources."""
    kinds = rng.permutation([1, 2, 3])

    def draw(part: str, kind: int, rare: int) -> tuple[Array, Array]:
        X, y = data[f"X_{part}"], data[f"y_{part}"]
        common = rng.choice(np.flatnonzero(y == 0), 10 * rare, replace=False)
        own = rng.choice(np.flatnonzero(y == kind), rare, replace=False)
        return X[np.concatenate([common, own])].astype(float), np.repeat([0, 1], [10 * rare, rare])

    parts = [draw("train", kind, rare) for kind, rare in zip(kinds, (50, 50, labels // 11), strict=True)]
    tested = int((data["y_test"] == kinds[2]).sum())
    return parts, *draw("test", kinds[2], min(tested, 500))


def weather(data: dict[str, Array], rng: np.random.Generator, labels: int) -> Drawn:
    """Rain tomorrow in one place, about one day in five."""
    X, y, place = data["X"], data["y"].astype(int), data["task"]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    places = rng.permutation(np.unique(place))[:6]
    rows = [rng.permutation(np.flatnonzero(place == own)) for own in places]
    parts = [(X[own[:300]], y[own[:300]]) for own in rows[:-1]] + [
        (X[rows[-1][:labels]], y[rows[-1][:labels]])
    ]
    return parts, X[rows[-1][labels:]], y[rows[-1][labels:]]


def one_digit(_: dict[str, Array], rng: np.random.Generator, labels: int) -> Drawn:
    """One digit against all others, one in eight."""
    chosen = rng.permutation(10)

    def draw(digit: int, count: int) -> tuple[Array, Array]:
        y = (np.arange(count) < max(3, count // 8)).astype(int)
        own, others = np.flatnonzero(DIGITS.target == digit), np.flatnonzero(DIGITS.target != digit)
        rows = np.where(y == 1, rng.choice(own, count), rng.choice(others, count))
        return DIGITS.data[rows] + 3 * rng.normal(size=(count, 64)), y

    parts = [draw(chosen[j], 300 if j < 3 else labels) for j in range(4)]
    return parts, *draw(chosen[3], 1600)


SKEWED: dict[str, tuple[str | None, Callable[..., Drawn]]] = {
    "heartbeats 1 : 10": ("mitbih.npz", heartbeats),
    "rain tomorrow": ("weather_aus.npz", weather),
    "one digit": (None, one_digit),
}


def thresholds(job: tuple[str, Path | None, int, int]) -> tuple[float, float, float] | None:
    """Return the error at the default's threshold, where least squares puts it, and at the best one."""
    name, folder, labels, seed = job
    file, draw = SKEWED[name]
    data: dict[str, Array] = {}
    if file is not None:
        with np.load(folder / file, allow_pickle=True) as stored:
            data = {key: stored[key] for key in stored.files}
    parts, X, y = draw(data, np.random.default_rng([seed, labels]), labels)
    if np.bincount(parts[-1][1], minlength=2).min() < 3:
        return None
    tables = Tables.of(parts)
    model = MultiTaskClassifier(target=TARGET, rehearse=False).fit(tables.X, tables.y, task=tables.task)
    margin = np.ravel(model.decision_function(X))
    order = y[np.argsort(margin)]
    wrong = np.concatenate([[0], np.cumsum(np.where(order == 1, 1, -1))]) + (order == 0).sum()
    plain = np.mean((margin > -model.forecast_.threshold) != (y == 1))
    return float(np.mean(model.predict(X) != y)), float(plain), float(wrong.min() / len(y))


def skewed(options: argparse.Namespace, pool: Any) -> None:
    """Print what the default threshold loses where one class is rare."""
    print("Skewed classes: error at the default's threshold, at that of least squares, at the best one")
    for name, (file, _) in SKEWED.items():
        if file is not None and (options.data is None or not (options.data / file).exists()):
            print(f"{name:<20} skipped: {file} is not at hand (--data)")
            continue
        for labels in (44, 110, 275):
            jobs = [(name, options.data, labels, seed) for seed in seeds(options)]
            found = np.array([one for one in pool.map(thresholds, jobs) if one is not None])
            default, plain, best = 100 * found.mean(axis=0)
            print(f"{name:<20} {labels:>4} labels {default:6.2f} {plain:6.2f} {best:6.2f}", flush=True)


# Real data


def measured(options: argparse.Namespace, pool: Any) -> None:
    """Print forecasts on the problems of development beside what was measured."""
    if options.data is None or options.protocols is None:
        sys.exit("real data need --data and --protocols")
    del pool
    for name in ("protocol", "protocol2"):
        groups: dict[str, list[tuple[float, float, bool, bool]]] = defaultdict(list)
        for problem in real(options, name):
            X, y, task = problem.pooled
            names = np.where(task == task[-1], TARGET, task.astype(str))
            model = MultiTaskClassifier(target=TARGET).fit(X, y, task=names)
            counts = np.bincount(problem.ys[-1], minlength=1 + problem.yt.max())
            tested = np.bincount(problem.yt, minlength=len(counts))
            weights = (counts / np.maximum(tested, 1))[problem.yt]
            found = float(np.average(model.predict(problem.Xt) != problem.yt, weights=weights))
            told = model.forecast_
            low, high = told.in_test(round(weights.sum() ** 2 / (weights**2).sum()))
            inside = told.interval[0] <= found <= told.interval[1]
            groups[problem.group].append((told.error, found, inside, low <= found <= high))
        print(f"{name}: measured, forecast less measured, its size, within the interval, within the test's")
        lines = {group: np.array(own, float) for group, own in groups.items()}
        for group, own in lines.items():
            print_measured(group, [own])
        print_measured("mean", lines.values())


def print_measured(name: str, groups: Iterable[Array]) -> None:
    """One line; groups count alike."""
    each = []
    for own in groups:
        gap = own[:, 0] - own[:, 1]
        each.append([own[:, 1].mean(), gap.mean(), np.abs(gap).mean(), own[:, 2].mean(), own[:, 3].mean()])
    found, bias, size, inside, in_test = 100 * np.mean(each, axis=0)
    print(f"{name:<18} {found:6.1f} {bias:+6.1f} {size:6.1f} {inside:5.0f} % {in_test:5.0f} %", flush=True)


PARTS = {
    "noise": noise,
    "truth": truth,
    "unequal": unequal,
    "claims": claims,
    "skewed": skewed,
    "real": measured,
}


def main() -> None:
    """Run one part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--draws", type=int, default=20, help="draws of each problem")
    parser.add_argument("--first", type=int, default=0, help="number of the first draw")
    parser.add_argument("--processes", type=int, default=2, help="processes side by side")
    parser.add_argument("--data", type=Path, help="folder of the real data")
    parser.add_argument("--protocols", type=Path, help="folder of the generators of real problems")
    parser.add_argument("--trials", type=int, default=1, help="trials of each real problem")
    options = parser.parse_args()
    options.groups, options.seed = Patterns("*"), 0
    with Pool(options.processes) as pool:
        PARTS[options.part](options, pool)


if __name__ == "__main__":
    main()
