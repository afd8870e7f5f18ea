"""Mixed commands on random problems, many of them killed: nothing lost or left, memory flat.

    FORETASK_CLI=target/release/foretask python python/benchmarks/soak.py --minutes 60

Each round draws a problem (tasks, classes, columns with gaps and texts), and runs commands in a random order
on the files that earlier ones left. A third of them are to be killed (SIGKILL or SIGTERM) at a random moment.
After each command:

- every file is as it was, except what the command was to write: the old file, or a new one that loads;
- nothing else is in the folder: a file `.tmp…` only after SIGKILL, and `….parts` only after a gather
  of several tables was killed (both are documented, and counted);
- a command that was not killed ended with code 0.

The same commands on one problem that does not change, every `EVERY` rounds, say whether memory grows. No peak
is below that of this script, from which the commands are started.
"""

import argparse
import collections
import hashlib
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

EVERY = 5
KILLED = 1 / 3
SECONDS = 120


def problem(folder, rng, most=120):
    """Writes `train.csv`, its two halves, and `new.csv`."""
    tasks, classes, width = rng.randint(2, 5), rng.randint(2, 4), rng.randint(1, 11)
    rows = rng.randint(max(15, most // 8), most)
    texts, gaps = rng.random() < 0.5, rng.random() < 0.5
    header = ["task", "label", *(f"x{i}" for i in range(width))]
    spread = rng.choice([0.1, 1, 5])
    means = [[spread * rng.gauss(0, 1) for _ in range(width)] for _ in range(classes)]
    lines = []
    for task in range(tasks):
        turn = [0.5 * rng.gauss(0, 1) for _ in range(width)]
        for row in range(rows):
            label = row % classes
            places = zip(means[label], turn, strict=True)
            cells = [f"{mean + own + rng.gauss(0, 1):.6g}" for mean, own in places]
            if gaps and rng.random() < 0.05:
                cells[rng.randrange(width)] = ""
            line = [f"t{task}", f"c{label}", *cells]
            if texts:
                line.append(rng.choice(["red", "green", "blue"]))
            lines.append(",".join(line))
    if texts:
        header.append("colour")
    rng.shuffle(lines)
    middle = len(lines) // 2
    head = ",".join(header)
    for name, part in [
        ("train.csv", lines),
        ("one.csv", lines[:middle]),
        ("two.csv", lines[middle:]),
        ("new.csv", lines[: max(1, middle // 2)]),
    ]:
        (folder / name).write_text("\n".join([head, *part]) + "\n")


def commands():
    """What each command reads beyond the tables, what it writes, and its arguments."""
    quick = ["--views", "linear", "--no-rehearsal"]
    return {
        "fit": ([], ["model"], ["fit", "train.csv", "--target", "t0", *quick, "-o", "model"]),
        "fit in full": ([], ["model"], ["fit", "train.csv", "--target", "t0", "-o", "model"]),
        "gather": (
            [],
            ["all.stats", "all.columns.json"],
            ["gather", "one.csv", "two.csv", "--target", "t0", "-o", "all.stats"],
        ),
        "gather one": (
            [],
            ["one.stats", "one.columns.json"],
            ["gather", "train.csv", "--target", "t0", "-o", "one.stats"],
        ),
        "merge": (
            ["all.stats"],
            ["merged.stats", "merged.columns.json"],
            ["merge", "all.stats", "-o", "merged.stats"],
        ),
        "fit from statistics": (
            ["all.stats"],
            ["second"],
            ["fit", "all.stats", "--target", "t0", *quick, "-o", "second"],
        ),
        "predict": (
            ["model"],
            ["out.csv"],
            ["predict", "model", "new.csv", "--probabilities", "-o", "out.csv"],
        ),
        "evaluate": (
            ["model"],
            ["tested.json", "tested.svg"],
            ["evaluate", "model", "train.csv", "--json", "-o", "tested.json"] + ["--plot", "tested.svg"],
        ),
        "forecast": (
            [],
            ["forecast.json"],
            ["forecast", "train.csv", "--target", "t0", "--no-details", *quick]
            + ["--json", "-o", "forecast.json"],
        ),
        "report": (
            [],
            ["report.html"],
            ["report", "train.csv", "--target", "t0", "--no-details", *quick]
            + ["--force", "-o", "report.html"],
        ),
        "export": (["model"], ["model.onnx"], ["export", "model", "--onnx", "model.onnx"]),
    }


def contents(folder):
    """What all files of a folder hold, in short."""
    files = {}
    for path in sorted(folder.iterdir()):
        if path.is_file():
            files[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return files


def run(program, folder, arguments, kill=None):
    """Runs a command, perhaps kills it after a while; code, error text, seconds, peak memory in MB."""
    began = time.monotonic()
    process = subprocess.Popen(
        [program, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    # One that hangs is killed, and counts as wrong.
    watch = threading.Timer(SECONDS, process.kill)
    watch.start()
    if kill is not None:
        try:
            process.wait(kill[0])
        except subprocess.TimeoutExpired:
            process.send_signal(kill[1])
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0) if process.returncode is None else (0, None, None)
    if status is not None:
        process.returncode = os.waitstatus_to_exitcode(status)
    watch.cancel()
    process.stderr.close()
    memory = usage.ru_maxrss / 1024 if usage else None
    return process.returncode, message, time.monotonic() - began, memory


def loads(program, folder, name):
    """Whether a finished file is one."""
    path = folder / name
    data = path.read_bytes()
    if name in ("model", "second"):
        return run(program, folder, ["inspect", name])[0] == 0
    if name.endswith(".stats"):
        seen = folder.parent / "seen"
        seen.mkdir(exist_ok=True)
        code = run(program, folder, ["merge", name, "-o", str(seen / "x.stats")])[0]
        # The plan beside them is theirs: it comes along.
        has_plan = path.with_suffix(".columns.json").exists()
        came = (seen / "x.columns.json").exists()
        shutil.rmtree(seen)
        return code == 0 and has_plan == came
    if name.endswith(".json"):
        return data.rstrip().endswith(b"}")
    if name.endswith(".svg"):
        return data.rstrip().endswith(b"</svg>")
    if name.endswith(".html"):
        return data.rstrip().endswith(b"</html>")
    if name.endswith(".csv"):
        widths = {line.count(b",") for line in data.splitlines()}
        return data.endswith(b"\n") and len(widths) == 1
    return len(data) > 0


def main():
    """Runs until the time is over, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = str(pathlib.Path(os.environ.get("FORETASK_CLI", "target/release/foretask")).resolve())
    rng, chance = random.Random(options.seed), random.Random(options.seed + 1)
    counts = collections.defaultdict(collections.Counter)
    took = {}
    memory = collections.defaultdict(list)
    wrong = []
    left = collections.Counter()
    end = time.monotonic() + 60 * options.minutes
    rounds = 0
    with tempfile.TemporaryDirectory() as top:
        steady = pathlib.Path(top) / "steady"
        steady.mkdir()
        problem(steady, random.Random(0), most=4000)
        while time.monotonic() < end:
            folder = pathlib.Path(top) / "round"
            folder.mkdir()
            problem(folder, rng)
            names = list(commands())
            for name in [*names, *chance.choices(names, k=len(names))]:
                if time.monotonic() > end:
                    break
                needs, writes, arguments = commands()[name]
                if not all((folder / need).exists() for need in needs):
                    continue
                before = contents(folder)
                kill = None
                if chance.random() < KILLED:
                    moment = chance.random() * 1.1 * took.get(name, 0.5)
                    kill = (moment, chance.choice([signal.SIGKILL, signal.SIGTERM]))
                code, message, seconds, _ = run(program, folder, arguments, kill)
                killed = kill is not None and code in (-signal.SIGKILL, -signal.SIGTERM)
                counts[name]["killed" if killed else "ended"] += 1
                what = f"round {rounds}, {name}, {'killed' if killed else code}: {message[-300:]}"
                if not killed:
                    took[name] = seconds
                    if code != 0 or "panicked" in message:
                        wrong.append(what)
                for path in list(folder.iterdir()):
                    if path.name.startswith(".tmp") and killed and kill[1] == signal.SIGKILL:
                        left["temporary files after SIGKILL"] += 1
                        path.unlink()
                    elif path.name == "all.stats.parts" and killed and name == "gather":
                        left["parts of a gather that was killed"] += 1
                        # Sometimes the next one goes on from there.
                        if chance.random() < 0.5:
                            shutil.rmtree(path)
                after = contents(folder)
                for file in before.keys() | after.keys():
                    if before.get(file) == after.get(file):
                        continue
                    if file not in writes:
                        wrong.append(f"{what}: {file} changed")
                    elif file not in after:
                        # Statistics without a plan take an older plan away.
                        if not file.endswith(".columns.json"):
                            wrong.append(f"{what}: {file} is gone")
                    elif not loads(program, folder, file):
                        wrong.append(f"{what}: {file} is not whole")
                if not killed and not all(
                    (folder / file).exists() for file in writes if "columns" not in file
                ):
                    wrong.append(f"{what}: nothing written")
                strays = [
                    path.name
                    for path in folder.iterdir()
                    if path.name not in after and path.name != "all.stats.parts"
                ]
                wrong.extend(f"{what}: left {stray}" for stray in strays)
            if rounds % EVERY == 0:
                for name, (_, _, arguments) in commands().items():
                    code, message, _, peak = run(program, steady, arguments)
                    if code != 0:
                        wrong.append(f"steady, {name}, {code}: {message[-300:]}")
                    memory[name].append(peak)
            shutil.rmtree(folder)
            rounds += 1
    print(f"{rounds} rounds in {options.minutes:g} minutes, seed {options.seed}\n")
    print(f"{'command':<20} {'ended':>6} {'killed':>7} {'peak MB, first':>15} {'last':>6} {'most':>6}")
    for name in commands():
        peaks = [peak for peak in memory[name] if peak is not None] or [float("nan")]
        ended, killed = counts[name]["ended"], counts[name]["killed"]
        print(f"{name:<20} {ended:>6} {killed:>7} {peaks[0]:>15.0f} {peaks[-1]:>6.0f} {max(peaks):>6.0f}")
    ended = sum(count["ended"] for count in counts.values())
    killed = sum(count["killed"] for count in counts.values())
    print(f"{'all':<20} {ended:>6} {killed:>7}")
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nthis script: {own:.0f} MB at its peak")
    for what, count in left.items():
        print(f"{what}: {count}")
    print(f"wrong: {len(wrong)}")
    for what in wrong[:20]:
        print("  " + what)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
