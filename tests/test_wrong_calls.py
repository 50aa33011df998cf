"""What a wrong call is answered: what must hold, what was given, what to do; never an error of torch, or a number."""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
import torch

from noumena import PairEmbeddings, conditionals, encoders, losses, marginals, metrics, mixings, pairs, spaces, streams
from noumena.theory import loss_floor
from noumena.training import Schedule, evaluate, train

Case = tuple[Callable[[], object], type[Exception], str]


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(5)


def changed(points: torch.Tensor, value: float) -> torch.Tensor:
    """A copy whose row 5 begins with `value`."""
    points = points.clone()
    points[5, 0] = value
    return points


NAN, INF = float("nan"), float("inf")
SPHERE = spaces.Sphere(3)
UNIFORM = marginals.Uniform(SPHERE)
Z = SPHERE.sample_uniform(8, seeded())
Z_POS = SPHERE.sample_uniform(8, torch.Generator().manual_seed(6))
WIDE = torch.cat([Z, Z[:, :1]], dim=1)
X = torch.randn(40, 3, generator=seeded())
ROWS = X.numpy().astype(np.float64)
VMF = conditionals.VonMisesFisher(4.0)
SYNTHETIC = pairs.Synthetic(UNIFORM, VMF)
NET = encoders.MLP(3, 3, [8], generator=seeded())
LOSS = losses.InfoNCE(losses.Dot())


def embeddings(h=Z, h_pos=Z_POS, **others) -> PairEmbeddings:
    return PairEmbeddings(h, h_pos, **others)


def sample(law, z=Z, generator: object = None):
    return law.sample(z, generator=seeded() if generator is None else generator)


def mlp(**options):
    return encoders.MLP(3, 3, **{"widths": [8], "generator": seeded()} | options)


def mixing(**options):
    return mixings.InvertibleMLP(3, 1, **{"generator": seeded(), "pool": 10} | options)


def normal(law=conditionals.GeneralizedNormal, *args, **options):
    return law(*args, **{"p": 2, "scale": 1.0} | options)


def run(**options):
    choices = {"source": SYNTHETIC, "encoder": NET, "loss": LOSS, "steps": 1, "batch_size": 8, "generator": seeded()}
    choices |= {"optimizer": torch.optim.SGD(NET.parameters(), lr=0.1)} | options
    return train(choices.pop("source"), choices.pop("encoder"), choices.pop("loss"), **choices)


def measured(**options):
    choices = {
        "source": SYNTHETIC,
        "encoder": NET,
        "metrics": [metrics.MCC()],
        "n": 40,
        "generator": seeded(),
    } | options
    return evaluate(choices.pop("source"), choices.pop("encoder"), choices.pop("metrics"), **choices)


SPACES: dict[str, Case] = {
    "sphere of no dimension": (lambda: spaces.Sphere(0), ValueError, r"`dim` must be at least 1, got 0\."),
    "sphere of half a dimension": (lambda: spaces.Sphere(2.5), TypeError, r"`dim` must be a whole number, got 2\.5"),
    "sphere of negative radius": (lambda: spaces.Sphere(3, -1.0), ValueError, r"`radius` must be positive, got -1\.0"),
    "sphere of infinite radius": (lambda: spaces.Sphere(3, INF), ValueError, r"`radius` must be finite, got inf"),
    "box upside down": (lambda: spaces.Box(2, 1.0, 0.0), ValueError, r"`low` must be below `high` .* \[1\.0, 0\.0\]"),
    "box with bounds of another length": (
        lambda: spaces.Box(3, low=[0.0, 0.0]),
        ValueError,
        r"`low` must have one value or 3, .*; got 2\.",
    ),
    "product of nothing": (lambda: spaces.Product([]), ValueError, r"`factors` must name at least one space, got none"),
    "product of numbers": (
        lambda: spaces.Product([3]),
        TypeError,
        r"`factors` must .* `AbstractSpace`, got `int`\. Pass",
    ),
    "product of a lone space": (
        lambda: spaces.Product(SPHERE),
        TypeError,
        r"`factors` must be a sequence, got `Sphere`\.",
    ),
    "uniform draws of all of space": (
        lambda: spaces.Euclidean(3).sample_uniform(5, seeded()),
        ValueError,
        r"needs a bounded space, got `Euclidean\(dim=3\)`; use `Sphere`",
    ),
    "uniform draws without a generator": (
        lambda: SPHERE.sample_uniform(5, None),
        TypeError,
        r"`generator` must be a torch\.Generator, got `NoneType`; pass",
    ),
    "uniform draws below zero": (
        lambda: spaces.Box(3).sample_uniform(-1, seeded()),
        ValueError,
        r"`n` must be at least 1, got -1\.",
    ),
    "uniform draws of integers": (
        lambda: SPHERE.sample_uniform(5, seeded(), torch.int64),
        TypeError,
        r"`dtype` must be a floating dtype such as torch\.float32, got torch\.int64\.",
    ),
    "projection from another dimension": (
        lambda: SPHERE.project(WIDE),
        ValueError,
        r"`z` must have the shape \(n, 3\); got \(8, 4\)\.",
    ),
    "projection of NaN": (lambda: SPHERE.project(changed(Z, NAN)), ValueError, r"`z` must be finite; 1 of 24 .* Drop"),
    "projection of the origin": (
        lambda: SPHERE.project(torch.zeros(2, 3)),
        ValueError,
        r"`z` must not contain the origin: .* Drop those rows",
    ),
    "membership of one point": (
        lambda: spaces.Box(3).contains(X[0]),
        ValueError,
        r"`z` must have the shape \(n, 3\); got \(3,\)\.",
    ),
    "membership of a list": (
        lambda: SPHERE.contains([[1.0, 0.0, 0.0]]),
        TypeError,
        r"`z` must be a torch\.Tensor, got `list`; torch\.as_tensor converts",
    ),
    "split of another dimension": (
        lambda: spaces.Product([SPHERE, SPHERE]).split(Z),
        ValueError,
        r"`z` must have the 6 coordinates of the factors; got 3\.",
    ),
    "membership in a product, too wide": (
        lambda: spaces.Product([SPHERE, spaces.Box(1)]).contains(Z),
        ValueError,
        r"`z` must have the shape \(n, 4\); got \(8, 3\)\.",
    ),
}

