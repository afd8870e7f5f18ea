"""What the pictures share: axes, and the ways to come by the data."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from .._classifier import MultiTaskClassifier
from .._evaluation import evaluate
from .._forecast import Forecast
from .._html import shown
from .._pickles import Kept
from .._study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from typing_extensions import Self


#: Longer names are cut.
LONGEST = 28
#: More rows than this are not drawn.
MOST_ROWS = 24
#: Inches from row to row, and around all of them.
ROW, AROUND = 0.3, 1.8

#: Points of a curve: one for every two pixels or so.
POINTS = 400


class Display(Kept):
    """What all displays share: the axes they were drawn on."""

    _open = True

    ax_: Axes
    figure_: Figure

    @classmethod
    def _fields(cls) -> dict[str, Any]:
        # What is drawn looks at its own pickles.
        return dict.fromkeys(list(signature(cls.__init__).parameters)[1:], Any)

    def plot(self, ax: Axes | None = None, **options: Any) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **options
            Of the picture, as far as its class names any.

        Returns
        -------
        display
            Itself.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'foretask[plot]'") from error
        if ax is None:
            _, ax = plt.subplots(figsize=self._size(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        self._draw(ax, **options)
        return self

    def _draw(self, ax: Axes, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError

    def _size(self) -> tuple[float, float]:
        """Return width and height of a new figure, in inches."""
        return 6.4, 4.8


class StudyDisplay(Display):
    """A picture of an answer of a :class:`foretask.Study`."""

    @classmethod
    def from_study(cls, study: Study, *args: Any, **kwargs: Any) -> Self:
        """Draw an answer of a study."""
        raise NotImplementedError

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        target: Any = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Study training data, and draw.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes.
        task : array-like of shape (n_samples,) or str, default=None
            The task of each row.
        target : object, default=None
            The task to decide for; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **options
            Further parameters of :class:`foretask.Study` and of :meth:`from_study`.

        Returns
        -------
        display
            The display, drawn.
        """
        known = {"sample_weight", *MultiTaskClassifier._get_param_names()}
        settings = {name: options.pop(name) for name in known & options.keys()}
        return cls.from_study(Study(X, y, task, target=target, **settings), ax=ax, **options)


class ExpectedDisplay(StudyDisplay):
    """A picture of a forecast, with measured scores if there are any."""

    @classmethod
    def _of(
        cls,
        told: Forecast,
        scores: NDArray[Any] | None = None,
        truth: NDArray[Any] | None = None,
        error: float | None = None,
    ) -> Self:
        raise NotImplementedError

    @classmethod
    def from_study(cls, study: Study, *, target: Any = None, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw the forecast of a study.

        Parameters
        ----------
        study : Study
            The study.
        target : object, default=None
            Which target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        return cls._of(only(study.forecast(), target)).plot(ax, **kwargs)

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiTaskClassifier,
        X: Any = None,
        y: Any = None,
        task: Any = None,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the forecast of a fitted classifier, with test data if there are any.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            A fitted classifier.
        X : array-like of shape (n_samples, n_features), default=None
            Test features.
        y : array-like of shape (n_samples,), default=None
            Test classes.
        task : object, default=None
            The target; needed if there are several.
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        check_is_fitted(estimator)
        if X is None or y is None:
            told = estimator._forecast_of(estimator._model_of(task))
            return cls._of(told).plot(ax, **kwargs)
        scores, truth = estimator._foretold_scores(X, y, task)
        measured = only(evaluate(estimator, X, y, task))
        return cls._of(measured.forecast, scores, truth, measured.error).plot(ax, **kwargs)


class TrainingDisplay(StudyDisplay):
    """A picture that needs the training data, fitted or not."""

    @classmethod
    def from_estimator(
        cls,
        estimator: MultiTaskClassifier,
        X: Any,
        y: Any,
        task: Any = None,
        *,
        target: Any = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw it for a classifier (fitted or not) and its training data.

        Parameters
        ----------
        estimator : MultiTaskClassifier
            Whose parameters are used.
        X, y, task, ax
            As in :meth:`from_data`.
        target : object, default=None
            The task to decide for; that of the estimator by default.
        **kwargs
            Passed on to :meth:`from_study`.

        Returns
        -------
        display
            The display, drawn.
        """
        params = estimator.get_params(deep=False)
        if target is not None:
            params["target"] = target
        return cls.from_data(X, y, task, ax=ax, **params, **kwargs)


def only(found: Any, target: Any = None) -> Any:
    """Return the answer for the one target that a picture is of."""
    by_task = found if isinstance(found, dict) else {found.task: found}
    if target is None and len(by_task) == 1:
        return next(iter(by_task.values()))
    known = ", ".join(repr(task) for task in by_task)
    if target is None:
        raise ValueError(f"there are several targets; give target, one of: {known}")
    if target not in by_task:
        raise ValueError(f"there is no target {target!r}; known: {known}")
    return by_task[target]


def name(label: Any, longest: int = LONGEST) -> str:
    r"""Return the name of a task or class as a picture may show it.

    >>> name("mug"), name("$5"), name("a long name, number 7", longest=10)
    ('mug', '\\$5', 'a long…r 7')
    """
    text = shown(label)
    if len(text) > longest:
        # Names that begin alike often differ at their end.
        text = text[: longest - longest // 3 - 1] + "…" + text[-(longest // 3) :]
    # What stands between two dollars would be set as a formula.
    return text.replace("$", r"\$")


def expected(error: float, interval: tuple[float, float]) -> str:
    """Return an expected error with its interval."""
    return f"{error:.1%} expected ({interval[0]:.1%} to {interval[1]:.1%})"
