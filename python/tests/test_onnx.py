"""``to_onnx`` of the package; ``test_onnx_export.py`` has all rules and the hard cases."""

import numpy as np
import pytest
from conftest import draw

from foretask import MultiTaskClassifier

onnxruntime = pytest.importorskip("onnxruntime")

#: Sums in another order.
AGREEMENT = 1e-10


@pytest.mark.parametrize("classes", [("bike", "mug"), ("a", "b", "c"), (3, 12), (1, 2, 10)])
def test_an_exported_model_predicts_the_same(classes, tmp_path):
    X, y, task = draw(0, classes=classes, few=45)
    model = MultiTaskClassifier().fit(X, y, task)
    path = tmp_path / "model.onnx"
    content = model.to_onnx(path, task="webcam")
    assert path.read_bytes() == content
    session = onnxruntime.InferenceSession(content)
    label, decision, probabilities = session.run(
        ["label", "decision", "probabilities"], {session.get_inputs()[0].name: X}
    )
    np.testing.assert_array_equal(label, model.predict(X, task="webcam"))
    expected = model.predict_proba(X, task="webcam")
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=AGREEMENT)
    ours = model.decision_function(X, task="webcam")
    # The graph scores the first class, as the library does.
    theirs = -decision[:, 0] if len(classes) == 2 else decision
    np.testing.assert_allclose(theirs, ours, rtol=AGREEMENT, atol=AGREEMENT)
    with pytest.raises(ValueError, match="several targets"):
        model.to_onnx()