MARGINALS: dict[str, Case] = {
    "unbounded uniform": (
        lambda: marginals.Uniform(spaces.Euclidean(3)),
        ValueError,
        r"`Uniform` needs a bounded space, got `Euclidean\(3\)`; use `Sphere` or `Box`\.",
    ),
    "uniform over a number": (lambda: marginals.Uniform(3), TypeError, r"`space` must .*, got `int`\. Pass a space"),
    "marginal without a generator": (
        lambda: UNIFORM.sample(5, generator=None),
        TypeError,
        r"`generator` must be a torch\.Generator, got `NoneType`; pass",
    ),
    "marginal with a NumPy generator": (
        lambda: UNIFORM.sample(5, generator=np.random.default_rng(0)),
        TypeError,
        r"`generator` must be a torch\.Generator, got `Generator`; pass",
    ),
    "no draws": (lambda: UNIFORM.sample(0, generator=seeded()), ValueError, r"`n` must be at least 1, got 0\."),
    "five and a half draws": (
        lambda: marginals.Product([UNIFORM]).sample(5.5, generator=seeded()),
        TypeError,
        r"`n` must be a whole number, got 5\.5",
    ),
    "draws of a dtype by name": (
        lambda: marginals.GeneralizedNormal(SPHERE, p=2, std=1.0).sample(5, generator=seeded(), dtype="float32"),
        TypeError,
        r"`dtype` must be a floating dtype such as torch\.float32, got 'float32'\.",
    ),
    "density of NaN": (
        lambda: UNIFORM.log_prob(changed(Z, NAN)),
        ValueError,
        r"`z` must be finite; 1 of 24 entries are NaN or infinite\. Drop those rows",
    ),
    "density of infinity": (
        lambda: marginals.GeneralizedNormal(spaces.Euclidean(3), p=1, scale=1.0).log_prob(changed(Z, INF)),
        ValueError,
        r"`z` must be finite; 1 of 24",
    ),
    "density of one point": (
        lambda: UNIFORM.log_prob(Z[0]),
        ValueError,
        r"`z` must have the shape \(n, 3\); got \(3,\)",
    ),
    "density of integers": (
        lambda: UNIFORM.log_prob(torch.ones(4, 3, dtype=torch.int64)),
        TypeError,
        r"`z` must have a floating dtype, got torch\.int64; convert it with",
    ),
    "scale and std": (
        lambda: marginals.GeneralizedNormal(SPHERE, p=2, scale=1.0, std=1.0),
        ValueError,
        r"one of `scale` and `std` must be given, got both",
    ),
    "centre of another length": (
        lambda: marginals.GeneralizedNormal(SPHERE, p=2, std=1.0, center=[0.0, 1.0]),
        ValueError,
        r"`center` must have 3 numbers, one for each coordinate; got 2\.",
    ),
    "centre that is a number": (
        lambda: marginals.GeneralizedNormal(SPHERE, p=2, std=1.0, center=0.0),
        TypeError,
        r"`center` must be a sequence, got `float`\.",
    ),
    "generalized normal on a product": (
        lambda: marginals.GeneralizedNormal(spaces.Product([SPHERE]), p=2, std=1.0),
        ValueError,
        r"`GeneralizedNormal` needs .*, got `Product\(.*use `marginals\.Product`",
    ),
    "von Mises-Fisher about nothing": (
        lambda: marginals.VonMisesFisher(SPHERE, 1.0, mean=[0.0, 0.0, 0.0]),
        ValueError,
        r"`mean` must not be zero: .* Leave it out",
    ),
    "von Mises-Fisher about a number": (
        lambda: marginals.VonMisesFisher(SPHERE, 1.0, mean=1.0),
        TypeError,
        r"`mean` must be a sequence, got `float`\.",
    ),
    "von Mises-Fisher in a box": (
        lambda: marginals.VonMisesFisher(spaces.Box(3), 1.0),
        TypeError,
        r"`space` must be a `Sphere`, got `Box`\.",
    ),
    "product of spaces for marginals": (
        lambda: marginals.Product([SPHERE]),
        TypeError,
        r"`factors` must .*, got `Sphere`\. Pass marginals such as",
    ),
}

