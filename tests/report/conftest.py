"""Finished runs of every kind that a page shows: on a sphere, in a box, with precisions, of a sweep."""

import pytest

from noumena.experiments.run import perform, tasks
from noumena.experiments.spec import load_table

KINDS = """
title = "Every kind <b>of row</b>"
source = "made for the tests & nothing else"
seeds = [0, 1]
notes = ["A note with <i>marks</i> & \\"quotes\\"."]

[base]
space = { kind = "sphere.Sphere", dim = 3 }
marginal = "uniform.Uniform"
mixing = "spiral.Spiral"
metrics = ["linear.LinearR2", "correlation.MCC", "angle.AngleError"]
evaluation = 128

[base.recipes.fast]
encoder = { kind = "mlp.MLP", widths = [8], head = "sphere" }
loss = { kind = "infonce.InfoNCE", score = { kind = "dot.Dot", tau = 0.3 } }
train = { steps = 40, every = 2, batch_size = 16, optimizer = { kind = "optim.Adam", lr = 1e-2 } }

[[row]]
id = "sphere"
name = "a <sphere>"
conditional = { kind = "vmf.VonMisesFisher", kappa = 3.0 }
reported = [
    { metric = "linear_r2", mean = 0.9, spread = 0.01, source = "nowhere" },
    { metric = "loss", mean = 3.0, negatives = 50, source = "nowhere" },
]
baselines.identity = [{ metric = "linear_r2", mean = 0.4, source = "nowhere" }]

[row.recipes.fast.pretrain]
train = { steps = 4 }

[[row]]
id = "precision"
name = "a learned precision"
conditional = { kind = "anisotropic.Anisotropic", precision = [4.0, 4.0, 9.0], half = true }
recipes.fast.loss.score = { kind = "anisotropic.AnisotropicScore", precision = 2.0, half = true }

[[row]]
id = "box"
name = "a box"
space = { kind = "box.Box", dim = 2 }
mixing = "identity.Identity"
conditional = { kind = "generalized_normal.GeneralizedNormal", p = 1, scale = 0.1 }
metrics = ["linear.LinearR2", "correlation.MCC"]
diagnostics = ["tests.experiments.components.PairDistance"]
reported = [{ metric = "mcc", mean = 0.9, source = "nowhere" }]
recipes.fast.encoder = { kind = "mlp.MLP", widths = [8], head = "box" }
recipes.fast.supervised = { loss = "regression.Regression", train = { steps = 10 } }
baselines.supervised = [{ metric = "mcc", mean = 1.0, source = "nowhere" }]
"""

SWEEP = """
title = "A number that varies"
source = "made for the tests"
seeds = [0, 1]

[base]
space = { kind = "sphere.Sphere", dim = 3 }
marginal = "uniform.Uniform"
mixing = "identity.Identity"
conditional = { kind = "vmf.VonMisesFisher", kappa = 3.0 }
recipes.fast.compute = { kind = "tests.experiments.components.Dimension" }
"""
for _value in (1, 2, 40):
    SWEEP += f"""
[[row]]
id = "power-{_value}"
name = "power {_value}"
sweep = {{ name = "power", value = {_value}, series = "computed" }}
reported = [{{ metric = "dimension", mean = {3.5**_value}, spread = 0.1, source = "nowhere" }}]
recipes.fast.compute = {{ kind = "tests.experiments.components.Dimension", power = {_value} }}
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Of runs, with one that has only begun."""
    out = tmp_path_factory.mktemp("runs")
    for name, content in {"kinds": KINDS, "sweep": SWEEP}.items():
        path = out / f"{name}.toml"
        path.write_text(content)
        for task in tasks(load_table(path), recipe="fast", seeds=[0, 1], out=str(out)):
            if (task.description.row, task.description.baseline, task.seed) != ("precision", None, 1):
                perform(task)
    begun = next((out / "kinds" / "precision" / "fast").glob("seed-0-*"))
    other = begun.with_name(begun.name.replace("seed-0", "seed-1"))
    other.mkdir()
    description = (begun / "description.json").read_text().replace('"seed": 0', '"seed": 1')
    (other / "description.json").write_text(description)
    (other / "records.jsonl").write_text((begun / "records.jsonl").read_text().split("\n")[0] + '\n{"step": 4, "sec')
    return out
