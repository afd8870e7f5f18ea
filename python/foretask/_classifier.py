"""The estimator."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _foretask
from ._choices import (
    ByClass,
    Choices,
    ClassWeight,
    Gamma,
    Labels,
    Priors,
    Rule,
    Scale,
    Tail,
    Theory,
    Ties,
    Views,
)
from ._columns import checked, checked_names
from ._data import (
    ONLY_TASK,
    TABLE,
    Names,
    SparseTable,
    columns_of,
    encode,
    name_of,
    named,
    nearest,
    one_per_row,
    refuse_lazy,
    refuse_missing,
    reordered,
    split_column,
    table_of,
)
from ._forecast import Forecast
from ._frames import Preparation, columns, is_finite, is_plain
from ._pickles import broken, fits, opened, sealed
from ._problem import LabelledRows, Problem, choices_for
from ._progress import telling

if TYPE_CHECKING:
    from ._report import Report
    from ._statistics import Statistics


#: What training finds.
_TRAINED = ("_by_name", "_classes", "_tasks", "classes_", "models_", "relatedness_", "targets_", "tasks_")


#: What a pickle may hold beside parameters and what a user added.
_PICKLED: dict[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": NDArray[Any],
    "task_column_": str,
    "_preparation": Preparation | None,
    "_lenient": bool,
    "_gathered": Any,
    "_announced": NDArray[Any] | None,
}
#: Tasks, classes, models, and how alike the tasks are.
_PICKLED_TRAINING = tuple[Names, Names, list[_foretask.Model], NDArray[np.float64] | None]


class Coupling(NamedTuple):
    """A coupling that takes part in the rule."""

    weight: float
    lam: float
    gamma: dict[Any, float]
    labels: str
    view: str


class MultiTaskClassifier(ClassifierMixin, BaseEstimator):
    """Multi-task least-squares SVM that foretells its own test error.

    Trains many tasks together, uses related ones, is not hurt by unrelated or opposed ones, and says
    what error to expect before any test data is seen. Without ``task`` it is an ordinary classifier.

    Parameters
    ----------
    target : object, default=None
        The task to decide for. By default every task that has two classes or more is a target: one
        fit, rules for all.
    rule : {"auto", "one-hot", "one-vs-all", "naive-one-vs-all", "one-vs-one", "bayes"}, \
