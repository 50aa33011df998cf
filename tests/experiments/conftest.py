"""A table of three short rows."""

import pytest

TABLE = """
title = "Three short rows"
source = "made for the tests"
seeds = [0, 1]

[base]
space = { kind = "sphere.Sphere", dim = 3 }
marginal = "uniform.Uniform"
mixing = "spiral.Spiral"
metrics = ["linear.LinearR2", { kind = "angle.AngleError" }]
evaluation = 256

[base.recipes.fast]
encoder = { kind = "mlp.MLP", widths = [16, 16], slope = 0.2, init = "he" }
loss = { kind = "infonce.InfoNCE", score = { kind = "dot.Dot", tau = 0.3 } }

[base.recipes.fast.train]
steps = 60
batch_size = 64
every = 20
optimizer = { kind = "optim.Adam", lr = 1e-2 }

[[row]]
id = "near"
name = "positives near"
conditional = { kind = "vmf.VonMisesFisher", kappa = 20.0 }
reported = [{ metric = "linear_r2", mean = 0.9, spread = 0.01, source = "nowhere" }]

[[row]]
id = "far"
name = "positives far"
conditional = { kind = "vmf.VonMisesFisher", kappa = 2.0 }

[[row]]
id = "learned"
name = "a learned temperature, orthogonalised momentum"
conditional = { kind = "vmf.VonMisesFisher", kappa = 5.0 }

[row.recipes.fast]
loss = { kind = "infonce.InfoNCE", score = { kind = "dot.Dot", tau = 0.3, learnable = true } }
train = { optimizer = { kind = "optim.Muon", lr = 0.05 } }
"""


@pytest.fixture
def table_file(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(TABLE)
    return path
