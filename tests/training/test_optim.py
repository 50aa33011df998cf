import pytest
import torch
from torch import nn

from noumena.encoders import MLP, BoxHead, InverseLinear, InversePatches
from noumena.losses import AnisotropicScore, Dot, InfoNCE
from noumena.training import SGD, Adam, AdamW, Muon
from noumena.training.optim import roles

LOSS = InfoNCE(AnisotropicScore(1.0, 3))


def names(encoder, members):
    lookup = {id(parameter): name for name, parameter in encoder.named_parameters()}
    return {lookup[id(parameter)] for parameter in members}


def test_every_parameter_has_one_role(generator):
    encoder = MLP(3, 3, [8, 8, 8], head=BoxHead(3), norm="batch", generator=generator)
    found = roles(encoder, LOSS)
    assert names(encoder, found["hidden"]) == {"layers.3.weight", "layers.6.weight"}
    assert names(encoder, found["head"]) == {"head.raw_bound"}
    assert [id(one) for one in found["loss"]] == [id(one) for one in LOSS.parameters()]
    everything = [*encoder.parameters(), *LOSS.parameters()]
    assert sorted(id(one) for members in found.values() for one in members) == sorted(map(id, everything))


def test_each_branch_has_its_own_ends(generator):
    encoder = InversePatches(generator=generator)
    assert names(encoder, roles(encoder, LOSS)["hidden"]) == {"last_slice.2.weight", "first_slice.2.weight"}


def test_layers_outside_any_sequential_are_one_chain():
    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.middle, self.last = (nn.utils.skip_init(nn.Linear, 4, 4) for _ in range(3))

    encoder = Plain()
    assert names(encoder, roles(encoder, LOSS)["hidden"]) == {"middle.weight"}
    nested = nn.Sequential(nn.Sequential(encoder.first, encoder.middle), nn.Tanh(), encoder.last)
    assert names(nested, roles(nested, LOSS)["hidden"]) == {"0.1.weight"}


def test_frozen_parameters_are_left_out(generator):
    encoder = MLP.small(3, 3, generator=generator)
    encoder.layers[0].requires_grad_(False)
    assert sum(map(len, roles(encoder, LOSS).values())) == len(list(encoder.parameters())) - 2 + 1


def test_rates_multiply_by_role(generator):
    encoder = MLP.small(3, 3, head=BoxHead(3), generator=generator)
    (built,) = Adam(0.01, rates={"loss": 4.0, "head": 2.0}).build(encoder, LOSS)
    assert [group["lr"] for group in built.param_groups] == [0.01, 0.01, 0.02, 0.04]
    matrices, rest = Muon(0.2, rest=Adam(0.01, betas=(0.8, 0.9), rates={"loss": 4.0})).build(encoder, LOSS)
    assert [group["lr"] for group in matrices.param_groups] == [0.2]
    assert [group["lr"] for group in rest.param_groups] == [0.01, 0.01, 0.04]
    assert rest.param_groups[0]["betas"] == (0.8, 0.9)


def test_head_and_loss_do_not_decay(generator):
    encoder = MLP(3, 3, [8, 8, 8], head=BoxHead(3), generator=generator)
    (built,) = AdamW(weight_decay=0.5).build(encoder, LOSS)
    assert [group["weight_decay"] for group in built.param_groups] == [0.5, 0.5, 0.0, 0.0]
    matrices, rest = Muon(weight_decay=0.3, rest=AdamW(weight_decay=0.2)).build(encoder, LOSS)
    assert [group["weight_decay"] for group in matrices.param_groups] == [0.3]
    assert [group["weight_decay"] for group in rest.param_groups] == [0.2, 0.0, 0.0]


def test_muon_without_hidden_matrices_is_its_rest(generator):
    (only,) = Muon().build(InverseLinear(3, 3, generator=generator), InfoNCE(Dot(0.3)))
    assert isinstance(only, torch.optim.Adam)


@pytest.mark.parametrize(
    ("description", "kind", "options"),
    [
        (Adam(eps=1e-6), torch.optim.Adam, {"eps": 1e-6, "weight_decay": 0}),
        (AdamW(weight_decay=0.1), torch.optim.AdamW, {"weight_decay": 0.1, "betas": (0.9, 0.999)}),
        (SGD(momentum=0.9, nesterov=True), torch.optim.SGD, {"momentum": 0.9, "nesterov": True}),
    ],
)
def test_a_description_builds_torchs_own(description, kind, options, generator):
    (built,) = description.build(MLP.small(3, 3, generator=generator), LOSS)
    assert type(built) is kind
    assert options.items() <= built.param_groups[0].items()


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        (lambda: Adam(0.0), "`lr` must be positive"),
        (lambda: Adam(rates={"hiden": 2.0}), "did you mean 'hidden'"),
        (lambda: Adam(betas=(0.9, 1.0)), "`betas` must be at least 0 and below 1, got 1.0"),
        (lambda: Adam(betas=(0.9, 0.9, 0.9)), "`betas` must be two numbers, got 3"),
        (lambda: SGD(nesterov=True), "`nesterov` needs a momentum"),
        (lambda: Muon(momentum=1.0), "`momentum` must be at least 0 and below 1"),
        (lambda: Muon(weight_decay=-0.1), "`weight_decay` must be at least 0, got -0.1"),
        (lambda: Muon(rates={"loss": 2.0}), "give the others to `rest`"),
    ],
)
def test_wrong_descriptions_are_refused(call, pattern, unchecked_shapes):
    with pytest.raises(ValueError, match=pattern):
        call()
