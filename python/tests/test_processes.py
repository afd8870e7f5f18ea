"""Fits in many threads and processes: the same numbers, and no end that never comes."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from foretask import MultiTaskClassifier


def problem():
    rng = np.random.default_rng(3)
    X, y, task = rng.normal(size=(240, 12)), rng.integers(0, 2, 240), rng.integers(0, 3, 240)
    X[:, 0] += 1.5 * y
    return X, y, task


def fitted(_=None):
    X, y, task = problem()
    model = MultiTaskClassifier(target=0, rehearse=False).fit(X, y, task=task)
    return model.forecast_.error, model.predict_proba(X[:5]).tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_have_threads_of_their_own():
    expected = fitted()  # which starts the threads of this process
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(fitted, range(4)).get(timeout=120) == [expected] * 4


def test_spawned_processes_fit_alike():
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2, backend="loky")(joblib.delayed(fitted)() for _ in range(2))
    assert found == [fitted()] * 2


def test_eight_threads_fit_alike():
    expected, found = fitted(), []
    threads = [threading.Thread(target=lambda: found.append(fitted())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert found == [expected] * 8


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_of_a_fork_has_threads_too():
    fitted()
    context = multiprocessing.get_context("fork")

    def child(queue):
        fitted()
        inner = context.Process(target=lambda: queue.put(fitted()))
        inner.start()
        inner.join()

    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=120) == fitted()
    process.join()


SAVED = """
import hashlib, sys
sys.path.insert(0, {here!r})
from test_processes import problem
from foretask import MultiTaskClassifier
X, y, task = problem()
model = MultiTaskClassifier().fit(X, y, task=task)
print([hashlib.sha256(model.models_[t].to_bytes()).hexdigest() for t in model.targets_])
"""


def test_model_files_are_the_same_bytes_in_every_process():
    program = SAVED.format(here=os.path.dirname(__file__))
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "RAYON_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, threads in (("1", "1"), ("2", "2"), ("3", "4"))
    }
    assert len(found) == 1
    assert len(found.pop()) > 3 * 64


INTERRUPTED = """
import sys, time
import numpy as np
from foretask import MultiTaskClassifier, Statistics, Study

rng = np.random.default_rng(3)
X, y, task = rng.normal(size=(1500, 60)), rng.integers(0, 3, 1500), rng.integers(0, 4, 1500)
X[:, 0] += 1.5 * y

def model():
    return MultiTaskClassifier(target=0).fit(X, y, task)

def work():
    Study(X[:300], y[:300], task[:300], target=1).task_values()
    Statistics(target=True).add(X, y, task)
    model().predict_proba(X)

expected = model().predict_proba(X[:20]).tobytes()
for line in sys.stdin:
    try:
        print("go", flush=True)
        while True:
            work()
    except KeyboardInterrupt:
        print("stopped", flush=True)
assert model().predict_proba(X[:20]).tobytes() == expected
print("the same", flush=True)
"""

#: Seconds from Ctrl-C to its exception, at most; it is some 0.1 on an idle machine.
SOON = 10.0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_interrupts_at_random_moments_end_work_and_nothing_else():
    rng = np.random.default_rng(8)
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        watchdog = threading.Timer(300, child.kill)
        watchdog.start()
        for _ in range(30):
            child.stdin.write("again\n")
            child.stdin.flush()
            assert child.stdout.readline() == "go\n", child.stderr.read()
            time.sleep(rng.uniform(0.0, 0.6))
            child.send_signal(signal.SIGINT)
            sent = time.monotonic()
            assert child.stdout.readline() == "stopped\n"
            assert time.monotonic() - sent < SOON
        child.stdin.close()
        assert child.stdout.read() == "the same\n"
        assert child.stderr.read() == ""
        assert child.wait(60) == 0
        watchdog.cancel()
