"""What the oracle says, setting by setting; each verdict is the conclusion of a statement of the papers or ours."""

import re
from collections.abc import Sequence

import pytest
import torch

from noumena.conditionals import Anisotropic, FixedContent, GeneralizedNormal, VonMisesFisher
from noumena.encoders import MLP, BoxHead, Free, InverseLinear, InversePatches, InverseSpiral, SphereHead, Turned
from noumena.losses import (
    AnisotropicScore,
    CovarianceContrast,
    Dot,
    Drawn,
    Ensemble,
    GroupMates,
    HardNegatives,
    InBatch,
    InfoNCE,
    Lp,
    Regression,
    TriCL,
    Union,
)
from noumena.losses.scores import WeightedDot
from noumena.losses.spectral import Spectral
from noumena.marginals import GeneralizedNormal as Normal
from noumena.marginals import Uniform
from noumena.marginals import VonMisesFisher as Gathered
from noumena.mixings import CouplingFlow, Identity, InjectiveLinear, InvertibleMLP, Monomial, Patches, Spiral
from noumena.pairs import FromMarginal, FromSupport, Given, GroupedSupport, Harder, Mixed, Processes, Synthetic
from noumena.spaces import Box, Euclidean, Sphere
from noumena.theory import Head, Learner, Maps, expectation, verdict

UNEVEN = [9.0, 9.0, 4.0]
DOT = InfoNCE(Dot(0.2))
SPHERE, FREE, BOX = Head(Sphere(3)), Head(Euclidean(3)), Head(Box(3), learnable=True)
FIBRE = InfoNCE(Dot(0.2), Drawn())


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def sphere(law, marginal=None, **rest) -> Synthetic:
    return Synthetic(Uniform(Sphere(3)) if marginal is None else marginal, law, **rest)


def box(p, q=None, **rest):
    world = Synthetic(Uniform(Box(3)), GeneralizedNormal(p=p, scale=0.1))
    return world, InfoNCE(Lp(p if q is None else q, 0.1**p), **rest)


def kept(fixed=1, concentration="exact", dim=3, kappa=5.0, **rest) -> Synthetic:
    return Synthetic(Uniform(Sphere(dim)), FixedContent(kappa, fixed, concentration=concentration), **rest)


def of(world, loss, head):
    return verdict(world, Learner(loss, head))


