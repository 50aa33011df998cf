"""Laws of every loss."""

import copy
from dataclasses import fields, replace

import pytest
import torch

from noumena.batch import PairEmbeddings
from noumena.losses import AbstractLoss, LossOutput

LEAVES = ("h", "h_pos", "h_neg")


def cast(embeddings: PairEmbeddings, dtype: torch.dtype) -> PairEmbeddings:
    given = {field.name: getattr(embeddings, field.name) for field in fields(embeddings)}
    return PairEmbeddings(**{k: v.to(dtype) if isinstance(v, torch.Tensor) else v for k, v in given.items()})


def watched(embeddings: PairEmbeddings) -> PairEmbeddings:
    """The same with embeddings that collect gradients."""
    given = {name: getattr(embeddings, name) for name in LEAVES}
    return replace(embeddings, **{k: v.detach().clone().requires_grad_() for k, v in given.items() if v is not None})


def gradients(output: torch.Tensor, loss: AbstractLoss, embeddings: PairEmbeddings) -> list[torch.Tensor]:
    """Of the embeddings and of the loss's parameters; zero where the loss does not look."""
    leaves = [getattr(embeddings, name) for name in LEAVES if getattr(embeddings, name) is not None]
    wanted = [*leaves, *loss.parameters()]
    return list(torch.autograd.grad(output, wanted, allow_unused=True, materialize_grads=True, retain_graph=True))


def assert_all_close(actual: list[torch.Tensor], expected: list[torch.Tensor], rtol: float, atol: float) -> None:
    for one, other in zip(actual, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=rtol, atol=atol)


