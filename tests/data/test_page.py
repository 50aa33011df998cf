"""What docs/data.md shows, run as it stands."""

import re
from pathlib import Path

import torch

from noumena.data import ThreeDIdent, Walkers
from tests.data import layouts

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def test_the_blocks_run(tmp_path, monkeypatch):
    layouts.threedident(tmp_path / "3dident" / "train")
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(block, "docs/data.md", "exec"), names)
    assert len(names["pairs"]) == 98
    recording = names["Recording"]("3dident/train/images")
    assert len(recording) == 12
    expected = ThreeDIdent("3dident/train").images(torch.arange(12))
    assert torch.equal(recording.images(torch.arange(12)), expected)
    assert names["Walkers"] is Walkers
