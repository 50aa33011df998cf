import re
import sys

import pytest

from noumena.conditionals import FixedContent, VonMisesFisher
from noumena.encoders import MLP, BoxHead
from noumena.experiments.resolve import find, resolve, resolve_train
from noumena.losses import AnisotropicScore, InBatch, InfoNCE
from noumena.marginals import VonMisesFisher as MarginalVMF
from noumena.metrics import BlockR2
from noumena.pairs import FromSupport, Harder
from noumena.spaces import Product, Sphere
from noumena.training import Adam, BatchGrowth, Muon, Schedule

OWN = """
from noumena.conditionals.base import AbstractConditional
from noumena.losses import Dot


class Sharp(Dot):
    def __init__(self, tau, *, sharpness=2.0, **rest):
        super().__init__(tau / sharpness, **rest)


def function(): ...
"""


@pytest.fixture
def own_package(tmp_path, monkeypatch):
    package = tmp_path / "mypackage_of_tests"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "module.py").write_text(OWN)
    (package / "needy.py").write_text("import a_library_that_is_not_there")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("mypackage_of_tests")]:
        del sys.modules[name]


def test_short_names_are_looked_up_in_the_packages_of_the_section():
    assert find("vmf.VonMisesFisher", "conditional", "t") is VonMisesFisher
    assert find("vmf.VonMisesFisher", "marginal", "t") is MarginalVMF
    assert find("anisotropic.AnisotropicScore", "loss", "t") is AnisotropicScore
    assert find("noumena.conditionals.VonMisesFisher", "conditional", "t") is VonMisesFisher
    # Sections that nest another family's classes: the section's own come first.
    assert find("product.Product", "conditional", "t").__module__ == "noumena.conditionals.product"
    assert find("noumena.spaces.Product", "conditional", "t") is Product


def test_arguments_are_taken_from_the_table_before_the_builder(generator):
    plan = resolve({"kind": "mlp.MLP", "widths": [4], "dim_out": 2}, "encoder", "t")
    assert plan.takes == ("dim_in", "generator")
    encoder = plan.build(dim=3, dim_in=5, dim_out=3, generator=generator)
    assert isinstance(encoder, MLP) and (encoder.dim_in, encoder.dim_out) == (5, 2)


def test_nested_tables_are_resolved(generator):
    head = {"kind": "heads.BoxHead", "bound": 2.0}
    plan = resolve({"kind": "mlp.MLP", "widths": [4], "head": head}, "encoder", "t")
    encoder = plan.build(dim=3, dim_in=3, dim_out=3, generator=generator)
    assert isinstance(encoder.head, BoxHead) and encoder.head.bound.tolist() == [2.0] * 3

    score = {"kind": "anisotropic.AnisotropicScore", "precision": 5.0, "half": True}
    candidates = {"kind": "candidates.InBatch", "anchors": "both"}
    plan = resolve({"kind": "infonce.InfoNCE", "score": score, "candidates": candidates}, "loss", "t")
    loss = plan.build(dim=4, generator=generator, gather=False)
    assert isinstance(loss, InfoNCE) and loss.candidates == InBatch(anchors="both")
    assert isinstance(loss.score, AnisotropicScore) and len(loss.score.precision) == 4

    law = {"kind": "fixed_content.FixedContent", "kappa": 2, "fixed": 1}
    pairs = {"kind": "synthetic.Synthetic", "negatives": {"kind": "negatives.Harder", "law": law, "m": 3}}
    assert resolve(pairs, "pairs", "t").arguments["negatives"].build() == Harder(FixedContent(2, 1), 3)


def test_the_factors_of_a_product_keep_their_own_spaces():
    factors = [{"kind": "vmf.VonMisesFisher", "kappa": 1.0}, {"kind": "vmf.VonMisesFisher", "kappa": 2.0}]
    space = Product([Sphere(2), Sphere(3)])
    law = resolve({"kind": "product.Product", "factors": factors}, "conditional", "t").build(space=space)
    assert law.space == space and [factor.space for factor in law.factors] == [Sphere(2), Sphere(3)]


def test_tables_without_a_kind_are_values():
    blocks = {"content": [0], "style": [1, 2]}
    metric = resolve({"kind": "blocks.BlockR2", "blocks": blocks, "held_out": False}, "metrics", "t").build()
    assert isinstance(metric, BlockR2) and dict(metric.blocks) == {"content": (0,), "style": (1, 2)}


def test_training_names_its_descriptions():
    rest = {"kind": "optim.Adam", "lr": 0.01, "betas": [0.9, 0.99], "rates": {"loss": 4.0}}
    given = {
        "steps": 10,
        "batch_size": {"start": 4, "end": 8},
        "optimizer": {"kind": "optim.Muon", "lr": 0.1, "rest": rest},
        "schedule": {"warmup": 0.1},
        "annealing": [],
    }
    training = resolve_train(given, "t")
    assert training["optimizer"] == Muon(lr=0.1, rest=Adam(lr=0.01, betas=(0.9, 0.99), rates={"loss": 4.0}))
    assert training["batch_size"] == BatchGrowth(4, 8) and training["schedule"] == Schedule(0.1)
    assert training["steps"] == 10 and training["annealing"] == ()


