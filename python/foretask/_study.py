"""One fit, many answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from . import _foretask
from ._choices import Verdict
from ._classifier import MultiTaskClassifier
from ._data import Names, Samples, reordered
from ._forecast import (
    AllSources,
    Budget,
    Compared,
    Forecast,
    Foretold,
    LabelsNeeded,
    LearningCurve,
    LeftOut,
    Paired,
    TaskValues,
)
from ._html import shown, table
from ._progress import telling
from ._report import Report

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._choices import Settings
    from ._problem import Problem
    from ._statistics import Statistics

#: Labels added where nothing is said, as on the command line.
ADDED = (0, 5, 10, 20, 50, 100)

Answer = TypeVar("Answer")


class Study:
    """Training data that were grouped and fitted once, for everything that is asked of them.

    Every answer is that of the one target, or a dict by task if there are several.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Classes. Sources may have classes of their own.
    task : array-like of shape (n_samples,) or str, default=None
        The task of each row, or the column of the data frame ``X`` that holds it; one task by default.
    target : object, default=None
        The task to decide for; by default every task that has two classes or more.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; whole numbers say how often (:meth:`MultiTaskClassifier.fit`).
    groups : array-like of shape (n_samples,), default=None
        Rows of one patient, writer or recording, which are left out together.
    task_column : str, default=None
        The column of the data frame ``X`` that names the task of each row, instead of ``task``.
    **settings
        Further parameters of :class:`MultiTaskClassifier`.

    Attributes
    ----------
    tasks : ndarray of shape (n_tasks,)
        All tasks.
    targets : ndarray of shape (n_targets,)
        The tasks to decide for.

    See Also
    --------
    MultiTaskClassifier : Where only the classifier is wanted; it copies no rows.

    Notes
    -----
    A study keeps a copy of the rows in double precision, 8 n p bytes, so that the answers stay what they
    are if ``X`` changes; beside it p² numbers for each task that has as many rows as features, and the
    fits of each target. The interpreter is free for other threads while it computes. A study is not
    pickled; its answers are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from foretask import Study
    >>> X, y = load_digits(return_X_y=True)
    >>> rows = np.flatnonzero(np.isin(y, [3, 8]))[:120]
    >>> task = np.where(np.arange(120) < 100, "many", "few")
    >>> study = Study(X[rows], y[rows], task, target="few")
    >>> study.forecast().source
    'leave-one-out'
    >>> bool(study.learning_curve([0, 50]).error[0] == study.forecast().error)
    True
    >>> study.task_values().sources
    array(['many'], dtype='<U4')
    >>> study.budget(10).added
    {3: 6, 8: 4}
    >>> study.classifier().predict(X[rows[:2]])
    array([3, 8])
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        target: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        task_column: str | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        estimator = MultiTaskClassifier(target=target, task_column=task_column, **settings)
        self._begin(estimator, estimator._problem(X, y, task, sample_weight, groups=groups))

    @classmethod
    def from_statistics(
        cls, statistics: Statistics, *, target: Any = None, **settings: Unpack[Settings]
    ) -> Study:
        """Study statistics instead of rows.

        Parameters
        ----------
        statistics : Statistics
            Of all rows. What needs rows that are not kept is an error.
        target : object, default=None
            The task to decide for; by default every task that has two classes or more.
        **settings
            Further parameters of :class:`MultiTaskClassifier`.

        Returns
        -------
        Study
            Which shares the rows that the statistics keep.
        """
        return cls._planned(MultiTaskClassifier(target=target, **settings), statistics)

    @classmethod
    def _planned(cls, estimator: MultiTaskClassifier, statistics: Statistics) -> Study:
        """Return what an estimator would learn from statistics."""
        study = cls.__new__(cls)
        choices, tasks, classes = estimator._planned(statistics)
        with telling(estimator.verbose, "training") as tell:
            raw = _foretask.Study.of_statistics(statistics._filled(), choices, tell)
        study._keep(estimator, raw, tasks, classes, None)
        return study

    @classmethod
    def _posed(cls, estimator: MultiTaskClassifier, problem: Problem) -> Study:
        """Return what an estimator would learn from rows that it checked."""
        study = cls.__new__(cls)
        study._begin(estimator, problem)
        return study

    def _begin(self, estimator: MultiTaskClassifier, problem: Problem) -> None:
        with telling(estimator.verbose, "training") as tell:
            raw = _foretask.Study.of_rows(problem.samples, problem.choices, tell)
        self._keep(estimator, raw, problem.tasks, problem.classes, _rows_by_cell(problem.samples))

    def _keep(
        self,
        estimator: MultiTaskClassifier,
        raw: _foretask.Study,
        tasks: Names,
        classes: Names,
        rows: dict[tuple[str, str], NDArray[np.int64]] | None,
    ) -> None:
        self._estimator, self._raw, self._rows = estimator, raw, rows
        self._tasks, self._classes = tasks, classes
        self.tasks = tasks.labels
        self.targets = tasks.restricted(raw.targets).labels

    def _by_target(self, answers: dict[str, Answer]) -> Answer | dict[Any, Answer]:
        """Return the only answer, or all by task."""
        if len(answers) == 1:
            return next(iter(answers.values()))
        return {self._tasks.label(name): answer for name, answer in answers.items()}

    def _forecasts(self) -> dict[str, Forecast]:
        told = zip(self._raw.targets, self._raw.forecasts(), strict=True)
        labels = self._estimator.labels
        return {
            name: self._told(raw, name, names, threshold, labels) for name, (names, threshold, raw) in told
        }

    def _told(
        self, raw: _foretask.Forecast, target: str, names: list[str], threshold: float | None, labels: str
    ) -> Forecast:
        sources = len(self._tasks.names) > 1 and labels != "alone"
        return Forecast(raw, target, self._tasks, names, self._classes, threshold, sources)

    def forecast(self) -> Forecast | dict[Any, Forecast]:
        """Return what to expect on new data.

        Returns
        -------
        Forecast or dict
            By task if there are several targets.
        """
        return self._by_target(self._forecasts())

    def learning_curve(self, added: Sequence[int] = ADDED) -> LearningCurve | dict[Any, LearningCurve]:
        """Foretell the error with more labels in the target.

        Of a false-alarm rate, what is missed.

        Parameters
        ----------
        added : sequence of int, default=(0, 5, 10, 20, 50, 100)
            Labels to add to each class of the target.

        Returns
        -------
        LearningCurve or dict
            By task if there are several targets.
        """
        counts = np.atleast_1d(np.asarray(added))
        if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise ValueError("added must hold whole numbers of labels, zero or more")
        with telling(self._estimator.verbose, "measuring what labels bring") as tell:
            curves = self._raw.learning_curves(counts.tolist(), tell)
        return self._by_target(
            {
                name: LearningCurve(
                    task=self._tasks.label(name),
                    added=np.array([added for added, _, _, _ in points], dtype=np.int64),
                    error=np.array([error for _, error, _, _ in points]),
                    interval=_intervals(interval for _, _, interval, _ in points),
                    foretold_interval=_intervals(interval for _, _, _, interval in points),
                )
                for name, points in zip(self._raw.targets, curves, strict=True)
            }
        )

    def labels_needed(self, errors: Sequence[float]) -> list[LabelsNeeded] | dict[Any, list[LabelsNeeded]]:
        """Return how many labels must be added to each class of the target for errors to be expected.

        Parameters
        ----------
        errors : sequence of float
            Errors to reach; of a false-alarm rate, shares of the other class that may be missed.

        Returns
        -------
        list of LabelsNeeded or dict
            In the order of ``errors``; empty where the forecast comes from a theory, which does not know;
            by task if there are several targets.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from foretask import Study
        >>> X, y = load_digits(return_X_y=True)
        >>> easy, hard = Study(X[:100], y[:100]).labels_needed([0.5, 0.02])
        >>> easy.added, hard.added > 0
        (0, True)
        """
        shares = np.atleast_1d(np.asarray(errors, dtype=np.float64))
        if shares.ndim != 1 or not ((shares >= 0) & (shares <= 1)).all():
            raise ValueError("errors must hold shares from 0 to 1, such as 0.05 for 5 %")
        found = zip(self._raw.targets, self._raw.labels_needed(shares.tolist()), strict=True)
        return self._by_target(
            {
                name: [LabelsNeeded(error, added, (fewest, most)) for error, added, (fewest, most) in needed]
                for name, needed in found
            }
        )

    def budget(self, labels: int) -> Budget | None | dict[Any, Budget | None]:
        """Return how to spread labels over the classes of the target.

        Parameters
        ----------
        labels : int
            How many labels there are to spend.

        Returns
        -------
        Budget, None or dict
            None where the forecast comes from a theory, which does not know; by task if there are several
            targets.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from foretask import Study
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> spent = Study(X[:60], y[:60]).budget(20)
        >>> sum(spent.added.values()), spent.error <= spent.as_they_come
        (20, True)
        """
        if not isinstance(labels, int | np.integer) or isinstance(labels, bool) or labels < 0:
            raise ValueError("labels must be a whole number of labels, zero or more")
        found = zip(self._raw.targets, self._raw.budgets(int(labels)), strict=True)
        return self._by_target(
            {
                name: None if spent is None else self._budget(name, int(labels), *spent)
                for name, spent in found
            }
        )

    def _budget(
        self,
        target: str,
        labels: int,
        added: list[int],
        error: float,
        interval: list[float],
        as_come: float,
        other: tuple[float, str] | None,
    ) -> Budget:
        classes = [self._classes.label(name) for name in self._names_of(target)]
        return Budget(
            task=self._tasks.label(target),
            labels=labels,
            added=dict(zip(classes, added, strict=True)),
            error=error,
            interval=_pair(interval),
            as_they_come=as_come,
            in_sources=other and other[0],
            better=other and other[1],
        )

    def task_values(self) -> TaskValues | dict[Any, TaskValues]:
        """Foretell the error without each source, and without all, and compare sample by sample.

        Returns
        -------
        TaskValues or dict
            By task if there are several targets.
        """
        with telling(self._estimator.verbose, "leaving out each source") as tell:
            values = self._raw.source_values(tell)
        found = zip(self._forecasts().items(), values, strict=True)
        return self._by_target({name: self._values(told, values) for (name, told), values in found})

    def _values(self, told: Forecast, values: list[tuple[str | None, float, list[float], Any]]) -> TaskValues:
        error, interval = told._by_samples()
        # All together come first; of one source it is the same.
        together = next(
            (AllSources(without, _pair(ends), _paired(*own)) for _, without, ends, own in values), None
        )
        each = [
            (task, without, ends, _paired(*own)) for task, without, ends, own in values if task is not None
        ]
        return TaskValues(
            task=told.task,
            error=error,
            interval=interval,
            sources=np.array([self._tasks.label(task) for task, _, _, _ in each]),
            error_without=np.array([without for _, without, _, _ in each]),
            interval_without=_intervals(ends for _, _, ends, _ in each),
            difference=np.array([paired.difference for _, _, _, paired in each]),
            difference_interval=_intervals(paired.interval for _, _, _, paired in each),
            verdict=np.array([paired.verdict for _, _, _, paired in each]),
            all_sources=together,
        )

    def compare(self) -> list[Compared] | dict[Any, list[Compared]]:
        """Foretell what other rules would do.

        Returns
        -------
        list of Compared or dict
            The study's own rule first; then the commonest class, labels by name and each view by itself;
            then every rule by name with optimal and with classical labels, at the same coupling. By task
            if there are several targets.
        """
        answers: dict[str, list[Compared]] = {}
        with telling(self._estimator.verbose, "comparing rules") as tell:
            compared = self._raw.compare(tell)
        for (name, own), rules in zip(self._forecasts().items(), compared, strict=True):
            names = self._names_of(name)
            answers[name] = [
                Compared(
                    name=title,
                    rule=rule,
                    labels=labels,
                    views=views,
                    # Of the others the threshold is not known.
                    forecast=own if i == 0 else self._told(raw, name, names, None, labels),
                    paired=None if paired is None else _paired(*paired),
                )
                for i, (title, rule, labels, views, raw, paired) in enumerate(rules)
            ]
        return self._by_target(answers)

    def theories(self) -> list[Foretold] | dict[Any, list[Foretold]]:
        """Return the error that each theory foretells for the leading part of the rule.

        Returns
        -------
        list of Foretold or dict
            Of the theories that the data allow; by task if there are several targets.
        """
        with telling(self._estimator.verbose, "asking the theories") as tell:
            theories = self._raw.theories(tell)
        found = zip(self._raw.targets, theories, strict=True)
        return self._by_target({name: [Foretold(*told) for told in theories] for name, theories in found})

    def left_out(self) -> LeftOut | None | dict[Any, LeftOut | None]:
        """Return what each training sample of the target is taken for by a rule it had no say in.

        Returns
        -------
        LeftOut, None or dict
            None where the forecast comes from a theory, which looks at no sample; by task if there are
            several targets.
        """
        return self._by_target(
            {
                name: None if found is None else self._left_out(name, *found)
                for name, found in zip(self._raw.targets, self._raw.left_out(), strict=True)
            }
        )

    def _left_out(self, target: str, codes: NDArray[np.int64], probabilities: NDArray[np.float64]) -> LeftOut:
        names = self._names_of(target)
        classes = self._classes.restricted(names)
        place = classes.index(names)
        return LeftOut(
            task=self._tasks.label(target),
            classes=classes.labels,
            # Class by class, and within a class in the order of the rows.
            rows=None if self._rows is None else np.concatenate([self._rows[target, name] for name in names]),
            truth=classes.labels[place[codes]],
            probabilities=probabilities[:, np.argsort(place)],
        )

    def _names_of(self, task: str) -> list[str]:
        """Return the classes of a task, in the order of the library."""
        return next(classes for name, classes, _ in self._raw.tasks if name == task)

    def report(
        self, path: str | PathLike[str] | None = None, *, details: bool = True
    ) -> Report | dict[Any, Report]:
        """Make one page of everything that is foretold, to look at and to play with.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write it; of several targets, a folder that is there, in which each has a file.
        details : bool, default=True
            Also ask what more labels would bring and what each source is worth: a study per source.

        Returns
        -------
        Report or dict
            Which a notebook shows; by task if there are several targets.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from foretask import Study
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> report = Study(X[:60], y[:60]).report()
        >>> report.html.startswith("<!doctype html>")
        True
        """
        features = self._estimator._feature_names()
        with telling(self._estimator.verbose, "making the report") as tell:
            pages = self._raw.pages(bool(details), features, tell)
        reports = {
            name: Report(self._tasks.label(name), page)
            for name, page in zip(self._raw.targets, pages, strict=True)
        }
        if path is not None:
            places = _places(Path(path), list(reports))
            for (_, report), place in zip(reports.items(), places, strict=True):
                report.save(place)
        return self._by_target(reports)

    def relatedness(self) -> NDArray[np.float64]:
        """Return how alike the tasks are.

        Returns
        -------
        ndarray of shape (n_tasks, n_tasks)
            In the order of ``tasks``, as ``relatedness_`` of :class:`MultiTaskClassifier`.
        """
        return reordered(self._raw.relatedness(), [name for name, _, _ in self._raw.tasks], self._tasks)

    def classifier(self) -> MultiTaskClassifier:
        """Return the fitted classifier.

        Returns
        -------
        MultiTaskClassifier
            That of ``fit`` on the same data.
        """
        fitted: MultiTaskClassifier = copy(self._estimator)
        return fitted._keep(self._tasks, self._classes, self._raw.models(), self._raw.relatedness())

    def _repr_html_(self) -> str:
        roles = {name: "target" for name in self._raw.targets}
        rows = [
            (name, roles.get(name, "source"), sum(counts), ", ".join(shown(one) for one in classes))
            for name, classes, counts in self._raw.tasks
        ]
        told = "".join(forecast._repr_html_() for forecast in self._forecasts().values())
        return f"<div>{table(['task', 'role', 'labels', 'classes'], rows)}{told}</div>"

    def __reduce__(self) -> Any:
        raise TypeError("a study is not pickled: pickle its answers, or its classifier()")

    def __repr__(self) -> str:
        return f"Study(targets={self.targets.tolist()!r}, tasks={self.tasks.tolist()!r})"


