"""Pickles that are cut off, edited or of another version: a clear error at once, or a whole object."""

import copyreg
import io
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import foretask
from foretask import (
    EvaluationDisplay,
    MultiTaskClassifier,
    Report,
    Statistics,
    Study,
    TargetSplit,
    _pickles,
    evaluate,
)

#: Edits of each kind of object.
EDITS = 120


def rows():
    rng = np.random.default_rng(5)
    X, y, task = rng.normal(size=(90, 4)), rng.integers(0, 3, 90), np.repeat(["few", "many"], [30, 60])
    X[:, 0] += 1.5 * y
    return X, y, task


def frame():
    pd = pytest.importorskip("pandas")
    X, y, task = rows()
    table = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.where(X[:, 1] > 0, "red", "blue"))
    table.loc[4, "b"] = np.nan
    return table, y, task


def use_classifier(model, X=None):
    X = rows()[0] if X is None else X
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), len(model.classes_))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= set(model.classes_)
    use_forecast(model.forecast_)
    assert model.coupling_ and repr(model)


def use_forecast(told):
    assert told.interval[0] - 1e-6 <= told.error <= told.interval[1] + 1e-6
    assert np.isfinite(told.density(np.zeros(3))).all()
    assert told.confusion.shape == (len(told.classes),) * 2
    assert told.summary() and told._repr_html_() and repr(told) and told.in_test(10)


def use_statistics(statistics):
    if statistics.n_samples:
        statistics.relatedness()
        MultiTaskClassifier(target="few", views="linear").fit_from_statistics(statistics)


def use_split(split):
    X, y, _ = rows()
    split.target = None
    assert len(list(split.split(X, y))) == split.n_splits


#: What is pickled, and what is asked of what comes back.
OBJECTS = {
    "classifier": (
        lambda: MultiTaskClassifier(target="few", rehearse=False, views="linear").fit(*rows()),
        use_classifier,
    ),
    "classifier of a frame": (
        lambda: MultiTaskClassifier(target="few", rehearse=False).fit(*frame()),
        lambda model: use_classifier(model, frame()[0]),
    ),
    "classifier that was told rows": (
        lambda: MultiTaskClassifier(target="few", views="linear").partial_fit(
            rows()[0], rows()[1], task=rows()[2]
        ),
        use_classifier,
    ),
    "classifier to be": (MultiTaskClassifier, repr),
    "forecast": (lambda: foretask.forecast(*rows(), target="few"), use_forecast),
    "statistics": (lambda: Statistics(target=["few"]).add(*rows()), use_statistics),
    "values": (lambda: foretask.task_values(*rows(), target="few"), lambda values: values.gain),
    "curve": (lambda: foretask.learning_curve_forecast(*rows(), target="few"), lambda curve: curve.error[0]),
    "samples": (lambda: Study(*rows(), target="few").left_out(), lambda left: left.truth.shape),
    "rules": (
        lambda: Study(*rows(), target="few", views="linear").compare(),
        lambda rules: [use_forecast(one.forecast) for one in rules],
    ),
    "evaluation": (
        lambda: evaluate(MultiTaskClassifier(views="linear").fit(*rows()[:2]), *rows()[:2]),
        lambda found: use_forecast(found.forecast) or repr(found),
    ),
    "report": (lambda: Report("few", "<p>"), lambda report: report._repr_html_()),
    "folds": (lambda: TargetSplit(3), use_split),
}


@pytest.fixture(scope="module", params=list(OBJECTS))
def kept(request):
    make, use = OBJECTS[request.param]
    return make(), use


def test_what_was_pickled_comes_back(kept):
    one, use = kept
    again = pickle.loads(pickle.dumps(one))
    use(again)
    if not isinstance(again, list):
        assert repr(again).split(" at 0x")[0] == repr(one).split(" at 0x")[0]


def test_edited_pickles_are_refused_or_whole(kept):
    """Many edits at any depth: an error when it is opened, or an object that does its work."""
    one, use = kept
    rng = np.random.default_rng(11)
    refused = 0
    for _ in range(EDITS):
        try:
            again = pickle.loads(damaged(one, rng))
        except (ValueError, TypeError) as error:
            assert len(str(error)) > 20
            refused += 1
            continue
        try:
            use(again)
        except ValueError as error:
            # Parameters are anything until they are needed, and then the error is that of a fit.
            assert len(str(error)) > 20
    assert refused > EDITS // 4


