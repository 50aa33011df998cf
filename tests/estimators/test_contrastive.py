import numpy as np
import pytest
import torch

from noumena.estimators import ContrastiveEncoder
from noumena.estimators import contrastive as module
from noumena.metrics import linear_r2
from tests.estimators.worlds import KAPPA, sphere_pairs

QUICK = {"steps": 20, "widths": (8, 8), "batch_size": 64, "random_state": 0}


@pytest.fixture(scope="module")
def pairs():
    return sphere_pairs(400)


def test_latents_of_a_sphere_come_back():
    x, x_pos, z = sphere_pairs(6000)
    train, fresh = slice(0, 4000), slice(4000, None)
    encoder = ContrastiveEncoder(3, steps=400, random_state=0).fit(x[train], x_pos[train])
    h = encoder.transform(x[fresh])
    assert np.allclose(np.linalg.norm(h, axis=1), 1)
    assert linear_r2(z[fresh], h) > 0.99 > linear_r2(z[fresh], x[fresh])
    # From 1 towards 1 / kappa = .1, where longer runs end.
    assert 0.8 / KAPPA < encoder.temperature_ < 2 / KAPPA
    assert encoder.score(x[fresh], x_pos[fresh]) > 1.5
    # Chance for wrong pairs is 0, and what was learned of right ones makes them worse.
    assert encoder.score(x[fresh], np.roll(x_pos[fresh], 7, axis=0)) < 0


def test_the_same_seed_gives_the_same_numbers_and_global_states_stay(pairs):
    x, x_pos, _ = pairs
    before = np.random.get_state()[1].copy()
    first, again = (ContrastiveEncoder(**QUICK).fit(x, x_pos) for _ in range(2))
    assert np.array_equal(first.transform(x), again.transform(x))
    other = ContrastiveEncoder(**{**QUICK, "random_state": 1}).fit(x, x_pos)
    assert not np.allclose(first.transform(x), other.transform(x))
    unseeded = ContrastiveEncoder(**{**QUICK, "random_state": None}).fit(x, x_pos)
    repeated = ContrastiveEncoder(**{**QUICK, "random_state": unseeded.seed_}).fit(x, x_pos)
    assert np.array_equal(unseeded.transform(x), repeated.transform(x))
    states = [np.random.RandomState(3) for _ in range(2)]
    drawn = [ContrastiveEncoder(**{**QUICK, "random_state": state}).fit(x, x_pos).seed_ for state in states]
    assert drawn[0] == drawn[1]
    assert np.array_equal(before, np.random.get_state()[1])


def test_positives_by_place_and_by_name_are_one_and_labels_choose_nothing(pairs):
    x, x_pos, _ = pairs
    by_place = ContrastiveEncoder(**QUICK).fit(x, x_pos).transform(x)
    labels = np.arange(len(x)) % 3
    by_name = ContrastiveEncoder(**QUICK).fit(x, labels, X_pos=x_pos).transform(x)
    assert np.array_equal(by_place, by_name)
    frames = ContrastiveEncoder(**QUICK).fit(x).transform(x)
    assert np.array_equal(frames, ContrastiveEncoder(**QUICK).fit(x, labels).transform(x))
    assert not np.allclose(frames, by_place)


def test_frames_are_paired_within_groups(pairs):
    x = pairs[0][:90]
    options = {**QUICK, "validation_fraction": 0.0}
    groups = np.repeat(["a", "b", "c"], 30)
    assert ContrastiveEncoder(**options).fit(x).n_pairs_ == 89
    assert ContrastiveEncoder(**options, lag=2).fit(x, groups=groups).n_pairs_ == 3 * 28
    assert ContrastiveEncoder(**options, lag=29).fit(x, groups=groups).n_pairs_ == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transform_keeps_the_dtype_and_rows_do_not_meet(dtype, pairs, monkeypatch):
    x, x_pos, _ = pairs
    encoder = ContrastiveEncoder(**QUICK).fit(x, x_pos)
    whole = encoder.transform(x.astype(dtype))
    assert whole.dtype == dtype
    monkeypatch.setattr(module, "CHUNK", 7)
    np.testing.assert_allclose(encoder.transform(x.astype(dtype)), whole, atol=100 * np.finfo(dtype).eps)


