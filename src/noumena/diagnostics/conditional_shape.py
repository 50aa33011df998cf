"""What law do the augmentations of one image follow in a latent space?"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from .. import _checks, _rng
from ..data.augmentations import AbstractAugmentation
from ..data.base import AbstractImageTable
from ..finding import Curve, Finding
from . import encoding, tails
from .base import AbstractDiagnostic, Subject
from .dip import dip

LEVEL = 0.01
NULL = 500  # uniform samples behind the critical dip


@dataclass(frozen=True)
class ConditionalShape(AbstractDiagnostic):
    """Whether the conditional that augmentations make in a latent space looks like one that a score can have.

    InfoNCE models one mode about the anchor. Augmentations of images need not oblige: in the latent space of a VAE
    the augmentations of MNIST are not normal and partly have two modes (Rusak et al., 2024, Figure 6 A and B). Some
    images are augmented many times each and encoded; every image and coordinate has a law of its own, which is tested
    by itself, so that differences between images cannot pass for modes.

    Gives `conditional_several_modes`, the share of laws (image and coordinate) in which the dip test refuses one mode
    at 1 %, its null being the uniform law, the least favourable with one mode; `conditional_not_normal`, the share
    that the test of D'Agostino and Pearson refuses to call normal at 1 %; `conditional_dip`, the largest mean dip of a
    coordinate; and `conditional_exponent`, the p of exp(-|z' - E z'|^p) by Geary's ratio over all laws. The second is
    .01 by chance, the first at most that. Curves are the densities of z' - z for each coordinate, z being the image as
    it is, and the dip of each coordinate.

    Args:
        table: The images.
        augmentation: What makes the conditional.
        n: Images.
        views: Augmentations of each.
        of: "embedding", the latent space, or "features".
        bins: Of the densities.
    """

    table: AbstractImageTable
    augmentation: AbstractAugmentation
    n: int = 50
    views: int = 200
    of: str = "embedding"
    bins: int = 60

    def __post_init__(self) -> None:
        encoding.check_table("table", self.table)
        encoding.check_augmentation("augmentation", self.augmentation)
        _checks.count("n", self.n, low=2)
        _checks.count("views", self.views, low=20)
        _checks.choice("of", self.of, encoding.OF)
        _checks.count("bins", self.bins, low=2)

    @property
    def names(self) -> tuple[str, ...]:
        return ("conditional_several_modes", "conditional_not_normal", "conditional_dip", "conditional_exponent")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        h, h_pos = self._encoded(subject.encoder, generator)
        moves = h_pos.std(dim=1) > 1e-6 * h_pos.abs().amax(dim=1).clamp(min=1e-30)
        if not bool(moves.any()):
            raise ValueError("`augmentation` must move embeddings, and none of them moves.")
        dips, critical = _dips(h_pos, moves), _critical(self.views, generator)
        some = h_pos.movedim(1, 0)[:, moves]  # (views, laws)
        standard = (some - some.mean(dim=0)) / some.std(dim=0)
        exponent = tails.exponent(tails.flatness(standard.reshape(-1, 1)).value)
        several, unlike = float((dips[moves] > critical).double().mean()), _not_normal(standard)
        by_coordinate = torch.nan_to_num(dips.nanmean(dim=0))
        values = (several, unlike, float(by_coordinate.max()), exponent)
        coordinates = [j + 1.0 for j in range(h.shape[1])]
        curves = {"dip": Curve(coordinates, by_coordinate.tolist(), "coordinate", "mean dip")}
        return Finding(dict(zip(self.names, values, strict=True)), curves | self._densities(h_pos - h[:, None]))

    def _encoded(
        self, encoder: nn.Module, generator: torch.Generator
    ) -> tuple[Float[Tensor, "n d"], Float[Tensor, "n v d"]]:
        rows = encoding.some(self.table, self.n, generator)
        h = encoding.encode(encoder, self.table, rows, of=self.of, augmentation=None, generator=generator)
        h_pos = encoding.encode(
            encoder,
            self.table,
            rows.repeat_interleave(self.views),
            of=self.of,
            augmentation=self.augmentation,
            generator=generator,
        )
        return h.double().cpu(), h_pos.double().cpu().unflatten(0, (self.n, self.views))

    def _densities(self, moved: Float[Tensor, "n v d"]) -> dict[str, Curve]:
        curves = {}
        for j, values in enumerate(moved.flatten(0, 1).mT.numpy()):
            low, high = np.quantile(values, [0.001, 0.999])
            density, edges = np.histogram(values, self.bins, (low, high) if high > low else None, density=True)
            middle = (edges[1:] + edges[:-1]) / 2
            curves[f"coordinate {j + 1}"] = Curve(middle.tolist(), density.tolist(), "z' - z", "density")
        return curves


def _dips(h_pos: Tensor, moves: Tensor) -> Float[Tensor, "n d"]:
    """NaN where nothing moves."""
    dips = torch.full(moves.shape, float("nan"), dtype=torch.float64)
    for i, j in moves.nonzero().tolist():
        dips[i, j] = dip(h_pos[i, :, j].numpy())
    return dips


def _critical(views: int, generator: torch.Generator) -> float:
    """The dip that a uniform sample exceeds with probability LEVEL."""
    uniform = _rng.uniform((NULL, views), generator, torch.float64).cpu().numpy()
    return float(np.quantile([dip(one) for one in uniform], 1 - LEVEL))


def _not_normal(standard: Float[Tensor, "views laws"]) -> float:
    from scipy.stats import normaltest  # slow to import

    return float((normaltest(standard.numpy(), axis=0).pvalue < LEVEL).mean())
