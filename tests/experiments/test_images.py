"""A world of images in a table: a decoder mixes, encoders of images learn, chunks and autoencoders included."""

import pytest

from noumena.experiments.run import perform, tasks
from noumena.experiments.spec import parse_table
from noumena.experiments.vae import train_vae
from tests.experiments.test_vae import SETTINGS, digits

TRAIN = {"steps": 4, "batch_size": 16, "every": 2, "optimizer": {"kind": "optim.Adam", "lr": 1e-3}, "chunk": 20}
INFONCE = {"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dot", "tau": 0.3}}
PROJECTOR = {"kind": "projector.Projector", "widths": [6], "norm": "batch"}
LEARNERS = {
    "residual": (
        {"kind": "resnet.ResNet", "depth": 10, "width": 4, "stem": "cifar", "projector": PROJECTOR},
        INFONCE,
    ),
    "mlp": ({"kind": "image_mlp.ImageMLP", "widths": [8], "mean": [0.5], "std": [0.2]}, INFONCE),
    "transformer": ({"kind": "vit.ViT", "width": 8, "depth": 1, "heads": 2}, INFONCE),
    "wrapped": ({"kind": "wrapped.Wrapped", "module": "torch.nn:Flatten", "projector": [5]}, INFONCE),
    "autoencoder": (
        {"kind": "convnet.ConvNet", "dim_out": 6, "widths": [3, 3], "features": 5, "head": "gaussian"},
        {
            "kind": "slowvae.SlowVAE",
            "decoder": {"kind": "decoders.ImageDecoder", "dim": 3, "widths": [3, 3], "features": 5},
        },
    ),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    path = tmp_path_factory.mktemp("vae") / "halves.safetensors"
    return str(train_vae(digits(), out=path, **{**SETTINGS, "epochs": 1}))


@pytest.mark.parametrize("learner", LEARNERS)
def test_images_are_learned_from(learner, world, tmp_path):
    encoder, loss = LEARNERS[learner]
    row = {
        "id": learner,
        "name": learner,
        "space": {"kind": "sphere.Sphere", "dim": 2},
        "marginal": "uniform.Uniform",
        "conditional": {"kind": "vmf.VonMisesFisher", "kappa": 20.0},
        "mixing": {"kind": "decoder.Decoder", "vae": world},
        "metrics": ["linear.LinearR2"],
        "evaluation": 64,
        "recipes": {"fast": {"encoder": encoder, "loss": loss, "train": TRAIN}},
    }
    table = parse_table("images", {"title": "Images", "source": "the tests", "seeds": [0], "row": [row]})
    (task,) = tasks(table, recipe="fast", seeds=[0], out=str(tmp_path), baselines=False)
    found = perform(task)
    assert found.steps == 4 and found.metrics["linear_r2"] <= 1 and found.fresh_loss["value"] > 0
