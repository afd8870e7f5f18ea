"""What is foretold, against what happens."""

import pickle
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from conftest import draw
from scipy.integrate import trapezoid

from foretask import (
    MultiTaskClassifier,
    Statistics,
    Study,
    forecast,
    learning_curve_forecast,
    task_values,
)


def gaussian(seed, per_class, *, p=40, distance=2.0):
    rng = np.random.default_rng(seed)
    centre = np.random.default_rng(99).standard_normal(p)
    centre *= distance / 2 / np.linalg.norm(centre)
    y = np.repeat([0, 1], per_class)
    return rng.standard_normal((2 * per_class, p)) + np.where(y[:, None] == 1, centre, -centre), y


def test_the_forecast_is_near_the_measured_error():
    X_test, y_test = gaussian(1000, 2000)
    told, measured, held = [], [], 0
    for seed in range(20):
        X, y = gaussian(seed, 60)
        model = MultiTaskClassifier().fit(X, y)
        error = 1 - model.score(X_test, y_test)
        expected = model.forecast_
        held += expected.interval[0] <= error <= expected.interval[1]
        told.append(expected.error)
        measured.append(error)
    # Three standard errors of the mean difference over 20 draws of 120 samples.
    tolerance = 3 * np.std(np.subtract(told, measured)) / np.sqrt(20) + 0.01
    assert abs(np.mean(told) - np.mean(measured)) < tolerance
    # 90 % intervals: 18 of 20 expected, fewer than 14 has probability .2 %.
    assert held >= 14


def test_the_expected_roc_and_densities_are_those_of_new_scores():
    X, y = gaussian(0, 150)
    X_test, y_test = gaussian(1001, 4000)
    model = MultiTaskClassifier().fit(X, y)
    fpr, tpr = model.forecast_.roc()
    assert fpr[0] <= fpr[-1] and (np.diff(fpr) >= -1e-12).all() and (np.diff(tpr) >= -1e-12).all()
    scores, truth = model._foretold_scores(X_test, y_test, None)
    assert scores[truth == 1].mean() > scores[truth == 0].mean()
    for rate in (0.1, 0.3, 0.5):
        threshold = np.quantile(scores[truth == 0], 1 - rate)
        measured = (scores[truth == 1] > threshold).mean()
        # 150 scores of each class give the law of the detections to about 4 points.
        assert abs(np.interp(rate, fpr, tpr) - measured) < 0.12
    at = np.linspace(*model.forecast_.score_range(), 2001)
    density = model.forecast_.density(at)
    np.testing.assert_allclose(trapezoid(density, at, axis=1), 1.0, atol=2e-3)
    means = trapezoid(at * density, at, axis=1)
    for label in (0, 1):
        spread = scores[truth == label].std()
        assert abs(means[label] - scores[truth == label].mean()) < 0.5 * spread
    # The threshold is where the decision changes its sign.
    above = scores > model.forecast_.threshold
    np.testing.assert_array_equal(above, model.decision_function(X_test) > 0)


def test_forecast_without_training_is_that_of_the_model(two_tasks, three_classes):
    for X, y, task in (two_tasks, three_classes):
        model = MultiTaskClassifier(target="webcam").fit(X, y, task)
        told = forecast(X, y, task, target="webcam")
        assert told.error == model.forecast_.error and told.interval == model.forecast_.interval
        np.testing.assert_array_equal(told.confusion, model.forecast_.confusion)
        np.testing.assert_allclose(told.confusion.sum(axis=1), 1.0)
        np.testing.assert_allclose(1 - np.diag(told.confusion), told.class_errors)
        np.testing.assert_allclose(told.class_errors @ told.priors, told.error)
        assert list(told.classes) == list(model.classes_)
    assert set(forecast(X, y, task)) == {"amazon", "webcam"}


def test_classes_of_a_forecast_are_in_our_order():
    # "10" comes before "9" as text and after it as a number.
    X, y = gaussian(0, 60)
    words = np.where(y == 1, "9", "10")
    told = MultiTaskClassifier(priors={"9": 0.9, "10": 0.1}).fit(X, words).forecast_
    assert list(told.classes) == ["10", "9"]
    np.testing.assert_allclose(told.priors, [0.1, 0.9])
    assert told.class_errors[0] > told.class_errors[1]


