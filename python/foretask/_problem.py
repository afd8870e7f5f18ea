"""Labelled rows of many tasks, as one problem for the bridge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._choices import Choices, choose
from ._data import (
    ONLY_TASK,
    Names,
    Samples,
    cell_codes,
    class_weights,
    encode,
    one_per_row,
    repetitions,
    table_of,
)

#: What skada puts in place of the labels it hides.
MASKED = -1


@dataclass(frozen=True)
class Problem:
    """Checked training data and choices."""

    samples: Samples
    choices: Choices
    tasks: Names
    classes: Names


@dataclass(frozen=True)
class LabelledRows:
    """Rows that scikit-learn's checks have passed; ``task`` is None where there is one task only."""

    X: Any
    y: NDArray[Any]
    task: Any
    sample_weight: NDArray[np.float64] | None
    groups: Any = None

    def of_domains(self, sample_domain: Any) -> tuple[LabelledRows, Any]:
        """Rows with labels, their tasks by skada's numbers, and the target if there is one."""
        if self.task is not None:
            raise ValueError("give task or sample_domain, not both")
        domain = one_per_row("sample_domain", sample_domain, self.X.shape[0])
        task, negative = np.abs(domain), domain < 0
        targets = np.unique(task[negative])
        kept = np.ones(len(task), dtype=bool)
        # Labels of a target are hidden by a value that no source has.
        if negative.any() and MASKED not in self.y[~negative]:
            kept = ~(negative & (self.y == MASKED))
            if not np.isin(targets, task[kept]).all():
                raise ValueError("all labels of a target are hidden; some are needed to learn from")
        X, weight, groups = self.X, self.sample_weight, self.groups
        if groups is not None:
            groups = one_per_row("groups", groups, self.X.shape[0])[kept]
        if not kept.all():
            X, weight = X[kept], None if weight is None else weight[kept]
        rows = LabelledRows(X, self.y[kept], task[kept], weight, groups)
        return rows, targets[0] if targets.size == 1 else None

    def problem(self, target: Any, params: Mapping[str, Any]) -> Problem:
        """Name everything, and check the parameters against the names."""
        rows = self.X.shape[0]
        if self.task is None:
            tasks = Names(np.array([ONLY_TASK]), [ONLY_TASK])
            task_codes = np.zeros(rows, dtype=np.int64)
        else:
            tasks, task_codes = encode(one_per_row("task", self.task, rows), "tasks")
        classes, class_codes = encode(self.y, "classes")
        weights = self.sample_weight
        times = None if weights is None else repetitions(weights)
        class_weight = params["class_weight"]
        if class_weight is not None:
            times = None
            weights = class_weights(class_weight, classes, task_codes, class_codes, weights)
        groups = None
        if self.groups is not None:
            named, codes = encode(one_per_row("groups", self.groups, rows), "groups")
            groups = [named.names[code] for code in codes]

        taken = slice(None) if weights is None else weights > 0
        found: dict[str, list[str]] = {name: [] for name in tasks.names}
        for cell in np.unique(cell_codes(task_codes[taken], class_codes[taken], classes)):
            task_code, class_code = divmod(int(cell), len(classes.names))
            found[tasks.names[task_code]].append(classes.names[class_code])
        return Problem(
            samples=Samples(
                table=table_of(self.X),
                task_codes=task_codes,
                task_names=tasks.names,
                class_codes=class_codes,
                class_names=classes.names,
                times=times,
                weights=weights if times is None else None,
                groups=groups,
            ),
            choices=choices_for(params, target, tasks, classes, found),
            tasks=tasks,
            classes=classes,
        )


def choices_for(
    params: Mapping[str, Any], target: Any, tasks: Names, classes: Names, found: dict[str, list[str]]
) -> Choices:
    """Check the parameters; ``found`` are the classes of each task."""
    own = {name for task in targets_of(target, tasks, found) for name in found[task]}
    return choose(params, target, tasks, classes.restricted(own))


def targets_of(target: Any, tasks: Names, classes: dict[str, list[str]]) -> list[str]:
    """Return the tasks to decide for, each with classes to tell apart."""
    if target is not None:
        name = tasks.find(target, "task")
        if len(classes[name]) < 2:
            only = ", ".join(classes[name]) or "none"
            raise ValueError(
                f"the target {name!r} has one class only ({only}); a classifier needs samples of at "
                "least two classes"
            )
        return [name]
    targets = [name for name in tasks.names if len(classes[name]) > 1]
    if not targets:
        raise ValueError(
            "a classifier needs samples of at least two classes in one task; the data contain only one class"
        )
    return targets