# name: (world, loss, head), maps, number of the statement, or None where none speaks
VMF = VonMisesFisher(5.0)
UNIT = {
    "matched": (sphere(VMF), DOT, SPHERE, "orthogonal", "Theorem 2"),
    "a learned temperature": (sphere(VMF), InfoNCE(Dot(1.0, learnable=True)), SPHERE, "orthogonal", "Theorem 2"),
    "a radius that matches": (sphere(VMF), InfoNCE(Dot(0.8)), Head(Sphere(3, 2.0)), "orthogonal", "Theorem 2"),
    "a learned radius": (sphere(VMF), InfoNCE(Dot(9.0)), Head(Sphere(3), True), "orthogonal", "Theorem 2"),
    "squared distance": (sphere(VMF), InfoNCE(Lp(2, 0.4)), SPHERE, "orthogonal", "Theorem 2"),
    "both views": (sphere(VMF), InfoNCE(Dot(0.2), InBatch("both", "both")), SPHERE, "orthogonal", "Theorem 2"),
    "equal precisions": (sphere(Anisotropic([2.5] * 3)), DOT, SPHERE, "orthogonal", "Theorem 2"),
    "half precisions": (sphere(Anisotropic([5.0] * 3, half=True)), DOT, SPHERE, "orthogonal", "Theorem 2"),
    "nothing fixed": (kept(0), DOT, SPHERE, "orthogonal", "Theorem 2"),
    "support is everything": (sphere(VMF, negatives=FromSupport(9)), FIBRE, SPHERE, "orthogonal", "Theorem 2"),
    "trained weights": (sphere(VMF), InfoNCE(WeightedDot(1.0, 3)), SPHERE, "orthogonal", "Theorem 2"),
    "without the positive": (
        sphere(VMF),
        InfoNCE(Dot(0.2), positive_in_denominator=False),
        SPHERE,
        "orthogonal",
        "Theorem 2",
    ),
    "warm": (sphere(VonMisesFisher(10.0)), InfoNCE(Dot(1.0)), SPHERE, "open", None),
    "cold": (sphere(VonMisesFisher(1.0)), InfoNCE(Dot(0.1)), SPHERE, "nothing", "Statement 2"),
    "no concentration": (sphere(VonMisesFisher(0.0)), DOT, SPHERE, "nothing", "Statement 6"),
    "free": (sphere(VMF), DOT, FREE, "orthogonal", "Statement 1"),
    "free, distances": (sphere(VMF), InfoNCE(Lp(2, 3.0)), FREE, "orthogonal", "Statement 1"),
    "in a box": (sphere(VMF), InfoNCE(Lp(2, 3.0)), BOX, "orthogonal", "Statement 1"),
    "in too small a box": (sphere(VMF), InfoNCE(Lp(2, 3.0)), Box(3), "open", None),
    "inner products in a box": (sphere(VMF), DOT, BOX, "open", None),
    "uneven": (
        sphere(Anisotropic(UNEVEN)),
        InfoNCE(AnisotropicScore(1.0, 3)),
        SPHERE,
        "block-orthogonal",
        "Theorem 3.1",
    ),
    "all different": (
        sphere(Anisotropic([1.0, 2.0, 3.0])),
        InfoNCE(AnisotropicScore(1.0, 3)),
        SPHERE,
        "generalized permutation",
        "Theorem 3.1",
    ),
    "all equal": (
        sphere(Anisotropic([2.0] * 3)),
        InfoNCE(AnisotropicScore(1.0, 3)),
        SPHERE,
        "orthogonal",
        "Theorem 3.1",
    ),
    "uneven, fixed to match": (
        sphere(Anisotropic(UNEVEN)),
        InfoNCE(AnisotropicScore([4.0, 9.0, 9.0], learnable=False)),
        SPHERE,
        "block-orthogonal",
        "Theorem 3.1",
    ),
    "uneven, fixed elsewhere": (
        sphere(Anisotropic(UNEVEN)),
        InfoNCE(AnisotropicScore([4.0, 5.0, 9.0], learnable=False)),
        SPHERE,
        "open",
        None,
    ),
    "uneven, inner product": (sphere(Anisotropic(UNEVEN)), DOT, SPHERE, "open", None),
    "uneven, trained inner product": (sphere(Anisotropic(UNEVEN)), InfoNCE(WeightedDot(1.0, 3)), SPHERE, "open", None),
    "uneven, both views": (
        sphere(Anisotropic(UNEVEN)),
        InfoNCE(AnisotropicScore(1.0, 3), InBatch("both", "both")),
        SPHERE,
        "open",
        None,
    ),
    "uneven, free": (sphere(Anisotropic(UNEVEN)), InfoNCE(Lp(2)), FREE, "affine", "Statement 1"),
    "shells": (
        sphere(Anisotropic(UNEVEN, proposal="shell")),
        InfoNCE(AnisotropicScore(1.0, 3)),
        SPHERE,
        "open",
        None,
    ),
    "harder": (
        sphere(Anisotropic(UNEVEN), negatives=Harder(Anisotropic([3.0, 2.0, 1.0]), 5)),
        InfoNCE(AnisotropicScore(1.0, 3), Drawn()),
        SPHERE,
        "generalized permutation",
        "Corollary B.1",
    ),
    "too hard": (
        sphere(Anisotropic(UNEVEN), negatives=Harder(Anisotropic([3.0, 2.0, 5.0]), 5)),
        InfoNCE(AnisotropicScore(1.0, 3), Drawn()),
        SPHERE,
        "open",
        None,
    ),
    "several laws of negatives": (
        sphere(VMF, negatives=Harder(VonMisesFisher(1.0), 3)),
        InfoNCE(Dot(0.2), Union([InBatch(), Drawn()])),
        SPHERE,
        "open",
        None,
    ),
    "gathered": (sphere(VMF, Gathered(Sphere(3), 2.0)), DOT, SPHERE, "open", None),
    "gathered by nothing": (sphere(VMF, Gathered(Sphere(3), 0.0)), DOT, SPHERE, "orthogonal", "Theorem 2"),
    "projected": (sphere(GeneralizedNormal(p=1, scale=0.1)), DOT, SPHERE, "open", None),
    "another exponent": (sphere(VMF), InfoNCE(Lp(1, 0.2)), SPHERE, "open", None),
    "positives count more": (sphere(VMF), InfoNCE(Dot(0.2), positive_weight=2.0), SPHERE, "open", None),
    "a cutoff": (sphere(VMF), InfoNCE(Dot(0.2), cutoff=-9.0), SPHERE, "open", None),
    "hardness": (sphere(VMF), InfoNCE(Dot(0.2), weighting=HardNegatives(1.0)), SPHERE, "open", None),
    "mean of candidates": (sphere(VMF), InfoNCE(Dot(0.2), candidate_reduction="mean"), SPHERE, "open", None),
    "published block": (
        sphere(VMF),
        InfoNCE(Dot(0.2), InBatch("both", "both", cross_block="published")),
        SPHERE,
        "open",
        None,
    ),
    "another dimension": (sphere(VMF), DOT, Head(Sphere(4)), "open", None),
    "undrawn": (sphere(VMF), FIBRE, SPHERE, "open", None),
}
CONVEX = {
    "Laplace": (*box(1), BOX, "generalized permutation", "Theorem 6"),
    "cubic": (*box(3), BOX, "generalized permutation", "Theorem 6"),
    "normal": (*box(2), BOX, "affine", "Theorem 5"),
    "normal, a box that fits": (*box(2), Head(Box(3)), "generalized permutation", "Statement 3"),
    "normal, a box too small": (*box(2), Head(Box(3, high=0.5)), "open", None),
    "normal, a wide box": (*box(2), Head(Box(3, high=9.0)), "affine", "Theorem 5"),
    "Laplace, free": (*box(1), FREE, "generalized permutation", "Statement 3"),
    "normal, free": (*box(2), FREE, "affine", "Statement 3"),
    "mismatch": (*box(1, 2), BOX, "open", None),
    "second views": (*box(1, candidates=InBatch("both", "other")), BOX, "open", None),
    "onto a sphere": (*box(2), SPHERE, "open", None),
    "inner product": (box(2)[0], DOT, BOX, "open", None),
    "not uniform": (
        Synthetic(Normal(Box(3), p=2, std=0.1), GeneralizedNormal(p=2, std=0.1)),
        InfoNCE(Lp(2)),
        BOX,
        "open",
        None,
    ),
    "unbounded": (
        Synthetic(Normal(Euclidean(3), p=2, std=1.0), GeneralizedNormal(p=2, std=1.0)),
        InfoNCE(Lp(2)),
        FREE,
        "open",
        None,
    ),
}
PLAIN = InfoNCE(Dot(0.2))
FIXED = {
    "plain": (kept(), PLAIN, SPHERE, "nothing", "Theorem 4.5"),
    "plain, any temperature": (kept(), InfoNCE(Dot(2.0)), SPHERE, "nothing", "Theorem 4.5"),
    "plain, one free": (kept(2), PLAIN, SPHERE, "nothing", "Theorem 4.5"),
    "plain, published": (kept(1, "published"), PLAIN, SPHERE, "nothing", "Theorem 4.5"),
    "all fixed": (kept(3), PLAIN, SPHERE, "nothing", "Statement 6"),
    "adapted": (kept(negatives=FromSupport(9)), FIBRE, SPHERE, "fixed", "Theorem 4.6 with Theorem A.5"),
    "adapted, groups": (
        GroupedSupport(Uniform(Sphere(3)), FixedContent(5.0, 1), group_size=4),
        InfoNCE(Dot(0.2), GroupMates(share=1.0)),
        SPHERE,
        "fixed",
        "Theorem 4.6 with Theorem A.5",
    ),
    "adapted, colder": (kept(negatives=FromSupport(9)), InfoNCE(Dot(0.1), Drawn()), SPHERE, "fixed", "Statement 4"),
    "adapted, warmer": (kept(negatives=FromSupport(9)), InfoNCE(Dot(0.4), Drawn()), SPHERE, "open", None),
    "adapted, published": (kept(1, "published", negatives=FromSupport(9)), FIBRE, SPHERE, "nothing", "Statement 4"),
    "adapted, one free, published": (
        kept(2, "published", negatives=FromSupport(9)),
        FIBRE,
        SPHERE,
        "nothing",
        "Statement 4",
    ),
    "adapted, uninformative": (kept(kappa=0.0, negatives=FromSupport(9)), FIBRE, SPHERE, "nothing", "Statement 4"),
    "all of them": (kept(negatives=Mixed(10, 1.0)), FIBRE, SPHERE, "fixed", "Theorem 4.6 with Theorem A.5"),
    "none of them": (kept(negatives=Mixed(10, 0.0)), FIBRE, SPHERE, "nothing", "Theorem 4.5"),
    "a mixture": (kept(negatives=Mixed(10, 0.5)), FIBRE, SPHERE, "open", None),
    "from the marginal": (kept(negatives=FromMarginal(9)), FIBRE, SPHERE, "nothing", "Theorem 4.5"),
    "groups and anchors": (
        GroupedSupport(Uniform(Sphere(3)), FixedContent(5.0, 1), group_size=4),
        PLAIN,
        SPHERE,
        "open",
        None,
    ),
}
CCA, DOCS = CovarianceContrast(), "steps 8 to 10"
OTHERS = {
    "covariance": (sphere(VMF), CCA, SPHERE, "orthogonal", DOCS),
    "covariance, free": (sphere(VMF), CCA, FREE, "affine", DOCS),
    "covariance, ridge": (sphere(VMF), CovarianceContrast(ridge=0.1), FREE, "orthogonal", DOCS),
    "covariance, projected normal": (sphere(GeneralizedNormal(p=2, std=0.1)), CCA, SPHERE, "orthogonal", DOCS),
    "covariance, projected Laplace": (sphere(GeneralizedNormal(p=1, scale=0.1)), CCA, SPHERE, "open", None),
    "covariance, uneven": (sphere(Anisotropic(UNEVEN)), CCA, SPHERE, "open", None),
    "covariance, kept": (kept(), CCA, SPHERE, "nothing", DOCS),
    "covariance, box": (box(2)[0], CCA, FREE, "open", None),
    "covariance, no centre": (sphere(VMF), CovarianceContrast(centre=False), SPHERE, "open", None),
    "spectral": (sphere(VMF), Spectral(Dot()), FREE, "nothing", "Statement 5"),
    "spectral, one more": (sphere(VMF), Spectral(Dot()), Head(Euclidean(4)), "affine", "Statement 5"),
    "spectral, sphere": (sphere(VMF), Spectral(Dot()), SPHERE, "open", None),
    "TriCL": (sphere(VMF), TriCL(3), FREE, "nothing", "Statement 5"),
    "TriCL, InfoNCE": (sphere(VMF), TriCL(3, "infonce"), SPHERE, "orthogonal", "Theorem 2"),
    "TriCL, InfoNCE, free": (sphere(VMF), TriCL(3, "infonce"), FREE, "open", None),
    "TriCL, code": (sphere(VMF), TriCL(3, "infonce", convention="published"), SPHERE, "open", None),
    "shown": (sphere(VMF), Regression(), SPHERE, "identity", "least squares"),
    "shown in a ball": (box(2)[0], Regression(), SPHERE, "open", None),
}
CASES = {**UNIT, **CONVEX, **FIXED, **OTHERS}