def test_priors_costs_and_fixed_couplings(two_tasks):
    X, y, task = two_tasks
    base = MultiTaskClassifier(target="webcam").fit(X, y, task)
    costly = MultiTaskClassifier(target="webcam", costs={"mug": 20.0}).fit(X, y, task)
    assert (costly.predict(X) == "mug").sum() > (base.predict(X) == "mug").sum()
    listed = MultiTaskClassifier(target="webcam", costs=[1.0, 20.0]).fit(X, y, task)
    np.testing.assert_array_equal(listed.decision_function(X), costly.decision_function(X))
    prior = MultiTaskClassifier(target="webcam", priors=[0.99, 0.01]).fit(X, y, task)
    assert (prior.predict(X) == "bike").sum() > (base.predict(X) == "bike").sum()
    fixed = MultiTaskClassifier(
        target="webcam", lam=2.0, gamma={"amazon": 0.5, "webcam": 1.0}, labels="classical"
    ).fit(X, y, task)
    (coupling,) = fixed.coupling_
    assert coupling.lam == 2.0 and coupling.gamma == {"amazon": 0.5, "webcam": 1.0}
    assert set(fixed.label_scores_) == {"amazon", "webcam"}
    assert set(fixed.label_scores_["amazon"]) == {"bike", "mug"}
    ordered = MultiTaskClassifier(target="webcam", lam=2.0, gamma=[0.5, 1.0], labels="classical").fit(
        X, y, task
    )
    np.testing.assert_array_equal(fixed.coef_, ordered.coef_)
    assert abs(sum(coupling.weight for coupling in base.coupling_) - 1.0) < 0.2
    assert base.label_scores_ is None


def test_a_false_alarm_rate_is_held():
    X, y = gaussian(0, 300)
    X_test, y_test = gaussian(1002, 5000)
    model = MultiTaskClassifier(null_class=0, false_alarm=0.05).fit(X, y)
    told = model.forecast_.alarm
    alarms = model.predict(X_test) == 1
    assert told["null"] == 0 and told["requested"] == 0.05
    low, high = told["false_alarm_interval"]
    assert low - 0.01 <= alarms[y_test == 0].mean() <= high + 0.01
    assert abs(told["detection"] - alarms[y_test == 1].mean()) < 0.08


def test_learning_curves_and_values(two_tasks):
    X, y, task = two_tasks
    curve = learning_curve_forecast(X, y, task, target="webcam", added=[0, 10, 100])
    assert curve.error[0] == forecast(X, y, task, target="webcam").error
    assert (np.diff(curve.error) <= 1e-12).all() and curve.interval.shape == (3, 2)
    widths = np.diff(curve.foretold_interval, axis=1).ravel()
    assert curve.foretold_interval.shape == (3, 2) and (np.diff(widths) < 0).all()
    values = task_values(X, y, task, target="webcam")
    assert list(values.sources) == ["amazon"]
    own = task == "webcam"
    alone = forecast(X[own], y[own])
    np.testing.assert_allclose(values.error_without, [alone.error])
    np.testing.assert_allclose(values.gain, values.error_without - values.error)
    paired = values.all_sources.paired
    assert (paired.difference, paired.verdict) == (values.difference[0], values.verdict[0])
    assert paired.interval == tuple(values.difference_interval[0])
    assert values.all_sources.error_without == values.error_without[0]
    assert task_values(X[own], y[own]).all_sources is None
    assert set(task_values(X, y, task)) == {"amazon", "webcam"}


def several(labels, seed=0, *, classes=("bike", "mug"), p=8):
    """A target with few labels and three sources that can take its place; tasks are numbers."""
    rng = np.random.default_rng(seed)
    counts = [labels, 60, 60, 60]
    task = np.repeat([9, 10, 11, 12], np.multiply(2, counts))
    codes = np.arange(len(task)) % 2
    X = rng.standard_normal((len(task), p)) + 0.7 * codes[:, None]
    return X, np.asarray(classes)[codes], task