default="auto"
        How scores become a class. "auto" averages all ways to share and to label.
    labels : {"auto", "optimal", "classical", "alone", "pooled"}, default="auto"
        The label values to train with: "classical" the same in every task, "alone" the target only,
        "pooled" the same in every task and one set of weights for all (``gamma`` is taken for 0).
    theory : {"auto", "isotropic", "spherical", "common", "general", "ledoit-wolf", "sample", \
"leave-one-out", "leave-fold-out"}, default="auto"
        Where the forecast comes from. "auto" leaves samples out, one by one or, where the target has many
        rows, fold by fold, whatever the law of the features;
        "common" is the theory of one covariance shape that all classes have in common.
    lam : float, default=None
        How strongly tasks share; chosen in closed form by default. Needs ``gamma``.
    gamma : float, dict or array-like of shape (n_tasks,), default=None
        How freely each task may differ; by task, or in the order of ``tasks_``. Needs ``lam``.
    priors : {"observed", "equal"}, dict, array-like of shape (n_classes,) or None, default="observed"
        How often classes occur where the classifier will be used; None is "observed".
    costs : dict or array-like of shape (n_classes,), default=None
        What a mistake in a class costs; one each by default.
    class_weight : dict, "balanced" or None, default=None
        How much the rows of a class count, in every task; one where a dict has no weight. "balanced" lets
        the classes of each task count alike: n_task / (n_classes n_class), of weights where rows have some.
        Multiplied with ``sample_weight``. Observed ``priors`` are then those of the weights, so that a
        balanced classifier decides for, and foretells, classes that are equally frequent; give ``priors``
        to train balanced and decide for the frequencies of use.
    null_class : object, default=None
        With ``false_alarm``: the class that raises no alarm (two classes).
    false_alarm : float, default=None
        The share of ``null_class`` that may raise an alarm.
    tail : {"auto", "empirical", "gaussian"}, default="auto"
        What the threshold of a false-alarm rate is taken from.
    scale : {"auto", "none"}, default="auto"
        Divide each task by the spread within its classes, or not.
    views : {"auto", "linear"}, str or list of str, default="auto"
        Ways to look at the features: "raw", "standard" (each over its spread), "cosine" (each row over
        its length) and "rbf" (a Gaussian kernel). "auto" averages over all of them, "linear" over the
        first two, which leaves one weight per feature (``coef_``). A theory, labels or a rule by name
        looks through the first linear one.
    ties : {"margins", "first"}, default="margins"
        How equal numbers of votes are told apart (``rule="one-vs-one"``).
    rehearse : bool, default=True
        Whether sources take the target's place, with as many labels, to tell what a rule made of so few
        is worth: a narrower forecast for about twice the time. Only where the target has at most 120 labels.
    folds : int, default=None
        How many folds the rows of a target are left out in where they are many (``"leave-fold-out"``), 2 to
        50; by default as many as its statistics have, or 10.
    memory_budget : int, default=None
        Where every task is a target: the bytes that targets may hold together while they are trained, 256 MiB
        by default. They are trained in batches that keep to it, or one by one; fewer bytes take longer, and
        the models are the same.
    task_column : str, default=None
        The column of a data frame ``X`` that names the task of each row. ``fit``, ``predict`` and ``score``
        take it out of the frame, so that nothing but ``X`` and ``y`` has to be passed on: grid searches
        and cross-validation work as for any classifier. Not together with ``task``.
    verbose : int, default=0
        1 shows how far training is: a bar if tqdm is there, lines on standard error otherwise.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes of the target, or of all targets together.
    tasks_ : ndarray of shape (n_tasks,)
        The tasks trained on.
    targets_ : ndarray of shape (n_targets,)
        The tasks that can be predicted for.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if ``X`` had names that are all strings.
    models_ : dict
        The trained model of each target.
    relatedness_ : ndarray of shape (n_tasks, n_tasks)
        Likeness of the class differences of each pair of tasks, from -1 (opposed) over 0 (unrelated)
        to 1 (the same); NaN where their classes do not correspond. With more than 1,000 tasks it is not
        kept: ask a :class:`Study` or :class:`Statistics` for it.

    See Also
    --------
    foretask.TargetSplit : Cross-validation that tests on rows of the target only.
    foretask.Study : Forecast, learning curve, value of each source and classifier from one fit.
    foretask.evaluate : The error measured on labelled data, next to the forecast.

    Notes
    -----
    Rows are kept as they are (``float32`` or ``float64``, C or Fortran order) and not copied; the
    interpreter is free for other threads meanwhile, and Ctrl-C ends a fit. Sparse rows (scipy's CSR;
    others are converted to it) stay sparse: products cost their entries, and no dense copy is made. Only the
    kernel's view needs them in full, and is left out where they would be large.

    A ``sample_weight`` of whole numbers means repetition: a row of weight 3 is three rows. Leave-one-out
    then leaves out one of the three, so that the forecast takes copies for new samples. Other weights, and
    ``class_weight``, are those of weighted least squares: a row is one sample that counts more, and is left
    out as a whole; errors are weighted in all that is chosen and foretold. They are scaled to a mean of one
    in each task, so that equal weights are none and the penalty keeps its meaning. To weigh by whole numbers,
    divide them by their mean. A theory, a false-alarm rate, one-versus-one and groups know no such weights
    and are refused; sources are not rehearsed.

    For two classes ``decision_function`` is positive for ``classes_[1]``, as elsewhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from foretask import MultiTaskClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> few, many = np.flatnonzero(y >= 8)[:20], np.flatnonzero(y <= 1)[:160]
    >>> rows = np.r_[few, many]
    >>> task = np.repeat(["8 or 9", "0 or 1"], [20, 160])
    >>> model = MultiTaskClassifier(target="8 or 9").fit(X[rows], y[rows], task=task)
    >>> model.classes_
    array([8, 9])
    >>> model.forecast_.n_samples
    20
    """

    # Asked for wherever scikit-learn routes metadata. With one target predictions need no task: rows of
    # sources would be refused.
    __metadata_request__fit = {"task": True}
    __metadata_request__score = {"task": True}
    __metadata_request__predict = {"task": False}
    __metadata_request__predict_proba = {"task": False}
    __metadata_request__decision_function = {"task": False}

    __metadata_request__partial_fit = {"task": True}

    #: How columns with texts or gaps become features.
    _preparation: Preparation | None = None
    #: What partial_fit added up.
    _gathered: Statistics | None = None
    #: Classes that partial_fit was told of.
    _announced: NDArray[Any] | None = None

    def __init__(
        self,
        target: Any = None,
        *,
        rule: Rule = "auto",
        labels: Labels = "auto",
        theory: Theory = "auto",
        lam: float | None = None,
        gamma: Gamma = None,
        priors: Priors = "observed",
        costs: ByClass = None,
        class_weight: ClassWeight = None,
        null_class: Any = None,
        false_alarm: float | None = None,
        tail: Tail = "auto",
        scale: Scale = "auto",
        views: Views = "auto",
        ties: Ties = "margins",
        rehearse: bool = True,
        folds: int | None = None,
        memory_budget: int | None = None,
        task_column: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.target = target
        self.rule = rule
        self.labels = labels
        self.theory = theory
        self.lam = lam
        self.gamma = gamma
        self.priors = priors
        self.costs = costs
        self.class_weight = class_weight
        self.null_class = null_class
        self.false_alarm = false_alarm
        self.tail = tail
        self.scale = scale
        self.views = views
        self.ties = ties
        self.rehearse = rehearse
        self.folds = folds
        self.memory_budget = memory_budget
        self.task_column = task_column
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    # Training

    def fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        sample_domain: Any = None,
        groups: Any = None,
    ) -> MultiTaskClassifier:
        """Train on all tasks, and foretell.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features. Data frames may hold texts, categories, booleans and gaps: a column of few texts becomes
            a feature for each, gaps are filled with the median of the task.
        y : array-like of shape (n_samples,)
            Classes. Sources may have classes of their own.
        task : array-like of shape (n_samples,) or str, default=None
            The task of each row, or the column of the data frame ``X`` that holds it; one task by
            default.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, zero or more. Whole numbers say how often: a row of weight 3 is three
            rows, as scikit-learn has it. Others are weights of one row each.
        sample_domain : array-like of shape (n_samples,), default=None
            Instead of ``task``, domains as skada numbers them: d for a source, -d for a target. Rows of
            a target with hidden labels (-1) are left out; those with labels may be numbered d as well.
        groups : array-like of shape (n_samples,), default=None
            Rows of one patient, writer or recording, which are left out together in all that is chosen and
            foretold.

        Returns
        -------
        self : MultiTaskClassifier
            The fitted classifier.
        """
        self._gathered = None
        problem = self._problem(X, y, task, sample_weight, sample_domain, groups)
        with telling(self.verbose, "training") as tell:
            models, relatedness = _foretask.fit(problem.samples, problem.choices, tell)
        return self._keep(problem.tasks, problem.classes, models, relatedness)

    def fit_from_statistics(self, statistics: Statistics) -> MultiTaskClassifier:
        """Train on statistics instead of rows, and foretell.

        The result is that of :meth:`fit` on the same rows in linear views; others need rows. The default
        leaves out rows of the target, or folds of many: tell who that is (``Statistics(target=...)``), or
        name a ``theory`` that needs none.

        Parameters
        ----------
        statistics : Statistics
            Of all rows. Classes and tasks that are all whole numbers are integers.

        Returns
        -------
        self : MultiTaskClassifier
            The fitted classifier.
        """
        self._gathered = None
        choices, tasks, classes = self._planned(statistics)
        with telling(self.verbose, "training") as tell:
            models, relatedness = _foretask.fit_statistics(statistics._filled(), choices, tell)
        return self._keep(tasks, classes, models, relatedness)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, task: Any = None) -> MultiTaskClassifier:
        """Add rows to those of earlier calls; the classifier of all of them is trained when it is asked.

        Rows are added up to ``Statistics(target=...)`` (that of every task without a target), so that memory
        does not grow with them, and the result is that of :meth:`fit_from_statistics`. Nothing is trained
        before something is asked of the classifier (a prediction, ``forecast_``, ``classes_``): until then a
        class or the target may be missing. After :meth:`fit`, which keeps no rows, it begins anew.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Features, all of them numbers.
        y : array-like of shape (n_samples,)
            Classes.
        classes : array-like, default=None
            All classes that will come, as elsewhere in scikit-learn; another one is then refused. There is no
            need for it.
        task : array-like of shape (n_samples,) or str, default=None
            As in :meth:`fit`.

        Returns
        -------
        self : MultiTaskClassifier
            The classifier. If the rows are refused nothing is added.
        """
        from ._statistics import Statistics

        refuse_lazy(X, y, task)
        refuse_missing(y, "y")
        first = self._gathered is None
        column = self._column_of(X, task, None)
        if column is not None:
            X, task = split_column(X, column)
        X, y = checked(self, X, y, reset=first, **TABLE)
        check_classification_targets(y)
        gathered = self._gathered
        if gathered is None:
            gathered, self._announced = Statistics(target=True if self.target is None else self.target), None
            self._gathered = gathered
        if classes is not None:
            self._announced = np.asarray(classes)
        if self._announced is not None and (unknown := np.setdiff1d(y, self._announced)).size:
            raise ValueError(f"y has classes that are not among those announced: {unknown.tolist()}")
        gathered.add(X, y, task)
        if column is not None:
            self.task_column_ = column
        self._preparation = None
        # What was trained on fewer rows is out of date.
        for stale in _TRAINED:
            self.__dict__.pop(stale, None)
        return self

    def __getattr__(self, name: str) -> Any:
        """Train what :meth:`partial_fit` gathered, once something that training finds is asked for."""
        gathered = self.__dict__.get("_gathered")
        if name not in _TRAINED or gathered is None:
            # Once more, for the error that brought us here.
            return object.__getattribute__(self, name)
        names = ("feature_names_in_", "task_column_")
        kept: dict[str, Any] = {own: self.__dict__[own] for own in names if own in self.__dict__}
        try:
            self.fit_from_statistics(gathered)
        finally:
            self.__dict__.update(kept, _gathered=gathered)
        if "feature_names_in_" in kept:
            columns = [str(column) for column in kept["feature_names_in_"]]
            models: dict[str, Any] = self.__dict__["_by_name"]
            self._by_name = {own: model.with_feature_names(columns) for own, model in models.items()}
            trained: dict[Any, Any] = self.__dict__["models_"]
            self.models_ = {task: self._by_name[model.target] for task, model in trained.items()}
        return object.__getattribute__(self, name)

    def _planned(self, statistics: Statistics) -> tuple[Choices, Names, Names]:
        """Check the parameters against the tasks and classes of statistics."""
        if self.class_weight is not None:
            raise ValueError("statistics have no weights: leave out class_weight, or fit the rows")
        tasks = statistics._task_names()
        found = {name: classes for name, classes, _ in statistics._filled().tasks}
        classes = named(sorted({name for names in found.values() for name in names}))
        choices = choices_for(self.get_params(deep=False), self.target, tasks, classes, found)
        self.n_features_in_ = statistics.n_features
        self._preparation = None
        for stale in ("feature_names_in_", "task_column_"):
            if hasattr(self, stale):
                delattr(self, stale)
        if hasattr(statistics, "feature_names_in_"):
            self.feature_names_in_ = statistics.feature_names_in_
        return choices, tasks, classes

    def _problem(
        self,
        X: Any,
        y: Any,
        task: Any,
        sample_weight: Any = None,
        sample_domain: Any = None,
        groups: Any = None,
    ) -> Problem:
        """Check the data and the parameters."""
        refuse_lazy(X, y, task, sample_weight, sample_domain, groups)
        refuse_missing(y, "y")
        column = self._column_of(X, task, sample_domain)
        if column is not None:
            self.task_column_ = column
            X, task = split_column(X, column)
        elif hasattr(self, "task_column_"):
            del self.task_column_
        X, y = self._features(X, y, task if sample_domain is None else np.abs(np.asarray(sample_domain)))
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        rows = LabelledRows(X, y, task, sample_weight, groups)
        target = self.target
        if sample_domain is not None:
            rows, domain_target = rows.of_domains(sample_domain)
            target = domain_target if target is None else target
        return rows.problem(target, self.get_params(deep=False))

    def _features(self, X: Any, y: Any, task: Any) -> tuple[Any, NDArray[Any]]:
        """Return checked features and classes; learn how columns with texts or gaps become features."""
        self._preparation = None
        # What is known to be finite is not looked through once more.
        finite = is_finite(X)
        if finite or is_plain(X):
            X, y = checked(self, X, y, ensure_min_samples=2, ensure_all_finite=not finite, **TABLE)
            return X, y
        table = columns(X)
        tasks, codes = Names(np.array([ONLY_TASK]), [ONLY_TASK]), np.zeros(table.rows, dtype=np.int64)
        if task is not None:
            tasks, codes = encode(one_per_row("task", task, table.rows), "tasks")
        preparation = Preparation.learn(table, codes, tasks)
        features, y = checked(self, preparation.apply(table, codes), y, ensure_min_samples=2, **TABLE)
        self._preparation = preparation
        self.n_features_in_ = len(table.names)
        if columns_of(X):
            self.feature_names_in_ = np.array(table.names, dtype=object)
        return features, y

    def _prepared(self, X: Any, task: Any) -> Any:
        """Return the features of new rows."""
        preparation = self._preparation
        if preparation is None:
            found = checked(self, X, reset=False, **TABLE)
            return found.tocsr() if sparse.issparse(found) else found
        names = columns_of(X)
        if names and not getattr(self, "_lenient", False):
            checked_names(self, X)
        table = columns(X)
        if not names:
            table = table.renamed(list(getattr(self, "feature_names_in_", table.names)), self.n_features_in_)
        one = next(iter(self._by_name)) if len(self._by_name) == 1 else None
        return preparation.apply(table, preparation.codes(task if one is None else one, table.rows))

    def _column_of(self, X: Any, task: Any, sample_domain: Any) -> str | None:
        """Return the column of training data that holds the task, if one is named."""
        if self.task_column is not None:
            if task is not None or sample_domain is not None:
                given = "task" if task is not None else "sample_domain"
                raise ValueError(
                    f"the tasks are in task_column={self.task_column!r} and in {given}: give one of them"
                )
            name, column = "task_column", self.task_column
        elif isinstance(task, str):
            name, column = "task", task
        else:
            return None
        known = columns_of(X)
        if column not in known:
            raise ValueError(
                f"{name}={column!r} names no column of X{nearest(column, known)}; give one task per row, "
                "or a data frame with that column"
            )
        return column

    def _keep(
        self,
        tasks: Names,
        classes: Names,
        models: list[Any],
        relatedness: NDArray[np.float64] | None,
    ) -> MultiTaskClassifier:
        """Remember what was trained."""
        own = {name for model in models for name in model.classes}
        self._classes = classes.restricted(own)
        # A task whose rows all have the weight zero was not trained on.
        tasks = tasks.restricted({name for name, _, _ in models[0].tasks})
        self._tasks = tasks
        names = getattr(self, "feature_names_in_", None)
        if self._preparation is not None:
            preparation = self._preparation
            models = [model.with_preparation(preparation.of(model.target)) for model in models]
        elif names is not None:
            columns = [str(name) for name in names]
            models = [
                model if model.feature_names == columns else model.with_feature_names(columns)
                for model in models
            ]
        by_name = {model.target: model for model in models}
        self._by_name = by_name
        self.classes_ = self._classes.labels
        self.tasks_ = tasks.labels
        targets = [code for code, name in enumerate(tasks.names) if name in by_name]
        self.targets_ = tasks.labels[targets]
        self.models_ = {tasks.label(tasks.names[code]): by_name[tasks.names[code]] for code in targets}
        self.__dict__.pop("relatedness_", None)
        if relatedness is not None:
            places = [name for name, _, _ in models[0].tasks]
            self.relatedness_ = reordered(relatedness, places, tasks)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        # A fit that failed leaves the names of features behind.
        return "_by_name" in self.__dict__ or self._gathered is not None

    # Pickles

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        trained = {name: state.pop(name) for name in _TRAINED if name in state}
        if "_by_name" in trained:
            # All else follows from these.
            models = list(trained["_by_name"].values())
            relatedness = trained.get("relatedness_")
            state["_trained"] = (trained["_tasks"], trained["_classes"], models, relatedness)
        return sealed(state)

    def __setstate__(self, state: Any) -> None:
        what = type(self).__name__
        found = opened(state, what)
        trained = found.pop("_trained", None)
        for name in self._get_param_names():
            if name not in found:
                raise broken(what, f"the parameter {name!r} is missing")
        for name, value in found.items():
            if not fits(value, _PICKLED.get(name, Any)) or (name == "_gathered" and not _is_gathered(value)):
                raise broken(what, f"{name!r} is of another type")
            if name not in _PICKLED and hasattr(type(self), name):
                raise broken(what, f"there is {name!r} in it")
        super().__setstate__(found)
        if trained is None:
            return
        if not fits(trained, _PICKLED_TRAINING):
            raise broken(what, "what it learned is of another type")
        tasks, classes, models, relatedness = trained
        try:
            self._verify(tasks, classes, models, relatedness)
            self._keep(tasks, classes, models, None)
        except ValueError as error:
            raise broken(what, error) from error
        if relatedness is not None:
            self.relatedness_ = relatedness

    def _verify(self, tasks: Names, classes: Names, models: list[Any], relatedness: Any) -> None:
        """Raise a ValueError if what was learned contradicts itself."""
        own = self.__dict__
        if not models or "n_features_in_" not in own:
            raise ValueError("what it learned is not complete")
        if len({model.target for model in models}) < len(models):
            raise ValueError("there are two models of one target")
        preparation, features = self._preparation, own["n_features_in_"]
        columns = features if preparation is None else len(preparation.bridge.feature_names)
        names = own.get("feature_names_in_")
        if names is not None and len(names) != features:
            raise ValueError("it has not as many names as features")
        if preparation is not None and not {model.target for model in models} <= {*preparation.tasks}:
            raise ValueError("its columns are of other tasks")
        for model in models:
            if model.features != columns:
                raise ValueError("a model has another number of features")
            if [name for name, _, _ in model.tasks] != [name for name, _, _ in models[0].tasks]:
                raise ValueError("its models are of different tasks")
            for names, known in ((model.classes, classes), ([name for name, _, _ in model.tasks], tasks)):
                if not {*names} <= {*known.names}:
                    raise ValueError("a model has other classes or tasks")
        if relatedness is not None and relatedness.shape != (len(tasks.names),) * 2:
            raise ValueError("likeness is of other tasks")

    def _feature_names(self) -> list[str] | None:
        """Return the names of what the models see: columns, or what texts and gaps among them became."""
        if self._preparation is not None:
            return self._preparation.bridge.feature_names
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    # What was learned

    def _each(self, of: Callable[[Any], Any]) -> Any:
        """Return something of the only model, or of each by task."""
        check_is_fitted(self)
        if len(self.models_) == 1:
            return of(next(iter(self.models_.values())))
        return {task: of(model) for task, model in self.models_.items()}

    @property
    def forecast_(self) -> Any:
        """Forecast of the target; a dict by task if there are several."""
        return self._each(self._forecast_of)

    def _forecast_of(self, model: Any) -> Forecast:
        sources = len(model.tasks) > 1 and json.loads(model.rule)["labels"] != "alone"
        return Forecast(
            model.forecast, model.target, self._tasks, model.classes, self._classes, model.threshold, sources
        )

    @property
    def coupling_(self) -> Any:
        """Couplings that take part in the rule, heaviest first; a dict by task if several targets."""

        def of(model: Any) -> list[Coupling]:
            rule = json.loads(model.rule)
            tasks = [self._tasks.label(name) for name, _, _ in model.tasks]
            views = [view for view, weight in rule["views"] if weight > 0]
            if rule["coupling"] is not None and len(views) == 1:
                only = {"weight": 1.0, "coupling": rule["coupling"], "family": rule["labels"]}
                return [_coupling(only | {"view": views[0]}, tasks)]
            return [_coupling(candidate, tasks) for candidate in rule["candidates"]]

        return self._each(of)

    @property
    def weights_(self) -> Any:
        """Weight of each family of labels in the average, empty where there is no average."""
        return self._each(lambda model: dict(json.loads(model.rule)["weights"]))

    @property
    def views_(self) -> Any:
        """Weight of each view of the features in the average; where there is none, the view that is seen."""
        return self._each(lambda model: dict(json.loads(model.rule)["views"]))

    @property
    def label_scores_(self) -> Any:
        """Label values by task and class where there is one coupling, None where many are averaged."""

        def of(model: Any) -> Any:
            scores = json.loads(model.rule)["label_scores"]
            if scores is None:
                return None
            rows = iter(scores)
            return {
                self._tasks.label(name): {class_name: np.array(next(rows)) for class_name in class_names}
                for name, class_names, _ in model.tasks
            }

        return self._each(of)

    @property
    def coef_(self) -> Any:
        """Weights of ``decision_function``, of shape ``(1 or n_classes, n_features_in_)``."""
        return self._each(lambda model: self._linear(model)[0])

    @property
    def intercept_(self) -> Any:
        """Value of ``decision_function`` at the origin, of shape (1 or n_classes,)."""
        return self._each(lambda model: self._linear(model)[1])

    def _linear(self, model: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        linear = model.linear_margins()
        if linear is None:
            raise AttributeError(
                f"a classifier with rule={self.rule!r} and views={self.views!r} is not linear in the "
                "features: it has no coef_ (views='linear' has)"
            )
        weights, intercept = linear
        table = np.column_stack([weights, intercept])
        table = self._oriented(model, table.T, self._classes_of(model)).T
        table = np.atleast_2d(table)
        return np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1])

    # Prediction

    def _rows(self, X: Any, task: Any, sample_domain: Any) -> tuple[NDArray[Any], list[Any]]:
        """Return the checked table, and for each model its rows."""
        X, tasks, held = self._table(X, task, sample_domain)
        everything = slice(None)
        # A column says where rows come from and asks nothing: the only rule decides for all of them.
        one_rule = held and len(self.models_) == 1
        if tasks is None or isinstance(tasks, str) or np.ndim(tasks) == 0:
            return X, [(self._model_of(tasks), everything)]
        names, codes = encode(one_per_row("task", tasks, X.shape[0]), "tasks")
        if one_rule and all(name in self._tasks.names for name in names.names):
            return X, [(self._model_of(None), everything)]
        models = [self._model_of(label) for label in names.labels]
        if len(models) == 1:
            return X, [(models[0], everything)]
        return X, [(model, np.flatnonzero(codes == code)) for code, model in enumerate(models)]

    def _table(self, X: Any, task: Any, sample_domain: Any) -> tuple[NDArray[Any], Any, bool]:
        """Return the checked table, the task of all rows or of each, and whether a column held it."""
        check_is_fitted(self)
        known, held = columns_of(X), False
        column = getattr(self, "task_column_", None)
        if isinstance(task, str) and task in known:
            X, task = split_column(X, task)
        elif column is not None and column in known:
            if self.task_column is not None and (task is not None or sample_domain is not None):
                given = "task" if task is not None else "sample_domain"
                raise ValueError(f"the tasks are in task_column={column!r} and in {given}: give one of them")
            X, in_frame = split_column(X, column)
            held = task is None
            task = in_frame if held else task
        if sample_domain is not None:
            if task is not None:
                raise ValueError("give task or sample_domain, not both")
            task = np.abs(one_per_row("sample_domain", sample_domain, len(sample_domain)))
        X = self._prepared(X, task)
        if sample_domain is not None:
            one_per_row("sample_domain", sample_domain, X.shape[0])
        return X, task, held

    def _target_rows(
        self, X: Any, y: Any, task: Any, sample_domain: Any = None
    ) -> tuple[NDArray[Any], NDArray[Any], list[Any], Any]:
        """Leave out rows of sources: return table, classes, rows of each model, and which rows are left."""
        X, tasks, _ = self._table(X, task, sample_domain)
        y, everything = one_per_row("y", y, X.shape[0]), slice(None)
        if tasks is None or isinstance(tasks, str) or np.ndim(tasks) == 0:
            return X, y, [(self._model_of(tasks), everything)], everything
        names, codes = encode(one_per_row("task", tasks, X.shape[0]), "tasks")
        sources = [name in self._tasks.names and name not in self._by_name for name in names.names]
        kept: Any = everything
        if any(sources):
            kept = np.flatnonzero(~np.array(sources)[codes])
            if kept.size == 0:
                known = ", ".join(repr(name) for name in self._by_name)
                raise ValueError(f"no row is of a target ({known}), and rows of sources are not counted")
            X, y, codes = X[kept], y[kept], codes[kept]
        models = [(code, self._model_of(names.labels[code])) for code in np.unique(codes)]
        if len(models) == 1:
            return X, y, [(models[0][1], everything)], kept
        return X, y, [(model, np.flatnonzero(codes == code)) for code, model in models], kept

    def _model_of(self, task: Any) -> Any:
        """Return the model of a target; None stands for the only one."""
        check_is_fitted(self)
        known = ", ".join(repr(name) for name in self._by_name)
        if task is None:
            if len(self.models_) > 1:
                raise ValueError(f"there are several targets; give task, one of: {known}")
            return next(iter(self.models_.values()))
        name = name_of(task)
        if name in self._by_name:
            return self._by_name[name]
        if name in self._tasks.names:
            raise ValueError(
                f"task {name!r} was a source; predictions are for: {known} (fit with target=None to "
                "predict for every task with two classes)"
            )
        raise ValueError(f"there is no task {name!r}; predictions are for: {known}")

    def _classes_of(self, model: Any) -> Names:
        """Return the classes of one model, in our order."""
        return self._classes.restricted(model.classes)

    def _oriented(self, model: Any, margins: NDArray[np.float64], classes: Names) -> NDArray[np.float64]:
        """Margins of the library as a decision function over ``classes``."""
        codes = classes.index(model.classes)
        if margins.shape[1] == 1:
            margins = np.column_stack([margins[:, 0], -margins[:, 0]])
            if len(classes.names) == 2:
                return margins[:, np.flatnonzero(codes == 1)]
        if len(classes.names) == 2:
            first, second = np.argsort(codes)
            return (margins[:, second] - margins[:, first])[:, np.newaxis]
        decision = np.full((margins.shape[0], len(classes.names)), -np.inf)
        decision[:, codes] = margins
        return decision

    def _foretold_scores(self, X: Any, y: Any, task: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return the scores of test rows that the forecast speaks of, and their classes."""
        X, truth, parts, _ = self._target_rows(X, y, task)
        if len(parts) != 1:
            raise ValueError("give the one task that the picture is of")
        model, _ = parts[0]
        codes = np.array(
            [model.classes.index(self._classes.find(label, "class")) for label in truth],
            dtype=np.int64,
        )
        scores = model.foretold_scores(table_of(X), codes)
        classes = self._classes_of(model)
        if len(classes.names) == 2 and classes.names[0] == model.classes[0]:
            scores = -scores
        return scores, classes.labels[classes.index(model.classes)[codes]]

    def predict(self, X: Any, task: Any = None, sample_domain: Any = None) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Features.
        task : object or array-like of shape (n_samples,), default=None
            The task of all rows, or of each; may be left out if there is one target. With a data
            frame, the column that holds it. Rows whose column says that they are of a source are decided
            by the rule of the one target too; a source that is asked for by ``task`` is refused.
        sample_domain : array-like of shape (n_samples,), default=None
            Instead of ``task``, domains as skada numbers them.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        return self._predicted(*self._rows(X, task, sample_domain))

    def _predicted(self, X: NDArray[Any], parts: list[Any]) -> NDArray[Any]:
        """Return the class of each row of a checked table."""
        predicted = np.empty(X.shape[0], dtype=self.classes_.dtype)
        for model, rows in parts:
            codes = self._classes.index(model.classes)
            predicted[rows] = self.classes_[codes[model.predict(part_of(X, rows))]]
        return predicted

    def predict_proba(self, X: Any, task: Any = None, sample_domain: Any = None) -> NDArray[Any]:
        """Predict class probabilities.

        Parameters
        ----------
        X, task, sample_domain
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``; zero for classes that a task does not have.
        """
        X, parts = self._rows(X, task, sample_domain)
        probabilities = np.zeros((X.shape[0], len(self.classes_)))
        for model, rows in parts:
            codes = self._classes.index(model.classes)
            found = np.zeros((len(probabilities[rows]), len(self.classes_)))
            found[:, codes] = model.probabilities(part_of(X, rows))
            probabilities[rows] = found
        return probabilities

    def decision_function(self, X: Any, task: Any = None, sample_domain: Any = None) -> NDArray[Any]:
        """Return what is compared to decide.

        Parameters
        ----------
        X, task, sample_domain
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes positive where ``classes_[1]`` is chosen; for more, the class of the
            largest value is chosen, and classes that a task does not have are minus infinity.
        """
        X, parts = self._rows(X, task, sample_domain)
        width = 1 if len(self.classes_) == 2 else len(self.classes_)
        decision = np.empty((X.shape[0], width))
        for model, rows in parts:
            decision[rows] = self._oriented(model, model.margins(part_of(X, rows)), self._classes)
        return decision[:, 0] if width == 1 else decision

    def score(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        sample_domain: Any = None,
    ) -> float:
        """Return the share of right decisions among the rows of the target.

        Where tasks are given, by ``task``, ``sample_domain`` or a column, rows of sources are not counted.

        Parameters
        ----------
        X, task, sample_domain
            As in :meth:`predict`.
        y : array-like of shape (n_samples,)
            True classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            Accuracy.
        """
        if sample_weight is not None:
            sample_weight = one_per_row("sample_weight", sample_weight, len(y))
        X, y, parts, kept = self._target_rows(X, y, task, sample_domain)
        weight = None if sample_weight is None else sample_weight[kept]
        return float(accuracy_score(y, self._predicted(X, parts), sample_weight=weight))

    # The page

    def report(
        self,
        X: Any = None,
        y: Any = None,
        task: Any = None,
        *,
        path: str | PathLike[str] | None = None,
        details: bool = True,
        sample_weight: Any = None,
        sample_domain: Any = None,
        groups: Any = None,
    ) -> Report | dict[Any, Report]:
        """Make one page of everything that is foretold, to look at and to play with.

        A fitted classifier keeps no rows, and the page needs them: it is made of the data that the classifier
        was trained on, which are studied once more. Other data are refused.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Statistics, default=None
            What was given to :meth:`fit`, or to :meth:`fit_from_statistics`. May be left out after
            :meth:`partial_fit` only, which keeps statistics.
        y, task, sample_weight, sample_domain, groups
            As they were given to :meth:`fit`.
        path : str or path-like, default=None
            Where to write it; of several targets, a folder that is there, in which each has a file.
        details : bool, default=True
            Also ask what more labels would bring and what each source is worth: a study per source.

        Returns
        -------
        Report or dict
            That of :meth:`foretask.Study.report`, which a notebook shows; by task if there are several
            targets.

        See Also
        --------
        foretask.Study : Where more than the classifier is wanted: one fit, and the page without another.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from foretask import MultiTaskClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> report = MultiTaskClassifier().fit(X[:60], y[:60]).report(X[:60], y[:60])
        >>> report.html.startswith("<!doctype html>")
        True
        """
        from ._statistics import Statistics
        from ._study import Study

        check_is_fitted(self)
        trained = self.models_
        given = self._gathered if X is None else X
        if given is None:
            raise ValueError(
                "a fitted classifier keeps no rows: give report what fit was given, report(X, y, task), or "
                "make a Study of it, which has a report and the classifier from one fit"
            )
        again = copy(self)
        if isinstance(given, Statistics):
            study = Study._planned(again, given)
            if X is None and hasattr(self, "feature_names_in_"):
                again.feature_names_in_ = self.feature_names_in_
        else:
            study = Study._posed(again, again._problem(X, y, task, sample_weight, sample_domain, groups))
        found = {model.target: model for model in study._raw.models()}
        if {name: _told(model) for name, model in found.items()} != {
            model.target: _told(model) for model in trained.values()
        }:
            raise ValueError(
                "these data and parameters make another classifier than this one: give report what fit "
                "was given"
            )
        return study.report(path, details=details)

    # Files

    def save(self, path: str | PathLike[str], task: Any = None) -> None:
        """Write the model of a target to a file that the command line reads too.

        Parameters
        ----------
        path : str or path-like
            Where; the file appears whole or not at all.
        task : object, default=None
            Which target; may be left out if there is one.
        """
        self._model_of(task).save(path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> MultiTaskClassifier:
        """Read a model that :meth:`save` or ``foretask fit`` wrote.

        Parameters
        ----------
        path : str or path-like
            The file.

        Returns
        -------
        MultiTaskClassifier
            Fitted. Classes and tasks that are all whole numbers become integers.
        """
        return cls._of_model(_foretask.Model.load(path))

    @classmethod
    def _of_model(cls, model: _foretask.Model) -> MultiTaskClassifier:
        """Return a classifier of one trained model."""
        tasks = named([name for name, _, _ in model.tasks])
        classes = named(model.classes)
        target = tasks.label(model.target)
        rule = json.loads(model.rule)
        loaded = cls(target=target, rule=rule["name"], labels=rule["labels"])
        loaded.n_features_in_ = model.features
        loaded._preparation = None
        names = model.feature_names
        if model.preparation is not None:
            loaded._preparation = Preparation(model.preparation, [model.target])
            # A file that the model was not trained on may hold more columns.
            loaded._lenient = True
            names = model.preparation.columns
            loaded.n_features_in_ = len(names)
        if names is not None:
            loaded.feature_names_in_ = np.array(names, dtype=object)
        return loaded._keep(tasks, classes, [model], None)

    def to_onnx(self, path: str | PathLike[str] | None = None, task: Any = None) -> bytes:
        """Export the model of a target to ONNX: label, decision and probabilities in double precision.

        The graph takes ``X``. If the model knows how the columns of a table become features and they are
        not all numbers, it takes the columns by name instead, each of shape (n, 1): doubles with NaN for
        what is missing, strings with "" for it.

        Parameters
        ----------
        path : str or path-like, default=None
            A file to write as well.
        task : object, default=None
            Which target; may be left out if there is one.

        Returns
        -------
        bytes
            The ONNX file.
        """
        content: bytes = self._model_of(task).to_onnx()
        if path is not None:
            with open(path, "wb") as file:
                file.write(content)
        return content


def _is_gathered(value: Any) -> bool:
    from ._statistics import Statistics

    return value is None or isinstance(value, Statistics)


def _told(model: Any) -> tuple[Any, ...]:
    """Return what a page tells of a model."""
    return model.tasks, model.rule, model.forecast.to_json()


def _coupling(candidate: dict[str, Any], tasks: list[Any]) -> Coupling:
    gamma = candidate["coupling"]["gamma"]
    return Coupling(
        weight=candidate["weight"],
        lam=candidate["coupling"]["lambda"],
        gamma=dict(zip(tasks, gamma, strict=True)),
        labels=candidate["family"],
        view=candidate["view"],
    )


def part_of(X: Any, rows: Any) -> NDArray[Any] | SparseTable:
    """Return some rows of a table, as the bridge takes them."""
    return table_of(X if isinstance(rows, slice) else X[rows])
