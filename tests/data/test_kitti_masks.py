import os
import pickle
import re

import numpy as np
import pytest
import torch

from noumena.data import InMemory, KITTIMasks
from noumena.data.cache import Damaged
from noumena.data.kitti_masks import write_masks
from tests.contracts.data import ImageTableContract
from tests.data.layouts import scratch, sequences

FOLDER = scratch()
CONTENT = sequences(lengths=(4, 2, 7, *[3] * 20))
(FOLDER / "masks.pickle").write_bytes(pickle.dumps(CONTENT))


class TestKITTIMasks(ImageTableContract):
    def make(self):
        return KITTIMasks(FOLDER / "masks.pickle")

    def reference(self):
        return 255 * torch.from_numpy(np.concatenate(CONTENT["pedestrians"]))[:, None]


def test_factors_and_episodes():
    table = KITTIMasks(FOLDER / "masks.pickle")
    assert table.episodes[:13].tolist() == [0] * 4 + [1] * 2 + [2] * 7 and table.episodes[-1] == 22
    assert np.array_equal(table.factors, np.concatenate(CONTENT["pedestrians_latents"]))


def test_splits_part_the_sequences():
    train, test = (KITTIMasks(FOLDER / "masks.pickle", split) for split in ("train", "test"))
    assert len(train) + len(test) == len(KITTIMasks(FOLDER / "masks.pickle"))
    assert test.episodes[-1] == 1 and len(test) == 6
    assert np.array_equal(test.factors[:3], CONTENT["pedestrians_latents"][9])


def as_objects(content):
    """Lists as arrays of objects, and masks that are true or false."""
    masks = np.empty(len(content["pedestrians"]), dtype=object)
    masks[:] = [mask.astype(bool) for mask in content["pedestrians"]]
    return {**content, "pedestrians": masks}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("change", [dict, as_objects])
def test_every_protocol_can_be_read(tmp_path, protocol, change):
    path = tmp_path / "masks.pickle"
    path.write_bytes(pickle.dumps(change(CONTENT), protocol=protocol))
    assert torch.equal(KITTIMasks(path).images(torch.arange(13)), TestKITTIMasks().reference()[:13])


@pytest.mark.parametrize("core", [b"numpy.core", b"numpy._core"])
def test_the_names_of_old_and_new_numpy_are_known(tmp_path, core):
    """Protocol 0 spells module names in plain text, which can be changed."""
    content = pickle.dumps(sequences((2,)), protocol=0)
    assert b"numpy._core.multiarray" in content or b"numpy.core.multiarray" in content
    path = tmp_path / "masks.pickle"
    path.write_bytes(re.sub(rb"numpy\._?core", core, content))
    assert len(KITTIMasks(path)) == 2


class Runs:
    """Makes a pickle that calls a function when it is read."""

    def __init__(self, call, *arguments) -> None:
        self.call = call, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("call", [os.system, eval, exec, getattr, np.load, np.fromfile], ids=lambda f: f.__name__)
def test_a_pickle_that_would_run_code_is_not_run(tmp_path, call, protocol):
    path, made = tmp_path / "masks.pickle", tmp_path / "made"
    arguments = {
        "system": (f"touch {made}",),
        "eval": (f"open({str(made)!r}, 'w')",),
        "exec": (f"open({str(made)!r}, 'w')",),
        "getattr": (np.empty(1), "tofile"),
    }.get(call.__name__, (str(path),))
    path.write_bytes(pickle.dumps({**sequences(), "more": Runs(call, *arguments)}, protocol=protocol))
    with pytest.raises(Damaged, match="masks.pickle` must hold arrays only, but names `.*`: it was not run") as caught:
        KITTIMasks(path)
    assert not made.exists() and "\n" not in str(caught.value)


def test_no_other_codec_is_called(tmp_path):
    path = tmp_path / "masks.pickle"
    path.write_bytes(b"c_codecs\nencode\n(Vx\nVzlib_codec\ntR.")
    with pytest.raises(Damaged, match="names the encoding zlib_codec"):
        KITTIMasks(path)


@pytest.mark.parametrize("kept", [0, 1, 30, 1000, -1])
def test_a_truncated_pickle_is_one_line(tmp_path, kept):
    content = pickle.dumps(CONTENT)
    (tmp_path / "masks.pickle").write_bytes(content[:kept])
    with pytest.raises(Damaged, match="must be a whole pickle.*Download it again") as caught:
        KITTIMasks(tmp_path / "masks.pickle")
    assert "\n" not in str(caught.value)


def changed(**arrays):
    """The first sequence's arrays replaced."""
    content = sequences()
    for key, value in arrays.items():
        content[key] = [value, *content[key][1:]]
    return content


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        ([1, 2], "must hold a dictionary of `pedestrians`"),
        ({"pedestrians": []}, "must hold a dictionary"),
        ({"pedestrians": [], "pedestrians_latents": []}, "must have latents for each sequence, got 0 for 0"),
        ({**sequences(), "pedestrians_latents": []}, "got 0 for 3"),
        (changed(pedestrians=np.zeros((4, 32, 64), bool)), r"sequence 0, must hold masks \(T, 64, 64\)"),
        (changed(pedestrians=np.full((4, 64, 64), 255, np.uint8)), "of 0 and 1"),
        (changed(pedestrians=np.zeros((4, 64, 64))), "of float64"),
        (changed(pedestrians=np.zeros((0, 64, 64), bool)), r"got \(0, 64, 64\)"),
        (changed(pedestrians_latents=np.zeros((3, 3))), r"must have latents \(4, 3\)"),
        (changed(pedestrians_latents=np.full((4, 3), np.nan)), "finite and not negative"),
        (changed(pedestrians_latents=np.full((4, 3), -1.0)), "finite and not negative"),
    ],
)
def test_other_contents_are_refused(tmp_path, content, pattern):
    (tmp_path / "masks.pickle").write_bytes(pickle.dumps(content))
    with pytest.raises(Damaged, match=pattern):
        KITTIMasks(tmp_path / "masks.pickle")


def test_wrong_calls(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file"):
        KITTIMasks(tmp_path / "nothing.pickle")
    (tmp_path / "masks.pickle").write_bytes(pickle.dumps(sequences()))
    with pytest.raises(ValueError, match="`split` must leave a sequence, got 'test' of 3"):
        KITTIMasks(tmp_path / "masks.pickle", "test")


def test_what_is_written_is_read_as_it_was(tmp_path):
    table = TestKITTIMasks().make()
    write_masks(table, tmp_path / "again.pickle")
    again = KITTIMasks(tmp_path / "again.pickle")
    rows = torch.arange(len(table))
    assert torch.equal(again.images(rows), table.images(rows)) and torch.equal(again.factors, table.factors)
    assert np.array_equal(again.episodes, table.episodes)
    with pytest.raises(ValueError, match="`table` must have images of 1x64x64, factors and episodes"):
        write_masks(InMemory(torch.zeros(2, 1, 64, 64, dtype=torch.uint8)), tmp_path / "no")