def test_sources_are_rehearsed_in_the_place_of_the_target():
    X, y, task = several(4)
    told = forecast(X, y, task, target=9)
    done = told.rehearsal
    assert [source["task"] for source in done["sources"]] == [10, 11, 12]
    np.testing.assert_allclose(done["error"], np.mean([source["error"] for source in done["sources"]]))
    ends = sorted([done["error"], done["own_error"]])
    assert ends[0] <= told.error <= ends[1]
    plain = forecast(X, y, task, target=9, rehearse=False)
    assert plain.rehearsal == {"skipped": "switched-off"} and plain.error == done["own_error"]
    values = task_values(X, y, task, target=9)
    assert list(values.sources) == [10, 11, 12] and values.error == done["own_error"]
    assert set(values.verdict) <= {"helps", "harms", "cannot be told"}
    assert values.all_sources.paired.verdict in ("helps", "harms", "cannot be told")
    assert told.log_loss > 0 and forecast(X, y, task, target=9, theory="common").log_loss is None


def test_one_label_per_class_tells_nothing_by_itself():
    X, y, task = several(1)
    keep = task < 11
    told = forecast(X[keep], y[keep], task[keep], target=9)
    assert not told.told and told.interval == (0.0, 1.0) and told.in_test(50) == (0.0, 1.0)
    assert "told=False" in repr(told)
    assert "one-label" in [note["kind"] for note in told.notes]
    rehearsed = forecast(X, y, task, target=9)
    assert rehearsed.told and "error=" in repr(rehearsed)


def test_a_test_of_few_samples_may_show_more_than_the_interval(two_tasks):
    told = forecast(*two_tasks, target="webcam")
    (low, high), (least, most) = told.in_test(20), told.in_test(100_000)
    assert low <= least <= told.error <= most <= high and high - low > most - least
    np.testing.assert_allclose((least, most), told.interval, atol=0.02)


def test_relatedness_is_symmetric_and_signed():
    for swap, sign in ((False, 1), (True, -1)):
        X, y, task = draw(5, swap=swap, few=200, many=200)
        model = MultiTaskClassifier(target="webcam").fit(X, y, task)
        likeness = model.relatedness_
        np.testing.assert_allclose(likeness, likeness.T)
        np.testing.assert_allclose(np.diag(likeness), 1.0)
        assert sign * likeness[0, 1] > 0.3
        statistics = Statistics().add(X, y, task)
        np.testing.assert_allclose(statistics.relatedness(), likeness)


