"""Does an embedding still tell what an augmentation did?"""

from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor, nn

from .. import _checks, _rng
from .._binomial import clopper_pearson
from ..data.augmentations import AbstractAugmentation
from ..data.base import AbstractImageTable
from ..data.pixels import unit
from ..finding import Finding
from ..metrics.readout import binary_readout
from . import encoding
from .base import AbstractDiagnostic, Subject

CONTEXTS = ("alone", "pipeline")
EPOCHS, BATCH, LR, WIDTH = 6, 64, 2e-3, 32


@dataclass(frozen=True)
class AugmentationReadout(AbstractDiagnostic):
    """Balanced accuracy of linear probes that say whether an effect was applied to an image; chance is 1/2.

    An encoder that is invariant to an augmentation has forgotten it; one that recovers every latent, style among them,
    has not (Rusak et al., 2024, Table 1 and Section G). How their probes were made is not published. Here each effect
    is applied to a random half of the images and the probe is scored on images that did not fit it.

    Gives `readout_EFFECT` for each effect, and `readout_mean`; with a suffix for embeddings.

    Args:
        table: The images.
        augmentation: Whose effects are asked for, at its strengths.
        effects: Which, such as "grayscale", "brightness", "contrast", "saturation", "hue", "blur", "crop"; by
            default all that the augmentation has.
        n: Images for each probe, half of them to fit it.
        context: "alone" applies one effect to images otherwise as they are; "pipeline" runs the whole augmentation,
            with that effect always or never.
        of: "features" or "embedding".
    """

    table: AbstractImageTable
    augmentation: AbstractAugmentation
    effects: tuple[str, ...] | None = None
    n: int = 4000
    context: str = "alone"
    of: str = "features"

    def __post_init__(self) -> None:
        encoding.check_table("table", self.table)
        encoding.check_augmentation("augmentation", self.augmentation)
        _checks.count("n", self.n, low=8)
        _checks.choice("context", self.context, CONTEXTS)
        _checks.choice("of", self.of, encoding.OF)
        for i, effect in enumerate(_checks.sequence("effects", self.asked)):
            _checks.choice(f"effects[{i}]", effect, self.augmentation.effects)
        if not self.asked:
            raise ValueError("`augmentation` must have an effect to read, and has none.")

    @property
    def asked(self) -> tuple[str, ...]:
        return self.augmentation.effects if self.effects is None else self.effects

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._called(effect) for effect in (*self.asked, "mean"))

    def _called(self, effect: str) -> str:
        return f"readout_{effect}" + ("" if self.of == "features" else f"_{self.of}")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        found = [self._accuracy(effect, subject.encoder, generator) for effect in self.asked]
        return Finding(dict(zip(self.names, [*found, sum(found) / len(found)], strict=True)))

    def _accuracy(self, effect: str, encoder: nn.Module, generator: torch.Generator) -> float:
        rows = encoding.some(self.table, self.n, generator)  # in random order: the first half is any half
        halves = rows[: self.n // 2], rows[self.n // 2 :]
        h = [
            encoding.encode(encoder, self.table, half, of=self.of, augmentation=augmentation, generator=generator)
            for half, augmentation in zip(halves, self._on_and_off(effect), strict=True)
        ]
        seed = int(torch.randint(2**31, (1,), generator=generator, device=generator.device))
        applied = torch.arange(self.n, device=h[0].device) < len(h[0])
        return float(binary_readout(torch.cat(h), applied, seed=seed))

    def _on_and_off(self, effect: str) -> tuple[AbstractAugmentation, AbstractAugmentation]:
        others = [] if self.context == "pipeline" else [one for one in self.augmentation.effects if one != effect]
        rest = reduce(lambda augmentation, other: augmentation.without(other), others, self.augmentation)
        return rest.always(effect), rest.without(effect)


@dataclass(frozen=True)
class AugmentedDomain(AbstractDiagnostic):
    """Accuracy of a classifier that tells augmented images from images as they are.

    An encoder trained on augmented images alone is only bound to be right on such images. Near 1, raw images lie
    elsewhere: Rusak et al. (2024) report .991 on MNIST, .992 on CIFAR-10 and .987 on ImageNet under the augmentations
    of SimCLR. `DomainClassifier` asks the same of any observations; this one sees images as images, by a small
    convolutional network, which finds the smoothness that resizing leaves. Their classifier is not published.

    Gives `augmented_domain_accuracy`, on images that did not train it, and the ends of its interval of 95 %. The
    encoder is not looked at.

    Args:
        table: The images; half of those drawn are augmented.
        augmentation: That they are told by.
        n: Images, half of them to train on.
    """

    table: AbstractImageTable
    augmentation: AbstractAugmentation
    n: int = 8000

    def __post_init__(self) -> None:
        encoding.check_table("table", self.table)
        encoding.check_augmentation("augmentation", self.augmentation)
        _checks.count("n", self.n, low=100)
        if self.augmentation.shape_after(self.table.shape) != self.table.shape:
            raise ValueError(
                f"`augmentation` must keep the shape of images, {self.table.shape}, or their size would tell them; it "
                f"gives {self.augmentation.shape_after(self.table.shape)}."
            )

    @property
    def names(self) -> tuple[str, ...]:
        return ("augmented_domain_accuracy", "augmented_domain_low", "augmented_domain_high")

    def _read(self, subject: Subject, generator: torch.Generator) -> Finding:
        images = unit(self.table.images(encoding.some(self.table, self.n, generator)), torch.float32, generator.device)
        labels = torch.arange(self.n, device=images.device) % 2
        images[labels == 1] = self.augmentation(images[labels == 1], generator).images
        half = self.n // 2
        with torch.enable_grad():
            network = _trained(images[:half], labels[:half], generator)
        said = torch.cat([network(part).argmax(dim=1) for part in images[half:].split(encoding.CHUNK)])
        right, scored = int((said == labels[half:]).sum()), self.n - half
        return Finding(dict(zip(self.names, (right / scored, *clopper_pearson(right, scored)), strict=True)))


class _Convolutional(nn.Module):
    """Three layers of three by three, and what they find on average over the image."""

    def __init__(self, channels: int, generator: torch.Generator) -> None:
        super().__init__()
        widths = (channels, WIDTH, WIDTH, WIDTH)
        shapes = [(wide, narrow, 3, 3) for narrow, wide in zip(widths, widths[1:], strict=False)] + [(2, WIDTH)]
        self.weights = nn.ParameterList(
            nn.Parameter(_rng.normal(shape, generator) * (2 / torch.Size(shape[1:]).numel()) ** 0.5) for shape in shapes
        )
        self.biases = nn.ParameterList(torch.zeros(shape[0], device=generator.device) for shape in shapes)

    def forward(self, x: Tensor) -> Tensor:
        *convolutions, linear = zip(self.weights, self.biases, strict=True)
        for i, (weight, bias) in enumerate(convolutions):
            x = torch.relu(nn.functional.conv2d(x, weight, bias, stride=1 + (i > 0), padding=1))
        return nn.functional.linear(x.mean(dim=(2, 3)), *linear)


def _trained(images: Tensor, labels: Tensor, generator: torch.Generator) -> _Convolutional:
    network = _Convolutional(images.shape[1], generator)
    optimizer = torch.optim.Adam(network.parameters(), lr=LR)
    for _ in range(EPOCHS):
        order = torch.randperm(len(images), generator=generator, device=generator.device)
        for rows in order.split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(images[rows]), labels[rows]).backward()
            optimizer.step()
    return network
