import pytest
import torch

from noumena import streams
from noumena.batch import PairBatch
from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.encoders import MLP
from noumena.losses import AnisotropicScore, Dot, GroupMates, InfoNCE, Regression
from noumena.marginals import Uniform
from noumena.metrics import LinearR2
from noumena.mixings import Spiral
from noumena.pairs import FromSupport, Given, GroupedSupport, Synthetic
from noumena.pairs.base import AbstractPairSource
from noumena.spaces import Sphere
from noumena.training import (
    EMA,
    SGD,
    Adam,
    AdamW,
    Annealing,
    BatchGrowth,
    Evaluation,
    Muon,
    Record,
    Schedule,
    Target,
    embed,
    evaluate,
    train,
)


def setup(seed=0, loss=None):
    rng = streams(seed)
    source = Synthetic(Uniform(Sphere(3)), VonMisesFisher(10 / 3), Spiral())
    encoder = MLP.small(3, 3, width=16, generator=rng.init)
    loss = InfoNCE(Dot(0.3)) if loss is None else loss
    optimizer = torch.optim.Adam([*encoder.parameters(), *loss.parameters()], lr=1e-2)
    options = dict(optimizer=optimizer, steps=30, batch_size=64, generator=rng.pairs, every=10)
    return source, encoder, loss, options


def test_records_come_at_the_stated_steps_and_the_loss_falls():
    source, encoder, loss, options = setup()
    records = list(train(source, encoder, loss, schedule=Schedule(), **options))
    assert [record.step for record in records] == [10, 20, 30]
    assert records[-1].loss < records[0].loss
    assert records[0].loss == pytest.approx(sum(records[0].parts.values()), abs=1e-4)


def test_measuring_more_often_does_not_change_training():
    losses = []
    for every in (10, 3):
        source, encoder, loss, options = setup()
        rng = streams(0)

        measure = Evaluation(source, [LinearR2()], n=64, generator=rng.eval)
        list(train(source, encoder, loss, measure=measure, **{**options, "every": every}))
        losses.append(torch.cat([p.flatten() for p in encoder.parameters()]))
    assert torch.equal(*losses)


def test_learned_values_of_the_loss_are_trained():
    source, encoder, loss, options = setup(loss=InfoNCE(AnisotropicScore(1.0, 3)))
    before = loss.score.precision.detach().clone()
    list(train(source, encoder, loss, **options))
    assert (loss.score.precision != before).all()


def test_latents_reach_only_a_loss_that_says_so():
    source, encoder, loss, _ = setup()
    batch = source.draw(8, torch.Generator().manual_seed(0))
    assert embed(encoder, batch, loss).z is None
    assert embed(encoder, batch, Regression()).z is batch.z


def test_private_negatives_keep_their_anchor(generator):
    source = Synthetic(Uniform(Sphere(3)), FixedContent(3.0, 1), Spiral(), FromSupport(5))
    encoder = MLP.small(3, 3, width=8, generator=generator)
    batch = source.draw(7, generator)
    seen = embed(encoder, batch, InfoNCE(Dot(0.3)))
    torch.testing.assert_close(seen.h_neg[4], encoder(batch.x_neg[4]))


def test_groups_reach_the_loss(generator):
    source = GroupedSupport(Uniform(Sphere(3)), FixedContent(3.0, 1), group_size=4, negatives=3)
    encoder = MLP.small(3, 3, width=8, generator=generator)
    loss = InfoNCE(Dot(0.3), GroupMates())
    assert len(loss(embed(encoder, source.draw(8, generator), loss)).per_anchor) == 8


def test_supervised_regression_learns(generator):
    source, encoder, loss, options = setup(loss=Regression())
    records = list(train(source, encoder, loss, **{**options, "steps": 200}))
    assert records[-1].loss < 0.3 * records[0].loss


def test_evaluation_restores_the_mode_and_needs_latents(generator):
    source, encoder, _, _ = setup()
    encoder.train()
    scores = evaluate(source, encoder, [LinearR2()], n=64, generator=generator)
    assert encoder.training and 0 < float(scores["linear_r2"]) <= 1
    x = torch.randn(64, 3, generator=generator)
    with pytest.raises(ValueError, match="no latents"):
        evaluate(Given(x, x), encoder, [LinearR2()], n=64, generator=generator)


def test_images_are_encoded_in_one_call(generator):
    batch = PairBatch(*(torch.randn(4, 1, 2, 2, generator=generator) for _ in range(2)))
    flat = embed(torch.nn.Flatten(), batch, InfoNCE(Dot(0.3)))
    assert flat.h.shape == flat.h_pos.shape == (4, 4)


def test_records_survive_json():
    record = Record(3, 1.5, 1.25, 0.25, {"alignment": -1.0}, {"linear_r2": 0.9})
    assert Record.from_json(record.to_json()) == record


def final(**changes):
    """The parameters at the end of a run, and its records."""
    source, encoder, loss, options = setup()
    records = list(train(source, encoder, loss, **{**options, **changes}))
    return parameters(encoder), [(record.step, record.loss, record.parts) for record in records]


def parameters(encoder):
    return torch.cat([parameter.detach().flatten() for parameter in encoder.parameters()])


@pytest.mark.parametrize("optimizer", [Adam(1e-2), AdamW(1e-2), SGD(0.1), Muon()])
def test_the_same_seed_gives_the_same_numbers(optimizer):
    (first, records), (again, records_again) = final(optimizer=optimizer), final(optimizer=optimizer)
    assert torch.equal(first, again) and records == records_again
    assert records[-1][1] < records[0][1]


