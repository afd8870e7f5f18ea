"""Pictures show the numbers they are made of."""

import numpy as np
import pytest
from conftest import draw

from foretask import (
    ForecastDisplay,
    LearningCurveForecastDisplay,
    MultiTaskClassifier,
    RocForecastDisplay,
    TaskRelatednessDisplay,
    TaskValueDisplay,
)


def test_forecast(two_tasks, three_classes):
    for X, y, task in (two_tasks, three_classes):
        model = MultiTaskClassifier(target="webcam").fit(X, y, task)
        own = task == "webcam"
        display = ForecastDisplay.from_estimator(model, X[own], y[own])
        assert len(display.lines_) == len(model.classes_)
        at, density = display.lines_[0].get_data()
        np.testing.assert_allclose(density, model.forecast_.density(at)[0])
        assert f"{model.forecast_.error:.1%} expected" in display.ax_.get_title()
        assert "measured" in display.ax_.get_title()
        assert display.ax_.patches, "no histogram"
        only = ForecastDisplay.from_data(X, y, task, target="webcam")
        assert not only.ax_.patches
        again = display.plot(only.ax_)
        assert again.ax_ is only.ax_


def test_roc(two_tasks):
    X, y, task = two_tasks
    model = MultiTaskClassifier(target="webcam").fit(X, y, task)
    own = task == "webcam"
    display = RocForecastDisplay.from_estimator(model, X[own], y[own])
    fpr, tpr = model.forecast_.roc(400)
    np.testing.assert_array_equal(display.line_.get_xdata(), fpr)
    np.testing.assert_array_equal(display.line_.get_ydata(), tpr)
    assert display.pos_label == "mug" and display.measured_tpr.max() == 1.0
    assert RocForecastDisplay.from_data(X, y, task, target="webcam").measured_fpr is None


def test_learning_curve(two_tasks):
    X, y, task = two_tasks
    model = MultiTaskClassifier(target="webcam")
    display = LearningCurveForecastDisplay.from_estimator(model, X, y, task, added=[0, 10])
    np.testing.assert_array_equal(display.line_.get_xdata(), [0, 10])
    np.testing.assert_array_equal(display.line_.get_ydata(), display.curve.error)
    drawn = [line.get_ydata() for line in display.foretold_lines_]
    np.testing.assert_array_equal(np.transpose(drawn), display.curve.foretold_interval)
    same = LearningCurveForecastDisplay.from_data(X, y, task, target="webcam", added=[0, 10])
    np.testing.assert_array_equal(same.curve.error, display.curve.error)


def test_values_and_relatedness(two_tasks):
    X, y, task = two_tasks
    model = MultiTaskClassifier().fit(X, y, task)
    display = TaskValueDisplay.from_estimator(model, X, y, task, target="webcam")
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["without amazon"]
    np.testing.assert_allclose([bar.get_width() for bar in display.ax_.patches], display.values.error_without)
    matrix = TaskRelatednessDisplay.from_estimator(model)
    np.testing.assert_array_equal(matrix.im_.get_array(), model.relatedness_)
    data = TaskRelatednessDisplay.from_data(X, y, task)
    np.testing.assert_allclose(data.relatedness, model.relatedness_)


def test_several_targets_need_one_named():
    X, y, task = draw(0)
    model = MultiTaskClassifier().fit(X, y, task)
    for make in (
        lambda: ForecastDisplay.from_estimator(model),
        lambda: ForecastDisplay.from_data(X, y, task),
        lambda: TaskValueDisplay.from_data(X, y, task),
        lambda: RocForecastDisplay.from_estimator(model),
    ):
        with pytest.raises(ValueError, match="several targets"):
            make()
    assert ForecastDisplay.from_estimator(model, task="webcam").forecast.task == "webcam"