CONDITIONALS: dict[str, Case] = {
    "kappa below zero": (
        lambda: conditionals.VonMisesFisher(-1.0),
        ValueError,
        r"`kappa` must be at least 0, got -1\.0\.",
    ),
    "kappa NaN": (lambda: conditionals.VonMisesFisher(NAN), ValueError, r"`kappa` must be finite, got nan\."),
    "kappa in words": (lambda: conditionals.VonMisesFisher("10"), TypeError, r"`kappa` must be a number, got '10'"),
    "kappa as a column": (
        lambda: conditionals.VonMisesFisher(torch.ones(8, 1)),
        ValueError,
        r"`kappa` must .* \(n,\), one for each anchor; got \(8, 1\)\.",
    ),
    "kappa for other rows": (
        lambda: sample(conditionals.VonMisesFisher(torch.ones(7))),
        ValueError,
        r"`kappa` must have one entry for each of the 8 anchors; got 7\.",
    ),
    "kappa of another dtype": (
        lambda: sample(conditionals.VonMisesFisher(torch.ones(8).double())),
        TypeError,
        r"`kappa` must have the dtype of `z`, torch\.float32; got torch\.float64\. Convert",
    ),
    "von Mises-Fisher on a number": (
        lambda: VMF.on(3),
        TypeError,
        r"`space` must .*, got `int`\. Pass a space such as",
    ),
    "von Mises-Fisher off the sphere": (
        lambda: VMF.on(spaces.Box(3)),
        ValueError,
        r"lives on a sphere, got `Box\(.*use",
    ),
    "anchors off the sphere": (
        lambda: sample(VMF, 2 * Z),
        ValueError,
        r"`z` must lie in Sphere\(dim=3.*8 of 8 rows do not, the first is row 0\. `space\.project` moves",
    ),
    "anchors outside of the box": (
        lambda: sample(normal(space=spaces.Box(3)), changed(0.5 + 0 * Z, 1.5)),
        ValueError,
        r"`z` must lie in Box\(.*1 of 8 rows do not, the first is row 5",
    ),
    "anchors as a list": (lambda: sample(VMF, Z.tolist()), TypeError, r"`z` must be a torch\.Tensor, got `list`; "),
    "no anchors": (lambda: sample(VMF, Z[:0]), ValueError, r"`z` must not be empty; got the shape \(0, 3\)\."),
    "anchors with NaN": (lambda: sample(VMF, changed(Z, NAN)), ValueError, r"`z` must be finite; 1 of 24 .* Drop"),
    "a batch of batches": (
        lambda: sample(VMF, Z[None]),
        ValueError,
        r"`z` must have the shape \(n, d\); got \(1, 8, 3\)",
    ),
    "generator elsewhere": (
        lambda: sample(VMF, Z.to("meta")),
        ValueError,
        r"`generator` must be on the device of its inputs, meta; got cpu\. Make one with",
    ),
    "a seed for a generator": (
        lambda: sample(VMF, generator=0),
        TypeError,
        r"`generator` must be a torch\.Generator, got `int`; pass torch\.Generator\(\)\.manual_seed",
    ),
    "positives of another batch": (
        lambda: VMF.log_prob(Z_POS[:7], Z),
        ValueError,
        r"`z_pos` must have the shape of `z`, \(8, 3\); got \(7, 3\)\.",
    ),
    "positives in double precision": (
        lambda: VMF.log_prob(Z_POS.double(), Z),
        TypeError,
        r"`z_pos` must have the dtype of `z`, torch\.float32; got torch\.float64\. Convert",
    ),
    "positives with infinity": (
        lambda: VMF.log_prob(changed(Z_POS, INF), Z),
        ValueError,
        r"`z_pos` must be finite; 1 of 24",
    ),
    "no support draws": (
        lambda: VMF.sample_support(Z, 0, generator=seeded()),
        ValueError,
        r"`m` must be at least 1, got 0\.",
    ),
    "support draws of an unbounded law": (
        lambda: normal().sample_support(Z, 3, generator=seeded()),
        ValueError,
        r"needs a bounded space, got `Euclidean\(dim=3\)`; use",
    ),
    "exponent below one": (lambda: normal(p=0.5), ValueError, r"`p` must be at least 1, got 0\.5\."),
    "neither scale nor std": (
        lambda: normal(scale=None),
        ValueError,
        r"one of `scale` and `std` must be given, got neither",
    ),
    "std of a Laplace law": (
        lambda: normal(p=1, scale=None, std=1.0),
        ValueError,
        r"`std` describes the normal law, p = 2, and p is 1; give `scale`\.",
    ),
    "scale of zero": (lambda: normal(scale=0.0), ValueError, r"`scale` must be positive, got 0\.0\."),
    "scales for other coordinates": (
        lambda: sample(normal(scale=[1.0, 2.0])),
        ValueError,
        r"`scale` must be one number or 3, one for each coordinate; got 2\.",
    ),
    "precision with a zero": (
        lambda: conditionals.Anisotropic([1.0, 0.0, 2.0]),
        ValueError,
        r"`precision` must be positive, got 0\.0\.",
    ),
    "precision below zero": (
        lambda: conditionals.Anisotropic(torch.tensor([1.0, -2.0])),
        ValueError,
        r"`precision` must be positive, got -2\.0\.",
    ),
    "precision for other coordinates": (
        lambda: conditionals.Anisotropic([1.0, 2.0]).on(SPHERE),
        ValueError,
        r"`precision` must have 3 numbers, one for each coordinate .*; got 2\.",
    ),
    "precision as a number": (
        lambda: conditionals.Anisotropic(10.0),
        TypeError,
        r"`precision` must be a sequence, got `float`\.",
    ),
    "unknown proposal": (
        lambda: conditionals.Anisotropic([1.0, 2.0], proposal="shel"),
        ValueError,
        r"`proposal` cannot be 'shel'; did you mean 'shell'\?",
    ),
    "more fixed than there are": (
        lambda: conditionals.FixedContent(5.0, fixed=4, space=SPHERE),
        ValueError,
        r"`fixed` must be at most the 3 coordinates of a point, got 4\.",
    ),
    "more fixed than the anchors have": (
        lambda: sample(conditionals.FixedContent(5.0, fixed=4)),
        ValueError,
        r"`fixed` must be at most the 3 coordinates of a point, got 4\.",
    ),
    "minus one fixed": (
        lambda: conditionals.FixedContent(5.0, fixed=-1),
        ValueError,
        r"`fixed` must be at least 0, got -1\.",
    ),
    "product without spaces": (
        lambda: sample(conditionals.Product([VMF])),
        ValueError,
        r"`Product` cannot tell how 3 coordinates belong .*; give each factor a space",
    ),
    "product on a plain space": (
        lambda: conditionals.Product([VMF]).on(SPHERE),
        ValueError,
        r"`space` must be a product of 1 spaces, got `Sphere\(",
    ),
    "product of a lone conditional": (
        lambda: conditionals.Product(VMF),
        TypeError,
        r"`factors` must be a sequence, got `VonMisesFisher`\.",
    ),
}