def test_units_of_the_columns_do_not_matter(pairs):
    x, x_pos, _ = pairs
    unit, offset = np.array([1e3, 1e-4, 1.0]), np.array([1e9, 0.0, -5.0])
    plain = ContrastiveEncoder(**QUICK).fit(x, x_pos).transform(x)
    moved = ContrastiveEncoder(**QUICK).fit(x * unit + offset, x_pos * unit + offset).transform(x * unit + offset)
    # A mean of 1e9 beside a spread of 1e3 leaves ten of float64's sixteen digits; float32 would keep none.
    # Twenty steps of training in float32 widen the difference; without a digit left latents differ by about 1.
    np.testing.assert_allclose(moved, plain, atol=5e-3)


def test_constant_columns_and_a_row_at_the_mean_are_no_trouble(pairs):
    x, x_pos, _ = pairs
    x, x_pos = (np.column_stack([one, np.full(len(one), 3.0)]) for one in (x, x_pos))
    x[0] = np.concatenate([x, x_pos])[1:].mean(axis=0)
    assert np.isfinite(ContrastiveEncoder(**QUICK).fit(x, x_pos).transform(x)).all()
    symmetric = np.concatenate([x[:50] - x[:50].mean(axis=0), np.zeros((1, 4)), x[:50].mean(axis=0) - x[:50]])
    assert np.isfinite(ContrastiveEncoder(**QUICK).fit(symmetric).transform(symmetric)).all()


def test_the_encoder_that_tells_held_out_pairs_best_is_kept():
    """Few noisy pairs and no decay: the training loss falls to the end, the held-out score does not rise with it."""
    x, x_pos, _ = sphere_pairs(300, dim=5)
    encoder = ContrastiveEncoder(5, steps=400, weight_decay=0.0, random_state=0, validation_fraction=0.3)
    encoder.fit(x, x_pos)
    scores = {record.step: record.metrics["score"] for record in encoder.records_}
    assert encoder.n_steps_ < 400 and encoder.validation_score_ == max(scores.values()) == scores[encoder.n_steps_]
    assert scores[400] < encoder.validation_score_ - 0.3
    rng = np.random.default_rng(0)
    held = np.setdiff1d(np.arange(300), np.sort(rng.permutation(300)[90:]))
    # What is kept is that very encoder: its score on the held-out pairs, anew and in float64.
    again = encoder.score(x[held], x_pos[held])
    assert again == pytest.approx(encoder.validation_score_, abs=1e-3)
    last = ContrastiveEncoder(5, steps=400, weight_decay=0.0, random_state=0, validation_fraction=0.0).fit(x, x_pos)
    assert last.n_steps_ == 400 and last.validation_score_ is None and last.n_pairs_ == 300


def test_an_interrupted_fit_is_a_fit(pairs, monkeypatch):
    x, x_pos, _ = pairs
    lines = []

    def interrupt(record, steps):
        lines.append(record)
        if len(lines) == 3:
            raise KeyboardInterrupt
        return ""

    monkeypatch.setattr(module, "_line", interrupt)
    encoder = ContrastiveEncoder(**{**QUICK, "steps": 2000, "verbose": 1})
    with pytest.raises(KeyboardInterrupt):
        encoder.fit(x, x_pos)
    assert len(encoder.records_) == 3 and encoder.n_steps_ <= 300
    assert encoder.transform(x).shape == (400, 3) and np.isfinite(encoder.score(x, x_pos))


def test_verbose_prints_a_line_for_each_record(pairs, capsys):
    x, x_pos, _ = pairs
    encoder = ContrastiveEncoder(**QUICK, verbose=1).fit(x, x_pos)
    assert len(capsys.readouterr().out.splitlines()) == len(encoder.records_) == 20
    ContrastiveEncoder(**QUICK).fit(x, x_pos)
    assert capsys.readouterr().out == ""


def test_warm_start_goes_on(pairs):
    x, x_pos, _ = pairs
    encoder = ContrastiveEncoder(**{**QUICK, "steps": 200, "warm_start": True}).fit(x, x_pos)
    first, scaler = encoder.records_[0].loss, encoder.scaler_
    encoder.fit(x, x_pos)
    assert encoder.records_[0].loss < first - 0.5
    assert np.array_equal(encoder.scaler_.mean_, scaler.mean_)
    encoder.set_params(n_components=4)
    with pytest.raises(ValueError, match="`warm_start` goes on .* whose `n_components` is 3, not 4"):
        encoder.fit(x, x_pos)


