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
from noumena.spaces import Sphere
from noumena.training import Record, Schedule, embed, evaluate, train


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

        def measure(source=source, encoder=encoder, rng=rng):
            scores = evaluate(source, encoder, [LinearR2()], n=64, generator=rng.eval)
            return {name: float(score) for name, score in scores.items()}

        list(train(source, encoder, loss, measure=measure, **{**options, "every": every}))
        losses.append(torch.cat([p.flatten() for p in encoder.parameters()]))
    assert torch.equal(*losses)


def test_learned_values_of_the_loss_are_trained():
    source, encoder, loss, options = setup(loss=InfoNCE(AnisotropicScore(1.0, 3)))
    before = loss.score.precision.detach().clone()
    list(train(source, encoder, loss, **options))
    assert (loss.score.precision != before).all()


def test_a_diverged_run_names_the_step():
    source, encoder, loss, options = setup()
    with torch.no_grad():
        next(encoder.parameters()).fill_(float("nan"))
    with pytest.raises((ArithmeticError, ValueError), match="NaN|step 1"):
        list(train(source, encoder, loss, **options))


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
    record = Record(3, 1.5, 0.25, {"alignment": -1.0}, {"linear_r2": 0.9})
    assert Record.from_json(record.to_json()) == record


def test_schedule_warms_up_and_falls_to_zero():
    factors = [Schedule(warmup=0.1).factor(step, 100) for step in range(101)]
    assert factors[0] < factors[5] < 1 and factors[10] == 1 and factors[100] == pytest.approx(0, abs=1e-12)
    assert factors[10:] == sorted(factors[10:], reverse=True)
