"""Orthogonalised momentum, against singular values that numpy computes."""

import numpy as np
import pytest
import torch

from noumena.training.muon import OrthogonalisedMomentum, newton_schulz


def reference(matrix: np.ndarray, steps: int = 5) -> np.ndarray:
    """The published polynomial, applied to the singular values alone."""
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    s = s / np.sqrt((s**2).sum())
    for _ in range(steps):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return u @ np.diag(s) @ vt


@pytest.mark.parametrize("shape", [(8, 8), (5, 12), (12, 5), (1, 4), (7, 1)])
def test_only_singular_values_change(shape, generator):
    matrix = torch.randn(shape, generator=generator, dtype=torch.float64)
    np.testing.assert_allclose(newton_schulz(matrix).numpy(), reference(matrix.numpy()), atol=1e-10)
    # Ten products of rounded matrices: about a hundred units in the last place of entries of order 1.
    single = newton_schulz(matrix.float())
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single.numpy(), reference(matrix.numpy()), atol=2e-5)


def test_the_result_is_near_the_polar_factor(generator):
    """Within .32 in each singular direction, as the polynomial promises from 1 % of the Frobenius norm on."""
    matrix = torch.randn(16, 32, generator=generator, dtype=torch.float64)
    u, s, vt = torch.linalg.svd(matrix, full_matrices=False)
    assert s.min() > 0.01 * s.norm()
    assert torch.linalg.matrix_norm(newton_schulz(matrix) - u @ vt, ord=2) < 0.32
    # The mutant: the gradient at its own scale is nowhere near.
    assert torch.linalg.matrix_norm(matrix / s.norm() - u @ vt, ord=2) > 0.5


def test_scale_and_batch_do_not_matter(generator):
    matrices = torch.randn(3, 6, 4, generator=generator, dtype=torch.float64)
    together = newton_schulz(matrices)
    for matrix, direction in zip(matrices, together, strict=True):
        torch.testing.assert_close(newton_schulz(1e-9 * matrix), direction, rtol=0, atol=1e-12)


def test_zero_stays_zero_and_half_precision_is_widened(generator):
    assert (newton_schulz(torch.zeros(3, 4)) == 0).all()
    half = torch.randn(8, 8, generator=generator).bfloat16()
    direction = newton_schulz(half)
    assert direction.dtype == torch.bfloat16
    # One rounding at the end, of entries below 1: 2^-8.
    np.testing.assert_allclose(direction.double().numpy(), reference(half.double().numpy()), atol=2**-8)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_steps_agree_with_numpy(decay, generator):
    """Two steps, so that momentum and its look ahead are seen; a tall matrix moves by sqrt(rows / cols) more."""
    weights = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in [(4, 4), (8, 2), (3, 2, 2, 1)]]
    gradients = [[torch.randn(w.shape, generator=generator, dtype=torch.float64) for w in weights] for _ in range(2)]
    parameters = [torch.nn.Parameter(weight.clone()) for weight in weights]
    optimizer = OrthogonalisedMomentum(parameters, lr=0.1, momentum=0.9, weight_decay=decay)
    for step in gradients:
        for parameter, gradient in zip(parameters, step, strict=True):
            parameter.grad = gradient.clone()
        optimizer.step()
    for i, weight in enumerate(weights):
        expected = weight.numpy().reshape(len(weight), -1).copy()
        rows, cols = expected.shape
        momentum = np.zeros_like(expected)
        for step in gradients:
            gradient = step[i].numpy().reshape(rows, cols)
            momentum = 0.9 * momentum + gradient
            expected *= 1 - 0.1 * decay
            expected -= 0.1 * max(1.0, rows / cols) ** 0.5 * reference(gradient + 0.9 * momentum)
        np.testing.assert_allclose(parameters[i].detach().numpy().reshape(rows, cols), expected, atol=1e-10)


def test_what_has_no_gradient_stays_and_closures_are_refused():
    parameter = torch.nn.Parameter(torch.ones(2, 2))
    optimizer = OrthogonalisedMomentum([parameter], lr=0.1)
    optimizer.step()
    assert (parameter == 1).all()
    with pytest.raises(ValueError, match="`closure` must be None"):
        optimizer.step(lambda: 0.0)
