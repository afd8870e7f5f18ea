"""Rows that count more than others."""

import numpy as np
import pytest
from conftest import draw
from sklearn.linear_model import Ridge

from foretask import MultiTaskClassifier, Statistics, Study


def weights_of(y, seed=0):
    return np.exp(np.random.default_rng(seed).normal(0, 0.8, len(y)))


def same(one, other, X, **tolerance):
    made, expected = (model.decision_function(X, task="webcam") for model in (one, other))
    np.testing.assert_allclose(made, expected, **(tolerance or {"rtol": 0, "atol": 0}))


def test_weights_are_those_of_weighted_least_squares():
    X, y, _ = draw(few=0, many=60, p=7)
    weight = weights_of(y)
    model = MultiTaskClassifier(labels="classical", lam=0.5, gamma=1.5, scale="none", views="raw")
    made = model.fit(X, y, sample_weight=weight).coef_.ravel()
    # One task: the penalty is p / (lam + gamma) for weights of mean one.
    ridge = Ridge(alpha=7 / 2).fit(X, y == "mug", sample_weight=weight / weight.mean())
    expected = ridge.coef_
    np.testing.assert_allclose(made / np.linalg.norm(made), expected / np.linalg.norm(expected), atol=1e-10)


def test_equal_weights_are_none_and_weights_of_zero_are_left_out(two_tasks):
    X, y, task = two_tasks
    fit = MultiTaskClassifier(target="webcam").fit
    same(
        fit(X, y, task, sample_weight=np.full(len(y), 0.3)),
        MultiTaskClassifier(target="webcam").fit(X, y, task),
        X,
    )
    weight = weights_of(y)
    weight[::7] = 0
    kept = weight > 0
    weighted = MultiTaskClassifier(target="webcam").fit(X, y, task, sample_weight=weight)
    some = MultiTaskClassifier(target="webcam").fit(X[kept], y[kept], task[kept], sample_weight=weight[kept])
    same(weighted, some, X)
    assert weighted.forecast_.error == some.forecast_.error
    other_unit = MultiTaskClassifier(target="webcam").fit(X, y, task, sample_weight=np.pi * weight)
    same(weighted, other_unit, X, atol=1e-9)
    plain = MultiTaskClassifier(target="webcam").fit(X, y, task)
    assert not np.allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-3)


def test_wrong_labels_that_hardly_count_hardly_matter():
    X, y, task = draw(3, few=60, many=60, distance=0.5)
    wrong = np.arange(len(y)) % 3 == 0
    noisy = np.where(wrong, np.where(y == "mug", "bike", "mug"), y)
    weight = np.where(wrong, 1e-4, 1.5)
    model = MultiTaskClassifier(target="webcam").fit(X, noisy, task, sample_weight=weight)
    plain = MultiTaskClassifier(target="webcam").fit(X, noisy, task)
    assert model.forecast_.error < plain.forecast_.error - 0.1
    own = task == "webcam"
    assert model.score(X[own], y[own]) > plain.score(X[own], y[own])


def test_balanced_classes_count_alike_in_each_task():
    X, y, task = draw(4, few=60, many=90, distance=0.4)
    kept = (y == "mug") | (np.arange(len(y)) % 3 == 0)
    X, y, task = X[kept], y[kept], task[kept]
    model = MultiTaskClassifier(target="webcam", class_weight="balanced").fit(X, y, task)
    np.testing.assert_allclose(model.forecast_.priors, 0.5)
    own = np.array(
        [(task == t).sum() / (2 * ((task == t) & (y == c)).sum()) for t, c in zip(task, y, strict=True)]
    )
    same(model, MultiTaskClassifier(target="webcam").fit(X, y, task, sample_weight=own), X, atol=1e-12)
    plain = MultiTaskClassifier(target="webcam").fit(X, y, task)
    assert model.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.05
    # Priors that are given are those of use.
    priors = {"bike": 0.25, "mug": 0.75}
    given = MultiTaskClassifier(target="webcam", class_weight="balanced", priors=priors).fit(X, y, task)
    np.testing.assert_allclose(given.forecast_.priors, [0.25, 0.75])
    assert given.predict_proba(X)[:, 0].mean() < model.predict_proba(X)[:, 0].mean() - 0.05
    # Of weights, where rows have some: again the classes count alike.
    weight = weights_of(y)
    both = MultiTaskClassifier(target="webcam", class_weight="balanced")
    both.fit(X, y, task, sample_weight=weight)
    np.testing.assert_allclose(both.forecast_.priors, 0.5)


