"""A diagnosis as users meet it: what it accepts, what it refuses, and that the planted thing is what it names."""

import json

import numpy as np
import pytest
import torch

from noumena.conditionals import Anisotropic, FixedContent, GeneralizedNormal, VonMisesFisher
from noumena.diagnostics import Diagnosis, diagnose
from noumena.marginals import Uniform
from noumena.marginals import VonMisesFisher as Marginal
from noumena.spaces import Box, Euclidean, Sphere

N = 4000


def pairs(law, space=None, marginal=None, n=N, seed=3):
    generator = torch.Generator().manual_seed(seed)
    marginal = Uniform(space or Sphere(5)) if marginal is None else marginal
    z = marginal.sample(n, generator=generator)
    return z, law.on(marginal.space).sample(z, generator=generator)


def verdicts(found: Diagnosis) -> dict[str, str]:
    return {reading.name: reading.verdict for reading in found if reading.verdict != "ok"}


PLANTED = {
    "nothing on a sphere": (pairs(VonMisesFisher(20.0)), {}),
    "nothing in a box": (pairs(GeneralizedNormal(2, std=0.1), Box(4)), {}),
    "fixed": (pairs(FixedContent(20.0, 2)), {"diversity": "problem"}),
    "a circle is left": (pairs(FixedContent(4.0, 1), Sphere(3)), {"diversity": "problem"}),
    "one sign is left": (pairs(FixedContent(4.0, 4)), {"diversity": "problem"}),
    "all fixed": (pairs(FixedContent(4.0, 5)), {"diversity": "problem", "overlap": "warning"}),
    "uneven": (pairs(Anisotropic([60.0, 60.0, 15.0, 15.0, 15.0])), {"anisotropy": "warning"}),
    "marginal": (pairs(VonMisesFisher(20.0), marginal=Marginal(Sphere(5), 2.0)), {"uniformity": "problem"}),
    "laplace": (pairs(GeneralizedNormal(1, scale=0.06), Box(4)), {"tails": "warning"}),
    "tight": (pairs(VonMisesFisher(1e5)), {"overlap": "warning"}),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_found_and_nothing_else(name):
    (h, h_pos), expected = PLANTED[name]
    turn = torch.linalg.qr(torch.randn(h.shape[1], h.shape[1], generator=torch.Generator().manual_seed(1))).Q
    if "box" not in name and name != "laplace":
        h, h_pos = 3 * h @ turn, 3 * h_pos @ turn  # a sphere of radius 3, turned
    found = diagnose(h, h_pos)
    assert verdicts(found) == expected
    json.dumps(found.to_dict(), allow_nan=False)
    assert all(reading.name in str(found) for reading in found)


def test_free_embeddings_claim_no_marginal():
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(N, 4, generator=generator).exp()  # far from normal
    found = diagnose(h, h + 0.3 * torch.randn(N, 4, generator=generator))
    assert found.space == "free" and found["uniformity"].verdict == "ok"
    law = GeneralizedNormal(2, std=[0.1, 0.1, 0.1, 1.0]).on(Euclidean(4))
    z = torch.randn(N, 4, generator=generator)
    assert diagnose(z, law.sample(z, generator=generator))["anisotropy"].verdict == "warning"


def alike(one, other):
    """Plain data whose numbers agree to nine digits."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == (pytest.approx(other, rel=1e-9, abs=1e-9, nan_ok=True) if isinstance(other, float) else other)


def test_arrays_tensors_and_mapped_files_are_the_same(tmp_path):
    h, h_pos = pairs(VonMisesFisher(20.0), n=1200)
    np.save(tmp_path / "h.npy", h.numpy())
    np.save(tmp_path / "h_pos.npy", h_pos.numpy())
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("h", "h_pos")]
    found = [diagnose(*both).to_dict() for both in ((h, h_pos), (h.numpy(), h_pos.numpy()), mapped)]
    # Where memory begins decides how a matrix product is summed, so that last digits may differ.
    assert alike(found[0], found[1]) and alike(found[0], found[2])
    assert not alike(diagnose(h, h_pos, seed=1).to_dict(), found[0])


def test_progress_rises_to_one():
    told = []
    diagnose(*pairs(VonMisesFisher(20.0), n=1200), progress=lambda what, share: told.append((what, share)))
    shares = [share for _, share in told]
    assert shares == sorted(shares) and shares[-1] == 1.0 and "modes" in dict(told)


def test_the_recipe_is_the_law():
    found = diagnose(*pairs(VonMisesFisher(20.0)))["recipe"].details
    assert found["head"] == "SphereHead(radius=1)"
    tau = float(found["score"].removeprefix("Dot(tau=").removesuffix(")"))
    assert tau == pytest.approx(1 / 20, rel=0.05)
    found = diagnose(*pairs(GeneralizedNormal(1, scale=0.06), Box(4)))["recipe"].details
    assert found["head"].startswith("BoxHead(4, bound=") and found["score"].startswith("Lp(1, tau=0.0")
    assert float(found["score"].split("tau=")[1][:-1]) == pytest.approx(0.06, rel=0.1)
    uneven = diagnose(*pairs(Anisotropic([60.0, 60.0, 15.0, 15.0, 15.0])))["recipe"].details
    assert uneven["score"].startswith("AnisotropicScore(") and "dim=5" in uneven["score"]


def test_known_factors_and_augmentations():
    generator = torch.Generator().manual_seed(0)
    h, h_pos = pairs(VonMisesFisher(20.0))
    factors = torch.cat([2 * h[:, :2] + 1, torch.randn(N, 1, generator=generator)], dim=1)
    after = torch.cat([2 * h_pos[:, :1] + 1, factors[:, 1:]], dim=1)
    steps = torch.cat([h_pos[:, :1] - h[:, :1], torch.randn(N, 1, generator=generator)], dim=1)
    found = diagnose(h, h_pos, factors=factors, factors_positive=after, augmentations=steps)
    assert found["factors"].details["kept"] == [1, 2] and found["factors"].verdict == "problem"
    assert np.allclose(found["factors"].details["r2"], [1, 1, 0], atol=0.02)
    assert found["augmentations"].details["unseen"] == [1]
    assert np.allclose(found["augmentations"].details["r2"], [1, 0], atol=0.02)
    assert diagnose(h, h_pos, factors=factors)["factors"].verdict == "warning"


def test_test_rows_from_elsewhere():
    h, h_pos = pairs(VonMisesFisher(20.0))
    generator = torch.Generator().manual_seed(8)
    near = Uniform(Sphere(5)).sample(2000, generator=generator)
    far = Marginal(Sphere(5), 3.0).sample(2000, generator=generator)
    assert diagnose(h, h_pos, h_test=near)["domain"].verdict == "ok"
    found = diagnose(h, h_pos, h_test=far)["domain"]
    assert found.verdict != "ok" and found.interval[0] < found.value < found.interval[1]


def test_repeated_anchors_are_pointed_out():
    h, h_pos = pairs(VonMisesFisher(20.0))
    h = h.clone()
    h[1::2] = h[::2]
    found = diagnose(h, h_pos)["overlap"]
    assert found.details["repeated_anchors"] > 1000 and "more than once" in found.sentence


def _changed(h, row, column, value):
    h = h.clone()
    h[row, column] = value
    return h


H, H_POS = pairs(VonMisesFisher(20.0), n=1200)
CONSTANT = torch.cat([H, torch.full((1200, 1), 0.3)], dim=1)
WRONG = {
    "nan": (lambda: diagnose(H, _changed(H_POS, 7, 2, float("nan"))), ValueError, "`h_positive`.* 1 rows.* row 7"),
    "inf": (lambda: diagnose(_changed(H, 9, 0, float("inf")), H_POS), ValueError, "`h_anchor`.* first is row 9"),
    "constant": (lambda: diagnose(CONSTANT, CONSTANT), ValueError, r"columns \[5\] are constant"),
    "unpaired": (lambda: diagnose(H, H_POS[:-1]), ValueError, "`h_positive` .* 1200; got 1199"),
    "columns": (lambda: diagnose(H, H_POS[:, 1:]), ValueError, "`h_positive` must have the 5 columns"),
    "few": (lambda: diagnose(H[:80], H_POS[:80]), ValueError, "at least 500 rows for 5 columns, got 80"),
    "few for many": (lambda: diagnose(torch.eye(900), torch.eye(900)), ValueError, "at least 18000 rows"),
    "one column": (lambda: diagnose(H[:, :1], H_POS[:, :1]), ValueError, "at least two columns"),
    "list": (lambda: diagnose(H.tolist(), H_POS), TypeError, "NumPy array or a tensor, got `list`"),
    "strings": (lambda: diagnose(np.full((600, 3), "a"), H_POS), TypeError, "real numbers"),
    "images": (lambda: diagnose(H[:, :, None], H_POS), ValueError, "Flatten"),
    "space": (lambda: diagnose(H, H_POS, space="spere"), ValueError, "did you mean 'sphere'"),
    "no sphere": (lambda: diagnose(H + 1, H_POS + 1, space="sphere"), ValueError, "rows must have one length"),
    "batch": (lambda: diagnose(H, H_POS, batch_size=1), ValueError, "`batch_size` must be at least 2"),
    "seed": (lambda: diagnose(H, H_POS, seed=-1), ValueError, "`seed`"),
    "factors": (lambda: diagnose(H, H_POS, factors=H[:-1]), ValueError, "`factors` must have a row for each"),
    "factors alone": (lambda: diagnose(H, H_POS, factors_positive=H), ValueError, "needs `factors`"),
    "factor shapes": (
        lambda: diagnose(H, H_POS, factors=H, factors_positive=H[:, 1:]),
        ValueError,
        r"shape of `factors`, \(1200, 5\)",
    ),
    "test": (lambda: diagnose(H, H_POS, h_test=H[:40]), ValueError, "`h_test` must have at least 500 rows, got 40"),
    "no reading": (lambda: diagnose(H, H_POS)["tail"], LookupError, "no reading `tail`; there are space"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name, unchecked_shapes):
    call, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        call()
