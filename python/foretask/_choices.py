"""The parameters, as the bridge reads them (``choices.rs``).

Which words an option takes is the library's to say: the bridge refuses others and lists its own. The types
here repeat the words for type checkers; a test holds them to the list.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ._data import Names

Rule = Literal["auto", "one-hot", "one-vs-all", "naive-one-vs-all", "one-vs-one", "bayes"]
Labels = Literal["auto", "optimal", "classical", "alone", "pooled"]
Theory = Literal[
    "auto",
    "isotropic",
    "spherical",
    "common",
    "general",
    "ledoit-wolf",
    "sample",
    "leave-one-out",
    "leave-fold-out",
]
Scale = Literal["auto", "none"]
Ties = Literal["margins", "first"]
Tail = Literal["auto", "empirical", "gaussian"]
View = Literal["raw", "standard", "cosine", "rbf"]
Skipped = Literal["streamed", "equal-lengths", "alike", "few-sources", "costly", "sparse"]
Family = Literal["alone", "classical", "pooled", "scaled", "free", "optimal"]
Source = Literal[
    "isotropic", "spherical", "common", "general", "leave-one-out", "leave-fold-out", "fold-moments"
]
Verdict = Literal["helps", "harms", "cannot be told"]
Unrehearsed = Literal["few-sources", "many-labels", "grouped", "weighted", "by-name", "switched-off"]


#: No machine has more.
MOST_BYTES = 2**62

#: Ways to look at the features.
Views = Literal["auto", "linear"] | View | Sequence[View]
#: How often classes occur.
Priors = Literal["observed", "equal"] | Mapping[Any, float] | Sequence[float] | NDArray[Any] | None
#: A number for each class.
ByClass = Mapping[Any, float] | Sequence[float] | NDArray[Any] | None
#: How much the rows of each class count.
ClassWeight = Literal["balanced"] | Mapping[Any, float] | None
#: How freely tasks may differ.
Gamma = float | Mapping[Any, float] | Sequence[float] | NDArray[Any] | None
#: The name of a task.
Task = str | bytes | float | np.generic


class Settings(TypedDict, total=False):
    """What functions hand on to the classifier; a test holds it to the parameters there."""

    rule: Rule
    labels: Labels
    theory: Theory
    lam: float | None
    gamma: Gamma
    priors: Priors
    costs: ByClass
    class_weight: ClassWeight
    null_class: Any
    false_alarm: float | None
    tail: Tail
    scale: Scale
    views: Views
    ties: Ties
    rehearse: bool
    folds: int | None
    memory_budget: int | None
    verbose: int


@dataclass(frozen=True)
class Choices:
    """Settings as the bridge reads them."""

    target: str | None
    rule: Rule
    labels: Labels
    ties: Ties
    theory: Theory
    scale: Scale
    views: str
    lam: float | None
    gamma: float | dict[str, float] | None
    priors: str | list[tuple[str, float]]
    costs: list[tuple[str, float]]
    null_class: str | None
    false_alarm: float | None
    tail: Tail
    rehearse: bool
    folds: int | None
    memory_budget: int | None


def choose(params: Mapping[str, Any], target: Any, tasks: Names, classes: Names) -> Choices:
    """Check the parameters of an estimator; ``classes`` are those of the target."""
    lam, gamma = params["lam"], params["gamma"]
    if (lam is None) != (gamma is None):
        raise ValueError("a fixed coupling is both lam and gamma; leave both None to have it chosen")
    null_class, false_alarm = params["null_class"], params["false_alarm"]
    if (null_class is None) != (false_alarm is None):
        raise ValueError(
            "to hold a false-alarm rate give both null_class, the class that raises no alarm, and "
            "false_alarm, the share of it that may"
        )
    rehearse = params["rehearse"]
    if not isinstance(rehearse, bool | np.bool_):
        raise ValueError(f"rehearse must be True or False; got {rehearse!r}")
    folds = params["folds"]
    if folds is not None and (
        not isinstance(folds, int | np.integer) or isinstance(folds, bool) or folds < 0
    ):
        raise ValueError(f"folds must be None or a whole number from 2 to 50; got {folds!r}")
    budget = params["memory_budget"]
    if budget is not None and (
        not isinstance(budget, int | np.integer) or isinstance(budget, bool) or not 0 <= budget <= MOST_BYTES
    ):
        raise ValueError(
            f"memory_budget must be None or a whole number of bytes, such as 2**30 for 1 GiB; got {budget!r}"
        )
    priors = "observed" if params["priors"] is None else params["priors"]
    if isinstance(priors, str):
        if priors not in ("observed", "equal"):
            raise ValueError(
                "priors must be 'observed', 'equal', or one share per class; got " + repr(priors)
            )
    else:
        priors = by_class("priors", priors, classes)
    return Choices(
        target=None if target is None else tasks.find(target, "task"),
        rule=params["rule"],
        labels=params["labels"],
        ties=params["ties"],
        theory=params["theory"],
        scale=params["scale"],
        views=_views(params["views"]),
        lam=None if lam is None else _number("lam", lam),
        gamma=None if gamma is None else _gamma(gamma, tasks),
        priors=priors,
        costs=[] if params["costs"] is None else by_class("costs", params["costs"], classes),
        null_class=None if null_class is None else classes.find(null_class, "class"),
        false_alarm=None if false_alarm is None else _number("false_alarm", false_alarm),
        tail=params["tail"],
        rehearse=bool(rehearse),
        folds=None if folds is None else int(folds),
        memory_budget=None if budget is None else int(budget),
    )


def _views(views: Any) -> str:
    if isinstance(views, str):
        return views
    listed: list[Any] = list(views) if isinstance(views, Iterable) else [None]
    if all(isinstance(view, str) for view in listed):
        return ",".join(listed)
    raise ValueError(
        f"views must be 'auto', 'linear', or some of 'raw', 'standard', 'cosine', 'rbf'; got {views!r}"
    )


def by_class(name: str, values: Any, classes: Names) -> list[tuple[str, float]]:
    """Numbers by class, from a mapping or from a list in the order of the classes."""
    if isinstance(values, Mapping):
        return [(classes.find(label, "class"), _number(name, value)) for label, value in values.items()]
    values = np.atleast_1d(values)
    if values.shape != (len(classes.names),):
        raise ValueError(
            f"{name} must have one value per class ({len(classes.names)}); got shape {values.shape}"
        )
    return [(label, _number(name, value)) for label, value in zip(classes.names, values, strict=True)]


def _gamma(gamma: Any, tasks: Names) -> float | dict[str, float]:
    if isinstance(gamma, Mapping):
        return {tasks.find(task, "task"): _number("gamma", value) for task, value in gamma.items()}
    if np.ndim(gamma) == 0:
        return _number("gamma", gamma)
    if np.shape(gamma) != (len(tasks.names),):
        raise ValueError(
            f"gamma must be one number or one per task ({len(tasks.names)}); got shape {np.shape(gamma)}"
        )
    return {task: _number("gamma", value) for task, value in zip(tasks.names, gamma, strict=True)}


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | str) or not isinstance(value, numbers.Real | np.number):
        raise ValueError(f"{name} must be a number; got {value!r}")
    return float(value)
