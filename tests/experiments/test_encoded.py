import torch

from noumena.data import InMemory
from noumena.experiments.encoded import Encoded
from noumena.experiments.vae import posterior_mean, train_vae


def test_factors_are_the_means_of_the_autoencoder(tmp_path):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (30, 1, 4, 4), dtype=torch.uint8, generator=generator)
    table = InMemory(images, labels=torch.arange(30) % 3, name="noise/train")
    path = train_vae(table, out=tmp_path / "noise.safetensors", epochs=1, dim=2, widths=(8,), batch=10)
    encoded = Encoded(table, path)
    assert encoded.factors is not None and encoded.factor_names == ("latent 1", "latent 2")
    assert torch.equal(encoded.factors, posterior_mean(path)(images.flatten(1) / 255))
    rows = torch.tensor([7, 3])
    assert torch.equal(encoded.images(rows), images[rows]) and len(encoded) == 30
    assert encoded.labels is not None and torch.equal(encoded.labels, table.labels)  # pyright: ignore
