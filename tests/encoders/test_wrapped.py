import pytest
import torch
from torch import nn

from noumena.encoders import Projector, Wrapped
from tests.contracts.encoders import EncoderContract
from tests.references.networks import network, on_sphere


class Halves(nn.Module):
    """Someone's network, with initial values of its own."""

    def __init__(self, width: int = 6) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 5))

    def forward(self, x):
        return self.layers(x.flatten(1))


class TestWrapped(EncoderContract):
    def make(self, generator):
        projector = Projector([4], activation="leaky_relu", slope=0.01)
        return Wrapped((2, 2, 2), 3, f"{__name__}:Halves", projector=projector, generator=generator)

    def reference(self, state, x):
        features = network({key.removeprefix("module."): value for key, value in state.items()}, "layers", x)
        return on_sphere(network(state, "projector", features, slope=0.01))


def test_a_module_may_be_handed_over(generator):
    with torch.random.fork_rng():
        module = Halves(3)
    encoder = Wrapped((2, 2, 2), 5, module, projector="none", head="free", generator=generator)
    x = torch.randn(4, 8, generator=generator)
    assert torch.equal(encoder(x), module(x)) and module.training


@pytest.mark.parametrize(
    ("module", "arguments", "message"),
    [
        ("torch.nn.Flatten", {}, '`module` must be "package.module:Class", got'),
        ("torch.nowhere:Linear", {}, "`module` must be importable"),
        ("torch.nn:Linera", {}, "there is no such `Linera` in `torch.nn`"),
        ("torch.nn:Identity", {}, r"into rows \(n, f\), got \(2, 2, 2, 2\)"),
        (nn.Flatten(), {"start_dim": 1}, "`module` is a module already"),
    ],
)
def test_what_cannot_be_wrapped(module, arguments, message, generator):
    with pytest.raises(ValueError, match=message):
        Wrapped((2, 2, 2), 3, module, arguments=arguments, generator=generator)