MIXINGS: dict[str, Case] = {
    "fewer observations than latents": (
        lambda: mixings.InjectiveLinear(3, 2, generator=seeded()),
        ValueError,
        r"`dim_out` must be at least `dim_in`, 3, for an injective map; got 2\.",
    ),
    "singular matrix": (
        lambda: mixings.InjectiveLinear.from_matrix(torch.ones(3, 2)),
        ValueError,
        r"`matrix` must have rank 2, its number of columns, .*; got 1\.",
    ),
    "bias of another length": (
        lambda: mixings.InjectiveLinear.from_matrix(torch.eye(3), torch.ones(3, 1)),
        ValueError,
        r"`bias` must have one entry for each row of `matrix`, 3; got \(3, 1\)\.",
    ),
    "unknown activation of a mixing": (
        lambda: mixing(activation="leaky_rely"),
        ValueError,
        r"`activation` cannot be 'leaky_rely'; did you mean 'leaky_relu'\?",
    ),
    "slope above one": (lambda: mixing(slope=2.0), ValueError, r"`slope` must be at most 1, .*; got 2\.0\."),
    "quantile above one": (lambda: mixing(quantile=1.5), ValueError, r"`quantile` must lie between 0 and 1, got 1\.5"),
    "mixing without a generator": (
        lambda: mixing(generator=None),
        TypeError,
        r"`generator` must be a torch\.Generator, got `NoneType`; pass",
    ),
    "mixing of integers": (
        lambda: mixing(dtype=torch.int64),
        TypeError,
        r"`dtype` must be a floating dtype such as torch\.float32, got torch\.int64\.",
    ),
    "spiral in the plane": (lambda: mixings.Spiral(dim=2), ValueError, r"`dim` must be at least 3, got 2\."),
    "flow of one coordinate": (
        lambda: mixings.CouplingFlow(1, generator=seeded()),
        ValueError,
        r"`dim` must be at least 2, got 1\.",
    ),
    "too many latents": (
        lambda: mixings.Spiral()(WIDE),
        ValueError,
        r"`z` must have the shape \(n, 3\); got \(8, 4\)\.",
    ),
    "mixing of NaN": (lambda: mixings.Spiral()(changed(Z, NAN)), ValueError, r"`z` must be finite; 1 of 24"),
    "mixing of an array": (lambda: mixings.Spiral()(ROWS), TypeError, r"`z` must be a torch\.Tensor, got `ndarray`; "),
    "no observations to invert": (
        lambda: mixings.Monomial(3).inverse(torch.zeros(0, 21)),
        ValueError,
        r"`x` must not be empty; got the shape \(0, 21\)\.",
    ),
    "observations of another width": (
        lambda: mixings.Monomial(3).inverse(Z),
        ValueError,
        r"`x` must have the shape \(n, 21\); got \(8, 3\)\.",
    ),
    "patches outside of the ball": (
        lambda: mixings.Patches()(2 * Z),
        ValueError,
        r"`z` must lie in the unit ball, .* row 0 has the norm 2\. Use latents of",
    ),
    "jacobian of integers": (
        lambda: mixings.Spiral().jacobian(torch.ones(2, 3, dtype=torch.int64)),
        TypeError,
        r"`z` must have a floating dtype, got torch\.int64; convert",
    ),
}

ENCODERS: dict[str, Case] = {
    "unknown head": (lambda: mlp(head="sphre"), ValueError, r"`head` cannot be 'sphre'; did you mean 'sphere'\?"),
    "head of another dimension": (
        lambda: mlp(head=spaces.Sphere(4)),
        ValueError,
        r"`head` must have the 3 coordinates of embeddings; .* has 4\.",
    ),
    "head that is a number": (lambda: mlp(head=3), TypeError, r"`head` must be a `AbstractHead`, got `int`\. Pass"),
    "layer of no width": (lambda: mlp(widths=[8, 0]), ValueError, r"`widths` must be at least 1, got 0\."),
    "width instead of widths": (lambda: mlp(widths=64), TypeError, r"`widths` must be a sequence, got `int`\."),
    "control width instead of widths": (
        lambda: encoders.InverseSpiral(hidden=64, generator=seeded()),
        TypeError,
        r"`hidden` must be a sequence, got `int`\.",
    ),
    "unknown activation": (lambda: mlp(activation="gelu"), ValueError, r"`activation` cannot be 'gelu'; "),
    "odd box": (lambda: mlp(head="box", odd=True), ValueError, r"`odd` needs a head .*, got `BoxHead`; use"),
    "encoder without a generator": (
        lambda: mlp(generator=None),
        TypeError,
        r"`generator` must be a torch\.Generator, got `NoneType`; pass",
    ),
    "encoder with a negative octave": (
        lambda: mlp(fourier_octaves=-1),
        ValueError,
        r"`fourier_octaves` must be at least 0, got -1\.",
    ),
    "observations too wide": (lambda: NET(WIDE), ValueError, r"`x` must have the shape \(n, 3\); got \(8, 4\)\."),
    "observations in double precision": (
        lambda: NET(Z.double()),
        TypeError,
        r"`x` must have the dtype of `encoder`, torch\.float32; got torch\.float64\. Convert",
    ),
    "observations elsewhere": (
        lambda: NET(Z.to("meta")),
        ValueError,
        r"`x` must be on the device of `encoder`, cpu; got meta\. Move",
    ),
    "zero before a sphere": (
        lambda: encoders.SphereHead(dim=3)(torch.zeros(2, 3)),
        ValueError,
        r"`y` must not be zero before a sphere.*2 of 2 rows .* Drop",
    ),
    "bounds below zero": (lambda: encoders.BoxHead(2, -1.0), ValueError, r"`bound` must be positive, got -1\.0\."),
    "bounds for other coordinates": (
        lambda: encoders.BoxHead(3, [1.0, 2.0]),
        ValueError,
        r"`bound` must have one value or 3, .*; got 2\.",
    ),
    "heads of unknown size": (
        lambda: encoders.ProductHead([encoders.SphereHead()]),
        ValueError,
        r"has no `dim` yet; pass it",
    ),
    "body too wide for a head": (
        lambda: encoders.SphereHead(dim=3)(WIDE),
        ValueError,
        r"`y` must have the shape \(n, 3\); got \(8, 4\)\.",
    ),
    "odd in words": (lambda: mlp(odd="no"), TypeError, r"`odd` must be a `bool`, got `str`\."),
    "lone head": (
        lambda: encoders.ProductHead(encoders.SphereHead(dim=3)),
        TypeError,
        r"`heads` must be a sequence, got `SphereHead`\. Pass a list",
    ),
    "turned space": (
        lambda: encoders.Turned("sphere"),
        TypeError,
        r"`head` must be a `AbstractHead`, got `str`\. Pass one such as",
    ),
    "unknown variant": (
        lambda: encoders.InversePatches(variant="publishd", generator=seeded()),
        ValueError,
        r"`variant` cannot be 'publishd'; did you mean 'published'\?",
    ),
}

