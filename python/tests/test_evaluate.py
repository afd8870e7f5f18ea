"""What is measured on labelled data, next to what was foretold."""

import numpy as np
import pytest
from conftest import draw
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix

from foretask import EvaluationDisplay, MultiTaskClassifier, evaluate


@pytest.fixture(scope="module")
def model():
    return MultiTaskClassifier(target="webcam").fit(*draw(classes=(10, 9)))


@pytest.fixture(scope="module")
def held_out():
    """Rows of the target, drawn around the same centres."""
    X, y, task = draw(few=300, many=80, classes=(10, 9))
    own = task == "webcam"
    return X[own], y[own]


def test_errors_are_those_of_the_predictions(model, held_out):
    X, y = held_out
    measured = evaluate(model, X, y)
    predicted = model.predict(X)
    assert measured.task == "webcam" and list(measured.classes) == [9, 10]
    assert measured.error == np.mean(predicted != y) and measured.n_samples == len(y)
    assert measured.interval[0] <= measured.error <= measured.interval[1]
    np.testing.assert_array_equal(measured.confusion, confusion_matrix(y, predicted))
    np.testing.assert_array_equal(measured.class_samples, measured.confusion.sum(axis=1))
    np.testing.assert_allclose(
        measured.class_errors, 1 - np.diag(measured.confusion) / measured.class_samples
    )
    low, high = measured.foretold
    assert (low, high) == measured.forecast.in_test(len(y))
    assert measured.within == (low <= measured.comparable <= high)
    codes = np.searchsorted(measured.classes, y)
    claimed = model.predict_proba(X)[np.arange(len(y)), codes]
    np.testing.assert_allclose(measured.log_loss, -np.log(np.maximum(claimed, 1e-15)).mean(), rtol=1e-6)
    assert abs(sum(group["share"] for group in measured.reliability) - 1.0) < 1e-12
    assert measured.alarm is None and "foretold=" in repr(measured)


def test_other_class_shares_are_set_right(model, held_out):
    X, y = held_out
    fewer = np.r_[np.flatnonzero(y == 9)[:20], np.flatnonzero(y == 10)]
    measured = evaluate(model, X[fewer], y[fewer])
    assert measured.shares_differ and measured.comparable == measured.at_priors
    np.testing.assert_allclose(measured.at_priors, measured.class_errors @ measured.forecast.priors)
    one = evaluate(model, X[y == 9], y[y == 9])
    assert one.at_priors is None and np.isnan(one.class_errors[1]) and one.class_samples[1] == 0


def test_models_and_several_targets(model, held_out):
    X, y = held_out
    (raw,) = model.models_.values()
    assert evaluate(raw, X, y).error == evaluate(model, X, y).error
    X, y, task = draw()
    both = MultiTaskClassifier().fit(X, y, task)
    found = evaluate(both, X, y, task)
    assert set(found) == {"amazon", "webcam"}
    own = task == "webcam"
    assert found["webcam"].error == evaluate(both, X[own], y[own], "webcam").error
    with pytest.raises(ValueError, match="several targets; give task"):
        evaluate(both, X, y)


def test_a_held_rate_is_measured(two_tasks):
    X, y, task = two_tasks
    model = MultiTaskClassifier(target="webcam", null_class="bike", false_alarm=0.2).fit(X, y, task)
    measured = evaluate(model, X, y)
    alarms = model.predict(X) == "mug"
    assert measured.alarm.false_alarm.share == alarms[y == "bike"].mean()
    assert measured.alarm.detection.share == alarms[y == "mug"].mean()
    assert measured.alarm.detection.n_samples == (y == "mug").sum()
    low, high = measured.alarm.detection.foretold
    assert measured.alarm.detection.within == (low <= measured.alarm.detection.share <= high)
    only = evaluate(model, X[y == "bike"], y[y == "bike"])
    assert only.alarm.detection is None


def test_the_picture_shows_the_numbers(model, held_out):
    X, y = held_out
    display = EvaluationDisplay.from_estimator(model, X, y)
    measured = display.evaluation
    np.testing.assert_array_equal(display.measured_.get_xdata(), np.r_[measured.error, measured.class_errors])
    np.testing.assert_array_equal(
        display.foretold_.get_xdata(), np.r_[measured.forecast.error, measured.forecast.class_errors]
    )
    np.testing.assert_array_equal(display.in_test_.get_xdata(), measured.foretold)
    assert ("within" if measured.within else "outside") in display.ax_.get_title()
    again = EvaluationDisplay(evaluate(model, X[y == 9], y[y == 9])).plot(display.ax_)
    assert again.ax_ is display.ax_ and again.figure_ is display.figure_


def test_what_it_refuses(model, held_out):
    X, y = held_out
    for X_bad, y_bad, match in (
        (X, np.where(y == 9, 8, y), "class '8'"),
        (X[:, 1:], y, "X has 19 features"),
        (X, y[:-1], "one value per row"),
        (X[:0], y[:0], "0 sample"),
        (np.where(X > 3, np.nan, X), y, "NaN"),
        (X, np.where(y == 9, np.nan, y), "NaN"),
    ):
        with pytest.raises(ValueError, match=match):
            evaluate(model, X_bad, y_bad)
    with pytest.raises(ValueError, match="'amazon' was a source"):
        evaluate(model, X, y, "amazon")
    with pytest.raises(NotFittedError):
        evaluate(MultiTaskClassifier(), X, y)