def test_class_weights_multiply_those_of_rows(two_tasks):
    X, y, task = two_tasks
    weight = weights_of(y)
    heavy = MultiTaskClassifier(target="webcam", class_weight={"mug": 2.5}).fit(
        X, y, task, sample_weight=weight
    )
    by_hand = MultiTaskClassifier(target="webcam").fit(
        X, y, task, sample_weight=weight * np.where(y == "mug", 2.5, 1)
    )
    same(heavy, by_hand, X, atol=1e-12)


@pytest.mark.parametrize("rule", ["auto", "one-hot", "one-vs-all", "naive-one-vs-all", "bayes"])
@pytest.mark.parametrize("labels", ["auto", "classical", "optimal"])
def test_labels_and_rules_know_weights(three_classes, rule, labels):
    X, y, task = three_classes
    model = MultiTaskClassifier(target="webcam", rule=rule, labels=labels, class_weight={"a": 3.0})
    plain = MultiTaskClassifier(target="webcam", rule=rule, labels=labels).fit(X, y, task)
    model.fit(X, y, task)
    assert model.score(X[task == "webcam"], y[task == "webcam"]) > 0.5
    assert 0 < model.forecast_.error < 0.6
    assert model.forecast_.priors[0] == pytest.approx(0.6)
    assert (model.predict(X) == "a").sum() > (plain.predict(X) == "a").sum()


def test_a_study_of_weighted_rows(two_tasks):
    X, y, task = two_tasks
    weight = weights_of(y)
    weight[-4:] = 0
    study = Study(X, y, task, target="webcam", sample_weight=weight)
    fitted = MultiTaskClassifier(target="webcam").fit(X, y, task, sample_weight=weight)
    np.testing.assert_array_equal(study.classifier().decision_function(X), fitted.decision_function(X))
    np.testing.assert_array_equal(np.sort(study.left_out().rows), np.arange(80, 96))
    assert study.forecast().rehearsal == {"skipped": "weighted"}
    assert study.learning_curve([0]).error[0] == pytest.approx(study.forecast().error)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"theory": "common"}, "theory"),
        ({"null_class": "mug", "false_alarm": 0.1}, "false-alarm"),
        ({"rule": "one-vs-one"}, "one-versus-one"),
    ],
)
def test_what_knows_no_weights_is_refused(two_tasks, settings, match):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match=f"{match}.*leave out the weights"):
        MultiTaskClassifier(target="webcam", **settings).fit(X, y, task, sample_weight=weights_of(y))


def test_groups_and_statistics_know_no_weights(two_tasks):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match="groups.*weights"):
        MultiTaskClassifier(class_weight={"mug": 2}).fit(X, y, task, groups=np.arange(len(y)) // 2)
    statistics = Statistics(keep_rows=True).add(X, y, task)
    with pytest.raises(ValueError, match="class_weight"):
        MultiTaskClassifier(class_weight="balanced").fit_from_statistics(statistics)


@pytest.mark.parametrize(
    ("class_weight", "match"),
    [
        ("even", "balanced"),
        ([1, 2], "balanced"),
        ({"cup": 1}, "no class 'cup'"),
        ({"mug": -1}, "zero or more"),
        ({"mug": "much"}, "zero or more"),
        ({"mug": np.nan}, "zero or more"),
    ],
)
def test_bad_class_weights_are_refused(two_tasks, class_weight, match):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match=match):
        MultiTaskClassifier(class_weight=class_weight).fit(X, y, task)