class LossContract:
    dim = 4
    n = 6
    negatives: tuple[int, ...] | None = None  # leading axes of h_neg
    order_matters = False  # whether the place of a pair in the batch means anything
    one_pair_is_refused = True
    scale_of_extremes = 100.0  # times unit vectors: scores of 1e4

    def make(self) -> AbstractLoss:
        raise NotImplementedError

    def reference(self, loss: AbstractLoss, embeddings: PairEmbeddings) -> torch.Tensor:
        """The anchors' losses in float64 by plain loops, differentiable in embeddings and free parameters."""
        raise NotImplementedError

    def embeddings(self, generator: torch.Generator, n: int | None = None) -> PairEmbeddings:
        n = self.n if n is None else n

        def draw(*shape):
            h = torch.randn(*shape, self.dim, generator=generator, dtype=torch.float64)
            return torch.nn.functional.normalize(h, dim=-1)

        return PairEmbeddings(draw(n), draw(n), None if self.negatives is None else draw(*self.negatives))

    def test_value_and_every_gradient_are_the_reference(self, generator):
        loss, embeddings = self.make().double(), watched(self.embeddings(generator))
        output, expected = loss(embeddings), self.reference(loss, embeddings)
        torch.testing.assert_close(output.per_anchor, expected, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(output.total, expected.mean(), rtol=1e-10, atol=1e-12)
        actual = gradients(output.total, loss, embeddings)
        assert_all_close(actual, gradients(expected.mean(), loss, embeddings), rtol=1e-10, atol=1e-12)

    def test_anchors_may_be_weighed_by_hand(self, generator):
        loss, embeddings = self.make().double(), watched(self.embeddings(generator))
        output, expected = loss(embeddings), self.reference(loss, embeddings)
        weights = torch.linspace(-1, 2, len(expected), dtype=torch.float64)
        for shares in (lambda one: (weights * one).sum(), lambda one: (weights * one).sum() + one.mean()):
            actual = gradients(shares(output.per_anchor), loss, embeddings)
            assert_all_close(actual, gradients(shares(expected), loss, embeddings), rtol=1e-10, atol=1e-12)
        both = (weights * output.per_anchor).sum() + output.total
        assert_all_close(gradients(both, loss, embeddings), actual, rtol=1e-10, atol=1e-12)

    def test_parts_sum_to_the_total_and_carry_no_graph(self, generator):
        loss = self.make().double()
        output = loss(watched(self.embeddings(generator)))
        assert isinstance(output, LossOutput) and output.total.requires_grad
        assert not any(part.requires_grad for part in output.parts.values())
        torch.testing.assert_close(sum(output.parts.values()), output.total.detach(), rtol=1e-12, atol=1e-12)

    def test_without_gradients(self, generator):
        loss, embeddings = self.make().double(), self.embeddings(generator)
        with_graph = loss(watched(embeddings)).total
        with torch.no_grad():
            total = loss(watched(embeddings)).total
        assert not total.requires_grad
        torch.testing.assert_close(total, with_graph.detach(), rtol=1e-14, atol=0)
        assert torch.equal(total, loss(embeddings).total.detach())

    def test_float32_follows_float64(self, generator):
        loss, exact = self.make(), watched(self.embeddings(generator))
        short, loss_exact = watched(cast(exact, torch.float32)), copy.deepcopy(loss).double()
        output, expected_output = loss(short), loss_exact(exact)
        assert output.total.dtype == output.per_anchor.dtype == torch.float32
        torch.testing.assert_close(output.total.double(), expected_output.total, rtol=1e-5, atol=1e-6)
        expected = gradients(expected_output.total, loss_exact, exact)
        actual = gradients(output.total, loss, short)
        assert_all_close([g.double() for g in actual], [g.double() for g in expected], rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_half_precision_is_summed_in_float32(self, generator, dtype):
        loss, short = self.make(), watched(cast(self.embeddings(generator), dtype))
        output = loss(short)
        assert output.total.dtype == torch.float32
        expected = loss(cast(cast(short, torch.float32), torch.float32)).total
        torch.testing.assert_close(output.total, expected, rtol=1e-5, atol=1e-6)
        for gradient in gradients(output.total, loss, short):
            assert torch.isfinite(gradient).all()

    def test_autocast_changes_nothing(self, generator):
        loss, embeddings = self.make(), watched(cast(self.embeddings(generator), torch.float32))
        expected = loss(embeddings)
        weights = torch.linspace(-1, 2, len(expected.per_anchor))
        wanted = gradients((weights * expected.per_anchor).sum(), loss, embeddings)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = loss(embeddings)
        actual = gradients((weights * output.per_anchor).sum(), loss, embeddings)
        assert output.total.dtype == torch.float32
        torch.testing.assert_close(output.total, expected.total)
        assert_all_close(actual, wanted, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_extreme_scores(self, generator, dtype):
        loss = self.make().to(dtype)
        embeddings = cast(self.embeddings(generator), dtype)
        scaled = {
            k: self.scale_of_extremes * getattr(embeddings, k) for k in LEAVES if getattr(embeddings, k) is not None
        }
        extreme = watched(replace(embeddings, **scaled))
        output = loss(extreme)
        assert torch.isfinite(output.per_anchor).all() and torch.isfinite(output.total)
        for gradient in gradients(output.total, loss, extreme):
            assert torch.isfinite(gradient).all()

    def test_equal_embeddings(self, generator):
        loss, embeddings = self.make().double(), self.embeddings(generator)
        same = {k: torch.ones_like(getattr(embeddings, k)) for k in LEAVES if getattr(embeddings, k) is not None}
        tied = watched(replace(embeddings, **same))
        output = loss(tied)
        torch.testing.assert_close(output.total, self.reference(loss, tied).mean(), rtol=1e-10, atol=1e-12)
        for gradient in gradients(output.total, loss, tied):
            assert torch.isfinite(gradient).all()

    def test_the_order_of_pairs_means_nothing(self, generator):
        if self.order_matters:
            pytest.skip("pairs are grouped by their place")
        loss, embeddings = self.make().double(), self.embeddings(generator)
        order = torch.randperm(self.n, generator=generator)
        moved = {}
        for field in fields(embeddings):
            value = getattr(embeddings, field.name)
            per_pair = isinstance(value, torch.Tensor) and (field.name != "h_neg" or value.ndim == 3)
            moved[field.name] = value[order] if per_pair else value
        before, after = loss(embeddings), loss(PairEmbeddings(**moved))
        torch.testing.assert_close(after.total, before.total, rtol=1e-12, atol=1e-12)
        views = before.per_anchor.view(-1, self.n)
        torch.testing.assert_close(after.per_anchor.view(-1, self.n), views[:, order], rtol=1e-12, atol=1e-12)

    def test_one_pair(self, generator, unchecked_shapes):
        loss = self.make().double()
        embeddings = watched(self.embeddings(generator, n=1))
        if self.one_pair_is_refused:
            with pytest.raises(ValueError, match="one row|group_size"):
                loss(embeddings)
        else:
            output = loss(embeddings)
            torch.testing.assert_close(output.per_anchor, self.reference(loss, embeddings), rtol=1e-10, atol=1e-12)

    def test_inputs_of_any_layout(self, generator):
        """Strided, transposed and expanded memory gives what contiguous memory gives."""
        loss, embeddings = self.make().double(), self.embeddings(generator)
        given = {k: getattr(embeddings, k) for k in LEAVES if getattr(embeddings, k) is not None}
        transposed = {k: v.mT.contiguous().mT for k, v in given.items()}
        strided = {k: torch.stack([v, v], dim=-1)[..., 0] for k, v in given.items()}
        expected = loss(embeddings).total
        for layout in (transposed, strided):
            assert not any(v.is_contiguous() for v in layout.values())
            views = replace(embeddings, **{k: v.requires_grad_() for k, v in layout.items()})
            output = loss(views).total
            torch.testing.assert_close(output, expected, rtol=1e-12, atol=1e-12)
            contiguous = watched(embeddings)
            wanted = gradients(loss(contiguous).total, loss, contiguous)
            assert_all_close(gradients(output, loss, views), wanted, rtol=1e-10, atol=1e-12)

    def test_a_graph_may_be_used_twice(self, generator):
        loss, embeddings = self.make().double(), watched(self.embeddings(generator))
        total = loss(embeddings).total
        first, second = gradients(total, loss, embeddings), gradients(total, loss, embeddings)
        assert_all_close(first, second, rtol=0, atol=0)

    def test_gradient_reaches_every_parameter(self, generator):
        loss = self.make().double()
        loss(watched(self.embeddings(generator))).total.backward()
        for name, parameter in loss.named_parameters():
            assert parameter.grad is not None and (parameter.grad != 0).any(), name

    def test_state_dict_round_trip(self, generator):
        loss, other, embeddings = self.make(), self.make(), cast(self.embeddings(generator), torch.float32)
        with torch.no_grad():
            for parameter in loss.parameters():
                parameter.add_(0.3)
        other.load_state_dict(loss.state_dict())
        assert torch.equal(loss(embeddings).total, other(embeddings).total)

    def test_parameters_are_listed_once(self):
        names = list(self.make().state_dict())
        assert len(names) == len(list(self.make().parameters())) + len(list(self.make().buffers()))

    def test_refuses_what_no_loss_can_mean(self, generator, unchecked_shapes):
        loss, good = self.make().double(), self.embeddings(generator)
        broken = good.h.clone()
        broken[2, 1] = float("nan")
        cases = [
            (replace(good, h=broken), ValueError, "`h` must be finite; 1 of"),
            (replace(good, h_pos=good.h_pos[1:]), ValueError, "`h_pos` must have the shape of `h`"),
            (replace(good, h_pos=good.h_pos.float()), TypeError, "`h_pos` must have the dtype of `h`"),
            (replace(good, h=good.h[:0], h_pos=good.h_pos[:0]), ValueError, "must not be empty"),
            (replace(good, h_neg=good.h[:0]), ValueError, "at least one negative"),
            (replace(good, h_neg=good.h[:, :2]), ValueError, r"must have the shape \(m, "),
            (replace(good, h=good.h.long()), TypeError, "floating"),
            (good.h, TypeError, "PairEmbeddings"),
        ]
        for embeddings, kind, message in cases:
            with pytest.raises(kind, match=message):
                loss(embeddings)
