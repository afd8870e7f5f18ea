"""Train many classification tasks together, and know the test error before any test.

>>> import numpy as np
>>> from foretask import MultiTaskClassifier
>>> rng = np.random.default_rng(0)
>>> y = np.tile(["bike", "mug"], 60)
>>> task = np.repeat(["amazon", "webcam"], [100, 20])
>>> X = rng.standard_normal((120, 30)) + 0.5 * (y == "mug")[:, None]
>>> model = MultiTaskClassifier(target="webcam").fit(X, y, task=task)
>>> model.forecast_.error < 0.2
True
>>> model.predict(X[:2])
array(['bike', 'mug'], dtype='<U4')
"""

from ._classifier import MultiTaskClassifier
from ._displays import (
    EvaluationDisplay,
    ForecastDisplay,
    LearningCurveForecastDisplay,
    RocForecastDisplay,
    TaskRelatednessDisplay,
    TaskValueDisplay,
)
from ._evaluation import Evaluation, evaluate
from ._forecast import (
    AllSources,
    Budget,
    Compared,
    Forecast,
    Foretold,
    LabelsNeeded,
    LearningCurve,
    LeftOut,
    Paired,
    TaskValues,
)
from ._foretask import __version__
from ._functions import forecast, learning_curve_forecast, task_values
from ._report import Report
from ._split import TargetSplit
from ._statistics import Statistics
from ._study import Study

__all__ = [
    "AllSources",
    "Budget",
    "Compared",
    "Evaluation",
    "EvaluationDisplay",
    "Forecast",
    "ForecastDisplay",
    "Foretold",
    "LabelsNeeded",
    "LearningCurve",
    "LearningCurveForecastDisplay",
    "LeftOut",
    "MultiTaskClassifier",
    "Paired",
    "Report",
    "RocForecastDisplay",
    "Statistics",
    "Study",
    "TargetSplit",
    "TaskRelatednessDisplay",
    "TaskValueDisplay",
    "TaskValues",
    "__version__",
    "evaluate",
    "forecast",
    "learning_curve_forecast",
    "task_values",
]
