import math

import numpy as np
import pytest
import scipy.linalg
import torch

from noumena.encoders import MLP, BoxHead, Free, GaussianHead, ProductHead, SphereHead, Turned
from noumena.encoders.heads import make_head
from noumena.spaces import Box, Euclidean, Product, Sphere

SPACES = [
    Euclidean(3),
    Sphere(4, radius=0.3),
    Box(3, low=(-1.0, 0.0, 2.0), high=(1.0, 0.1, 2.5)),
    Product([Sphere(2), Box(1, -3.0, -1.0), Euclidean(2)]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_a_head_made_from_a_space_ends_in_it(generator, space, dtype, scale):
    head = make_head(space, space.dim).to(dtype)
    h = head(scale * torch.randn(100, space.dim, generator=generator, dtype=dtype))
    assert h.dtype == dtype and space.contains(h).all() if dtype == torch.float32 else head.space.contains(h).all()
    assert not list(head.parameters())


@pytest.mark.parametrize(
    "head",
    [
        Free(dim=3),
        SphereHead(2.0, learnable=True, dim=3),
        BoxHead(3, bound=(1.0, 2.0, 0.3), low=(-1.0, 0.0, 1.0)),
        ProductHead([SphereHead(2.0, learnable=True, dim=2), BoxHead(1, low=-0.5)]),
        Turned(SphereHead(2.0, learnable=True, dim=3)),
    ],
    ids=lambda head: type(head).__name__,
)
def test_gradients(generator, head):
    head = head.double()
    y = torch.randn(4, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    names, parameters = zip(*head.named_parameters(), strict=True) if list(head.parameters()) else ((), ())

    def called(y, *parameters):
        return torch.func.functional_call(head, dict(zip(names, parameters, strict=True)), (y,))

    assert torch.autograd.gradcheck(called, (y, *(p.detach().clone().requires_grad_() for p in parameters)))


@pytest.mark.parametrize(
    "head", [Free(dim=3), SphereHead(dim=3), ProductHead([SphereHead(dim=2), Free(dim=1)]), Turned(Free(dim=3))]
)
def test_heads_that_say_they_are_odd_are(generator, head):
    y = torch.randn(50, 3, generator=generator)
    assert head.odd and torch.equal(head(-y), -head(y))


def test_a_box_is_not_odd():
    assert not BoxHead(3, low=-0.5).odd
    assert not ProductHead([Free(dim=1), BoxHead(1)]).odd


class TestSphereHead:
    @pytest.mark.parametrize("length", [1e-44, 1e-30, 1e-12, 1.0, 1e30, 1e38])
    def test_no_length_is_too_short_or_too_long(self, length):
        h = SphereHead(dim=2)(torch.tensor([[1.0, -1.0]]) * length)
        torch.testing.assert_close(h, torch.tensor([[1.0, -1.0]]) / 2**0.5)

    def test_gradient_of_a_short_row(self):
        y = torch.tensor([[3e-20, 4e-20]], requires_grad=True)
        SphereHead(dim=2)(y)[0, 0].backward()
        # d(y1/|y|)/dy = (y2^2, -y1 y2) / |y|^3.
        torch.testing.assert_close(y.grad, torch.tensor([[0.64, -0.48]]) / 5e-20)

    @pytest.mark.parametrize("training", [True, False])
    def test_a_zero_row_is_refused(self, training):
        with pytest.raises(
            ValueError, match="`y` must not be zero before a sphere.*2 of 3 rows are, the first is row 1"
        ):
            SphereHead(dim=2).train(training)(torch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, -0.0]]))

    def test_nan_stays_visible(self):
        h = SphereHead(dim=2)(torch.tensor([[1.0, 0.0], [math.nan, 1.0]]))
        assert h[0].isfinite().all() and h[1].isnan().all()

    def test_the_dimension_comes_from_the_encoder(self, generator):
        head = SphereHead()
        with pytest.raises(ValueError, match="`SphereHead` has no `dim` yet"):
            _ = head.space
        encoder = MLP(3, 5, [8], head=head, generator=generator)
        assert head.space == encoder.space == Sphere(5)
        with pytest.raises(ValueError, match="must have the 4 coordinates of embeddings; this `SphereHead` has 5"):
            MLP(3, 4, [8], head=head, generator=generator)

    def test_a_set_radius_moves_the_space(self):
        head = SphereHead(dim=3)
        head.set_radius(2.5)
        assert head.space == Sphere(3, radius=2.5)
        with pytest.raises(ValueError, match="`radius` must be positive, got -1.0"):
            head.set_radius(-1.0)