@pytest.mark.parametrize("name", CASES)
def test_verdict(name):
    world, loss, head, maps, number = CASES[name]
    found = of(world, loss, head)
    wanted = Maps.FIXED_PART if maps == "fixed" else Maps(maps)
    assert found.maps is wanted, found.text()
    assert found.speaks == (number is not None) == (found.maps is not Maps.OPEN)
    if number is not None:
        assert found.theorem.number == number and not found.violated
        assert found.expected is found.maps
    else:
        assert found.violated and found.repairs, "what fails, and what would repair it"
        assert found.theorem.number in found.summary and "no theorem speaks" in found.text()


def test_names_cover_all_classes():
    assert {Maps.FIXED_PART if case[3] == "fixed" else Maps(case[3]) for case in CASES.values()} >= {
        one for one in Maps
    }


@pytest.mark.parametrize(
    ("precisions", "blocks"),
    [([4.0, 9.0, 4.0, 9.0, 1.0], ((0, 2), (1, 3), (4,))), ([4.0, 4.001, 4.0, 9.0, 9.0], ((0, 1, 2), (3, 4)))],
)
def test_blocks_are_coordinates_of_equal_precision(precisions, blocks):
    world = Synthetic(Uniform(Sphere(5)), Anisotropic(precisions))
    found = of(world, InfoNCE(AnisotropicScore(1.0, 5)), Sphere(5))
    assert found.maps is Maps.BLOCK_ORTHOGONAL and found.blocks == blocks
    assert "[0" in found.summary and found.to_dict()["blocks"] == blocks