def test_a_class_of_your_own_is_named_by_its_path(own_package):
    plan = resolve({"kind": "mypackage_of_tests.module.Sharp", "tau": 0.4, "learnable": True}, "loss", "t")
    assert plan.build(dim=3, generator=None).tau == pytest.approx(0.2)


WRONG = {
    "a misspelt class": (
        "conditional",
        {"kind": "vmf.VonMisesFischer"},
        "no class `vmf.VonMisesFischer`; did you mean `vmf.VonMisesFisher`?",
    ),
    "a misspelt module": ("space", {"kind": "spere.Sphere"}, "no class `spere.Sphere`; did you mean `sphere.Sphere`?"),
    "no module": ("space", {"kind": "Sphere"}, "no class `Sphere`; did you mean `sphere.Sphere`?"),
    "another family": ("marginal", {"kind": "mlp.MLP"}, "no class `mlp.MLP`"),
    "a module": ("space", {"kind": "noumena.spaces.sphere"}, "no class `noumena.spaces.sphere`"),
    "an abstract class": ("space", {"kind": "base.AbstractSpace"}, "no class `base.AbstractSpace`"),
    "no kind": ("space", {"dim": 3}, "`kind` must name a class"),
    "a misspelt argument": (
        "conditional",
        {"kind": "vmf.VonMisesFisher", "kapa": 1.0},
        "`vmf.VonMisesFisher` takes no `kapa`; did you mean `kappa`?",
    ),
    "a missing one": (
        "conditional",
        {"kind": "fixed_content.FixedContent", "kappa": 1.0},
        "`fixed_content.FixedContent` needs `fixed`",
    ),
    "two missing ones": ("conditional", {"kind": "fixed_content.FixedContent"}, "needs `kappa`, `fixed`"),
    "a nested class": (
        "loss",
        {"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dott"}},
        "t, `loss`.score: no class `dot.Dott`; did you mean `dot.Dot`?",
    ),
    "a nested argument": (
        "loss",
        {"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dot", "tua": 1.0}},
        "t, `loss`.score: `dot.Dot` takes no `tua`; did you mean `tau`?",
    ),
    "one in a list": (
        "conditional",
        {"kind": "product.Product", "factors": [{"kind": "vmf.VMF"}]},
        "t, `conditional`.factors[0]: no class `vmf.VMF`",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_place(case):
    section, given, message = WRONG[case]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        resolve(given, section, "t")
    assert str(caught.value).startswith(f"t, `{section}`")


@pytest.mark.parametrize("kind", ["module.function", "module.Shrap", "moduel.Sharp"])
def test_paths_that_lead_to_no_class(own_package, kind):
    with pytest.raises(ValueError, match="A class of your own is named by its importable path"):
        resolve({"kind": f"mypackage_of_tests.{kind}"}, "loss", "t")


def test_a_module_of_your_own_that_needs_another_is_no_misspelling(own_package):
    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_not_there"):
        resolve({"kind": "mypackage_of_tests.needy.Thing"}, "loss", "t")


def test_a_constructors_complaint_comes_with_its_place(unchecked_shapes):
    with pytest.raises(ValueError, match=r"t, `pairs`.negatives: `m` must be at least 1, got 0"):
        pairs = {"kind": "synthetic.Synthetic", "negatives": {"kind": "negatives.FromSupport", "m": 0}}
        resolve(pairs, "pairs", "t").build(marginal=None, conditional=None, mixing=None)
    with pytest.raises(ValueError, match="t, `space`: `dim` must be a whole number, got 'x'"):
        resolve({"kind": "sphere.Sphere", "dim": "x"}, "space", "t").build()
    assert FromSupport(1).m == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stepss": 3}, "did you mean 'steps'?"),
        ({"optimizer": {"kind": "optim.Adamm"}}, "t, `train`.optimizer: no class `optim.Adamm`; did you mean"),
        ({"optimizer": {"kind": "optim.Adam", "rate": 1.0}}, "`optim.Adam` takes no `rate`"),
        ({"optimizer": {"kind": "optim.Adam", "lr": -1.0}}, "t, `train`.optimizer: `lr` must be positive, got -1.0"),
        ({"schedule": {"warmpu": 0.1}}, "did you mean 'warmup'?"),
        ({"schedule": {"warmup": 2.0}}, "t, `train`: `warmup` must lie between 0 and 1"),
    ],
)
def test_what_is_wrong_with_training(unchecked_shapes, change, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        resolve_train({"steps": 3} | change, "t")
    assert str(caught.value).startswith("t, `train`")
