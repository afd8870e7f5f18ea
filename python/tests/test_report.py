"""The report: the page of the command line, from Python."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

from foretask import Study


@pytest.fixture(scope="module")
def study():
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(np.isin(y, [3, 8]))[:120]
    task = np.where(np.arange(120) < 100, "many", "</script>few")
    return Study(X[rows], y[rows], task, target="</script>few")


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
