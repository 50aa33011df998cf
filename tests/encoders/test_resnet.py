import pytest
import torch

from noumena.encoders import Projector, ResNet
from tests.contracts.encoders import EncoderContract
from tests.references.images import batch_norm, convolution, group_norm, largest, linear, relu
from tests.references.networks import on_sphere


def residual(state, name, x, norm, stride):
    """A block: convolutions with the stride on the first one of 3 x 3, and the shortcut."""
    places = sorted({int(key.split(".")[3]) for key in state if key.startswith(f"{name}.branch.")})
    y = x
    strided = False
    for place in places:
        weight = state[f"{name}.branch.{place}.weight"]
        if weight.ndim == 4:
            side = weight.shape[-1]
            y = convolution(y, weight, stride=1 if side == 1 or strided else stride, padding=side // 2)
            strided |= side == 3
        else:
            y = norm(state, f"{name}.branch.{place}", y)
            y = relu(y) if place != places[-1] else y
    if f"{name}.shortcut.0.weight" in state:
        x = norm(state, f"{name}.shortcut.1", convolution(x, state[f"{name}.shortcut.0.weight"], stride=stride))
    return relu(y + x)


def backbone(state, x, strides, norm=batch_norm, stem="imagenet"):
    imagenet = stem == "imagenet"
    x = convolution(x, state["layers.0.weight"], stride=2 if imagenet else 1, padding=3 if imagenet else 1)
    x = relu(norm(state, "layers.1", x))
    first = 3
    if imagenet:
        x, first = largest(x), 4
    for i, stride in enumerate(strides):
        x = residual(state, f"layers.{first + i}", x, norm, stride)
    return x.mean(axis=(1, 2))


class TestImageNetStem(EncoderContract):
    def make(self, generator):
        return ResNet((2, 9, 11), 3, 10, width=2, mean=[0.5, 0.2], std=[0.3, 2.0], generator=generator)

    def reference(self, state, x):
        x = (x.reshape(2, 9, 11) - state["mean"]) / state["std"]
        return on_sphere(linear(state, "projector.0", backbone(state, x, [1, 2, 2, 2])))


class TestCifarStemWithGroups(EncoderContract):
    def make(self, generator):
        shape, options = (1, 5, 6), {"stem": "cifar", "norm": "group", "width": 4, "channels_last": True}
        return ResNet(shape, 3, 10, projector=[12], head="free", **options, generator=generator)

    def reference(self, state, x):
        y = backbone(state, x.reshape(1, 5, 6), [1, 2, 2, 2], group_norm, "cifar")
        return linear(state, "projector.2", relu(linear(state, "projector.0", y)))


class TestBottlenecks(EncoderContract):
    def make(self, generator):
        projector = Projector([3], norm="batch")
        return ResNet((1, 6, 5), 3, 50, width=1, stem="cifar", projector=projector, head="free", generator=generator)

    def reference(self, state, x):
        strides = [1] * 3 + [2, 1, 1, 1] + [2, 1, 1, 1, 1, 1] + [2, 1, 1]
        y = backbone(state, x.reshape(1, 6, 5), strides, stem="cifar")
        y = relu(batch_norm(state, "projector.1", y @ state["projector.0.weight"].T))
        return linear(state, "projector.3", y)


def test_channels_are_normalised_first(generator):
    encoder = ResNet((2, 4, 4), 3, 10, width=2, mean=[0.5, 0.2], std=[0.3, 2.0], generator=generator)
    assert encoder.mean.flatten().tolist() == pytest.approx([0.5, 0.2])
    assert encoder.std.flatten().tolist() == pytest.approx([0.3, 2.0])


@pytest.mark.parametrize(("depth", "features", "count"), [(18, 512, 11_176_512), (50, 2048, 23_508_032)])
def test_published_number_of_parameters(depth, features, count, generator):
    encoder = ResNet((3, 32, 32), features, depth, projector="none", generator=generator)
    assert sum(parameter.numel() for parameter in encoder.parameters()) == count


def test_features_come_before_projector_and_head(generator):
    encoder = ResNet((1, 8, 8), 3, 10, width=2, stem="cifar", projector=[5], generator=generator).eval()
    x = torch.randn(4, 1, 8, 8, generator=generator)
    features = encoder.features(x)
    assert features.shape == (4, encoder.feature_dim) == (4, 16)
    torch.testing.assert_close(encoder.head(encoder.projector(features)), encoder(x))
    torch.testing.assert_close(encoder.projector(features), encoder.body(x))
    assert torch.equal(encoder.features(x.flatten(1)), features)
    direct = ResNet((1, 8, 8), 16, 10, width=2, stem="cifar", projector="none", head="free", generator=generator)
    assert torch.equal(direct.eval().features(x), direct(x))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"depth": 19}, ValueError, "`depth` must be one of 10, 18, 34, 50; got 19"),
        ({"stem": "cifer"}, ValueError, "`stem` cannot be 'cifer'; did you mean 'cifar'"),
        ({"norm": "layer"}, ValueError, "`norm` cannot be 'layer'"),
        ({"width": 0}, ValueError, "`width` must be at least 1, got 0"),
        ({"shape": (8, 8)}, ValueError, r"`shape` must be \(channels, height, width\), got \(8, 8\)"),
        ({"mean": [0.5]}, ValueError, "`mean` and `std` must both be given, or neither"),
        ({"mean": [0.5], "std": [0.0]}, ValueError, "`std` must be positive, got 0.0"),
        ({"mean": [0.5] * 2, "std": [1.0] * 2}, ValueError, "`mean` must have a value for each of 1 channels, got 2"),
        ({"projector": "none"}, ValueError, "`dim_out` must be the 16 of the features"),
        ({"projector": "nine"}, ValueError, "`projector` cannot be 'nine'; did you mean 'none'"),
        ({"projector": [0]}, ValueError, "`widths` must be at least 1, got 0"),
    ],
)
def test_arguments_that_cannot_be_meant(generator, unchecked_shapes, arguments, error, message):
    given = {"shape": (1, 8, 8), "dim_out": 3, "depth": 10, "width": 2, **arguments}
    with pytest.raises(error, match=message):
        ResNet(**given, generator=generator)
