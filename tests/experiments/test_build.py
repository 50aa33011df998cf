import re
from dataclasses import replace

import pytest
import torch

from noumena import streams
from noumena.experiments.build import build, check
from noumena.experiments.description import merge
from noumena.experiments.spec import parse_table
from noumena.mixings import Identity, InvertibleMLP
from noumena.training import evaluate, train
from tests.experiments.tables import content


def described(path: str = "", value=None, baseline=None, row="a"):
    return parse_table("t", content(path, value)).row(row).describe("fast", baseline)


def test_it_trains_and_is_measured():
    made = build(described(), seed=3)
    assert made.loss is not None and made.training is not None
    records = list(train(made.source, made.encoder, made.loss, **made.training, generator=made.streams.pairs))
    assert [record.step for record in records] == [2]
    scores = evaluate(made.source, made.encoder, made.metrics, n=64, generator=made.streams.eval)
    assert set(scores) == {"linear_r2", "mcc"}


def test_streams_feed_what_they_are_for():
    made = build(described(), seed=3)
    expected = InvertibleMLP(3, pool=50, generator=streams(3).world)
    assert torch.equal(made.mixing.weights, expected.weights)  # pyright: ignore
    # Building draws nothing from the streams of training and measurement.
    for name in ("pairs", "eval"):
        assert torch.equal(getattr(made.streams, name).get_state(), getattr(streams(3), name).get_state())
    again, other = build(described(), seed=3), build(described(), seed=4)
    assert _same(made.encoder, again.encoder) and not _same(made.encoder, other.encoder)
    assert not torch.equal(made.mixing.weights, other.mixing.weights)  # pyright: ignore


def test_a_world_seed_holds_the_mixing_and_nothing_else():
    shared = [build(described("base.world_seed", 9), seed) for seed in (3, 4)]
    assert _same(shared[0].mixing, shared[1].mixing) and not _same(shared[0].encoder, shared[1].encoder)
    free = build(described(), 3)
    assert not _same(free.mixing, shared[0].mixing) and _same(free.encoder, shared[0].encoder)


def test_baselines_share_the_world_of_their_row():
    row = parse_table("t", content()).row("a")
    made = {baseline: build(row.describe("fast", baseline), 3) for baseline in (None, "identity", "supervised")}
    assert all(_same(one.mixing, made[None].mixing) for one in made.values())
    identity = made["identity"]
    assert isinstance(identity.encoder, Identity) and identity.loss is None and identity.training is None
    batch = identity.source.draw(4, identity.streams.eval)
    assert torch.equal(identity.encoder(batch.x), batch.x)
    supervised = made["supervised"]
    assert supervised.loss is not None and supervised.loss.uses_latents and supervised.training is not None
    assert supervised.training["steps"] == 3 and _same(supervised.encoder, made[None].encoder)


def test_dimensions_come_from_the_world():
    made = build(described("base.mixing", {"kind": "linear.InjectiveLinear", "dim_out": 7}), 3)
    assert (made.encoder.dim_in, made.encoder.dim_out) == (7, 3)
    assert build(described("base.mixing", "identity.Identity"), 3).mixing.dim_out == 3


def test_the_loss_sees_the_dimensions_of_the_encoder():
    given = described("base.recipes.fast.encoder.dim_out", 5)
    score = {"kind": "anisotropic.AnisotropicScore"}
    given = replace(given, sections=merge(given.sections, {"loss": {"score": score}}))
    assert len(build(given, 3).loss.score.precision) == 5  # pyright: ignore


def _same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("row.1.conditional", {"kapa": 1.0}, "t, row `b`, recipe `fast`, `conditional`: `vmf.VonMisesFisher` takes no"),
        ("base.space.dim", 0, "t, row `a`, recipe `fast`, `space`: `dim` must be at least 1, got 0"),
        ("base.marginal", "sphere.Sphere", "`marginal`: `sphere.Sphere` needs `dim`"),
        ("base.mixing", "spiral.Spirale", "did you mean `spiral.Spiral`?"),
        ("base.mixing", {"kind": "patches.Patches", "slices": 0}, "`mixing`: `slices` must be at least 1"),
        ("base.mixing", {"kind": "identity.Identity", "dim": 4}, "`pairs`: `mixing` must take 3 latents"),
        ("base.mixing", "noumena.encoders.Free", "`mixing`: `kind` must be a `AbstractMixing`, got `Free`"),
        ("base.metrics", ["linear.LinearR2", "linear.LinearR2"], "`metrics` and `diagnostics` must not name one twice"),
        ("row.0.reported", [{"metric": "lnear_r2", "mean": 1.0, "source": ""}], "did you mean `linear_r2`?"),
        ("base.recipes.fast.encoder.activation", "relo", "`encoder`: `activation` cannot be 'relo'"),
        ("base.recipes.fast.loss.score.tau", -1.0, "`loss`.score: `tau` must be positive, got -1.0"),
        (
            "base.recipes.fast.train.annealing",
            {"start": 1.0, "end": 0.1},
            "baseline `supervised`, `train`: `annealing`",
        ),
        ("base.recipes.fast.supervised.loss", "regression.Regresion", "baseline `supervised`, `loss`: no class"),
    ],
)
def test_a_table_is_checked_before_anything_runs(unchecked_shapes, path, value, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check(parse_table("t", content(path, value)))


def test_a_good_table_passes():
    check(parse_table("t", content()))


def test_losses_may_be_reported():
    check(parse_table("t", content("row.0.reported", [{"metric": "loss", "mean": 1.0, "negatives": 7, "source": ""}])))