def members(processes: int) -> Ensemble:
    return Ensemble([InfoNCE(AnisotropicScore(1.0, 4)) for _ in range(processes)])


def processes(*precisions: Sequence[float]) -> Processes:
    first, *others = (Anisotropic(one) for one in precisions)
    return Processes(Uniform(Sphere(4)), first, others=others)


def test_an_ensemble_tells_apart_what_some_process_does():
    world = processes([5.0, 5.0, 9.0, 9.0], [5.0, 7.0, 7.0, 7.0])
    found = of(world, members(2), Sphere(4))
    assert found.maps is Maps.BLOCK_ORTHOGONAL and found.blocks == ((0,), (1,), (2, 3))
    assert found.theorem.number == "Corollary B.2"
    apart = of(processes([5.0, 5.0, 9.0, 9.0], [5.0, 7.0, 5.0, 7.0]), members(2), Sphere(4))
    assert apart.maps is Maps.PERMUTATION, "Remark D.4"
    even = of(processes([5.0] * 4, [3.0] * 4), members(2), Sphere(4))
    assert even.maps is Maps.ORTHOGONAL and even.blocks == ()
    alone = of(world, InfoNCE(AnisotropicScore(1.0, 4)), Sphere(4))
    assert not alone.speaks and "Ensemble" in alone.repairs[0]
    part = Ensemble([InfoNCE(Dot(0.2)), InfoNCE(Dot(0.2))], coordinates=[[0, 1], None])
    assert not of(Synthetic(Uniform(Sphere(4)), VMF), part, Sphere(4)).speaks