LOSSES: dict[str, Case] = {
    "no temperature": (lambda: losses.Dot(tau=0.0), ValueError, r"`tau` must be positive, got 0\.0\."),
    "temperature in words": (lambda: losses.Dot(tau="0.1"), TypeError, r"`tau` must be a number, got '0\.1'"),
    "score of an exponent below one": (lambda: losses.Lp(p=0.5), ValueError, r"`p` must be at least 1, got 0\.5\."),
    "score precision below zero": (
        lambda: losses.AnisotropicScore([1.0, -1.0]),
        ValueError,
        r"`precision` must be positive, got -1\.0\.",
    ),
    "score precision without a dimension": (
        lambda: losses.AnisotropicScore(2.0),
        ValueError,
        r"`dim` must be given when `precision` is a single number\.",
    ),
    "score precision for other coordinates": (
        lambda: losses.InfoNCE(losses.AnisotropicScore(dim=4))(embeddings()),
        ValueError,
        r"`h` must have 4 coordinates, .*; got 3\.",
    ),
    "a tensor for embeddings": (
        lambda: LOSS(Z),
        TypeError,
        r"`embeddings` must be a `PairEmbeddings`, got `Tensor`\. Write PairEmbeddings",
    ),
    "a list for embeddings of anchors": (
        lambda: LOSS(embeddings(h=Z.tolist())),
        TypeError,
        r"`h` must be a torch\.Tensor, got `list`; ",
    ),
    "embeddings with NaN": (
        lambda: LOSS(embeddings(changed(Z, NAN))),
        ValueError,
        r"`h` must be finite; 1 of 24 .* Drop",
    ),
    "positive embeddings with infinity": (
        lambda: LOSS(embeddings(h_pos=changed(Z, INF))),
        ValueError,
        r"`h_pos` must be finite; 1 of 24",
    ),
    "h_pos of another batch": (
        lambda: LOSS(embeddings(h_pos=Z[:7])),
        ValueError,
        r"`h_pos` must have the shape of `h`, \(8, 3\); got \(7, 3\)\.",
    ),
    "h_pos of another dtype": (
        lambda: LOSS(embeddings(h_pos=Z.double())),
        TypeError,
        r"`h_pos` must have the dtype of `h`, torch\.float32; got torch\.float64\. Convert",
    ),
    "h_neg too wide": (
        lambda: LOSS(embeddings(h_neg=WIDE)),
        ValueError,
        r"`h_neg` must have the shape \(m, 3\) or \(8, m, 3\); got \(8, 4\)\.",
    ),
    "h_neg private to other anchors": (
        lambda: LOSS(embeddings(h_neg=torch.zeros(7, 5, 3))),
        ValueError,
        r"`h_neg` must have the shape .* or \(8, m, 3\); got \(7, 5, 3\)\.",
    ),
    "empty batch": (
        lambda: LOSS(embeddings(Z[:0], Z[:0])),
        ValueError,
        r"`h` must not be empty; got the shape \(0, 3\)",
    ),
    "one pair in the batch": (
        lambda: LOSS(embeddings(Z[:1], Z[:1])),
        ValueError,
        r"`h` has one row, which leaves no candidate: give a larger batch",
    ),
    "score by name": (
        lambda: losses.InfoNCE("dot"),
        TypeError,
        r"`score` must be .*, got `str`\. Pass a score such as",
    ),
    "candidates by name": (
        lambda: losses.InfoNCE(losses.Dot(), "in_batch"),
        TypeError,
        r"`candidates` must be .*, got `str`\. Pass candidates such as",
    ),
    "unknown views": (
        lambda: losses.InBatch(views="bth"),
        ValueError,
        r"`views` cannot be 'bth'; did you mean 'both'\?",
    ),
    "itself in the other view": (
        lambda: losses.InBatch(views="other", include_self=True),
        ValueError,
        r"`include_self` needs the own view .*; choose views=",
    ),
    "unknown reduction": (
        lambda: losses.InfoNCE(losses.Dot(), candidate_reduction="avg"),
        ValueError,
        r"`candidate_reduction` cannot be 'avg'; choose one of 'sum', 'mean'\.",
    ),
    "no hardness": (lambda: losses.HardNegatives(0.0), ValueError, r"`beta` must be positive, got 0\.0\."),
    "nothing drawn": (
        lambda: losses.InfoNCE(losses.Dot(), losses.Drawn())(embeddings()),
        ValueError,
        r"`h_neg` must hold drawn negatives for `Drawn`, got None; or",
    ),
    "groups that do not divide": (
        lambda: losses.InfoNCE(losses.Dot(), losses.GroupMates())(embeddings(group_size=3)),
        ValueError,
        r"`group_size` must .* divide the batch of 8, got 3; draw",
    ),
    "share above one": (
        lambda: losses.GroupMates(share=1.5),
        ValueError,
        r"`share` must lie between 0 and 1, got 1\.5",
    ),
    "share of nothing drawn": (
        lambda: losses.InfoNCE(losses.Dot(), losses.GroupMates(share=0.5))(embeddings(group_size=4)),
        ValueError,
        r"`h_neg` must hold drawn negatives for the share 0\.5 .*, got None\.",
    ),
    "weights for other losses": (
        lambda: losses.Ensemble([LOSS, LOSS], weights=[1.0]),
        ValueError,
        r"`weights` must have one entry for each of 2 losses, got 1\.",
    ),
    "coordinates that are not there": (
        lambda: losses.Ensemble([LOSS], coordinates=[[0, 3]])(embeddings()),
        ValueError,
        r"`coordinates` must lie below 3, .*; got 3\.",
    ),
    "regression without latents": (
        lambda: losses.Regression()(embeddings()),
        ValueError,
        r"`z` must hold the latents of the anchors, got None; regression needs",
    ),
    "regression on other latents": (
        lambda: losses.Regression()(embeddings(z=WIDE)),
        ValueError,
        r"`h` must have the shape of `z`, \(8, 4\); got \(8, 3\)\.",
    ),
    "temperature of a spectral loss": (
        lambda: losses.TriCL(3, tau=0.5),
        ValueError,
        r"`tau` must be 1 for form=\"spectral\", .*; got 0\.5\.",
    ),
    "a score of unequal batches": (
        lambda: losses.Dot()(Z, Z_POS[:1]),
        ValueError,
        r"`h_pos` must have the shape of `h`, \(8, 3\); got \(1, 3\)\.",
    ),
    "a score of NaN": (lambda: losses.Lp(2)(changed(Z, NAN), Z), ValueError, r"`h` must be finite; 1 of 24"),
    "a score of a list": (lambda: losses.Dot()(Z.tolist(), Z), TypeError, r"`h` must be a torch\.Tensor, got `list`"),
    "a score of two dtypes": (lambda: losses.Dot()(Z, Z.double()), TypeError, r"`h_pos` must have the dtype of `h`"),
    "a grid of other coordinates": (
        lambda: losses.Dot().grid(Z, WIDE),
        ValueError,
        r"`candidates` must have the shape \(m, 3\) or \(8, m, 3\); got \(8, 4\)\.",
    ),
    "a grid of other anchors' private candidates": (
        lambda: losses.Dot().grid(Z, Z.repeat(5, 1, 1)),
        ValueError,
        r"`candidates` must have the shape .*; got \(5, 8, 3\)\.",
    ),
    "a union of one": (
        lambda: losses.Union(losses.InBatch()),
        TypeError,
        r"`choices` must be a sequence, got `InBatch`\.",
    ),
    "a union of names": (
        lambda: losses.Union(["in_batch", "drawn"]),
        TypeError,
        r"`choices` must be a `AbstractCandidates`, got `str`\. Pass candidates",
    ),
    "an ensemble of one": (lambda: losses.Ensemble(LOSS), TypeError, r"`losses` must be a sequence, got `InfoNCE`\."),
    "one weight for an ensemble": (
        lambda: losses.Ensemble([LOSS], weights=1.0),
        TypeError,
        r"`weights` must be a sequence, got `float`\.",
    ),
    "one list of coordinates for an ensemble": (
        lambda: losses.Ensemble([LOSS], coordinates=[0]),
        TypeError,
        r"`coordinates\[0\]` must be a sequence, got `int`\.",
    ),
    "score precision in words": (
        lambda: losses.AnisotropicScore(["a", "b"]),
        TypeError,
        r"`precision` must be a number, got 'a'",
    ),
    "a group size that is no whole number": (
        lambda: losses.InfoNCE(losses.Dot(), losses.GroupMates())(embeddings(group_size=2.0)),
        TypeError,
        r"`group_size` must be a whole number, got 2\.0",
    ),
    "gather in words": (
        lambda: losses.InfoNCE(losses.Dot(), gather="no"),
        TypeError,
        r"`gather` must be a `bool`, got `str`\.",
    ),
    "learnable in words": (
        lambda: losses.Dot(learnable="no"),
        TypeError,
        r"`learnable` must be a `bool`, got `str`\.",
    ),
    "positive scores as a column": (
        lambda: losses.infonce(torch.zeros(4, 1), torch.zeros(4, 2)),
        ValueError,
        r"`pos` and `neg` must have the shapes \(n,\) and \(n, m\); got \(4, 1\)",
    ),
    "negative scores with NaN": (
        lambda: losses.infonce(torch.zeros(4), torch.full((4, 2), NAN)),
        ValueError,
        r"`neg` must not be NaN or \+inf; -inf leaves a candidate out\.",
    ),
    "a row without candidates": (
        lambda: losses.infonce(torch.zeros(6), changed(torch.zeros(6, 1), -INF)),
        ValueError,
        r"`neg` must leave at least one candidate to each anchor; some row",
    ),
}

