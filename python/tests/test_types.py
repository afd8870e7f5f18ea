"""What type checkers know."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import foretask
from foretask._choices import Settings

pytest.importorskip("mypy")

KNOWN = """
from foretask import Study, forecast, learning_curve_forecast, task_values
import numpy as np

X, y, task = np.zeros((4, 2)), np.array([0, 1, 0, 1]), np.array(["a", "a", "b", "b"])
forecast(X, y).error
forecast(X, y, task, target="a").interval[0]
forecast(X, y, target=3, task_column="site", rule="bayes", verbose=1).summary()
learning_curve_forecast(X, y, added=[0, 5]).error
task_values(X, y, task, target="a", views=["raw", "cosine"], priors=None).sources
"""

UNKNOWN = {
    "forecast(X, y, task).error": "union-attr",
    "forecast(X, y, task_column='site').error": "union-attr",
    "forecast(X, y, rule='svm')": "call-overload",
    "forecast(X, y, theery='common')": "call-overload",
    "Study(X, y, tail='fat')": "arg-type",
}


def test_types(tmp_path):
    lines = KNOWN.strip().splitlines() + list(UNKNOWN)
    program = tmp_path / "program.py"
    program.write_text("\n".join(lines) + "\n")
    home = Path(foretask.__file__).parent.parent
    # Where the package is installed mypy finds it by itself.
    path = {} if home.name == "site-packages" else {"MYPYPATH": str(home)}
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache")]
        + ["--no-error-summary", "--hide-error-context", str(program)],
        capture_output=True,
        text=True,
        env=os.environ | path,
    )
    said = [line for line in found.stdout.splitlines() if ": error: " in line]
    own = [(int(line.split(":")[1]), line) for line in said if line.split(":")[0].endswith("program.py")]
    first = len(lines) - len(UNKNOWN) + 1
    expected = dict(enumerate(UNKNOWN.values(), first))
    assert {number for number, _ in own} == set(expected), found.stdout + found.stderr
    for number, line in own:
        assert f"[{expected[number]}]" in line


def test_settings_are_the_parameters_of_the_classifier():
    parameters = set(inspect.signature(foretask.MultiTaskClassifier).parameters)
    assert parameters == set(Settings.__annotations__) | {"target", "task_column"}
