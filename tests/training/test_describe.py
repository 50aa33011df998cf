import json
import tomllib

import pytest

from noumena.training import (
    EMA,
    SGD,
    Adam,
    AdamW,
    Annealing,
    BatchGrowth,
    Muon,
    Schedule,
    Target,
    options,
    to_table,
)

TABLE = """
steps      = 3000
clip       = 1.0
batch_size = { start = 2048, end = 6144 }
optimizer  = { kind = "optim.Muon", lr = 0.15, rest = { kind = "Adam", betas = [0.9, 0.99], rates = { loss = 4.0 } } }
schedule   = { warmup = 0.1, shape = "constant" }
annealing  = { start = 1.5, end = 0.3 }
ema        = { decay = 0.99 }
until      = { metric = "mcc", at_least = 0.99 }
"""
ARGUMENTS = {
    "steps": 3000,
    "clip": 1.0,
    "batch_size": BatchGrowth(2048, 6144),
    "optimizer": Muon(0.15, rest=Adam(betas=(0.9, 0.99), rates={"loss": 4.0})),
    "schedule": Schedule(0.1, "constant"),
    "annealing": Annealing(1.5, 0.3),
    "ema": EMA(0.99),
    "until": Target("mcc", at_least=0.99),
}


def test_a_table_becomes_arguments():
    assert options(tomllib.loads(TABLE)) == ARGUMENTS


def test_descriptions_round_trip_through_json():
    assert options(json.loads(json.dumps(to_table(ARGUMENTS)))) == ARGUMENTS


@pytest.mark.parametrize(
    "arguments",
    [
        {"optimizer": AdamW(weight_decay=0.1)},
        {"optimizer": SGD(0.1, momentum=0.9)},
        {"optimizer": Muon(rest=SGD(rates={"loss": 2.0}))},
        {"annealing": (Annealing(1.0, 0.1), Annealing(2.0, 1.0, what="width"))},
        {"batch_size": 512, "precision": "bf16", "every": 10},
        {"until": Target("angle_error", at_most=0.01)},
    ],
)
def test_every_description_round_trips(arguments):
    assert options(to_table(arguments)) == arguments
    assert options(arguments) == arguments


@pytest.mark.parametrize(
    ("table", "pattern"),
    [
        ({"stpes": 10}, "`train` cannot be 'stpes'; did you mean 'steps'"),
        ({"optimizer": {"kind": "Muno"}}, "`optimizer.kind` cannot be 'Muno'; did you mean 'Muon'"),
        ({"optimizer": {"kind": "Adam", "beats": [0.9, 0.99]}}, "`optimizer` cannot be 'beats'; did you mean 'betas'"),
        ({"optimizer": {"kind": "Muon", "rest": {"kind": "Adm"}}}, "`optimizer.rest.kind` .* did you mean 'Adam'"),
        ({"optimizer": {"lr": 0.1}}, "`optimizer` must name its `kind`"),
        ({"schedule": {"warm_up": 0.1}}, "did you mean 'warmup'"),
        ({"annealing": {"start": 1.0}}, "`annealing` must say its `end`"),
        ({"until": {"metric": "mcc"}}, "takes one of `at_least` and `at_most`, got 0"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(table, pattern):
    with pytest.raises(ValueError, match=pattern):
        options(table)


def test_a_table_in_the_place_of_a_number_is_refused():
    with pytest.raises(TypeError, match="`steps` must be a plain value"):
        options({"steps": {"start": 1}})
