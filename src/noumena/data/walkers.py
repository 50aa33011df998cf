"""Walking silhouettes: a stand-in for KITTI Masks that is drawn, not downloaded."""

import math

import numpy as np
import torch
from torch import Tensor

from .. import _checks, _rng
from .base import AbstractImageTable

SIDE = 64
OPAQUE = 255
FACTORS = ("vertical", "horizontal", "area")
SHORTEST, LONGEST, MEAN_LENGTH = 2, 710, 40  # frames of a sequence, as in KITTI Masks

# Where the middle of the body may be, and how tall it may be, in pixels: all of it stays in the picture.
VERTICAL, HORIZONTAL, HEIGHT = (24.0, 40.0), (16.0, 48.0), (20.0, 42.0)
STRIDE = 0.8  # body heights walked in one cycle of the gait
CHUNK = 128  # frames drawn at once


class Walkers(AbstractImageTable):
    """A STAND-IN for KITTI Masks: pedestrians drawn by this library. Numbers found on it are not KITTI's.

    One walker to a sequence, with a build and a direction of its own. From frame to frame its place and its size take
    Laplace steps, independent of each other (most frames nearly still, some with a leap) and reflected where the
    picture ends: the conditional that the L1 score of the KITTI experiments matches, and a uniform marginal. Limbs
    swing with the way that was walked, so that a silhouette is more than a shape that is moved and scaled. Factors are
    measured on the masks, as those of KITTI Masks are (the centre of mass and the number of pixels), and so take the
    Laplace steps as nearly as the swinging limbs and whole pixels let them.

    Args:
        sequences: How many; they have 40 frames on average, 2 at least.
        scale: Of a step, in half the range of the place or of the size.
        split: "train" or "test", walkers that have nothing in common.
        seed: Decides everything.
    """

    shape = (1, SIDE, SIDE)
    factor_names = FACTORS

    def __init__(self, sequences: int = 250, scale: float = 0.05, *, split: str = "train", seed: int = 0) -> None:
        _checks.count("sequences", sequences)
        _checks.positive("scale", scale)
        streams = _rng.streams(seed)
        generator = {"train": streams.world, "test": streams.eval}[_checks.choice("split", split, ("train", "test"))]
        lengths = _lengths(sequences, generator)
        self.name, self.shape = f"walkers/{split}", (1, SIDE, SIDE)
        self.episodes = np.repeat(np.arange(sequences), lengths.numpy())
        of = torch.from_numpy(self.episodes)
        motion = move(lengths, scale, generator)
        builds = _rng.uniform((sequences, 4), generator)
        joints, radii = _pose(motion, builds[of], of)
        self._masks = torch.cat([_draw(*part) for part in zip(joints.split(CHUNK), radii.split(CHUNK), strict=True)])
        self.factors, self.factor_names = measure(self._masks), FACTORS
        self._masks = self._masks[:, None]

    def __len__(self) -> int:
        return len(self._masks)

    def _images(self, rows: Tensor) -> Tensor:
        return self._masks[rows.cpu()].to(torch.uint8) * OPAQUE


def measure(masks: Tensor) -> Tensor:
    """Vertical and horizontal centre of mass and the area of masks (n, 64, 64), in pixels."""
    pixels = torch.arange(SIDE, dtype=torch.float32)
    rows, columns = masks.sum(2).float(), masks.sum(1).float()
    area = rows.sum(1)
    return torch.stack([rows @ pixels / area, columns @ pixels / area, area], dim=1)


def move(lengths: Tensor, scale: float, generator: torch.Generator) -> Tensor:
    """Place and size (frames, 3) in [-1, 1] of sequences one after another: reflected walks of Laplace steps."""
    n = int(lengths.sum())
    first = lengths.cumsum(0) - lengths
    steps = -scale * _rng.uniform((n, 3), generator, torch.float64).log()
    steps = torch.where(_rng.uniform((n, 3), generator) < 0.5, -steps, steps)
    steps[first] = 2 * _rng.uniform((len(lengths), 3), generator, torch.float64) - 1
    walked = steps.cumsum(0)
    walked = walked - (walked - steps)[first].repeat_interleave(lengths, dim=0)
    # A walk reflected at both ends is the free walk folded like a strip of paper.
    return 1 - ((walked + 1).remainder(4) - 2).abs()


