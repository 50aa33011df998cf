from importlib.util import find_spec

import numpy as np
import pytest

from noumena.mixings.render import blender


@pytest.mark.skipif(find_spec("bpy") is not None, reason="Blender is installed here")
def test_a_missing_blender_is_told_before_anything_is_written(tmp_path):
    with pytest.raises(ModuleNotFoundError, match="needs Blender .* in an environment of its own"):
        blender.render(np.zeros((1, 10)), tmp_path / "images")
    assert not list(tmp_path.iterdir())
