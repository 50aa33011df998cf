import numpy as np
import pytest

from noumena.metrics import BlockR2, block_r2, linear_r2
from tests.contracts.metrics import MetricContract, affine, bent, folded, noisy, relabelled, repeated, sheared, world
from tests.metrics.test_linear import reference_r2


class TestBlockR2(MetricContract):
    """Every coordinate in one block, so that the contract's shapes of any d are covered."""

    ignored = (affine, relabelled, repeated, sheared)
    seen = (bent, folded, noisy)

    def make(self, **options):
        return BlockR2(blocks=[[0]], **options)

    def reference(self, z, h, fit, score):
        return reference_r2(z, h, fit, score)[0]

    def test_any_shape_gives_a_finite_score(self):
        z, h = world(60, 5, 2)
        result = BlockR2(blocks={"most": [4, 0, 1], "one": [3]})(z, h)
        assert np.isnan(result.per_coordinate).tolist() == [False, False, True, False, False]
        assert result.value == pytest.approx((result.per_block["most"] + result.per_block["one"]) / 2)

    def test_constant_true_coordinates(self):
        z, h = world(40)
        z[:, 1] = 0.1
        assert block_r2(z, h, [[0, 2]])[0] < 1  # what is not asked for need not vary
        with pytest.raises(ValueError, match=r"coordinates \[1\] are constant"):
            block_r2(z, h, [[0], [2, 1]])


def test_blocks_agree_with_the_reference_and_with_linear_r2():
    z, h = world(80, 4, 5)
    order = np.random.default_rng([0, 0]).permutation(80)
    expected = reference_r2(z, h, order[:40], order[40:])
    scores = block_r2(z, h, {"content": [2, 0], "style": [1, 3]})
    assert scores["content"] == pytest.approx((expected[0] + expected[2]) / 2, abs=1e-10)
    assert scores["style"] == pytest.approx((expected[1] + expected[3]) / 2, abs=1e-10)
    assert block_r2(z, h, [[0, 1, 2, 3]]) == {0: pytest.approx(linear_r2(z, h))}


def test_columns_meant_for_a_block_tell_separated_from_mixed():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((3000, 4))
    blocks = {"content": [0, 1], "style": [2, 3]}
    separated = np.column_stack([z[:, :2] @ rng.standard_normal((2, 2)), z[:, 2:] @ rng.standard_normal((2, 2))])
    own = block_r2(z, separated, blocks, recovered=blocks)
    other = block_r2(z, separated, blocks, recovered={"content": [2, 3], "style": [0, 1]})
    assert own == {"content": pytest.approx(1), "style": pytest.approx(1)}
    assert max(map(abs, other.values())) < 0.02
    mixed = block_r2(z, separated @ np.linalg.qr(rng.standard_normal((4, 4)))[0], blocks, recovered=blocks)
    assert all(0.02 < score < 0.98 for score in mixed.values())


def test_matched_columns_find_blocks_in_any_order():
    rng = np.random.default_rng(2)
    z = rng.standard_normal((3000, 5))
    blocks = {"content": [0, 1, 3], "style": [2, 4]}
    turns = [np.linalg.qr(rng.standard_normal((k, k)))[0] for k in (3, 2)]
    h = np.column_stack([z[:, blocks[name]] @ turn for name, turn in zip(blocks, turns, strict=True)])
    shuffled = np.column_stack([h[:, [3, 0, 4, 2, 1]], rng.standard_normal(3000)])  # and a column of noise
    metric = BlockR2(blocks=blocks, recovered="matched")
    assert metric.name == "block_r2_matched" and metric(z, shuffled).value == pytest.approx(1)
    # By hand: columns 1, 3 and 4 of the shuffled ones are the content's.
    mine = block_r2(z, shuffled + 0.3, blocks, recovered={"content": [1, 3, 4], "style": [0, 2]})
    assert block_r2(z, shuffled + 0.3, blocks, recovered="matched") == mine
    assert metric(z, h @ np.linalg.qr(rng.standard_normal((5, 5)))[0]).value < 0.9  # a rotation across blocks


def test_matching_needs_a_column_for_each_coordinate(unchecked_shapes):
    z, h = world(40, 3, 2)
    with pytest.raises(ValueError, match="a column for each of the 3 coordinates"):
        block_r2(z, h, [[0, 1], [2]], recovered="matched")
    with pytest.raises(ValueError, match="`recovered` cannot be .best.; choose one of .matched."):
        BlockR2(blocks=[[0]], recovered="best")  # pyright: ignore


def test_the_callers_blocks_are_not_kept():
    blocks = {"all": [0, 1]}
    metric = BlockR2(blocks=blocks)
    blocks["all"].append(99)
    assert metric(*world(40)).per_block.keys() == {"all"}


@pytest.mark.parametrize(
    "blocks, recovered, error, message",
    [
        ([], None, ValueError, "at least one block"),
        ({"a": []}, None, ValueError, "at least one index"),
        ([0, 1], None, ValueError, "each a list"),
        ("ab", None, TypeError, "mapping or a list"),
        ([[0, 1], [1]], None, ValueError, r"disjoint; coordinates \[1\]"),
        ([[0, 0]], None, ValueError, "not repeat an index"),
        ([[-1]], None, ValueError, "at least 0"),
        ([[0.5]], None, TypeError, "whole number"),
        ([[0, 3]], None, ValueError, "`z` from 0 to 2; block 0 has 3"),
        ({"a": [0]}, {"b": [0]}, ValueError, "`recovered` must name the blocks"),
        ({"a": [0]}, {"a": [4]}, ValueError, "`h` from 0 to 3; block 'a' has 4"),
    ],
)
def test_wrong_blocks_are_refused(unchecked_shapes, blocks, recovered, error, message):
    with pytest.raises(error, match=message):
        block_r2(*world(40), blocks, recovered=recovered)
