"""All faces know the same words: the library, the types and texts of the package, the command line."""

import os
import re
import subprocess
from dataclasses import replace
from typing import get_args

import pytest

from foretask import MultiTaskClassifier, _choices, _foretask

VOCABULARY = {option: tuple(words) for option, words in _foretask.vocabulary()}

#: What a person may choose; the others are answers.
OPTIONS = ["rule", "labels", "theory", "scale", "ties", "tail"]

CLI = os.environ.get("FORETASK_CLI")


@pytest.mark.parametrize("option", VOCABULARY)
def test_types_have_the_words_of_the_library(option):
    assert get_args(getattr(_choices, option.capitalize())) == VOCABULARY[option]


@pytest.mark.parametrize("option", OPTIONS)
def test_the_documentation_has_the_words_of_the_library(option):
    (listed,) = re.findall(rf"^\s*{option} : {{(.*?)}}", MultiTaskClassifier.__doc__, flags=re.M)
    assert tuple(re.findall(r'"(.*?)"', listed)) == VOCABULARY[option]


@pytest.mark.parametrize("option", OPTIONS)
def test_every_word_is_understood(option):
    choices = _choices.choose(MultiTaskClassifier().get_params(), None, None, None)
    understood = [word for word in VOCABULARY[option] if not _refused(choices, option, word)]
    assert tuple(understood) == VOCABULARY[option]
    assert _refused(choices, option, "no such word")


def _refused(choices, option, word):
    """Settings are read before the data, which are empty here."""
    with pytest.raises((ValueError, TypeError)) as caught:
        _foretask.Study.of_statistics(_foretask.Statistics(2, None, []), replace(choices, **{option: word}))
    return "must be one of" in str(caught.value)


def test_a_word_of_before_is_still_understood(two_tasks):
    X, y, task = two_tasks
    before, now = (MultiTaskClassifier(target="webcam", theory=word) for word in ("pooled", "common"))
    assert before.fit(X, y, task).forecast_.error == now.fit(X, y, task).forecast_.error
    assert before.forecast_.source == "common"


@pytest.mark.skipif(not CLI, reason="FORETASK_CLI does not name the foretask binary")
def test_the_command_line_has_the_words_of_the_library():
    help_text = subprocess.run([CLI, "fit", "--help"], check=True, capture_output=True, text=True).stdout
    sections = re.split(r"^ {2,}(?:-\w, )?--", help_text, flags=re.M)
    listed = {
        section.split(maxsplit=1)[0]: tuple(re.findall(r"^\s+- ([\w-]+):", section, flags=re.M))
        for section in sections[1:]
    }
    assert {option: listed[option] for option in OPTIONS} == {
        option: VOCABULARY[option] for option in OPTIONS
    }