def damaged(one, rng):
    """Return a pickle in which one of our objects was changed in one place."""

    def dumped(chosen):
        met = 0

        class Editor(pickle.Pickler):
            def reducer_override(self, value):
                nonlocal met
                if not type(value).__module__.startswith("foretask"):
                    return NotImplemented
                met += 1
                reduced = value.__reduce_ex__(4)
                return edited(reduced, rng) if met == chosen else reduced

        file = io.BytesIO()
        Editor(file).dump(one)
        return met, file.getvalue()

    count, _ = dumped(None)
    return dumped(1 + rng.integers(count))[1]


def edited(reduced, rng):
    make, args, *state = reduced
    if make is copyreg.__newobj__:
        return make, args, mutated(state[0], rng)
    return (make, mutated(tuple(args), rng, deep=True), *state)


def mutated(value, rng, deep=False):
    """Return a value with one thing changed; ``deep`` keeps the number of entries."""
    junk = [None, float("nan"), -1, "x", [], {}, b"", 10**30, 1.5j, np.zeros((2, 2)), True]
    some = junk[rng.integers(len(junk))]
    inside = deep or rng.random() < 0.7
    if isinstance(value, dict) and value:
        name = list(value)[rng.integers(len(value))]
        rest = {own: one for own, one in value.items() if own != name}
        how = rng.integers(4)
        if how == 0:
            return rest
        if how == 1:
            return value | {["predict", "x", "_raw", "__class__"][rng.integers(4)]: some}
        return value | {name: mutated(value[name], rng) if inside else some}
    if isinstance(value, list | tuple) and value and inside:
        place = rng.integers(len(value))
        own = list(value)
        if not deep and rng.random() < 0.3:
            own.pop(place)
        else:
            own[place] = mutated(own[place], rng)
        return type(value)(own) if type(value) in (list, tuple) else some
    if isinstance(value, bytes | str) and value and inside:
        place = rng.integers(len(value))
        if rng.random() < 0.4:
            return value[:place]
        other = b"9" if isinstance(value, bytes) else "9"
        return value[:place] + other + value[place + 1 :]
    if isinstance(value, np.ndarray) and value.size and inside:
        return [value[:-1], value.reshape(-1, 1), value.astype(object), value.astype("U8")][rng.integers(4)]
    return some


def test_another_version_is_named(kept, monkeypatch):
    one, _ = kept
    if isinstance(one, Statistics):
        pytest.skip("statistics are a file, which has a version of its own")
    monkeypatch.setattr(_pickles, "__version__", "0.0.9")
    old = pickle.dumps(one)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="pickled by foretask 0.0.9, and this is foretask"):
        pickle.loads(old)


def test_pickles_that_are_cut_off_are_refused(kept):
    whole = pickle.dumps(kept[0])
    rng = np.random.default_rng(2)
    for end in rng.integers(0, len(whole), 60):
        with pytest.raises((pickle.UnpicklingError, EOFError, ValueError)):
            pickle.loads(whole[:end])


def test_a_study_says_that_it_is_not_pickled():
    with pytest.raises(TypeError, match="pickle its answers"):
        pickle.dumps(Study(*rows(), target="few", views="linear"))


def test_attributes_of_users_travel():
    model = MultiTaskClassifier()
    model.remark = "mine"
    assert pickle.loads(pickle.dumps(model)).remark == "mine"
    assert clone(model).get_params() == model.get_params()


def test_pictures_are_kept_with_what_they_show():
    pytest.importorskip("matplotlib")
    found = evaluate(MultiTaskClassifier(views="linear").fit(*rows()[:2]), *rows()[:2])
    display = EvaluationDisplay(found)
    assert pickle.loads(pickle.dumps(display)).evaluation.error == found.error
    with pytest.raises(ValueError, match="'evaluation' is missing"):
        EvaluationDisplay.__new__(EvaluationDisplay).__setstate__({_pickles.VERSION: foretask.__version__})
