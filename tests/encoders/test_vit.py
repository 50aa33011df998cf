import numpy as np
import pytest

from noumena.encoders import ViT
from tests.contracts.encoders import EncoderContract
from tests.references.images import gelu, layer_norm, linear
from tests.references.networks import on_sphere


def attention(state, name, x, heads):
    """Every head and every token by itself."""
    width = x.shape[1]
    queries, keys, values = np.split(linear(state, f"{name}.to_attention", x), 3, axis=1)
    seen = np.zeros_like(x)
    for part in np.split(np.arange(width), heads):
        for i, query in enumerate(queries[:, part]):
            weights = np.array([np.exp(query @ key / np.sqrt(len(part))) for key in keys[:, part]])
            seen[i, part] = weights / weights.sum() @ values[:, part]
    return linear(state, f"{name}.from_attention", seen)


class TestViT(EncoderContract):
    def make(self, generator):
        return ViT((2, 4, 6), 3, patch=2, width=6, depth=2, heads=3, mlp_ratio=1.5, generator=generator)

    def reference(self, state, x):
        image = x.reshape(2, 4, 6)
        pieces = [image[:, r : r + 2, c : c + 2].ravel() for r in (0, 2) for c in (0, 2, 4)]
        patches = linear(state, "layers.0.linear", np.array(pieces))
        tokens = np.vstack([state["layers.0.class_token"], patches]) + state["layers.0.positions"]
        for block in ("layers.1", "layers.2"):
            tokens = tokens + attention(state, block, layer_norm(state, f"{block}.norm_attention", tokens), heads=3)
            hidden = linear(state, f"{block}.to_hidden", layer_norm(state, f"{block}.norm_mlp", tokens))
            tokens = tokens + linear(state, f"{block}.from_hidden", gelu(hidden))
        return on_sphere(linear(state, "projector.0", layer_norm(state, "layers.3", tokens)[0]))


def test_published_number_of_parameters(generator):
    assert sum(p.numel() for p in ViT((3, 32, 32), 512, generator=generator).parameters()) == 10_888_832


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"patch": 3}, "`patch` must divide height and width, 4 and 6; got 3"),
        ({"heads": 4}, "`heads` must divide `width`, 6; got 4"),
        ({"depth": 0}, "`depth` must be at least 1, got 0"),
        ({"mlp_ratio": 0.0}, "`mlp_ratio` must be positive, got 0.0"),
    ],
)
def test_arguments_that_cannot_be_meant(generator, arguments, message):
    with pytest.raises(ValueError, match=message):
        ViT((2, 4, 6), 3, **({"patch": 2, "width": 6, "heads": 3} | arguments), generator=generator)
