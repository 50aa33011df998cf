from functools import partial

import pytest
import torch

from noumena.data import InMemory
from noumena.experiments import vae
from noumena.experiments.vae import posterior_mean, train_vae
from noumena.mixings import Decoder
from noumena.spaces import Sphere
from noumena.training import Checkpoint


def digits(n=96):
    """A bright half, upper or lower, left or right: what two latents can say."""
    generator = torch.Generator().manual_seed(0)
    images = torch.full((n, 1, 8, 8), 20, dtype=torch.uint8)
    for image, half in zip(images, torch.randint(4, (n,), generator=generator), strict=True):
        side = slice(0, 4) if half % 2 else slice(4, 8)
        image[(0, side) if half < 2 else (0, slice(None), side)] = 230
    return InMemory(images, name="bars/train")


SETTINGS = {"epochs": 30, "dim": 2, "widths": (32, 16), "batch": 32, "lr": 1e-2}


def test_training_raises_the_bound_and_gives_both_halves(tmp_path, generator):
    records = []
    path = train_vae(digits(), out=tmp_path / "bars.safetensors", progress=records.append, **SETTINGS)
    assert [record.step for record in records] == [3 * i for i in range(1, 31)]
    assert records[-1].loss < records[0].loss - 2 and set(records[0].parts) == {"reconstruction", "divergence"}
    mixing = Decoder(path)
    x = mixing(Sphere(2).project(torch.randn(5, 2, generator=generator)))
    assert x.shape == (5, 64) and mixing.shape_out == (1, 8, 8)
    bound = mixing.description.training["measured"]["evidence lower bound"]
    assert bound == pytest.approx(-records[-1].loss, abs=1.0)  # other images, other noise
    rows = digits().images(torch.arange(96)).flatten(1) / 255
    encoder = posterior_mean(path)
    rebuilt = mixing(encoder(rows) / mixing.scale)
    assert encoder(rows).shape == (96, 2)
    assert float((rebuilt - rows).square().mean()) < 0.5 * float((rows - rows.mean(0)).square().mean())
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bars.safetensors"]


def test_the_seed_decides_and_a_killed_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("NOUMENA_DATA", str(tmp_path))

    def stop(record):
        if record.step == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(vae, "Checkpoint", partial(Checkpoint, seconds=0.0))
    steps = []
    with pytest.raises(KeyboardInterrupt):
        train_vae(digits(), progress=stop, **SETTINGS)
    killed = train_vae(digits(), progress=lambda record: steps.append(record.step), **SETTINGS)
    assert steps[0] == 30  # the record that nobody asked beyond comes again
    calm = train_vae(digits(), out=tmp_path / "calm.safetensors", **SETTINGS)
    other = train_vae(digits(), out=tmp_path / "other.safetensors", seed=1, **SETTINGS)
    assert killed == tmp_path / "vae" / "bars.safetensors"
    assert killed.read_bytes() == calm.read_bytes() != other.read_bytes()


def test_a_finished_one_is_kept(tmp_path):
    path, told = tmp_path / "bars.safetensors", []
    settings = {**SETTINGS, "epochs": 1, "out": path}
    train_vae(digits(), **settings)
    before = path.stat().st_mtime_ns
    assert train_vae(digits(), **settings, progress=told.append) == path
    assert path.stat().st_mtime_ns == before and not told
    with pytest.raises(ValueError, match="`out` holds another autoencoder"):
        train_vae(digits(), **{**settings, "epochs": 2})
    with pytest.raises(ValueError, match="`batch` must be even and at most the 96 images there are, got 31"):
        train_vae(digits(), **{**settings, "batch": 31})


def test_a_pair_is_two_distinct_images():
    batch = vae._Images(digits()).draw(48, torch.Generator().manual_seed(0))
    drawn, all_of_them = torch.cat([batch.x, batch.x_pos]), digits().images(torch.arange(96)).flatten(1) / 255
    torch.testing.assert_close(drawn.sum(0), all_of_them.sum(0))
    assert drawn.shape == (96, 64) and not torch.equal(drawn, all_of_them)
