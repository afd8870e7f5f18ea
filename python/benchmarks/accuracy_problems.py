"""Problems that accuracy.py measures on: of development, simulated, and made harder.

Real ones come from generators that are not part of the repository. Whatever is drawn here depends on the seed
and on nothing else, so that runs of different versions see the same rows.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib.util
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """Labelled tasks, the target last, and test rows of the target; classes are codes from 0."""

    collection: str
    group: str
    name: str
    Xs: list[Array]
    ys: list[Array]
    Xt: Array
    yt: Array

    @cached_property
    def pooled(self) -> tuple[Array, Array, Array]:
        """Rows, classes and task numbers of all tasks."""
        task = np.repeat(np.arange(len(self.ys)), [len(y) for y in self.ys])
        return np.vstack(self.Xs), np.concatenate(self.ys), task

    def moved(self, collection: str, shift: Any, factors: Any) -> Problem:
        """Return the problem with other columns."""
        Xs = [(X - shift) * factors for X in self.Xs]
        return replace(self, collection=collection, Xs=Xs, Xt=(self.Xt - shift) * factors)


class Patterns:
    """Names that match a pattern, as the protocols ask for them: ``name in patterns``."""

    def __init__(self, *patterns: str) -> None:
        self.patterns = patterns

    def __contains__(self, name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.patterns)


def real(options: argparse.Namespace, name: str, *groups: str) -> Iterator[Problem]:
    """Problems of a protocol; all that were asked for, or some groups."""
    spec = importlib.util.spec_from_file_location(name, options.protocols / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Where the one and the other look for data.
    module.D = module.HERE = f"{options.data}/"
    for raw in module.problems(options.trials, Patterns(*groups) if groups else options.groups):
        if raw["group"] in options.groups:
            yield Problem(name, *(raw[key] for key in ("group", "name", "Xs", "ys", "Xt", "yt")))


def units(options: argparse.Namespace) -> Iterator[Problem]:
    """Columns times 10^U(-2, 2), and standardised by hand."""
    groups = "heart_5 heart_10 gas_3 wisdm_4 wisdm_12 vowel_3 wine_10 weather_10".split()
    for number, problem in enumerate(real(options, "protocol2", *groups)):
        X = problem.pooled[0]
        deviation = X.std(axis=0)
        rng = np.random.default_rng([options.seed, number, 1])
        yield problem.moved("units", 0, 10 ** rng.uniform(-2, 2, X.shape[1]))
        yield problem.moved("standardised", X.mean(axis=0), 1 / np.where(deviation > 0, deviation, 1))


def swapped(options: argparse.Namespace) -> Iterator[Problem]:
    """Classes of all sources, or of every other one, moved on by one: swapped where there are two."""
    tables = "heart_5 heart_10 gas_3 vowel_2 wine_10 weather_10".split()
    images = real(options, "protocol", "mnist_20", "mitbih_20")
    for problem in chain(real(options, "protocol2", *tables), images):
        classes = 1 + max(y.max() for y in problem.ys)
        for step, which in ((1, "all"), (2, "half"))[: len(problem.ys) - 1]:
            ys = [(y + (i % step == 0)) % classes for i, y in enumerate(problem.ys[:-1])]
            yield replace(
                problem,
                collection="swapped",
                group=f"{problem.group} {which}",
                name=f"{problem.name}/{which}",
                ys=[*ys, problem.ys[-1]],
            )


def few(options: argparse.Namespace, draws: int = 10) -> Iterator[Problem]:
    """One and two labels of each class, drawn from many so that draws differ."""
    groups = "heart_30 wine_50 weather_40 gas_10".split()
    for number, problem in enumerate(real(options, "protocol2", *groups)):
        y = problem.ys[-1]
        for count, draw in ((count, draw) for count in (1, 2) for draw in range(draws)):
            rng = np.random.default_rng([options.seed, number, count, draw, 2])
            rows = np.concatenate([rng.permutation(np.flatnonzero(y == c))[:count] for c in np.unique(y)])
            yield replace(
                problem,
                collection="few",
                group=f"{problem.group.split('_')[0]} {count}",
                name=f"{problem.name}/{count}/{draw}",
                Xs=[*problem.Xs[:-1], problem.Xs[-1][rows]],
                ys=[*problem.ys[:-1], y[rows]],
            )


@dataclass(frozen=True)
class Setting:
    """Classes around random means; those of source j are β_j times the target's, the rest is its own.

    ``sizes`` multiplies the rows of each source, ``shift`` moves the classes of sources on, ``bent`` gives
    each class two opposite centres, and ``deviations`` are the largest and the least of the noise.
    """

    related: tuple[float, ...] = (0.8, 0.5)
    source: tuple[int, ...] = (100, 100)
    target: tuple[int, ...] = (20, 20)
    features: int = 100
    size: float = 1.1
    shift: int = 0
    sizes: tuple[float, ...] = ()
    heavy: bool = False
    bent: bool = False
    units: bool = False
    deviations: tuple[float, float] = (1.0, 1.0)

    def draw(self, rng: np.random.Generator) -> list[tuple[Array, Array]]:
        """Return rows and classes of the sources, the target, and 2000 test rows."""
        m, p = len(self.target), self.features
        axes = np.linalg.qr(rng.normal(size=(p, p)))[0] * np.geomspace(*self.deviations, p)
        factors = 10 ** rng.uniform(-2, 2, p) if self.units else np.ones(p)

        def means() -> Array:
            found = rng.normal(size=(m, p)) * self.size / math.sqrt(p)
            return np.vstack([found[0], -found[0]]) if m == 2 and not self.bent else found

        def rows(centres: Array, counts: Sequence[float], shift: int) -> tuple[Array, Array]:
            y = np.repeat(np.arange(m), [round(count) for count in counts])
            noise = (
                rng.standard_t(3, (len(y), p)) / math.sqrt(3) if self.heavy else rng.normal(size=(len(y), p))
            )
            signs = rng.choice([-1, 1], (len(y), 1)) if self.bent else 1
            return (noise @ axes.T + signs * centres[y]) * factors, (y + shift) % m

        target = means()
        drawn = []
        for j, beta in enumerate(self.related):
            counts = [count * (self.sizes[j] if self.sizes else 1) for count in self.source]
            drawn.append(rows(beta * target + math.sqrt(1 - beta**2) * means(), counts, self.shift))
        tested = [2000 * count / sum(self.target) for count in self.target]
        return [*drawn, rows(target, self.target, 0), rows(target, tested, 0)]


class MoreTasks:
    """The synthetic side of the paper's figure on more tasks, as foretask-paper draws it."""

    def draw(self, rng: np.random.Generator) -> list[tuple[Array, Array]]:
        """Return rows and classes of the sources, the target, and 2000 test rows."""
        counts = [(117, 183), (167, 167), (100, 133), (150, 200), (50, 50), (1000, 1000)]
        means = [(1.44 * beta, 3 * math.sqrt(1 - beta**2)) for beta in (0.9, 0.5, 0.2, 0.8)]
        drawn = []
        for count, mean in zip(counts, [*means, (0.72, 0), (0.72, 0)], strict=True):
            y = np.repeat([0, 1], count)
            drawn.append((rng.normal(size=(len(y), 100)) + np.outer(1 - 2 * y, [*mean, *[0] * 98]), y))
        return drawn