def _intervals(ends: Iterable[Sequence[float]]) -> NDArray[np.float64]:
    return np.array(list(ends), dtype=np.float64).reshape(-1, 2)


def _pair(ends: Sequence[float]) -> tuple[float, float]:
    low, high = ends
    return low, high


def _paired(difference: float, ends: Sequence[float], verdict: Verdict) -> Paired:
    return Paired(difference, _pair(ends), verdict)


def _places(path: Path, targets: list[str]) -> list[Path]:
    """Return a file for each target."""
    if len(targets) == 1:
        return [path]
    if not path.is_dir():
        raise ValueError(
            f"there are {len(targets)} targets, and each has a page: path must be a folder that is there"
        )
    return [path / f"report-{number}.html" for number in range(len(targets))]


def _rows_by_cell(samples: Samples) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Return which rows each class of each task has, in order and as often as they count."""
    rows = np.arange(len(samples.task_codes))
    if samples.times is not None:
        rows = np.repeat(rows, samples.times)
    elif samples.weights is not None:
        rows = rows[samples.weights > 0]
    task, class_ = samples.task_codes[rows], samples.class_codes[rows]
    return {
        (task_name, class_name): rows[(task == task_code) & (class_ == class_code)]
        for task_code, task_name in enumerate(samples.task_names)
        for class_code, class_name in enumerate(samples.class_names)
    }