METRICS: dict[str, Case] = {
    "NaN in true latents": (
        lambda: metrics.mcc(changed(X, NAN), X),
        ValueError,
        r"`z` must be finite .*; 1 of 120 entries are not\. Drop",
    ),
    "infinity in recovered latents": (
        lambda: metrics.angle_error(X, changed(X, INF)),
        ValueError,
        r"`h` must be finite .*; 1 of 120 entries are not\. Drop",
    ),
    "other rows": (lambda: metrics.mcc(X, X[:39]), ValueError, r"`h` must have the rows of `z`, 40; got 39\."),
    "one sample": (lambda: metrics.mcc(X[:1], X[:1]), ValueError, r"`z` and `h` must have at least 6 rows, got 1: "),
    "one sample for an angle": (
        lambda: metrics.angle_error(X[:1], X[:1]),
        ValueError,
        r"`z` and `h` must have at least 2 rows, got 1: ",
    ),
    "a vector of latents": (
        lambda: metrics.linear_r2(X[:, 0], X),
        ValueError,
        r"`z` must have the shape \(n, d\): .*; got \(40,\)\. Use reshape",
    ),
    "constant column": (
        lambda: metrics.linear_r2(X * torch.tensor([1.0, 0.0, 1.0]), X),
        ValueError,
        r"`z` must vary in every coordinate; coordinates \[1\] are constant .* Leave them out",
    ),
    "too few rows for a fit": (
        lambda: metrics.linear_r2(X[:8], X[:8]),
        ValueError,
        r"`h` must have fewer independent columns than .*, 4 - 1; got 3: .* Give more rows",
    ),
    "unknown correlation": (
        lambda: metrics.MCC(correlation="spearmann"),
        ValueError,
        r"`correlation` cannot be 'spearmann'; did you mean 'spearman'\?",
    ),
    "too few resamples": (
        lambda: metrics.MCC(bootstrap=5),
        ValueError,
        r"`bootstrap` must be 0 for no interval, or at least 39 .*; got 5\.",
    ),
    "held out in words": (
        lambda: metrics.LinearR2(held_out="no"),
        TypeError,
        r"`held_out` must be a `bool`, got `str`",
    ),
    "latents in words": (
        lambda: metrics.mcc([["a"]] * 8, X[:8]),
        TypeError,
        r"`z` must be .* real numbers, got `list`",
    ),
    "overlapping blocks": (
        lambda: metrics.block_r2(X, X, [[0, 1], [1, 2]]),
        ValueError,
        r"`blocks` must be disjoint; coordinates \[1\] are in more than one\.",
    ),
    "block of other columns": (
        lambda: metrics.block_r2(X, X, {"style": [3]}),
        ValueError,
        r"`blocks` must count the columns of `z` from 0 to 2; block 'style' has 3\.",
    ),
    "angle of a zero row": (
        lambda: metrics.angle_error(X, torch.zeros(40, 3), normalise=True),
        ValueError,
        r"`h` must have no zero rows to be normalised; row 0 is zero\.",
    ),
}