SETTINGS: dict[str, Setting | MoreTasks] = {
    "more tasks": MoreTasks(),
    "isotropic": Setting(),
    "swapped": Setting(shift=1),
    "half unrelated": Setting((0.9, 0.9, 0.0, 0.0)),
    "permuted classes": Setting((0.9, 0.9), (60,) * 4, (15,) * 4, size=2.0, shift=1),
    "t3 noise": Setting(heavy=True),
    "unequal sizes": Setting((0.9, 0.6, 0.8), (100, 50), (10, 30), sizes=(0.2, 2.0, 0.5)),
    "ten classes": Setting((0.9,), (30,) * 10, (5,) * 10, features=60, size=2.7),
    "correlated": Setting(size=0.5, deviations=(2.5, 0.25)),
    "units": Setting(units=True),
    "unrelated source": Setting((0.0,), (200, 200)),
    "pooled is right": Setting((1.0, 1.0), target=(5, 5)),
    "alone is right": Setting((0.0, 0.0, 0.0), target=(100, 100)),
    "many sources": Setting((0.7,) * 12, (15, 15), (10, 10)),
    "more features": Setting((0.8,), target=(10, 10), features=400, size=1.6),
    "bent classes": Setting((0.95,), features=6, size=3.0, bent=True),
}
THEORY_HOLDS = ("more tasks", "isotropic", "swapped", "half unrelated")


def simulated(options: argparse.Namespace) -> Iterator[Problem]:
    """Every setting, as often as there are trials."""
    for number, (group, setting) in enumerate(SETTINGS.items()):
        for draw in range(options.trials if group in options.groups else 0):
            *tasks, (Xt, yt) = setting.draw(np.random.default_rng([options.seed, number, draw, 3]))
            name = f"{group}/{options.seed}/{draw}"
            yield Problem("simulated", group, name, [X for X, _ in tasks], [y for _, y in tasks], Xt, yt)


REAL = ("protocol", "protocol2")
OTHERS = {"simulated": simulated, "units": units, "swapped": swapped, "few": few}
