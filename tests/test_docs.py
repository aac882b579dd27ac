"""What the documentation shows runs, and says what it says there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

PHYSICS = Path(__file__).parent.parent / "docs" / "physics.md"


def test_the_experiment_of_the_physics_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driven cavity on both backends, its profile, a volume and a chart."""
    monkeypatch.chdir(tmp_path)
    (text,) = re.findall(r"```python\n(import numpy.+?)```", PHYSICS.read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, Any] = {}
    exec(text, found)
    assert found["apart"] < 1e-5 and not found["start"].any()
    assert -0.21 < found["profile"].min() < -0.12 and found["profile"].argmin() in range(12, 24)
    with np.load("cavity.npz") as written:
        assert written["velocity"].shape == (1, 32, 32, 3)
        np.testing.assert_allclose(written["velocity"][0, ..., 0], found["u"], atol=1e-3)
    chart = np.asarray(Image.open("cavity.png")).astype(int)
    assert chart.shape == (360, 640, 3)
    assert chart[60:120, 200:440].std() > 10.0, "a lid that shears, and fluid that does not know yet"
    found["fluid"].release()
    found["check"].release()
