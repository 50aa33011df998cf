"""VAE and SlowVAE against their formulas, entry by entry, and by numerical integration."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import integrate, stats

from noumena.batch import PairBatch, PairEmbeddings
from noumena.encoders import MLP, ConvNet
from noumena.losses import VAE, Ensemble, ImageDecoder, InfoNCE, Lp, SlowVAE, VectorDecoder
from noumena.losses.slowvae import cross_entropy_to_laplace
from noumena.pairs import Given
from noumena.training import Adam, Checkpoint, embed, train
from tests.contracts.losses import LossContract
from tests.references.images import relu, transposed_convolution

DIM = 2


def seeded(seed=3):
    return torch.Generator().manual_seed(seed)


def missed(loss, x, mean):
    """Bernoulli cross-entropy of one observation under the decoder's probabilities."""
    p = torch.sigmoid(loss.reconstruction.decoder(mean[None]).flatten())
    return -(x.flatten() * torch.log(p) + (1 - x.flatten()) * torch.log(1 - p)).sum()


def normal_terms(h):
    """Cross-entropy to N(0, 1) and entropy of one embedding, each summed over coordinates."""
    cross, entropy = 0.0, 0.0
    for mean, log_variance in zip(h[:DIM], h[DIM:], strict=True):
        variance = torch.exp(log_variance)
        cross = cross + 0.5 * (mean**2 + variance) + 0.5 * math.log(2 * math.pi)
        entropy = entropy + 0.5 * (torch.log(variance) + math.log(2 * math.pi * math.e))
    return cross, entropy


class Autoencoder(LossContract):
    dim = 2 * DIM
    one_pair_is_refused = False
    scale_of_extremes = 20.0  # log-variances of 20: their exponential is what overflows first

    def embeddings(self, generator, n=None):
        given = super().embeddings(generator, n)
        x = torch.rand(2, len(given.h), 1, 4, 4, generator=generator, dtype=torch.float64)
        return replace(given, x=x[0], x_pos=x[1])


class TestVAE(Autoencoder):
    def make(self):
        """In evaluation, where latents are the means: draws are tested below."""
        decoder = VectorDecoder(DIM, 16, [6, 5], generator=seeded())
        return VAE(decoder, beta=0.7, generator=seeded()).eval()

    def reference(self, loss, embeddings):
        per_pair = []
        for h, h_pos, x, x_pos in zip(embeddings.h, embeddings.h_pos, embeddings.x, embeddings.x_pos, strict=True):
            value = 0.0
            for one, seen in ((h, x), (h_pos, x_pos)):
                cross, entropy = normal_terms(one)
                value = value + (missed(loss, seen, one[:DIM]) + 0.7 * (cross - entropy)) / 2
            per_pair.append(value)
        return torch.stack(per_pair)


class TestSlowVAE(Autoencoder):
    def make(self):
        decoder = ImageDecoder(DIM, (1, 4, 4), [3, 2], 5, generator=seeded())
        return SlowVAE(decoder, beta=0.8, gamma=3.0, rate=6.0, generator=seeded()).eval()

    def reference(self, loss, embeddings):
        per_pair = []
        for h, h_pos, x, x_pos in zip(embeddings.h, embeddings.h_pos, embeddings.x, embeddings.x_pos, strict=True):
            (cross, entropy), (cross_pos, entropy_pos) = normal_terms(h), normal_terms(h_pos)
            slow = 0.0
            for j in range(DIM):
                for one, other in ((h, h_pos), (h_pos, h)):
                    m, s = one[j] - other[j], torch.exp(0.5 * one[DIM + j])
                    phi = 0.5 * (1 + torch.erf(m / s / math.sqrt(2)))
                    slow = slow - math.log(6.0 / 2)
                    slow = slow + 6.0 * s * math.sqrt(2 / math.pi) * torch.exp(-(m**2) / (2 * s**2))
                    slow = slow - 6.0 * m * (1 - 2 * phi)
            entropies = (entropy + entropy_pos) / 2
            rebuilt = missed(loss, x, h[:DIM]) + missed(loss, x_pos, h_pos[:DIM])
            normal = (cross + cross_pos) / 2 - entropies
            per_pair.append(rebuilt + 0.8 * normal + 3.0 * (slow - entropies))
        return torch.stack(per_pair)


