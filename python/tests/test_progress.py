"""Long fits speak, and end when they are told to."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from foretask import MultiTaskClassifier, Statistics, Study

#: Processor seconds from Ctrl-C to the exception: by the clock they depend on what else the machine does.
AT_ONCE = 0.5

FIT = """
import os, signal, sys, threading, time
import numpy as np
from foretask import MultiTaskClassifier
rng = np.random.default_rng(0)
task = np.repeat(np.arange(6), 200)
y = np.arange(1200) % 4
X = rng.standard_normal((1200, 600)) + np.eye(4, 600)[y]
model = MultiTaskClassifier(target=0, theory=sys.argv[1])
# A shell that started this in the background made it deaf to the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
sent = []

def interrupt():
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(float(sys.argv[2]), interrupt).start()
try:
    model.fit(X, y, task)
    print("finished", flush=True)
except KeyboardInterrupt:
    print(time.process_time() - sent[0], hasattr(model, "classes_"), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to a process of one's own")
@pytest.mark.parametrize("theory", ["auto", "general"])
@pytest.mark.parametrize("after", ["0.2", "0.6"])
def test_control_c_ends_a_fit(after, theory):
    command = [sys.executable, "-c", FIT, theory, after]
    # One thread: the time of the processor is that of the longest work that is not interrupted.
    told = subprocess.run(
        command,
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    took, fitted = told.stdout.split()
    assert float(took) < AT_ONCE
    assert fitted == "False"


def test_a_study_that_was_interrupted_still_answers(two_tasks):
    X, y, task = two_tasks
    # Enough sources that leaving out each takes a while.
    task = np.where(task == "amazon", np.arange(len(y)) % 20, 20)
    study = Study(np.tile(X, 3), y, task, target=20)
    expected = study.forecast().error
    # A shell that started this in the background made it deaf to the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    sender.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            study.task_values()
            sender.join()
            time.sleep(0.1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert study.learning_curve([0]).error[0] == expected
    assert study.classifier().predict(np.tile(X, 3)).shape == y.shape


def test_an_exception_of_the_display_ends_the_fit(two_tasks):
    from foretask import _foretask

    X, y, task = two_tasks
    problem = MultiTaskClassifier()._problem(np.tile(X, 20), y, np.arange(len(y)) // 10)

    def tell(share):
        raise RuntimeError(f"told {0 <= share <= 1}")

    with pytest.raises(RuntimeError, match="told True"):
        _foretask.fit(problem.samples, problem.choices, tell)


@pytest.fixture
def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def test_lines_without_tqdm(two_tasks, without_tqdm, capsys):
    X, y, task = two_tasks
    silent = MultiTaskClassifier(target="webcam").fit(X, y, task)
    assert capsys.readouterr().err == ""
    spoken = MultiTaskClassifier(target="webcam", verbose=1).fit(X, y, task)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("foretask: training done in ")
    assert all(" s left" in line for line in lines[:-1])
    np.testing.assert_array_equal(spoken.predict_proba(X), silent.predict_proba(X))
    Study(X, y, task, target="webcam", verbose=1).task_values()
    assert "foretask: leaving out each source done in" in capsys.readouterr().err
    study = Study(X, y, task, target="webcam", verbose=1)
    study.learning_curve()
    assert "foretask: measuring what labels bring done in" in capsys.readouterr().err
    study.theories()
    assert "foretask: asking the theories done in" in capsys.readouterr().err
    statistics = Statistics(keep_rows=True).add(X, y, task)
    MultiTaskClassifier(target="webcam", verbose=True).fit_from_statistics(statistics)
    assert "foretask: training done in" in capsys.readouterr().err


def test_lines_come_where_a_tenth_more_is_done(without_tqdm, capsys):
    from foretask._progress import telling

    with telling(1, "training") as tell:
        for share in (0.0, 0.01, 0.12, 0.15, 0.23, 0.9, 1.0):
            tell(share)
    shown = [line.split()[2].rstrip(",") for line in capsys.readouterr().err.splitlines()]
    assert shown == ["12%", "23%", "90%", "done"]


def test_a_bar_with_tqdm(two_tasks, monkeypatch):
    import types

    drawn = []

    class Bar:
        def __init__(self, total, desc, bar_format):
            self.n = 0.0
            drawn.append(desc)

        def update(self, more):
            assert more >= 0
            self.n += more

        def __enter__(self):
            return self

        def __exit__(self, *error):
            drawn.append(self.n)

    module = types.ModuleType("tqdm.auto")
    module.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    X, y, task = two_tasks
    MultiTaskClassifier(target="webcam", verbose=1).fit(X, y, task)
    assert drawn[0] == "foretask: training" and drawn[1] == pytest.approx(1.0)


@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_what_verbose_may_be(two_tasks, verbose):
    X, y, task = two_tasks
    with pytest.raises(ValueError, match="verbose must be 0"):
        MultiTaskClassifier(target="webcam", verbose=verbose).fit(X, y, task)