PAIRS: dict[str, Case] = {
    "given lists": (
        lambda: pairs.Given(X.tolist(), X),
        TypeError,
        r"`x` must be .*, got `list`\. numpy\.asarray converts",
    ),
    "given positives of other anchors": (
        lambda: pairs.Given(X, X[:39]),
        ValueError,
        r"`x_pos` must have 40 rows, .* got the shape \(39, 3\)\.",
    ),
    "given positives of another width": (
        lambda: pairs.Given(Z, WIDE),
        ValueError,
        r"`x_pos` must have the shape of `x`, \(8, 3\); got \(8, 4\)\.",
    ),
    "given words": (
        lambda: pairs.Given(np.array([["a"]]), np.array([["b"]])),
        TypeError,
        r"`x` must hold real numbers, got an array of <U1\.",
    ),
    "given nothing for positives": (lambda: pairs.Given(X, None), TypeError, r"`x_pos` must be .*, got `NoneType`\."),
    "given latents with a third axis": (
        lambda: pairs.Given(X, X, z=X[:, :, None]),
        ValueError,
        r"`z` must have 40 rows, .* two axes; got the shape \(40, 3, 1\)\.",
    ),
    "more pairs than given": (
        lambda: pairs.Given(X, X).draw(41, seeded()),
        ValueError,
        r"`n` must be at most the 40 pairs there are, got 41\.",
    ),
    "given NaN": (
        lambda: pairs.Given(changed(X, NAN), X).draw(40, seeded()),
        ValueError,
        r"`x` must be finite; 1 of 120 .* Drop those rows",
    ),
    "pairs of integers": (
        lambda: pairs.Given(X, X).draw(4, seeded(), torch.int64),
        TypeError,
        r"`dtype` must be a floating dtype such as torch\.float32, got torch\.int64\.",
    ),
    "no pairs": (lambda: SYNTHETIC.draw(0, seeded()), ValueError, r"`n` must be at least 1, got 0\."),
    "pairs without a generator": (
        lambda: SYNTHETIC.draw(4, None),
        TypeError,
        r"`generator` must be a torch\.Generator, got `NoneType`; pass",
    ),
    "conditional of another space": (
        lambda: pairs.Synthetic(UNIFORM, VMF.on(spaces.Sphere(4))),
        ValueError,
        r"`conditional` must live in the space of `marginal`, .*; got Sphere\(dim=4.* Leave its space out",
    ),
    "conditional for a marginal": (
        lambda: pairs.Synthetic(VMF, VMF),
        TypeError,
        r"`marginal` must be .*, got `VonMisesFisher`\. Pass one such as",
    ),
    "mixing of other latents": (
        lambda: pairs.Synthetic(UNIFORM, VMF, mixings.Identity(4)),
        ValueError,
        r"`mixing` must take 3 latents, those of `marginal`; it takes 4\.",
    ),
    "a number of negatives": (
        lambda: pairs.Synthetic(UNIFORM, VMF, negatives=100),
        TypeError,
        r"`negatives` must be .*, got `int`\. Pass negatives such as",
    ),
    "share of negatives above one": (
        lambda: pairs.Mixed(10, share=1.5),
        ValueError,
        r"`share` must lie between 0 and 1, got 1\.5\.",
    ),
    "no negatives": (lambda: pairs.FromMarginal(0), ValueError, r"`m` must be at least 1, got 0\."),
    "groups of one": (
        lambda: pairs.GroupedSupport(UNIFORM, VMF, group_size=1),
        ValueError,
        r"`group_size` must be at least 2, got 1\.",
    ),
    "pairs that do not divide": (
        lambda: pairs.GroupedSupport(UNIFORM, VMF, group_size=4).draw(10, seeded()),
        ValueError,
        r"`n` must be a multiple of the group size 4, got 10; 8 would do\.",
    ),
    "groups of an uneven law": (
        lambda: pairs.GroupedSupport(marginals.VonMisesFisher(SPHERE, 1.0), VMF, group_size=4),
        TypeError,
        r"`marginal` must be a `Uniform`, got `VonMisesFisher`\. Other",
    ),
}