def _lengths(sequences: int, generator: torch.Generator) -> Tensor:
    beyond = -_rng.uniform((sequences,), generator).log() * (MEAN_LENGTH - SHORTEST)
    return (SHORTEST + beyond).long().clamp(max=LONGEST)


def _pose(motion: Tensor, build: Tensor, of: Tensor) -> tuple[Tensor, Tensor]:
    """Ends of limbs (frames, limbs, 2, 2) as (x, y) in pixels, and their radii (frames, limbs)."""
    y, x, log_height = (
        low + (high - low) * (part + 1) / 2
        for part, (low, high) in zip(motion.T, (VERTICAL, HORIZONTAL, tuple(map(math.log, HEIGHT))), strict=True)
    )
    height = log_height.exp()
    walked = torch.zeros_like(x)
    walked[1:] = ((x.diff().abs() + height.diff().abs()) / height[1:]).masked_fill(of.diff() != 0, 0)
    phase = 2 * math.pi * (walked.cumsum(0) / STRIDE + build[:, 0])
    stout, swing = 0.8 + 0.5 * build[:, 1], 0.45 + 0.2 * build[:, 2]
    # Seen from the side, limbs swing across the picture; from the front, they hang beside the body.
    yaw = 2 * math.pi * build[:, 3]
    side, front = yaw.cos(), yaw.sin()

    still = torch.zeros_like(phase)
    limbs = [(_at(still, -0.42), _at(still, -0.41), 0.075 + still), (_at(still, -0.27), _at(still, 0.0), 0.085 * stout)]
    for sign in (-1, 1):
        angle = sign * swing * phase.sin()
        bend = 0.5 * swing * (1 + sign * (phase - 1).cos())
        hip = _at(sign * 0.05 * front, 0.0)
        limbs += _limb(hip, (angle, angle - bend), (0.23, 0.22), side, 0.048 * stout)
        shoulder = _at(sign * 0.12 * front, -0.27)
        limbs += _limb(shoulder, (-0.8 * angle, 0.4 - 0.8 * angle), (0.17, 0.15), side, 0.034 * stout)
    ends = torch.stack([torch.stack([begin, end], dim=1) for begin, end, _ in limbs], dim=1)
    radii = torch.stack([radius for *_, radius in limbs], dim=1)
    centre = torch.stack([x, y], dim=1)[:, None, None]
    return (centre + height[:, None, None, None] * ends).float(), (height[:, None] * radii).float()


def _limb(joint: Tensor, angles: tuple[Tensor, Tensor], lengths: tuple[float, float], side: Tensor, radius: Tensor):
    """Two segments from a joint downwards, each turned by its angle in the plane in which the walker walks."""
    found = []
    for angle, length in zip(angles, lengths, strict=True):
        end = joint + length * torch.stack([side * angle.sin(), angle.cos()], dim=1)
        found.append((joint, end, radius))
        joint = end
    return found


def _at(x: Tensor, y: float) -> Tensor:
    return torch.stack([x, torch.full_like(x, y)], dim=1)


def _draw(ends: Tensor, radii: Tensor) -> Tensor:
    """Masks (frames, 64, 64) of the pixels whose middle lies within the radius of some segment."""
    pixels = torch.arange(SIDE, dtype=ends.dtype)
    masks = torch.zeros(len(ends), SIDE, SIDE, dtype=torch.bool)
    for (begin, end), radius in zip(ends.permute(1, 2, 0, 3), radii.T, strict=True):
        along = end - begin
        x, y = pixels - begin[:, :1], pixels - begin[:, 1:]
        unit = along / along.square().sum(1, keepdim=True)
        share = ((x * unit[:, :1])[:, None, :] + (y * unit[:, 1:])[:, :, None]).clamp_(0, 1)
        across = (x[:, None, :] - share * along[:, :1, None]).square_()
        across += share.mul_(-along[:, 1:, None]).add_(y[:, :, None]).square_()
        masks |= across <= radius.square()[:, None, None]
    return masks