def test_a_described_optimiser_is_torchs_own():
    _, encoder, _, _ = setup()
    options = {"schedule": Schedule(), "generator": streams(0).pairs}
    described, _ = final(optimizer=Adam(1e-2), **options)
    source, encoder, loss, own = setup()
    list(train(source, encoder, loss, **{**own, "schedule": Schedule()}))
    # Parameters in another order share no arithmetic, so every bit agrees.
    assert torch.equal(described, parameters(encoder))


def test_an_optimiser_is_handed_back_at_its_own_rate():
    source, encoder, loss, options = setup()
    list(train(source, encoder, loss, schedule=Schedule(), **options))
    assert options["optimizer"].param_groups[0]["lr"] == 1e-2


def test_one_step_is_clipped_to_the_norm():
    before = parameters(setup()[1])
    change, _ = final(optimizer=SGD(1.0), steps=1, clip=1e-3)
    free, _ = final(optimizer=SGD(1.0), steps=1)
    assert (change - before).norm() == pytest.approx(1e-3, rel=1e-3)
    assert (free - before).norm() > 1e-2


def test_the_average_is_measured_and_kept():
    source, encoder, loss, options = setup()
    latest, measured = [], []

    def measure(averaged):
        latest.append(parameters(encoder).double())
        measured.append(parameters(averaged))
        return {}

    average = parameters(encoder).double()
    list(train(source, encoder, loss, ema=EMA(0.5), measure=measure, **{**options, "every": 1}))
    for step, (now, seen) in enumerate(zip(latest, measured, strict=True), start=1):
        decay = min(0.5, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * now
        # Thirty roundings of entries of order 1.
        torch.testing.assert_close(seen.double(), average, rtol=0, atol=1e-5)
    assert torch.equal(parameters(encoder), measured[-1])
    assert not torch.equal(latest[-1].float(), measured[-1])


def test_averaging_does_not_change_training():
    latest = []
    for ema in (None, EMA(0.9)):
        source, encoder, loss, options = setup()
        for record in train(source, encoder, loss, ema=ema, **options):
            if record.step == options["steps"]:
                latest.append(parameters(encoder))
    assert torch.equal(*latest)


def test_batches_grow():
    class Counting(AbstractPairSource):
        def __init__(self, source):
            self.source, self.sizes = source, []

        def _draw(self, n, generator, dtype):
            self.sizes.append(n)
            return self.source.draw(n, generator, dtype)

    source, encoder, loss, options = setup()
    counting = Counting(source)
    growth = BatchGrowth(16, 64)
    list(train(counting, encoder, loss, **{**options, "batch_size": growth}))
    assert counting.sizes == [growth.size(step, 30) for step in range(30)] and counting.sizes[-1] == 64


def test_temperature_is_annealed():
    source, encoder, loss, options = setup()
    annealing = Annealing(2.0, 0.3, share=1.0)
    seen = [loss.score.tau for _ in train(source, encoder, loss, annealing=annealing, **options)]
    assert seen == [annealing.value(step, 30) for step in (9, 19, 29)] and seen[-1] == 0.3


def test_a_trained_temperature_is_not_annealed():
    source, encoder, loss, options = setup(loss=InfoNCE(Dot(0.3, learnable=True)))
    with pytest.raises(ValueError, match="`tau` must be fixed"):
        train(source, encoder, loss, annealing=Annealing(2.0, 0.3), **options)


def test_a_run_ends_at_its_target():
    source, encoder, loss, options = setup()
    scores = iter([0.5, 0.9, 0.99])
    measure = lambda _: {"r2": next(scores)}  # noqa: E731
    records = list(train(source, encoder, loss, measure=measure, until=Target("r2", at_least=0.9), **options))
    assert [record.metrics["r2"] for record in records] == [0.5, 0.9]


def test_a_target_needs_its_metric():
    source, encoder, loss, options = setup()
    with pytest.raises(ValueError, match="`until` needs `measure`"):
        train(source, encoder, loss, until=Target("r2", at_most=0.1), **options)
    run = train(
        source, encoder, loss, until=Target("linear_r", at_most=0.1), measure=lambda _: {"linear_r2": 0.0}, **options
    )
    with pytest.raises(ValueError, match="did you mean 'linear_r2'"):
        list(run)


def test_bfloat16_is_opt_in_and_leaves_parameters_in_float32():
    (full, records), (half, records_half) = final(steps=10), final(steps=10, precision="bf16")
    assert half.dtype == torch.float32 and not torch.equal(full, half)
    # Three digits of bfloat16, over ten steps.
    assert records_half[-1][1] == pytest.approx(records[-1][1], rel=0.02)
    with pytest.raises(ValueError, match="did you mean 'bf16'"):
        final(precision="bf-16")


def test_the_dtype_is_the_encoders():
    source, encoder, loss, options = setup()
    list(train(source, encoder.double(), loss, **{**options, "optimizer": Muon()}))
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float64}


def test_the_generator_is_on_the_encoders_device():
    source, encoder, loss, options = setup()
    with pytest.raises(ValueError, match="`generator` must be on the device of its inputs, meta"):
        train(source, encoder.to("meta"), loss, **{**options, "optimizer": Adam()})
