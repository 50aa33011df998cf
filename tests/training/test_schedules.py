import pytest

from noumena.encoders import MLP
from noumena.losses import Dot, Ensemble, InfoNCE, Lp, Regression
from noumena.training import Annealing, BatchGrowth, Schedule


def test_rates_warm_up_and_fall_to_zero():
    factors = [Schedule(warmup=0.1).factor(step, 100) for step in range(101)]
    assert factors[0] < factors[5] < 1 and factors[10] == 1 and factors[100] == pytest.approx(0, abs=1e-12)
    assert factors[10:] == sorted(factors[10:], reverse=True)
    assert factors[55] == pytest.approx(0.5)


def test_constant_rates_only_warm_up():
    factors = [Schedule(warmup=0.1, shape="constant").factor(step, 100) for step in range(100)]
    assert factors[:10] == [factor for factor in sorted(factors[:10]) if factor < 1]
    assert set(factors[10:]) == {1.0}
    assert Schedule(warmup=0.0, shape="constant").factor(0, 10) == 1


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_batches_grow_from_start_to_end(steps):
    growth = BatchGrowth(2048, 6144, share=0.8, multiple=64)
    sizes = [growth.size(step, steps) for step in range(steps)]
    assert sizes == sorted(sizes) and sizes[-1] == 6144
    assert steps == 1 or sizes[0] == 2048
    assert all(size % 64 == 0 for size in sizes)
    ratios = [later / earlier for earlier, later in zip(sizes, sizes[1:], strict=False) if later < 6144]
    # Rounding to a multiple moves a batch by 32 of at least 2048, so a ratio by 1 in 32.
    assert not ratios or max(ratios) - min(ratios) < 2 / 32


@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_temperature_is_geometric_and_ends_exactly(steps):
    annealing = Annealing(1.5, 0.3, share=0.5)
    values = [annealing.value(step, steps) for step in range(steps)]
    last = -(-(steps - 1) // 2)  # the first step at or beyond half of the run
    assert set(values[last:]) == {0.3}
    assert steps == 1 or values[0] == 1.5
    ratios = [later / earlier for earlier, later in zip(values[:last], values[1:last], strict=False)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios) if ratios else [])


def test_no_share_is_the_end_from_the_first_step():
    assert Annealing(1.5, 0.3, share=0.0).value(0, 10) == 0.3
    assert BatchGrowth(2, 8, share=0.0).size(0, 10) == 8


def test_annealing_finds_every_temperature(generator):
    loss = Ensemble([InfoNCE(Dot(0.3)), InfoNCE(Lp(1, 0.3))])
    for target in Annealing(2.0, 0.3).targets(loss, MLP.small(3, 3, generator=generator)):
        target.set(2.0)
    assert [one.score.tau for one in loss.losses] == [2.0, 2.0]


def test_annealing_of_nothing_is_refused():
    with pytest.raises(ValueError, match="needs a loss with a temperature"):
        Annealing(1.0, 0.3).targets(Regression())
    with pytest.raises(ValueError, match="did you mean 'temperature'"):
        Annealing(1.0, 0.3, what="temprature").targets(InfoNCE(Dot(0.3)))


def test_a_trained_temperature_is_not_set():
    with pytest.raises(ValueError, match="`tau` must be fixed"):
        Dot(0.3, learnable=True).temperature.set(1.0)
    score = Dot(0.3)
    score.temperature.set(1.0)
    assert score.tau == score.temperature() == 1.0
    with pytest.raises(ValueError, match="`tau` must be positive"):
        score.temperature.set(0.0)


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        (lambda: Schedule(shape="cosin"), "did you mean 'cosine'"),
        (lambda: BatchGrowth(100, 256, multiple=64), "`start` must be a multiple of 64, got 100"),
        (lambda: Annealing(0.0, 0.3), "`start` must be positive"),
        (lambda: Annealing(1.0, 0.3, share=2.0), "`share` must lie between 0 and 1"),
    ],
)
def test_wrong_descriptions_are_refused(call, pattern):
    with pytest.raises(ValueError, match=pattern):
        call()