@pytest.mark.parametrize("p", [20, 300])
def test_statistics_train_what_rows_train(p):
    X, y, task = draw(2, p=p)
    parts = np.array_split(np.arange(len(y)), 3)
    statistics = Statistics(keep_rows=["webcam", "amazon"])
    for part in parts:
        other = Statistics(keep_rows=True).add(X[part], y[part], task[part])
        statistics.merge(Statistics.from_bytes(other.to_bytes()))
    assert statistics.n_samples == len(y) and statistics.n_features == p
    assert statistics.counts["webcam"] == {"bike": 10, "mug": 10}
    direct = MultiTaskClassifier().fit(X, y, task)
    trained = MultiTaskClassifier().fit_from_statistics(statistics)
    for name in ("amazon", "webcam"):
        assert abs(trained.forecast_[name].error - direct.forecast_[name].error) < 1e-9
        made, expected = (model.decision_function(X, task=name) for model in (trained, direct))
        np.testing.assert_allclose(made, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(trained.predict(X, task=task), direct.predict(X, task=task))


def test_statistics_without_rows_train_by_theory():
    X, y, task = draw(2, p=10)
    statistics = Statistics().add(X, y, task)
    by_theory = MultiTaskClassifier(target="webcam", theory="common")
    trained = by_theory.fit_from_statistics(statistics)
    direct = MultiTaskClassifier(target="webcam", theory="common").fit(X, y, task)
    np.testing.assert_allclose(trained.coef_, direct.coef_, rtol=1e-7, atol=1e-10)


def test_other_threads_run_during_a_fit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((700, 700)), rng.integers(0, 2, 700)
    steps, done = [], threading.Event()

    def count():
        while not done.is_set():
            steps.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    MultiTaskClassifier().fit(X, y)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [step for step in steps if start < step < end]
    # A fit that kept the interpreter would let the thread run at its ends only.
    longest = np.diff([start, *inside, end]).max()
    assert longest < 0.5 * (end - start), f"{longest:.3f} s of {end - start:.3f} s without a step"


def test_groups_are_left_out_together():
    random = np.random.default_rng(0)
    label = np.repeat(np.arange(14) % 2, 8)
    centres = random.normal(size=(14, 6))
    X = np.repeat(centres, 8, axis=0) + 0.1 * random.normal(size=(112, 6))
    groups = np.repeat(np.arange(14), 8)
    alone = MultiTaskClassifier().fit(X, label).forecast_
    together = MultiTaskClassifier().fit(X, label, groups=groups).forecast_
    # Nothing is known of a new group; a row of a known one gives itself away.
    assert alone.error < 0.1
    assert together.error > 0.3
    assert forecast(X, label, groups=groups).error == together.error
    assert "near-copies" in [note["kind"] for note in alone.notes]
    assert "near-copies" not in [note["kind"] for note in together.notes]
    with pytest.raises(ValueError, match="groups"):
        MultiTaskClassifier().fit(X, label, groups=groups[:5])


def test_a_summary_in_the_words_of_the_command_line(two_tasks):
    X, y, task = two_tasks
    told = forecast(X, y, task, target="webcam")
    lines = told.summary().splitlines()
    assert lines[0].startswith(f"Expected error {100 * told.error:.1f} % (")
    assert "or 50.0 % by always saying " in lines[0] and lines[0].endswith(f"; AUC {told.auc:.2f}")
    assert lines[1] == (
        "`learning_curve` and `task_values` of `foretask.Study` say what more labels would bring and which "
        "sources help"
    )
    assert lines[2].startswith("Next: ")
    assert lines[3:] == [note["text"] for note in told.notes]
    fitted = MultiTaskClassifier(target="webcam").fit(X, y, task).forecast_
    assert fitted.summary() == told.summary()
    # No sources are used: nobody is to ask for them.
    alone = forecast(X, y, task, target="webcam", labels="alone").summary()
    assert "sources help" not in alone and "`learning_curve` of `foretask.Study` says what more" in alone
    held = forecast(X, y, task, target="webcam", null_class="mug", false_alarm=0.1).summary()
    assert "'mug'" in held.splitlines()[0]
    single = np.r_[np.flatnonzero(task == "amazon"), 80, 81]
    nothing = forecast(X[single], y[single], task[single], target="webcam")
    assert not nothing.told and nothing.summary().startswith("The error cannot be told")


def test_the_area_under_the_curve(two_tasks):
    X, y, task = two_tasks
    told = forecast(X, y, task, target="webcam")
    assert 0.5 < told.auc <= 1.0
    assert pickle.loads(pickle.dumps(told)).auc == told.auc
    # Which class comes first does not matter.
    swapped = forecast(X, np.where(y == "bike", "zebra", y), task, target="webcam")
    assert swapped.auc == pytest.approx(told.auc, abs=1e-12)
    three = forecast(X, np.where(np.arange(len(y)) % 5 == 0, "third", y), task, target="amazon")
    assert three.auc is None


def test_frames_of_several_tasks_join(two_tasks):
    X, y, task = two_tasks
    told = forecast(X, y, task)
    frame = pd.concat([one.to_frame() for one in told.values()])
    assert list(frame.columns) == ["task", "class", "prior", "error", "low", "high"]
    whole = frame[frame["class"].isna()].set_index("task")
    assert whole["error"].to_dict() == {name: one.error for name, one in told.items()}
    assert tuple(whole.loc["webcam", ["low", "high"]]) == told["webcam"].interval
    classes = frame[(frame["task"] == "webcam") & frame["class"].notna()]
    assert classes["class"].tolist() == ["bike", "mug"]
    assert classes["error"].tolist() == told["webcam"].class_errors.tolist()
    assert classes["prior"].sum() == pytest.approx(1.0) and classes["low"].isna().all()


def test_frames_need_pandas(two_tasks, monkeypatch):
    X, y, task = two_tasks
    told = forecast(X, y, task, target="webcam")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        told.to_frame()


def test_names_do_nothing_in_a_notebook(two_tasks):
    X, y, task = two_tasks
    script, escape = "<script>alert(1)</script>", "\x1b[31mred"
    y = np.where(y == "mug", script, escape)
    task = np.where(task == "webcam", script, task)
    study = Study(X, y, task, target=script)
    for shown in (study.forecast()._repr_html_(), study._repr_html_()):
        assert "<script" not in shown and "\x1b" not in shown
        assert "&lt;script&gt;" in shown and "\\x1b[31mred" in shown
        assert shown.startswith("<div>") and shown.count("<table>") == shown.count("</table>")
    assert "\x1b" not in study.forecast().summary()
    assert "<td>source</td><td>80</td>" in study._repr_html_()