REST: dict[str, Case] = {
    "seed below zero": (lambda: streams(-1), ValueError, r"`seed` must be at least 0, got -1\."),
    "seed in words": (lambda: streams("0"), TypeError, r"`seed` must be a whole number, got '0'"),
    "unknown device": (
        lambda: streams(0, "gpu"),
        ValueError,
        r"`device` must be one that torch knows, .*; got 'gpu'\.",
    ),
    "warm-up beyond the end": (
        lambda: Schedule(warmup=2.0),
        ValueError,
        r"`warmup` must lie between 0 and 1, got 2\.0",
    ),
    "no steps": (lambda: run(steps=0), ValueError, r"`steps` must be at least 1, got 0\."),
    "no batch": (lambda: run(batch_size=0), ValueError, r"`batch_size` must be at least 1, got 0\."),
    "training without a generator": (
        lambda: run(generator=None),
        TypeError,
        r"`generator` must be a torch\.Generator, got `NoneType`; pass",
    ),
    "training on tensors": (lambda: run(source=X), TypeError, r"`source` must be .*, got `Tensor`\. Pass"),
    "training with a score for a loss": (
        lambda: run(loss=losses.Dot()),
        TypeError,
        r"`loss` must be a `AbstractLoss`, got `Dot`\. Pass",
    ),
    "training of nothing": (
        lambda: run(encoder=torch.nn.Identity()),
        ValueError,
        r"`encoder` must have parameters to train, got none\.",
    ),
    "evaluation without latents": (
        lambda: measured(source=pairs.Given(X, X)),
        ValueError,
        r"`source` has no latents to compare with; give",
    ),
    "evaluation by a function": (
        lambda: measured(metrics=[metrics.mcc]),
        TypeError,
        r"`metrics\[0\]` must be a `AbstractMetric`, got `function`\. Pass",
    ),
    "floor of a spectral loss": (
        lambda: loss_floor(SYNTHETIC, losses.TriCL(3), 8, generator=seeded()),
        TypeError,
        r"`loss` must be a `InfoNCE`, got `TriCL`\. Other",
    ),
    "floor of an unknown world": (
        lambda: loss_floor(pairs.Given(X, X), LOSS, 8, generator=seeded()),
        TypeError,
        r"`world` must be a `World`, got `Given`\. Pass",
    ),
    "floor from one batch": (
        lambda: loss_floor(SYNTHETIC, LOSS, 8, generator=seeded(), batches=1),
        ValueError,
        r"`batches` must be at least 2, got 1\.",
    ),
    "floor of no batch": (
        lambda: loss_floor(SYNTHETIC, LOSS, 0, generator=seeded()),
        ValueError,
        r"`batch_size` must be at least 1, got 0\.",
    ),
    "floor of a kept part": (
        lambda: loss_floor(pairs.Synthetic(UNIFORM, conditionals.FixedContent(4.0, 1)), LOSS, 8, generator=seeded()),
        ValueError,
        r"`FixedContent` keeps part of the anchor fixed, .*; contrast with the anchor's own support\.",
    ),
}

WRONG = SPACES | MARGINALS | CONDITIONALS | MIXINGS | ENCODERS | LOSSES | METRICS | PAIRS | REST


class Refusal(NamedTuple):
    kind: type[BaseException]
    message: str


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(Exception) as caught:  # noqa: B017  (which one it is, is what the tests ask)
        call()
    return Refusal(caught.type, str(caught.value))


@pytest.mark.parametrize("name", WRONG)
def test_refused_with_a_reason(name, unchecked_shapes):
    call, kind, pattern = WRONG[name]
    refused = refusal(call)
    assert refused.kind is kind, refused.message
    assert re.search(pattern, refused.message), refused.message


@pytest.mark.parametrize("name", WRONG)
def test_the_reason_is_in_the_house_wording(name, unchecked_shapes):
    call, _, pattern = WRONG[name]
    message = refusal(call).message
    assert "`" in pattern, "the row must name what is wrong"
    assert re.search(r"`[A-Za-z_][\w.]*(\[\d+\])?`", message), message
    assert message[-1] in ".?" and "\n" not in message and message == message.strip(), message


def test_every_family_is_asked():
    families = [SPACES, MARGINALS, CONDITIONALS, MIXINGS, ENCODERS, LOSSES, METRICS, PAIRS, REST]
    assert all(len(family) >= 12 for family in families)
    assert len(WRONG) == sum(map(len, families)) >= 60
