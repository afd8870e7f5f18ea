"""What a forecast says, as values to read and to plot."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._choices import Labels, Rule, Source, Verdict, View
from ._data import Names
from ._foretask import Forecast as RawForecast
from ._html import lines, shown, table
from ._pickles import Kept, broken, fits, opened, sealed

if TYPE_CHECKING:
    import pandas as pd


class Forecast:
    """What a rule is expected to do on samples nobody has seen.

    Made by :func:`foretask.forecast` and kept by a fitted
    :class:`foretask.MultiTaskClassifier` as ``forecast_``; not meant to be built by hand.

    Attributes
    ----------
    task : object
        The target.
    classes : ndarray of shape (n_classes,)
        Its classes; everything by class is in this order.
    told : bool
        Whether anything can be told. With one label in every class none can be left out; unless sources
        were rehearsed ``error`` is then that of the commonest class, and the interval is everything.
    error : float
        Expected share of wrong decisions.
    interval : tuple of float
        90 % interval for the error of this very rule on endless new data.
    source : {"leave-one-out", "leave-fold-out", "fold-moments", "isotropic", "spherical", "common", \
"general"}
        What it was computed from: samples left out, or a theory.
    class_errors : ndarray of shape (n_classes,)
        Expected share of wrong decisions in each class.
    confusion : ndarray of shape (n_classes, n_classes)
        How often a sample of each class (row) will be called each class (column).
    priors : ndarray of shape (n_classes,)
        The class priors it holds for.
    cost : float
        Expected cost of a decision.
    auc : float or None
        For two classes, the expected area under the receiver operating characteristic: how often a sample
        of ``classes[1]`` has a higher score than one of ``classes[0]``. None for more classes, where no
        sample can be left out, and of a theory that draws its samples.
    n_samples : int
        Target samples it rests on.
    alarm : dict or None
        With a false-alarm rate: the rate asked for, the rate and the detections expected, each with its
        interval.
    reliability : list of dict
        How far class probabilities can be believed: ``share`` of the samples, ``claimed`` probability
        and share that is ``right``, in bins.
    log_loss : float or None
        Expected mean of -ln P(class) by the class probabilities, by the target's samples alone: rehearsals
        do not move it. None from a theory.
    rehearsal : dict
        What the default does on sources that take the target's place: mean ``error`` and what it is
        ``alone``, both also for each of the ``sources``, and what the target's samples say by themselves
        (``own_error``, ``own_interval``). Of a false-alarm rate, what is missed. Or why there was none:
        ``skipped``, one of "few-sources", "many-labels", "grouped", "weighted",
        "by-name" and "switched-off".
    threshold : float or None
        For two classes, the score above which ``classes[1]`` is chosen.
    notes : list of dict
        What to know before trusting it: the ``kind`` of the note, its numbers, and the ``text``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from foretask import forecast
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> expected = forecast(X[:200], y[:200])
    >>> 0.0 <= expected.interval[0] <= expected.error <= expected.interval[1] <= 1.0
    True
    >>> low, high = expected.in_test(50)
    >>> low <= expected.interval[0] and expected.interval[1] <= high
    True
    """

    def __init__(
        self,
        raw: RawForecast,
        target: str,
        tasks: Names,
        names: list[str],
        classes: Names,
        threshold: float | None,
        has_sources: bool,
    ) -> None:
        self._raw = raw
        self._names, self._has_sources = names, has_sources
        self._given = (target, tasks, classes, threshold)
        self.task = tasks.label(target)
        codes = classes.index(names)
        order = np.argsort(codes)
        self._order = order
        self.classes = classes.labels[codes[order]]
        # Scores of the library are large for its first class; here for classes[1].
        self._sign = -1.0 if order[0] == 0 else 1.0
        report = json.loads(raw.to_json())
        self.told: bool = report["told"]
        self.error: float = report["error"]
        self.interval: tuple[float, float] = tuple(report["interval"])
        self.source: Source = report["source"]
        self.class_errors = np.array(report["class_errors"])[order]
        self.confusion = np.array(report["confusion"])[np.ix_(order, order)]
        self.priors = np.array(report["priors"])[order]
        self.cost: float = report["cost"]
        self.auc: float | None = report["auc"]
        self.n_samples: int = report["samples"]
        self.alarm: dict[str, Any] | None = report["alarm"]
        if self.alarm is not None:
            self.alarm["null"] = classes.label(names[self.alarm["null"]])
        self.reliability: list[dict[str, float]] = report["reliability"]
        self.log_loss: float | None = report["log_loss"]
        rehearsal = report["rehearsal"]
        self.rehearsal: dict[str, Any] = rehearsal.get("done", rehearsal)
        sources = self.rehearsal.get("sources", [])
        self._rehearsed = [source["task"] for source in sources]
        for source in sources:
            source["task"] = tasks.label(source["task"])
        self.notes: list[dict[str, Any]] = report["notes"]
        self.threshold = None if threshold is None else self._sign * threshold

    def __getstate__(self) -> dict[str, Any]:
        target, tasks, classes, threshold = self._given
        named = {target, *self._rehearsed}
        return sealed(
            {
                "raw": self._raw,
                "target": target,
                "tasks": tasks.restricted(named),
                "names": self._names,
                "classes": classes.restricted(self._names),
                "threshold": threshold,
                "has_sources": self._has_sources,
            }
        )

    def __setstate__(self, state: Any) -> None:
        # Whatever can be derived is derived again, so that nothing can contradict it.
        found, what = opened(state, "Forecast"), "Forecast"
        for name, hint in _PICKLED.items():
            if not fits(found.get(name), hint):
                raise broken(what, f"{name!r} is missing or of another type")
        if len(found) != len(_PICKLED) or len(json.loads(found["raw"].to_json())["priors"]) != len(
            found["names"]
        ):
            raise broken(what, "its parts do not belong together")
        try:
            self.__init__(**found)  # type: ignore[misc]
        except (ValueError, LookupError) as error:
            raise broken(what, error) from error

    def in_test(self, n_samples: int) -> tuple[float, float]:
        """Return where the error in a test will lie.

        Parameters
        ----------
        n_samples : int
            Samples of the test.

        Returns
        -------
        low, high : float
            90 % interval: that of the error itself, and the luck of the test.
        """
        low, high = self._raw.in_test(n_samples)
        return low, high

    def _by_samples(self) -> tuple[float, tuple[float, float]]:
        """Return what the target's samples say of the error, or of what is missed at a held rate."""
        if "own_error" in self.rehearsal:
            low, high = self.rehearsal["own_interval"]
            return self.rehearsal["own_error"], (low, high)
        if self.alarm is None:
            return self.error, self.interval
        low, high = self.alarm["detection_interval"]
        return 1.0 - self.alarm["detection"], (1.0 - high, 1.0 - low)

    def density(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return the expected density of the decision scores.

        Parameters
        ----------
        scores : array-like of shape (n_points,)
            Where: scores, large for ``classes[1]``, for two classes; for more the score of the right
            class less the best other.

        Returns
        -------
        ndarray of shape (n_classes, n_points)
            One row per class.
        """
        scores = np.ascontiguousarray(scores, dtype=np.float64)
        if len(self.classes) == 2:
            scores = self._sign * scores
        return self._raw.densities(scores)[self._order]

    def score_range(self) -> tuple[float, float]:
        """Return the ends between which practically all scores will lie."""
        low, high = self._raw.range() or (0.0, 0.0)
        if len(self.classes) == 2 and self._sign < 0:
            return -high, -low
        return low, high

    def roc(self, n_points: int = 400) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the expected receiver operating characteristic (two classes).

        Parameters
        ----------
        n_points : int, default=400
            Number of thresholds.

        Returns
        -------
        fpr, tpr : ndarray of shape (n_points + 1,)
            Share of ``classes[0]`` and of ``classes[1]`` that is called ``classes[1]``.
        """
        points = self._raw.roc(n_points) if len(self.classes) == 2 else None
        if points is None:
            raise ValueError("a ROC needs two classes and the law of one score")
        if self._sign < 0:
            # The library speaks of calling the first class; what is not called it is called ours.
            return 1.0 - points[::-1, 1], 1.0 - points[::-1, 0]
        return points[:, 0], points[:, 1]

    def _roc_band(self, n_points: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the upper and the lower edge of the band of a ROC; none of a theory.

        Each point has two intervals, of false alarms and of detections; the edges go through the corners of
        what both hold, so that at any share of false alarms the band holds the detections with 90 % at least.
        """
        points = self._raw.roc(n_points)
        if points is None or np.isnan(points).any():
            return None
        fewer, more, lowest, highest = points[:, 2:].T
        if self._sign < 0:
            # As in `roc`: what is not called the first class is called ours, and the axes change places.
            fewer, more, lowest, highest = (1.0 - edge[::-1] for edge in (highest, lowest, more, fewer))
        return np.column_stack([fewer, highest]), np.column_stack([more, lowest])

    def summary(self) -> str:
        """Return what it comes to, in a few lines of plain words: those of the command line.

        Returns
        -------
        str
            The expected error beside that of always saying the commonest class, what to ask for next, what to
            do next; then what to know before trusting it.
        """
        ask = "`learning_curve` of `foretask.Study` says"
        if self._has_sources:
            ask = "`learning_curve` and `task_values` of `foretask.Study` say"
        said = self._raw.verdict(self._names, self._has_sources, ask).splitlines()
        said.extend(shown(note["text"]) for note in self.notes)
        return "\n".join(said)

    def to_frame(self) -> pd.DataFrame:
        """Return the forecast as a pandas data frame; frames of several tasks can be concatenated.

        Returns
        -------
        DataFrame
            One row for the whole, where ``class`` is missing, and one for each class; columns ``task``,
            ``class``, ``prior``, ``error``, and the interval from ``low`` to ``high``, which classes
            have none of.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas") from error
        low, high = self.interval
        count = len(self.classes)
        labels = np.empty(count + 1, dtype=object)
        labels[1:] = self.classes.tolist()
        return pd.DataFrame(
            {
                "task": [self.task] * (count + 1),
                "class": labels,
                "prior": np.r_[1.0, self.priors],
                "error": np.r_[self.error, self.class_errors],
                "low": np.r_[low, np.full(count, np.nan)],
                "high": np.r_[high, np.full(count, np.nan)],
            }
        )

    def _repr_html_(self) -> str:
        each = zip(self.classes, self.priors, self.class_errors, strict=True)
        rows = [(label, _percent(prior), _percent(error)) for label, prior, error in each]
        by_class = table(["class", "prior", "expected error"], rows) if self.told else ""
        return f"<div>{lines(self.summary())}{by_class}</div>"

    def __repr__(self) -> str:
        low, high = self.interval
        told = f"error={self.error:.4f}, interval=({low:.4f}, {high:.4f})" if self.told else "told=False"
        return f"Forecast(task={self.task!r}, {told}, source={self.source!r}, n_samples={self.n_samples})"


#: What pickle keeps of a forecast: what it is made of.
_PICKLED = {
    "raw": RawForecast,
    "target": str,
    "tasks": Names,
    "names": list[str],
    "classes": Names,
    "threshold": float | None,
    "has_sources": bool,
}


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


@dataclass(frozen=True)
class LearningCurve(Kept):
    """The expected error with more labels in the target.

    Attributes
    ----------
    task : object
        The target.
    added : ndarray of shape (n_points,)
        Labels added to each class.
    error : ndarray of shape (n_points,)
        Expected error then; of a false-alarm rate, the expected share of the other class that is missed.
    interval : ndarray of shape (n_points, 2)
        90 % intervals.
    foretold_interval : ndarray of shape (n_points, 2)
        The 90 % intervals that forecasts of ``error`` will have once the labels are there.
    """

    task: Any
    added: NDArray[np.int64]
    error: NDArray[np.float64]
    interval: NDArray[np.float64]
    foretold_interval: NDArray[np.float64]


@dataclass(frozen=True)
class LabelsNeeded(Kept):
    """How many labels an error asks for.

    Attributes
    ----------
    error : float
        The error asked for; of a false-alarm rate, the share of the other class that may be missed.
    added : int or None
        Labels to add to each class; None where a thousand times the labels at hand would not do.
    interval : tuple of (int or None)
        The fewest and the most that may be needed (90 %).
    """

    error: float
    added: int | None
    interval: tuple[int | None, int | None]


@dataclass(frozen=True)
class Budget(Kept):
    """How to spend labels.

    Attributes
    ----------
    task : object
        The target.
    labels : int
        Labels to spend.
    added : dict
        How many of them on each class.
    error : float
        Expected error then; of a false-alarm rate, the expected share of the other class that is missed.
    interval : tuple of float
        Its 90 % interval.
    as_they_come : float
        The expected error if classes were labelled as they come.
    in_sources : float or None
        The expected error of the target if the labels went to the sources instead; None where no two sources
        were rehearsed.
    better : str or None
        Where the labels are worth more by rehearsals: ``"target"``, ``"sources"`` or ``"cannot be told"``;
        None where no two sources were rehearsed.
    """

    task: Any
    labels: int
    added: dict[Any, int]
    error: float
    interval: tuple[float, float]
    as_they_come: float
    in_sources: float | None
    better: str | None


@dataclass(frozen=True)
class Paired(Kept):
    """What something is worth: the error without it less the error with it, sample by sample.

    Attributes
    ----------
    difference : float
        The difference; positive where it helps.
    interval : tuple of float
        Its 99 % interval: people act on a claim.
    verdict : {"helps", "harms", "cannot be told"}
        Whether the interval leaves out zero, and on which side.
    """

    difference: float
    interval: tuple[float, float]
    verdict: Verdict


@dataclass(frozen=True)
class AllSources(Kept):
    """What all sources are worth together.

    Attributes
    ----------
    error_without : float
        Expected error of the target alone.
    interval_without : tuple of float
        Its 90 % interval.
    paired : Paired
        The difference that they make.
    """

    error_without: float
    interval_without: tuple[float, float]
    paired: Paired


@dataclass(frozen=True)
class TaskValues(Kept):
    """What the sources are worth.

    Of a false-alarm rate, every error is the share of the other class that is missed.

    Attributes
    ----------
    task : object
        The target.
    error : float
        Expected error with all sources, as the target's samples have it: there are no rehearsals in it, as
        there are none in what it is compared with.
    interval : tuple of float
        Its 90 % interval.
    sources : ndarray of shape (n_sources,)
        The sources.
    error_without : ndarray of shape (n_sources,)
        Expected error without each.
    interval_without : ndarray of shape (n_sources, 2)
        90 % intervals.
    difference : ndarray of shape (n_sources,)
        By how much each lowers the error, sample by sample on common folds; positive where it helps.
    difference_interval : ndarray of shape (n_sources, 2)
        99 % intervals, much shorter than those of two separate errors.
    verdict : ndarray of shape (n_sources,)
        "helps", "harms" or "cannot be told" of each.
    all_sources : AllSources or None
        The same of all together; None without sources.
    """

    task: Any
    error: float
    interval: tuple[float, float]
    sources: NDArray[Any]
    error_without: NDArray[np.float64]
    interval_without: NDArray[np.float64]
    difference: NDArray[np.float64]
    difference_interval: NDArray[np.float64]
    verdict: NDArray[Any]
    all_sources: AllSources | None

    @property
    def gain(self) -> NDArray[np.float64]:
        """How much each source lowers the expected error, as the two forecasts have it."""
        return self.error_without - self.error


@dataclass(frozen=True)
class Compared(Kept):
    """A rule and what it is expected to do.

    Attributes
    ----------
    name : str
        What it is called; "this rule" for the study's own.
    rule : str
        The rule.
    labels : str
        Its labels.
    views : list of str
        The views of the features that it looks through.
    forecast : Forecast
        What it is expected to do.
    paired : Paired or None
        What the study's rule has over this one; None for itself, and from a theory.
    """

    name: str
    rule: Rule
    labels: Labels
    views: list[View]
    forecast: Forecast
    paired: Paired | None


@dataclass(frozen=True)
class Foretold(Kept):
    """A theory and the error it foretells.

    Attributes
    ----------
    source : str
        The theory.
    error : float
        The error.
    """

    source: Source
    error: float


@dataclass(frozen=True)
class LeftOut(Kept):
    """What the target's training samples are taken for by rules that they had no say in.

    Attributes
    ----------
    task : object
        The target.
    classes : ndarray of shape (n_classes,)
        Its classes.
    rows : ndarray of shape (n_samples,) or None
        Which row of the training data each sample is; None if these were statistics.
    truth : ndarray of shape (n_samples,)
        The class of each sample.
    probabilities : ndarray of shape (n_samples, n_classes)
        Of the classes, where these occur with the priors of use.
    """

    task: Any
    classes: NDArray[Any]
    rows: NDArray[np.int64] | None
    truth: NDArray[Any]
    probabilities: NDArray[np.float64]
