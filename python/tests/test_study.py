"""A study gives every answer from one fit, and the ones that the functions and the classifier give."""

import numpy as np
import pytest
from conftest import draw

from foretask import (
    LearningCurveForecastDisplay,
    MultiTaskClassifier,
    RocForecastDisplay,
    Statistics,
    Study,
    TaskRelatednessDisplay,
    TaskValueDisplay,
    forecast,
    learning_curve_forecast,
    task_values,
)


@pytest.fixture(scope="module")
def data():
    return draw()


@pytest.fixture(scope="module")
def study(data):
    return Study(*data, target="webcam")


#: Settings that go other ways through the library.
WAYS = {
    "default": {},
    "fixed": {"lam": 2.0, "gamma": {"webcam": 1.0, "amazon": 0.5}},
    "theory": {"theory": "common"},
    "pairs": {"rule": "one-vs-one"},
    "alarm": {"null_class": "mug", "false_alarm": 0.1},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", [np.float64, np.float32])
def test_the_classifier_is_that_of_fit(way, form):
    X, y, task = draw(p=40, many=30)
    X = X.astype(form)
    times = np.arange(len(y)) % 3 + 1
    fitted = MultiTaskClassifier(target="webcam", **WAYS[way]).fit(X, y, task, sample_weight=times)
    made = Study(X, y, task, target="webcam", sample_weight=times, **WAYS[way]).classifier()
    np.testing.assert_array_equal(made.decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(made.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(made.relatedness_, fitted.relatedness_)
    assert repr(made.forecast_) == repr(fitted.forecast_)
    assert made.get_params() == fitted.get_params()
    assert made.n_features_in_ == 40


def test_functions_give_the_same(data, study):
    told = forecast(*data, target="webcam")
    assert (told.error, told.interval) == (study.forecast().error, study.forecast().interval)
    curve = learning_curve_forecast(*data, target="webcam", added=[0, 10])
    np.testing.assert_array_equal(study.learning_curve([0, 10]).error, curve.error)
    np.testing.assert_array_equal(study.learning_curve([0, 10]).interval, curve.interval)
    values = task_values(*data, target="webcam")
    np.testing.assert_array_equal(study.task_values().error_without, values.error_without)
    assert study.task_values().error == told.error


def test_rules_and_theories(study):
    own, *others = study.compare()
    assert own.rule == "auto" and own.forecast.error == study.forecast().error
    assert own.forecast.threshold == study.forecast().threshold
    assert ("bayes", "optimal") in [(one.rule, one.labels) for one in others]
    assert all(0 <= one.forecast.error <= 1 for one in others)
    theories = study.theories()
    assert [one.source for one in theories] == ["isotropic", "spherical", "common", "general"]
    assert all(0 <= one.error <= 0.5 for one in theories)


def test_rules_are_compared_sample_by_sample(study):
    own, *others = study.compare()
    assert own.paired is None
    for one in others:
        low, high = one.paired.interval
        assert low <= one.paired.difference <= high
        expected = "helps" if low > 0 else "harms" if high < 0 else "cannot be told"
        assert one.paired.verdict == expected


def test_labels_for_an_error_and_for_a_budget():
    # As text "10" comes before "9"; classes here are numbers.
    X, y, task = draw(3, classes=(9, 10), distance=0.6)
    keep = np.arange(len(y)) != len(y) - 1
    X, y, task = X[keep], y[keep], task[keep]
    study = Study(X, y, task, target="webcam")
    error = study.forecast().error
    now, less, never = study.labels_needed([error, 0.8 * error, 0.0])
    assert now.added == 0 and now.interval == (0, 0)
    assert less.error == 0.8 * error and less.added > 0
    assert never.added is None and never.interval[1] is None
    curve = study.learning_curve([less.added - 1, less.added])
    assert curve.error[0] > 0.8 * error >= curve.error[1] - 1e-12
    spent = study.budget(7)
    # One label of class 10 was taken away.
    assert spent.labels == 7 and spent.added == {9: 3, 10: 4}
    assert spent.interval[0] <= spent.error <= spent.interval[1] and spent.error < error
    assert spent.error <= spent.as_they_come + 1e-12
    assert spent.better in (None, "target", "sources", "cannot be told")
    assert (spent.in_sources is None) == (spent.better is None)
    theory = Study(X, y, task, target="webcam", theory="common")
    assert theory.labels_needed([0.1]) == [] and theory.budget(7) is None


def test_an_alarm_has_a_curve_of_what_is_missed(data):
    study = Study(*data, target="webcam", null_class="bike", false_alarm=0.2)
    told = study.forecast()
    curve = study.learning_curve([0, 50])
    np.testing.assert_allclose(curve.error[0], 1 - told.alarm["detection"])
    assert curve.error[1] <= curve.error[0]
    np.testing.assert_allclose(study.task_values().error, 1 - told.alarm["detection"])


def test_left_out_samples_are_the_rows_of_the_target():
    # As text "10" comes before "9"; classes here are numbers.
    X, y, task = draw(3, classes=(9, 10))
    times = np.where(np.arange(len(y)) == 90, 2, 1)
    study = Study(X, y, task, target="webcam", sample_weight=times)
    left_out = study.left_out()
    assert list(left_out.classes) == [9, 10]
    np.testing.assert_array_equal(left_out.truth, y[left_out.rows])
    np.testing.assert_array_equal(np.sort(left_out.rows), np.sort(np.r_[80:100, 90]))
    np.testing.assert_allclose(left_out.probabilities.sum(axis=1), 1.0)
    right = left_out.classes[left_out.probabilities.argmax(axis=1)] == left_out.truth
    assert abs((1 - right.mean()) - study.forecast().error) < 0.2
    assert Study(X, y, task, target="webcam", theory="isotropic").left_out() is None


def test_answers_by_task_where_there_are_several_targets(data):
    study = Study(*data)
    assert list(study.targets) == list(study.tasks) == ["amazon", "webcam"]
    for answer in (
        study.forecast(),
        study.learning_curve([0]),
        study.labels_needed([0.1]),
        study.budget(4),
        study.task_values(),
        study.compare(),
        study.theories(),
        study.left_out(),
    ):
        assert set(answer) == {"amazon", "webcam"}
    assert set(study.classifier().models_) == {"amazon", "webcam"}
    assert "targets=['amazon', 'webcam']" in repr(study)
    with pytest.raises(ValueError, match="several targets; give target"):
        TaskValueDisplay.from_study(study)
    assert TaskValueDisplay.from_study(study, target="webcam").values.task == "webcam"


def test_a_study_does_not_follow_its_data():
    X, y, task = draw()
    study = Study(X, y, task, target="webcam")
    before = study.learning_curve([0, 10]).error
    X[:] = 0.0
    np.testing.assert_array_equal(study.learning_curve([0, 10]).error, before)
    X, y, task = draw()
    expected = MultiTaskClassifier(target="webcam").fit(X, y, task).decision_function(X)
    np.testing.assert_array_equal(study.classifier().decision_function(X), expected)


def test_a_study_of_statistics(data):
    X, y, task = data
    statistics = Statistics(keep_rows=True).add(X, y, task)
    study = Study.from_statistics(statistics, target="webcam")
    assert study.forecast().error == forecast(X, y, task, target="webcam").error
    trained = MultiTaskClassifier(target="webcam").fit_from_statistics(statistics)
    made, expected = (model.decision_function(X) for model in (study.classifier(), trained))
    np.testing.assert_array_equal(made, expected)
    assert study.left_out().rows is None


def test_pictures_of_a_study(study):
    assert RocForecastDisplay.from_study(study).pos_label == "mug"
    curve = LearningCurveForecastDisplay.from_study(study, added=[0, 10])
    np.testing.assert_array_equal(curve.line_.get_xdata(), [0, 10])
    matrix = TaskRelatednessDisplay.from_study(study, colorbar=False)
    np.testing.assert_array_equal(matrix.relatedness, study.relatedness())
    with pytest.raises(ValueError, match="no target 'dslr'; known: 'webcam'"):
        TaskValueDisplay.from_study(study, target="dslr")


def test_what_a_study_refuses(data, study):
    X, y, task = data
    for wrong, match in (
        (lambda: Study(X, y[:-1], task), "inconsistent numbers of samples"),
        (lambda: Study(X[:0], y[:0], task[:0]), "0 sample"),
        (lambda: Study(X, y, task, target="dslr"), "no task 'dslr'"),
        (lambda: Study(X, y, task, rule="svm"), "rule must be one of"),
        (lambda: Study.from_statistics(Statistics()), "no rows yet"),
        (lambda: study.learning_curve([0.5]), "whole numbers of labels"),
        (lambda: study.labels_needed([5]), "shares from 0 to 1"),
        (lambda: study.budget(0.5), "whole number of labels"),
        (lambda: study.budget(-1), "whole number of labels"),
    ):
        with pytest.raises(ValueError, match=match):
            wrong()
    with pytest.raises(TypeError, match="unexpected keyword"):
        Study(X, y, task, lambda_=1.0)
    with pytest.raises(TypeError, match="unexpected keyword"):
        TaskValueDisplay.from_data(X, y, task, target="webcam", colour="red")
