"""Pictures of forecasts, in the manner of scikit-learn's displays.

Each display keeps its data and draws them with ``plot``; ``from_estimator``, ``from_study`` and
``from_data`` make one and draw it at once.
"""

from .evaluation import EvaluationDisplay
from .forecast import ForecastDisplay
from .learning_curve import LearningCurveForecastDisplay
from .roc import RocForecastDisplay
from .tasks import TaskRelatednessDisplay, TaskValueDisplay

__all__ = [
    "EvaluationDisplay",
    "ForecastDisplay",
    "LearningCurveForecastDisplay",
    "RocForecastDisplay",
    "TaskRelatednessDisplay",
    "TaskValueDisplay",
]