def test_theorems_of_smooth_and_of_other_mixings():
    for mixing, number in ((Identity(3), "Theorem 2"), (Spiral(), "Theorem 2"), (Patches(), "Theorem 4.4")):
        found = verdict(Synthetic(Uniform(Sphere(3)), VMF, mixing), Learner(DOT, Sphere(3)))
        assert found.theorem.number == number and found.maps is Maps.ORTHOGONAL
    kinked = InvertibleMLP(3, generator=generator(), pool=1)
    assert of(Synthetic(Uniform(Sphere(3)), VMF, kinked), DOT, SPHERE).theorem.number == "Theorem 4.4"
    smooth = InvertibleMLP(3, generator=generator(), pool=1, activation="smooth_leaky_relu")
    assert of(Synthetic(Uniform(Sphere(3)), VMF, smooth), DOT, SPHERE).theorem.number == "Theorem 2"


def linear(bias: bool, rows: int = 3) -> InjectiveLinear:
    return InjectiveLinear(3, rows, generator=generator(), bias=bias)


HOLDS = [
    (MLP.small(3, 3, generator=generator()), Spiral(), True),
    (MLP.small(3, 3, generator=generator()), Patches(), None),
    (MLP.small(3, 3, odd=True, generator=generator()), Spiral(), False),
    (MLP.small(3, 3, odd=True, generator=generator()), Patches(), None),
    (MLP.small(3, 3, odd=True, generator=generator()), linear(False), True),
    (MLP.small(3, 3, odd=True, generator=generator()), linear(True), False),
    (MLP.small(7, 3, odd=True, generator=generator()), linear(True, 7), True),
    (MLP.small(21, 3, odd=True, generator=generator()), Monomial(3), True),
    (MLP.small(3, 3, odd=True, generator=generator()), InvertibleMLP(3, generator=generator(), pool=1), False),
    (MLP.small(3, 3, odd=True, generator=generator()), CouplingFlow(3, generator=generator()), False),
    (MLP(3, 3, [], generator=generator()), Spiral(), False),
    (MLP(3, 3, [], generator=generator()), linear(True), True),
    (InverseLinear(3, 3, generator=generator()), linear(True), True),
    (InverseLinear(3, 3, bias=False, generator=generator()), linear(True), False),
    (InverseLinear(7, 3, bias=False, generator=generator()), linear(True, 7), True),
    (InverseLinear(21, 3, generator=generator()), Monomial(3), True),
    (InverseLinear(3, 3, generator=generator()), Spiral(), False),
    (InverseSpiral(generator=generator()), Spiral(), True),
    (InverseSpiral(generator=generator()), Spiral(3.0), False),
    (InverseSpiral(generator=generator()), Patches(), False),
    (InversePatches(generator=generator()), Patches(), True),
    (InversePatches(generator=generator()), Patches(5), False),
    (InversePatches(variant="published", generator=generator()), Patches(), False),
]