class TestBoxHead:
    def test_published_values(self):
        head = BoxHead(2)
        assert head.space == Box(2, 0.0, 1.0)
        h = head(torch.tensor([[0.0, math.log(3.0)]]))
        torch.testing.assert_close(h, torch.tensor([[0.5, 0.75]]))

    def test_far_rows_reach_the_ends_and_stay_inside(self):
        head = BoxHead(2, bound=(0.1, 7.0), low=(0.7, -3.0))
        h = head(torch.tensor([[-1e30, -1e30], [1e30, 1e30], [0.0, 0.0]]))
        assert head.space.contains(h).all()
        torch.testing.assert_close(h, torch.tensor([[0.7, -3.0], [0.8, 4.0], [0.75, 0.5]]))

    def test_a_set_bound_is_used_at_once(self):
        for head in (BoxHead(2), BoxHead(2, learnable=False)):
            head.set_bound((2.0, 4.0))
            assert head.space == Box(2, 0.0, (2.0, 4.0))
            torch.testing.assert_close(head(torch.zeros(1, 2)), torch.tensor([[1.0, 2.0]]))
            with pytest.raises(ValueError, match="`bound` must have one value or 2, one for each coordinate; got 3"):
                head.set_bound((1.0, 1.0, 1.0))

    def test_wrong_bounds_are_refused(self):
        with pytest.raises(ValueError, match="`bound` must be positive, got 0.0"):
            BoxHead(2, bound=(1.0, 0.0))
        with pytest.raises(ValueError, match="`low` must be finite, got inf"):
            BoxHead(2, low=math.inf)


@pytest.mark.parametrize("name", ["radius", "bound"])
def test_a_learned_size_is_trained_and_cannot_turn_negative(generator, name):
    head = SphereHead(1.0, learnable=True, dim=2) if name == "radius" else BoxHead(2, bound=1.0)
    y = torch.randn(64, 2, generator=generator)
    optimiser = torch.optim.SGD(head.parameters(), lr=0.1)
    target = 3 * (head(y) / getattr(head, name)).detach()
    for _ in range(150):
        optimiser.zero_grad()
        (head(y) - target).square().sum(-1).mean().backward()
        optimiser.step()
    torch.testing.assert_close(getattr(head, name), torch.full_like(getattr(head, name), 3.0), rtol=1e-3, atol=0)
    with torch.no_grad():  # a step too long
        next(head.parameters()).sub_(4.0)
    assert (getattr(head, name) > 0).all() and head.space.contains(head(y)).all()


def test_a_state_fits_a_head_whether_or_not_it_learns():
    learned, fixed = BoxHead(2, bound=5.0), BoxHead(2, learnable=False)
    fixed.load_state_dict(learned.state_dict())
    assert fixed.space == learned.space and not list(fixed.parameters())


def test_a_product_needs_heads_that_know_their_dimensions(unchecked_shapes):
    with pytest.raises(ValueError, match="`heads` must name at least one head, got none"):
        ProductHead([])
    with pytest.raises(ValueError, match="`SphereHead` has no `dim` yet"):
        ProductHead([SphereHead()])
    with pytest.raises(TypeError, match="`heads` must be a `AbstractHead`, got `Sphere`"):
        ProductHead([Sphere(2)])


def test_a_gaussian_head_keeps_the_means_for_evaluation(generator):
    head, y = GaussianHead(6), torch.randn(4, 6, generator=generator)
    assert torch.equal(head(y), y)
    assert torch.equal(head.eval()(y), y[:, :3]) and head.space == Euclidean(3)
    with pytest.raises(ValueError, match="`dim` must be even"):
        GaussianHead(5)


class TestTurned:
    @pytest.fixture
    def head(self, generator):
        head = Turned(SphereHead(dim=4)).double()
        with torch.no_grad():
            head.angles.copy_(3 * torch.randn(6, generator=generator, dtype=torch.float64))
        return head

    def test_it_begins_as_the_head_alone(self, generator):
        y = torch.randn(20, 4, generator=generator)
        assert torch.equal(Turned(SphereHead(dim=4))(y), SphereHead(dim=4)(y))

    def test_it_turns_and_does_nothing_else(self, head, generator):
        y = torch.randn(20, 4, generator=generator, dtype=torch.float64)
        h, straight = head(y), head.head(y)
        torch.testing.assert_close(h @ h.mT, straight @ straight.mT, rtol=0, atol=1e-12)
        assert head.space == Sphere(4) and head.space.contains(h).all()
        assert torch.linalg.det(head.rotation).item() == pytest.approx(1.0, abs=1e-12)

    def test_angles_reach_every_rotation(self, head, generator):
        # scipy's logarithm of a random rotation, an independent inverse of the exponential.
        q = torch.linalg.qr(torch.randn(4, 4, generator=generator, dtype=torch.float64)).Q
        q[:, 0] *= torch.linalg.det(q)
        skew = torch.from_numpy(np.real(scipy.linalg.logm(q.numpy())))
        with torch.no_grad():
            head.angles.copy_(skew[tuple(torch.triu_indices(4, 4, offset=1))])
        torch.testing.assert_close(head.rotation, q, rtol=0, atol=1e-10)

    def test_the_dimension_comes_from_the_encoder(self, generator):
        encoder = MLP(3, 5, [8], head=Turned(SphereHead()), generator=generator)
        assert encoder.space == Sphere(5) and encoder.head.angles.shape == (10,)
        with pytest.raises(ValueError, match="must have the 4 coordinates of embeddings; this `Turned` has 5"):
            MLP(3, 4, [8], head=encoder.head, generator=generator)
