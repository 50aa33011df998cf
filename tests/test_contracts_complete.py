"""Every concrete class of a family with a contract is held to it: some test class makes one and inherits the laws."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from noumena import conditionals, data, encoders, losses, marginals, metrics, mixings, pairs, spaces
from noumena.data import augmentations
from noumena.losses import scores
from tests.contracts.augmentations import AugmentationContract
from tests.contracts.conditionals import ConditionalContract
from tests.contracts.data import ImageTableContract
from tests.contracts.encoders import EncoderContract
from tests.contracts.losses import LossContract
from tests.contracts.marginals import MarginalContract
from tests.contracts.metrics import MetricContract
from tests.contracts.mixings import MixingContract
from tests.contracts.pairs import PairSourceContract
from tests.contracts.scores import ScoreContract
from tests.contracts.spaces import SpaceContract

TESTS = Path(__file__).parent


class Family(NamedTuple):
    package: object
    base: type
    contract: type
    made: Callable = lambda case: case.make()  # what a test class holds to the contract


FAMILIES = {
    "spaces": Family(spaces, spaces.AbstractSpace, SpaceContract),
    "marginals": Family(marginals, marginals.AbstractMarginal, MarginalContract),
    "conditionals": Family(
        conditionals, conditionals.AbstractConditional, ConditionalContract, lambda case: case.make()[0]
    ),
    "mixings": Family(mixings, mixings.AbstractMixing, MixingContract),
    "encoders": Family(encoders, encoders.AbstractEncoder, EncoderContract, lambda case: case.seeded()),
    "losses/scores": Family(scores, scores.AbstractScore, ScoreContract),
    "losses": Family(losses, losses.AbstractLoss, LossContract),
    "metrics": Family(metrics, metrics.AbstractMetric, MetricContract),
    "data/augmentations": Family(augmentations, augmentations.AbstractAugmentation, AugmentationContract),
    "data": Family(data, data.AbstractImageTable, ImageTableContract),
    "pairs": Family(pairs, pairs.AbstractPairSource, PairSourceContract),
}


def concrete(family: Family) -> set[type]:
    """Classes of the family's package that can be made and do not begin with an underscore, public or not."""
    names = [info.name for info in pkgutil.walk_packages(family.package.__path__, family.package.__name__ + ".")]
    classes = {
        value for name in names for value in vars(importlib.import_module(name)).values() if inspect.isclass(value)
    }
    ours = {c for c in classes if issubclass(c, family.base) and c.__module__.startswith(family.package.__name__)}
    return {c for c in ours if not inspect.isabstract(c) and c.__name__[0] != "_"}


def cases(name: str) -> Iterator[type]:
    """The test classes in `tests/NAME` that pytest collects under the family's contract."""
    for path in sorted((TESTS / name).glob("test_*.py")):
        module = importlib.import_module(".".join(["tests", *name.split("/"), path.stem]))
        for value in vars(module).values():
            if inspect.isclass(value) and value.__name__.startswith("Test"):
                if issubclass(value, FAMILIES[name].contract):
                    yield value


def exercised(name: str) -> set[type]:
    return {type(FAMILIES[name].made(case())) for case in cases(name)}


def test_every_contract_belongs_to_a_family():
    stems = {Path(inspect.getfile(family.contract)).stem for family in FAMILIES.values()}
    assert stems == {path.stem for path in (TESTS / "contracts").glob("[a-z]*.py")}


@pytest.mark.parametrize("name", FAMILIES)
def test_every_class_is_held_to_its_contract(name):
    wanted = concrete(FAMILIES[name])
    assert wanted, "the walk found nothing"
    left = wanted - exercised(name)
    assert not left, f"no subclass of {FAMILIES[name].contract.__name__} makes {sorted(c.__name__ for c in left)}"


def test_an_untested_class_is_seen(monkeypatch):
    class Untested(scores.Dot):
        __module__ = scores.dot.__name__

    monkeypatch.setattr(scores.dot, "Untested", Untested, raising=False)
    assert concrete(FAMILIES["losses/scores"]) - exercised("losses/scores") == {Untested}