@pytest.mark.parametrize(("mean", "deviation", "rate"), [(0.0, 1.0, 6.0), (0.7, 0.2, 6.0), (-3.0, 0.5, 1.5)])
def test_the_step_against_numerical_integration(mean, deviation, rate):
    def integrand(x):
        return stats.norm.pdf(x, mean, deviation) * (rate * abs(x) - math.log(rate / 2))

    bounds = (mean - 12 * deviation, mean + 12 * deviation)
    expected, _ = integrate.quad(integrand, *bounds, points=[0.0], epsabs=1e-13, epsrel=1e-13)
    found = cross_entropy_to_laplace(*torch.tensor([mean, deviation], dtype=torch.float64), rate)
    assert float(found) == pytest.approx(expected, abs=1e-10)


def test_the_divergence_against_numerical_integration():
    mean, deviation = 0.4, 0.6

    def integrand(x):
        p, q = stats.norm.logpdf(x, mean, deviation), stats.norm.logpdf(x)
        return np.exp(p) * (p - q)

    expected, _ = integrate.quad(integrand, -8, 8, epsabs=1e-13)
    h = torch.tensor([[mean, 2 * math.log(deviation)]], dtype=torch.float64)
    x = torch.full((1, 2), 0.5, dtype=torch.float64)
    loss = VAE(VectorDecoder(1, 2, [], generator=seeded()), generator=seeded()).double().eval()
    assert float(loss(PairEmbeddings(h, h, x=x, x_pos=x)).parts["divergence"]) == pytest.approx(expected, abs=1e-10)


def test_the_decoder_of_images_against_its_definition(generator):
    decoder = ImageDecoder(3, (2, 4, 8), [3, 2], 5, generator=generator).double()
    state = {name: value.detach().numpy() for name, value in decoder.state_dict().items()}
    z = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    for row, image in zip(z.numpy(), decoder(z).detach().numpy(), strict=True):
        y = relu(state["linear.weight"] @ row + state["linear.bias"])[:, None, None]
        y = transposed_convolution(y, state["layers.0.weight"], state["layers.0.bias"])
        for place in (2, 4):
            weight, bias = state[f"layers.{place}.weight"], state[f"layers.{place}.bias"]
            y = transposed_convolution(relu(y), weight, bias, stride=2, padding=1)
        np.testing.assert_allclose(image, y, rtol=0, atol=1e-12)


def test_the_published_decoder(generator):
    decoder = ImageDecoder(10, (1, 64, 64), generator=generator)
    # 256 (10 + 1), then channels in x out x 16 + out: 256 64, 64 64, 64 32, 32 32, 32 1.
    expected = 2816 + 262_208 + 65_600 + 32_800 + 16_416 + 513
    assert sum(p.numel() for p in decoder.parameters()) == expected
    assert decoder(torch.zeros(2, 10)).shape == (2, 1, 64, 64)


def noisy(kind):
    decoder = VectorDecoder(DIM, 16, [6], generator=seeded())
    return kind(decoder, generator=seeded()).double()


@pytest.mark.parametrize("kind", [VAE, SlowVAE])
def test_latents_are_drawn_from_the_posterior(kind, generator):
    """The mean loss over draws, at 5 standard errors: one false alarm in 1.7 million. The mutant decodes the mean."""
    loss, n = noisy(kind), 4000
    h = torch.tensor([0.5, -1.0, 0.3, -0.2], dtype=torch.float64).expand(n, 4)
    x = torch.full((n, 16), 0.5, dtype=torch.float64)
    drawn = loss(PairEmbeddings(h, h, x=x, x_pos=x)).per_anchor.detach()
    noise = torch.randn(200_000, 2, generator=generator, dtype=torch.float64)
    z = h[0, :2] + noise * torch.exp(h[0, 2:] / 2)
    values = -torch.nn.functional.logsigmoid(loss.reconstruction.decoder(z)) / 2
    values = (values - torch.nn.functional.logsigmoid(-loss.reconstruction.decoder(z)) / 2).sum(1).detach()
    with torch.no_grad():
        at_the_mean = loss.eval()(PairEmbeddings(h[:1], h[:1], x=x[:1], x_pos=x[:1]))
    weight = 2.0 if kind is SlowVAE else 1.0
    expected = at_the_mean.total - at_the_mean.parts["reconstruction"] + weight * values.mean()
    error = math.hypot(float(drawn.std()) / n**0.5, weight * float(values.std()) / len(values) ** 0.5)
    assert abs(float(drawn.mean() - expected)) < 5 * error
    assert abs(float(at_the_mean.total - expected)) > 5 * error


