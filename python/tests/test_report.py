"""The report: the page of the command line, from Python."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

from foretask import MultiTaskClassifier, Statistics, Study


def digits():
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(np.isin(y, [3, 8]))[:120]
    task = np.where(np.arange(120) < 100, "many", "</script>few")
    return X[rows], y[rows], task


@pytest.fixture(scope="module")
def study():
    return Study(*digits(), target="</script>few")


def data(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_has_the_numbers_of_the_study(study):
    told = data(study.report().html)
    assert told["forecast"]["error"] == study.forecast().error
    assert told["target"] == "</script>few"
    assert [one["task"] for one in told["sources"]] == ["many"]
    assert told["report"]["recount"]["shares"] == pytest.approx([0.55, 0.45], abs=0.2)
    assert [line["text"] for line in told["verdict"]][0] in study.forecast().summary()
    assert data(study.report(details=False).html)["report"]["curve"] is None


def test_a_page_is_written_whole(study, tmp_path):
    place = tmp_path / "report.html"
    report = study.report(place, details=False)
    assert place.read_text(encoding="utf-8") == report.html
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError, match="create it first"):
        report.save(tmp_path / "none" / "report.html")


def test_a_notebook_shows_it_in_a_frame(study):
    shown = study.report(details=False)._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts"')
    assert "<script" not in shown


def test_several_targets_have_a_page_each(tmp_path):
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(np.isin(y, [3, 8]))[:60]
    study = Study(X[rows], y[rows], np.arange(60) % 2)
    reports = study.report(tmp_path, details=False)
    assert sorted(reports) == [0, 1]
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(ValueError, match="folder"):
        study.report(tmp_path / "report.html", details=False)


def test_a_classifier_has_the_page_of_its_study(study, tmp_path):
    classifier = MultiTaskClassifier(target="</script>few").fit(*digits())
    before = classifier.models_[classifier.target].to_bytes()
    report = classifier.report(*digits(), path=tmp_path / "report.html")
    assert report == study.report()
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert classifier.models_[classifier.target].to_bytes() == before


def test_a_classifier_reports_on_its_own_data_only():
    X, y, task = digits()
    classifier = MultiTaskClassifier(target="many").fit(X, y, task)
    with pytest.raises(ValueError, match="keeps no rows"):
        classifier.report()
    with pytest.raises(ValueError, match="another classifier"):
        classifier.report(X[1:], y[1:], task[1:])
    with pytest.raises(ValueError, match="another classifier"):
        classifier.set_params(views="linear").report(X, y, task)


def test_statistics_have_a_page_too():
    X, y, task = digits()
    statistics = Statistics(target=True).add(X, y, task)
    classifier = MultiTaskClassifier(target="many").fit_from_statistics(statistics)
    page = Study.from_statistics(statistics, target="many").report(details=False)
    assert classifier.report(statistics, details=False) == page
    # What partial_fit gathers is kept: nothing has to be given again.
    gathered = MultiTaskClassifier().partial_fit(X, y, task=task)
    assert gathered.report(details=False)["many"].html == page.html


def test_features_have_the_names_of_their_columns():
    pd = pytest.importorskip("pandas")
    X, y, _ = digits()
    plain = pd.DataFrame(X[:, 2:6], columns=["a", "b", "c", "d"])
    mixed = plain.assign(colour=np.where(X[:, 20] > 4, "red", "blue"))
    mixed.loc[3, "a"] = np.nan
    settings = {"views": "linear"}
    for frame, first in ((plain, {"a", "b", "c", "d"}), (mixed, {"a", "b", "c", "d", "colour"})):
        classifier = MultiTaskClassifier(**settings).fit(frame, y)
        told = data(classifier.report(frame, y, details=False).html)
        names = {one["feature"] for one in told["report"]["weights"]["largest"]}
        assert {name.split("=")[0] for name in names} == first
    gathered = MultiTaskClassifier(**settings).partial_fit(plain, y)
    told = data(gathered.report(details=False).html)
    assert {one["feature"] for one in told["report"]["weights"]["largest"]} == set(plain.columns)
