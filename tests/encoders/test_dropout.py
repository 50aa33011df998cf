import copy
import pickle

import numpy as np
import pytest
import torch

from noumena.encoders import Dropout, ImageMLP
from tests.statistics import ALARM, fits_counts


def dropout(p=0.3, seed=0):
    return Dropout(p, generator=torch.Generator().manual_seed(seed))


def test_zeros_come_at_the_stated_rate_and_the_mean_stays():
    """Zeros in rows of ten, against the binomial law; a rate of .31 must be seen."""
    layer = dropout()
    zeros = np.concatenate([(layer(torch.ones(20_000, 10)) == 0).sum(1).numpy() for _ in range(5)])
    counts = np.bincount(zeros, minlength=11)

    def law(p):
        draws = np.arange(11)
        ways = [np.prod([(10 - i) / (i + 1) for i in range(k)]) for k in draws]
        return np.array(ways) * p**draws * (1 - p) ** (10 - draws)

    assert fits_counts(counts, law(0.3)) > ALARM
    assert fits_counts(counts, law(0.31)) < ALARM
    kept = layer(torch.full((70, 3), 2.0))
    torch.testing.assert_close(kept[kept != 0].unique(), torch.tensor([2 / 0.7]))


def test_every_draw_is_another_and_a_seed_gives_them_all():
    x = torch.ones(50, 20)
    one, same, other = dropout(), dropout(), dropout(seed=1)
    first, second = one(x), one(x)
    assert not torch.equal(first, second)
    assert torch.equal(first, same(x)) and torch.equal(second, same(x))
    assert not torch.equal(first, other(x))


def test_precision_does_not_decide_the_mask():
    x = torch.ones(50, 20)
    assert torch.equal(dropout()(x) == 0, dropout().double()(x.double()) == 0)
    assert torch.equal(dropout()(x) == 0, dropout()(x.bfloat16()) == 0)
    assert dropout()(x.bfloat16()).dtype == torch.bfloat16


def test_in_evaluation_nothing_is_dropped_or_drawn():
    layer, x = dropout().eval(), torch.rand(4, 3, generator=torch.Generator().manual_seed(0))
    assert torch.equal(layer(x), x) and int(layer.draws.count) == 0


def test_copies_and_states_go_on_as_the_original():
    layer, x = dropout(), torch.ones(30, 30)
    layer(x)
    loaded = dropout(seed=5)
    loaded.load_state_dict(layer.state_dict())
    twins = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), loaded]
    expected = layer(x)
    assert all(torch.equal(twin(x), expected) for twin in twins)


def test_a_count_set_back_repeats_the_masks(generator):
    encoder = ImageMLP((1, 3, 3), 3, [16, 16], dropout=0.5, generator=generator)
    before = [buffer.clone() for buffer in encoder.buffers()]
    x = torch.randn(20, 9, generator=generator)
    first, second = encoder(x), encoder(x)
    for buffer, value in zip(encoder.buffers(), before, strict=True):
        buffer.copy_(value)
    assert torch.equal(encoder(x), first) and torch.equal(encoder(x), second) and not torch.equal(first, second)


def test_processes_that_share_a_state_draw_apart(monkeypatch):
    x = torch.ones(50, 20)
    alone = dropout()(x)
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_rank", lambda: 1)
    assert not torch.equal(dropout()(x), alone)


@pytest.mark.parametrize("p", [-0.1, 1.0])
def test_a_probability_is_below_one(p):
    with pytest.raises(ValueError, match="`p` must be at least 0 and below 1"):
        dropout(p)