@pytest.mark.parametrize(
    ("space", "similarity", "bounded"),
    [
        ("sphere", "lp", None),
        ("sphere", "anisotropic", None),
        ("sphere", "covariance", None),
        ("box", "auto", (0, 1)),
        ("free", "dot", None),
        ("free", "anisotropic", None),
    ],
)
def test_every_similarity_learns(space, similarity, bounded, pairs):
    x, x_pos, _ = pairs
    encoder = ContrastiveEncoder(2, space=space, similarity=similarity, **{**QUICK, "steps": 100}).fit(x, x_pos)
    h = encoder.transform(x)
    if space == "sphere":
        assert np.allclose(np.linalg.norm(h, axis=1), 1)
    if bounded:
        assert (h > bounded[0]).all() and (h < bounded[1]).all()
    assert encoder.score(x, x_pos) > 0.3
    learned = encoder.precision_ if similarity == "anisotropic" else encoder.temperature_
    assert np.all(learned > 0)
    assert (encoder.temperature_ is None) == (similarity == "anisotropic") == (encoder.precision_ is not None)


def test_a_fixed_temperature_stays(pairs):
    x, x_pos, _ = pairs
    encoder = ContrastiveEncoder(temperature=0.25, **QUICK).fit(x, x_pos)
    assert encoder.temperature_ == 0.25 and not list(encoder.objective_.parameters())


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"n_components": 0}, "`n_components` must be at least 1, got 0"),
        ({"space": "spere"}, "`space` cannot be 'spere'; did you mean 'sphere'"),
        ({"similarity": "dots"}, "did you mean 'dot'"),
        (
            {"space": "box", "similarity": "dot"},
            "`similarity` cannot be 'dot' where `space` is 'box'; choose one of 'lp'",
        ),
        ({"space": "free", "similarity": "covariance"}, "`similarity` cannot be 'covariance' where `space` is 'free'"),
        ({"p": 0.5}, "`p` must be at least 1"),
        ({"temperature": 0.0}, "`temperature` must be positive"),
        ({"temperature": "learnt"}, "did you mean 'learned'"),
        ({"temperature": 0.1, "similarity": "anisotropic"}, "'anisotropic', which learns a precision instead"),
        ({"temperature": 0.1, "similarity": "covariance"}, "'covariance', which has none"),
        ({"widths": (8, 0)}, "`widths` must be at least 1, got 0"),
        ({"lag": 0}, "`lag` must be at least 1"),
        ({"steps": 0}, "`steps` must be at least 1"),
        ({"batch_size": 1}, "`batch_size` must be at least 2"),
        ({"learning_rate": 0.0}, "`learning_rate` must be positive"),
        ({"weight_decay": -1.0}, "`weight_decay` must be at least 0"),
        ({"validation_fraction": 1.0}, "`validation_fraction` must be at least 0 and less than 1, got 1.0"),
        ({"random_state": -1}, "`random_state` must be at least 0"),
        ({"device": "gpu"}, "`device` must be one that torch knows"),
    ],
)
def test_wrong_parameters_are_refused_by_fit(options, pattern, pairs, unchecked_shapes):
    encoder = ContrastiveEncoder(**{**QUICK, **options})
    with pytest.raises(ValueError, match=pattern):
        encoder.fit(pairs[0])
    assert not hasattr(encoder, "encoder_")


@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        (lambda x: (x, x[:-1]), r"`X_pos` must have the shape of `X`, \(400, 3\).*; got \(399, 3\)"),
        (lambda x: (x, x[:, :1]), r"got \(400, 1\). A second argument with two axes is taken as positives"),
        (lambda x: (x, x * np.nan), "X_pos contains NaN"),
        (lambda x: (x * np.nan,), "X contains NaN"),
        (lambda x: (x[:2],), r"at least 2 pairs to train on, got 1 besides 0 held out \(n_samples=2\)"),
        (lambda x: (np.ones((50, 3)),), "`X` must vary, got one row many times"),
    ],
)
def test_wrong_data_are_refused(arguments, pattern, pairs):
    with pytest.raises(ValueError, match=pattern):
        ContrastiveEncoder(**QUICK).fit(*arguments(pairs[0]))


def test_groups_are_of_frames_alone_and_one_for_each(pairs):
    x, x_pos, _ = pairs
    with pytest.raises(ValueError, match="given positives need none"):
        ContrastiveEncoder(**QUICK).fit(x, x_pos, groups=np.zeros(400))
    with pytest.raises(ValueError, match="`episodes` must have the shape"):
        ContrastiveEncoder(**QUICK).fit(x, groups=np.zeros(399))
    with pytest.raises(ValueError, match="at least 2 pairs, got 1"):
        ContrastiveEncoder(**QUICK).fit(x).score(x[:2])


def test_training_leaves_the_way_of_subnormal_numbers_alone(pairs):
    ContrastiveEncoder(**QUICK).fit(*pairs[:2])
    assert float(torch.tensor(1e-310, dtype=torch.float64) / 2) > 0