def test_only_the_generator_and_the_count_decide_the_noise(generator):
    first, again, other = noisy(VAE), noisy(VAE), noisy(VAE)
    other.reconstruction.draws.seed += 1
    h, x = torch.randn(5, 4, generator=generator).double(), torch.rand(5, 16, generator=generator).double()
    seen = PairEmbeddings(h, h, x=x, x_pos=x)
    values = [loss(seen).total.item() for loss in (first, again, other, first)]
    assert values[0] == values[1] and len(set(values)) == 3


def test_what_is_no_posterior_or_no_image_is_refused(generator, unchecked_shapes):
    loss = noisy(SlowVAE)
    h, x = torch.randn(5, 4, generator=generator).double(), torch.rand(5, 16, generator=generator).double()
    for changes, message in (
        ({"x": None}, "`x` and `x_pos` must hold the observations, got None"),
        ({"x": 255 * x}, r"`x` must lie in \[0, 1\], as grey levels do; got"),
        ({"x": x[:, :9]}, r"`x` must be decoded to its own shape, \(5, 9\); got \(5, 16\)"),
        ({"h": h[:, :2], "h_pos": h[:, :2]}, "`h` must hold 2 means and as many log-variances, got 2 columns"),
    ):
        with pytest.raises(ValueError, match=message):
            loss(replace(PairEmbeddings(h, h, x=x, x_pos=x), **changes))
    with pytest.raises(ValueError, match="`widths` must double a whole image to 6 x 8"):
        ImageDecoder(2, (1, 6, 8), [2, 2], generator=generator)


def images(n=64):
    x = torch.rand(2, n, 1, 8, 8, generator=seeded(9)).round()
    return Given(x[0], x[1])


def slow_run(path=None, stop=None, chunk=None):
    rng = seeded(1)
    encoder = ConvNet((1, 8, 8), 2 * DIM, [4, 4], 8, head="gaussian", generator=rng)
    loss = SlowVAE(ImageDecoder(DIM, (1, 8, 8), [4, 4], 8, generator=rng), generator=rng)
    options = {"optimizer": Adam(1e-3), "steps": 8, "batch_size": 16, "every": 2, "chunk": chunk}
    kept = None if path is None else Checkpoint(path, seconds=0.0)
    records = []
    for record in train(images(), encoder, loss, **options, generator=seeded(2), checkpoint=kept):
        records.append(record)
        if record.step == stop:
            break
    return encoder, [*encoder.state_dict().values(), *loss.state_dict().values()], records


@pytest.mark.parametrize("chunk", [None, 12])
def test_training_lowers_the_loss_and_resumes_with_its_noise(chunk, tmp_path):
    encoder, ended, records = slow_run(chunk=chunk)
    assert records[-1].loss < records[0].loss and set(records[0].parts) == {"reconstruction", "normal", "slow"}
    slow_run(tmp_path / "run", stop=4, chunk=chunk)
    _, resumed, _ = slow_run(tmp_path / "run", chunk=chunk)
    assert all(map(torch.equal, ended, resumed))
    x = images().x
    assert encoder.eval()(x).shape == (64, DIM) and encoder.space.dim == DIM


def test_observations_reach_only_a_loss_that_says_so(generator):
    encoder = MLP(3, 2, [4], head="free", generator=generator)
    batch = PairBatch(torch.rand(4, 3, generator=generator), torch.rand(4, 3, generator=generator))
    contrast, rebuilt = InfoNCE(Lp(2.0)), VAE(VectorDecoder(1, 3, generator=generator), generator=generator)
    assert embed(encoder, batch, contrast).x is None
    for loss in (rebuilt, Ensemble([contrast, rebuilt])):
        seen = embed(encoder, batch, loss)
        assert torch.equal(seen.x, batch.x) and torch.equal(seen.x_pos, batch.x_pos)