@pytest.mark.parametrize(("encoder", "mixing", "holds"), HOLDS)
def test_which_encoders_hold_the_inverse(encoder, mixing, holds):
    found = verdict(Synthetic(Uniform(Sphere(3)), VMF, mixing), encoder, DOT)
    assert found.encoder is not None and found.encoder.holds is holds, found.text()
    assert found.maps is Maps.ORTHOGONAL, "the optimum over all encoders is another question"
    if holds is False:
        assert "holds no inverse" in found.summary and expectation(found).linear_r2 is None


@pytest.mark.parametrize(("bias", "rows"), [(True, 7), (False, 3)])
def test_a_linear_encoder_without_bias_undoes_the_mixings_it_is_said_to(bias, rows):
    mixing = linear(bias, rows)
    z = Sphere(3).sample_uniform(200, generator(), torch.float64)
    weight = torch.linalg.lstsq(mixing(z), z).solution  # without an intercept
    assert torch.allclose(mixing(z) @ weight, z, atol=1e-9)
    square = linear(True, 3)
    weight = torch.linalg.lstsq(square(z), z).solution
    assert not torch.allclose(square(z) @ weight, z, atol=1e-2)


def test_heads_are_read_off_encoders():
    world = sphere(VonMisesFisher(20.0))
    for head, space, learnable in (
        (SphereHead(2.0), Sphere(3, 2.0), False),
        (SphereHead(2.0, learnable=True), Sphere(3, 2.0), True),
        (Turned(SphereHead(2.0)), Sphere(3, 2.0), False),
        (Turned(SphereHead(2.0, learnable=True)), Sphere(3, 2.0), True),
        (Free(), Euclidean(3), False),
        (BoxHead(3), Box(3), True),
    ):
        encoder = MLP(3, 3, [8], head=head, generator=generator())
        assert Learner.of(encoder, DOT).ends == Head(space, learnable)
    assert verdict(world, MLP(3, 3, [8], head=SphereHead(2.0), generator=generator()), DOT).maps is Maps.ORTHOGONAL


