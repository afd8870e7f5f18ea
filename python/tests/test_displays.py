"""Pictures show the numbers they are made of."""

import os

import numpy as np
import pytest
from conftest import draw

from foretask import (
    EvaluationDisplay,
    ForecastDisplay,
    LearningCurveForecastDisplay,
    MultiTaskClassifier,
    RocForecastDisplay,
    Study,
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
    assert display.roc_auc == model.forecast_.auc and f"AUC {display.roc_auc:.2f}" in display.ax_.get_title()
    # Both edges of the band run beside the curve, on their sides.
    upper, lower = display.band
    assert (upper[:, 0] <= fpr).all() and (upper[:, 1] >= tpr).all()
    assert (lower[:, 0] >= fpr).all() and (lower[:, 1] <= tpr).all()
    theory = RocForecastDisplay.from_data(
        X, y, task, target="webcam", theory="isotropic", labels="optimal", rule="auto"
    )
    assert theory.band is None
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
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["amazon"]
    drawn = [dot.get_xdata()[0] for dot in display.dots_]
    np.testing.assert_allclose(drawn, 100 * display.values.difference)
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


def texts(figure):
    """What is written on a figure, with where it is in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    found = []
    for ax in figure.axes:
        parts = [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            # Ticks beyond the ends are there, and are not drawn.
            labels = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            parts += [label for place, label in labels if low <= place <= high]
        found += [(part.get_text(), part.get_window_extent(renderer)) for part in parts]
    return [(text, box) for text, box in found if text and box.width > 0]


def assert_tidy(display):
    """No text is cut, and no name of a row is over another."""
    figure = display.figure_
    width, height = figure.canvas.get_width_height()
    for text, box in texts(figure):
        assert box.x0 >= -1 and box.y0 >= -1 and box.x1 <= width + 1 and box.y1 <= height + 1, text
    labels = [label for label in display.ax_.get_yticklabels() if label.get_text()]
    boxes = sorted(label.get_window_extent().y0 for label in labels)
    if boxes:
        tall = min(label.get_window_extent().height for label in labels)
        assert np.all(np.diff(boxes) > 0.7 * tall)


LONG = r"a very long name of a hospital <b>in the far north</b> & $1 \alpha$, number "


@pytest.mark.parametrize(
    ("prefix", "classes", "tasks"), [("t", 2, 2), (LONG, 2, 2), (LONG, 10, 2), (LONG, 2, 20)]
)
def test_every_display_is_tidy(prefix, classes, tasks, tmp_path):
    rng = np.random.default_rng(0)
    codes = np.tile(np.arange(classes), 8 * tasks)
    task_codes = np.repeat(np.arange(tasks), 8 * classes)
    X = rng.standard_normal((len(codes), 12)) + 2.0 * rng.standard_normal((classes, 12))[codes]
    y = np.array([f"{prefix}{code:02}" for code in range(classes)])[codes]
    task = np.array([f"{prefix}{code}" for code in range(tasks)])[task_codes]
    target = f"{prefix}0"
    study = Study(X, y, task, target=target, views="standard")
    model = study.classifier()
    own = task == target
    displays = {
        "forecast": ForecastDisplay.from_study(study),
        "measured": ForecastDisplay.from_estimator(model, X[own], y[own]),
        "evaluation": EvaluationDisplay.from_estimator(model, X[own], y[own]),
        "curve": LearningCurveForecastDisplay.from_study(study),
        "values": TaskValueDisplay.from_study(study),
        "relatedness": TaskRelatednessDisplay.from_study(study),
    }
    if classes == 2:
        displays["roc"] = RocForecastDisplay.from_estimator(model, X[own], y[own])
    folder = os.environ.get("FORETASK_PLOT_DIR", tmp_path)
    for kind, display in displays.items():
        assert_tidy(display)
        display.figure_.savefig(f"{folder}/py-{kind}-{classes}-{tasks}-{'s' if prefix == 't' else 'l'}.png")


def test_one_label_of_each_class_has_pictures_that_say_so():
    X, y, task = draw(0, few=2)
    own = task == "webcam"
    study = Study(X[own], y[own])
    assert "cannot be told" in ForecastDisplay.from_study(study).ax_.get_title()
