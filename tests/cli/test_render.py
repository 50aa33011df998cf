import json

import numpy as np
import pytest

from noumena.cli.render import run_render
from noumena.data import png, sheets
from noumena.data.rendered import Rendered
from tests.cli.test_main import call

SMALL = ("--n", "3", "--size", "8", "--workers", "1", "--classes", "cube", "--pixel-samples", "1")
NOTHING = {"workers": 1, "sheet": None, "traversal": None, "compare": None, "as_json": True}


def test_it_renders_and_goes_on(tmp_path):
    done = call("render", str(tmp_path / "set"), *SMALL, "--sheet", str(tmp_path / "first.png"), "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["rendered"], result["found"], result["folder"]) == (3, 0, str(tmp_path / "set"))
    assert png.decode((tmp_path / "first.png").read_bytes()).shape == (8, 24, 3)
    again = call("render", str(tmp_path / "set"), *SMALL)
    assert again.returncode == 0 and "0 images rendered" in again.stdout and "3 were there" in again.stdout


@pytest.mark.parametrize(
    "arguments",
    [(), ("{}", "--classes", "cbue")],
)
def test_a_wrong_call_exits_2_with_one_line(tmp_path, arguments):
    done = call("render", *(argument.format(tmp_path / "none") for argument in arguments))
    assert done.returncode == 2 and not done.stdout
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("noumena: ")


def test_a_folder_without_frames_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="name a folder of reference frames"):
        run_render(None, description=Rendered(1), **NOTHING | {"compare": str(tmp_path)})
    np.save(tmp_path / "latents.npy", np.zeros((1, 10)))
    with pytest.raises(FileNotFoundError, match="frame_0.png"):
        run_render(None, description=Rendered(1), **NOTHING | {"compare": str(tmp_path)})


def test_frames_are_compared_and_shown_above_ours(tmp_path, capsys):
    latents = np.random.default_rng(0).uniform(-1, 1, (2, 10))
    np.save(tmp_path / "latents.npy", latents)
    _, ours = _compared(tmp_path, np.zeros((2, 6, 6, 3), np.uint8))
    frames, same = _compared(tmp_path, ours)
    assert [frame.name for frame in frames] == ["frame_0.png", "frame_1.png"]
    assert [frame.mean for frame in frames] == [0.0, 0.0] and (same == ours).all()
    darker = ours.copy()
    darker[1, 2, 3] = np.where(ours[1, 2, 3] > 36, ours[1, 2, 3] - 36, ours[1, 2, 3] + 36)
    run_render(
        None, description=Rendered(1), **NOTHING | {"compare": str(tmp_path), "sheet": str(_put(tmp_path, darker))}
    )
    result = json.loads(capsys.readouterr().out)
    assert [frame["mean"] for frame in result["frames"]] == [0.0, 1.0] and result["frames"][1]["worst"] == 36


def _put(folder, frames):
    for i, frame in enumerate(frames):
        (folder / f"frame_{i}.png").write_bytes(png.encode(frame))
    return folder / "sheet.png"


def _compared(folder, frames):
    _put(folder, frames)
    found, picture = sheets.compare(folder)
    return found, np.stack([picture[6:, :6], picture[6:, 6:]])


@pytest.mark.slow
def test_every_factor_is_seen_in_its_row_of_the_traversal(tmp_path):
    run_render(None, description=Rendered(1, size=32), **NOTHING | {"traversal": str(tmp_path / "t.png")})
    rows = png.decode((tmp_path / "t.png").read_bytes()).reshape(10, 32, 9, 32, 3).astype(float)
    assert (np.abs(np.diff(rows, axis=2)).mean((1, 3, 4)) > 0.1).all()