def test_expectations():
    def level(name):
        return expectation(of(*CASES[name][:3]))

    assert level("matched") == expectation(of(sphere(VMF), DOT, SPHERE))
    assert (level("matched").linear_r2, level("matched").mcc, level("matched").angle_error) == ("high", None, "low")
    assert level("all different").mcc == "high" and level("uneven").block_r2 == "high"
    assert level("plain").linear_r2 == "low" and level("plain").angle_error == "high"
    assert level("adapted").linear_r2 is None and level("hardness").linear_r2 is None
    assert expectation(of(*CASES["Laplace"][:3]), sphere=False).angle_error is None
    assert level("uneven, free").linear_r2 == "high"


def test_a_linear_encoder_makes_what_is_left_open_an_isometry_or_a_shrink_map():
    encoder = InverseLinear(3, 3, bias=False, generator=generator())
    corrected = verdict(kept(mixing=linear(False), negatives=FromSupport(9)), encoder, FIBRE)
    assert corrected.maps is Maps.FIXED_PART and expectation(corrected).linear_r2 == "high"
    plain = verdict(kept(mixing=linear(False)), encoder, PLAIN)
    assert plain.maps is Maps.NOTHING and expectation(plain).linear_r2 == "high"
    assert expectation(plain).angle_error is None


def test_experiments_suggest_nothing_beyond_what_they_tried():
    def expected(scale, p, score, head):
        world = Synthetic(Uniform(Box(3)), GeneralizedNormal(p=p, scale=scale))
        return of(world, InfoNCE(Lp(score)), head).expected

    assert expected(0.05, 3, 1, BOX) is Maps.PERMUTATION and expected(0.25, 3, 1, BOX) is Maps.AFFINE
    # The papers' boxes were trained; one that is fixed too small cannot hold what the loss asks for.
    for p in (1, 2, 3):
        assert expected(0.05, p, p, Head(Box(3, high=0.5))) is Maps.OPEN
    # A sphere keeps the directions of a box's points, which a regression on few coordinates may find enough.
    assert expected(0.05, 2, 2, SPHERE) is Maps.OPEN


def test_data_and_text():
    found = of(*CASES["uneven, inner product"][:3])
    data = found.to_dict()
    assert data["maps"] == "open" and data["summary"] == found.summary and data["repairs"] == list(found.repairs)
    assert {one["name"] for one in data["assumptions"]} >= {
        "space",
        "uniform marginal",
        "full support",
        "negatives' law",
    }
    text = found.text()
    assert "✗ score against the conditional" in text and "✓ uniform marginal" in text and "repair: use `Anis" in text
    assert "experiment, no proof" in text and "Figures 2A" in text
    assert re.match("identified up to: orthogonal\nby: Theorem 2", of(sphere(VMF), DOT, SPHERE).text())


def test_wrong_calls_of_verdict(unchecked_shapes):
    given = Given(torch.zeros(4, 3), torch.zeros(4, 3))
    with pytest.raises(TypeError, match="given pairs have none"):
        verdict(given, Learner(DOT, Sphere(3)))  # pyright: ignore
    with pytest.raises(TypeError, match="`encoder` must say where it ends"):
        verdict(sphere(VMF), torch.nn.Identity(), DOT)
    with pytest.raises(TypeError, match="`learner` must be a `Learner`"):
        verdict(sphere(VMF), torch.nn.Identity())
    with pytest.raises(TypeError, match="`loss` must be a `AbstractLoss`"):
        Learner(Dot(), Sphere(3))  # pyright: ignore
    with pytest.raises(TypeError, match="`head` must be a `Head`"):
        Learner(DOT, "sphere")  # pyright: ignore
