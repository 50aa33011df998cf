"""The benchmarks run and compare like with like; what they measure is not asserted here."""

import torch

from noumena.bench import augmentations, encoders, grouped, losses, measure


def test_plain_and_ours_are_the_same_loss():
    for name in losses.CASES:
        ours, plain = losses._ours(name, 200)(), losses._plain(name, 200)()
        torch.testing.assert_close(ours, plain, rtol=1e-5, atol=1e-6)


def test_the_gauge_sees_an_allocation():
    assert measure.peak_megabytes(_allocate, 64) > 48
    assert measure.peak_megabytes(_allocate, 0) < 16


def _allocate(megabytes: int):
    return lambda: bytearray(b"1") * (megabytes * 2**20)


def test_the_grouped_step_is_compared():
    (row,) = grouped.run(anchors_measured=2)
    assert row.ratio is not None and row.ratio > 1


def test_augmentations_are_compared_with_kornias(generator):
    whole, *parts = augmentations.run(batch=8, repeats=1)
    assert whole.ratio is not None and len(parts) == 5
    images = torch.rand(8, 3, 32, 32, generator=generator)
    assert augmentations._seeded(augmentations._kornia(), images).shape == images.shape


def test_encoders_are_timed_and_chunks_compared(monkeypatch):
    name = "ResNet-18 width 16, ImageNet stem"
    monkeypatch.setattr(encoders, "CASES", {name: encoders.CASES[name]})
    monkeypatch.setattr(encoders, "peak_megabytes", lambda *_: 1.0)
    timed, chunked = encoders.run(batch=2, large=4, chunk=2)
    assert timed.plain > 0 and "images per core-second" in timed.note
    assert chunked.plain > 0 and chunked.megabytes == 1.0
