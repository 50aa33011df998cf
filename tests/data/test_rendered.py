import errno
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from noumena.data import png, rendered
from noumena.data.rendered import Rendered, described, write

SMALL = Rendered(n=11, size=4, classes=("cube",), pixel_samples=1, light_samples=1)


def complete(root, description, **options):
    *_, last = write(root, description, **options)
    assert last.done == last.total
    return last


def contents(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_the_layout_of_3dident(tmp_path):
    last = complete(tmp_path, Rendered(n=11, size=4, split="test", pixel_samples=1, light_samples=1))
    assert last == (11, 11, 0)
    root = tmp_path / "test"
    assert sorted(path.name for path in root.iterdir()) == ["images", "latents.npy", "raw_latents.npy", "rendered.json"]
    assert sorted(os.listdir(root / "images")) == [f"{i:02d}.png" for i in range(11)]
    raw, latents = np.load(root / "raw_latents.npy"), np.load(root / "latents.npy")
    assert raw.shape == (11, 10) and np.abs(raw).max() <= 1
    np.testing.assert_allclose(latents, raw * ([3.0] * 3 + [np.pi / 2] * 7))
    assert png.decode((root / "images" / "10.png").read_bytes()).shape == (4, 4, 3)


def test_the_layout_of_causal3dident(tmp_path):
    complete(tmp_path, Rendered(n=2, size=4, split="train", classes=("cube", "cone")))
    root = tmp_path / "trainset"
    tables = [f"{kind}_{c}.npy" for kind in ("latents", "raw_latents") for c in range(2)]
    assert sorted(os.listdir(root)) == ["images_0", "images_1", *tables, "rendered.json"]
    assert sorted(os.listdir(root / "images_1")) == ["0.png", "1.png"]
    assert (np.load(root / "raw_latents_0.npy") != np.load(root / "raw_latents_1.npy")).all()


def test_latents_are_uniform_and_independent_of_the_number():
    many = Rendered(n=20_000).latents()
    np.testing.assert_array_equal(Rendered(n=7).latents(), many[:7])
    # Means and squares of 20 columns of 20 000 within five standard deviations: one false alarm in 40 000.
    assert np.abs(many.mean(0)).max() < 5 / np.sqrt(3 * 20_000)
    assert np.abs((many**2).mean(0) - 1 / 3).max() < 5 * np.sqrt(4 / 45 / 20_000)
    for other in (Rendered(n=7, seed=1), Rendered(n=7, split="test")):
        assert (other.latents() != many[:7]).all()


def test_splits_without_a_name_are_the_training_set():
    np.testing.assert_array_equal(Rendered(n=3).latents(), Rendered(n=3, split="train").latents())


def test_a_set_does_not_depend_on_how_it_was_divided(tmp_path, monkeypatch):
    complete(tmp_path / "whole", SMALL)
    monkeypatch.setattr(rendered, "BLOCK", 3)
    complete(tmp_path / "blocks", SMALL)
    assert contents(tmp_path / "whole") == contents(tmp_path / "blocks")


@pytest.mark.slow
def test_a_set_does_not_depend_on_the_number_of_processes(tmp_path, monkeypatch):
    description = Rendered(n=200, size=4, classes=("cube",))
    complete(tmp_path / "one", description)
    complete(tmp_path / "three", description, workers=3)
    assert contents(tmp_path / "one") == contents(tmp_path / "three")


def test_what_is_missing_cut_or_altered_is_rendered_again(tmp_path):
    complete(tmp_path, SMALL)
    before = contents(tmp_path)
    folder = tmp_path / "images_0"
    (folder / "03.png").unlink()
    (folder / "05.png").write_bytes((folder / "05.png").read_bytes()[:-20])
    (folder / "06.png").write_bytes(b"")
    (folder / ".08.png.tmp").write_bytes(b"half")
    kept = os.stat(folder / "01.png").st_mtime_ns
    assert complete(tmp_path, SMALL) == (11, 11, 8)
    assert contents(tmp_path) == before and os.stat(folder / "01.png").st_mtime_ns == kept


def test_a_killed_run_is_gone_on_with(tmp_path):
    """Killed without warning between two images, and taken up: the set is that of a run that was left alone."""
    code = (
        "import os, signal\nfrom pathlib import Path\nfrom noumena.data import rendered\n"
        f"rendered.BLOCK = 2\nroot = Path({str(tmp_path / 'killed')!r})\n"
        f"for step in rendered.write(root, rendered.{SMALL!r}):\n"
        "    if step.done >= 4: os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(os.listdir(tmp_path / "killed" / "images_0")) == 4
    assert complete(tmp_path / "killed", SMALL).found == 4
    complete(tmp_path / "whole", SMALL)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_another_set_is_refused(tmp_path):
    complete(tmp_path, SMALL)
    assert described(tmp_path) == SMALL and described(tmp_path / "images_0") is None
    with pytest.raises(ValueError, match="holds another set, with n 11, not 12, seed 0, not 3"):
        next(write(tmp_path, Rendered(12, 4, 3, classes=("cube",), pixel_samples=1, light_samples=1)))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match="must be empty or hold a set that was rendered here"):
        next(write(tmp_path / "other", SMALL))
    (tmp_path / "rendered.json").write_text("{")
    with pytest.raises(ValueError, match="must describe a rendered set"):
        next(write(tmp_path, SMALL))


def test_another_mesh_of_the_same_name_is_refused(tmp_path):
    mesh = tmp_path / "a.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n")
    description = Rendered(2, 4, classes=(str(mesh),))
    complete(tmp_path / "set", description)
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
    with pytest.raises(ValueError, match="shows other meshes"):
        next(write(tmp_path / "set", description))


def test_a_full_disk_is_told_and_leaves_no_half_image(tmp_path, monkeypatch):
    replace, calls = os.replace, []

    def full(source, target):
        calls.append(target)
        if len(calls) > 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space left for .*make room"):
        complete(tmp_path, SMALL)
    monkeypatch.undo()
    assert 0 < complete(tmp_path, SMALL).found < 11


def test_refusals(unchecked_shapes):
    with pytest.raises(ValueError, match="`n` must be at least 1"):
        Rendered(0)
    with pytest.raises(ValueError, match="`split` cannot be 'tset'; did you mean 'test'"):
        Rendered(1, split="tset")
    with pytest.raises(ValueError, match="`classes` must name at least one object"):
        Rendered(1, classes=())
