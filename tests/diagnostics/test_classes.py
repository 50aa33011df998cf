"""Class readers find what is in the features, leave the encoder as it was, and score on the test table."""

import pytest
import torch

from noumena.data import InMemory
from noumena.data.augmentations import Grayscale, Normalize
from noumena.diagnostics import KNNAccuracy, LinearProbe, SGDProbe
from noumena.encoders import MLP
from noumena.metrics import linear_probe
from noumena.pairs import Given
from tests.diagnostics.images import Backbone, patterns
from tests.diagnostics.subjects import subject

TRAIN, TEST = patterns(400), patterns(200, seed=1)
SOURCE = Given(torch.zeros(4, 2), torch.zeros(4, 2))


def read(diagnostic, encoder, seed: int = 2) -> dict[str, float]:
    found = diagnostic(subject(SOURCE, encoder=encoder), torch.Generator().manual_seed(seed))
    assert set(found.values) == set(diagnostic.names)
    return found.values


@pytest.mark.parametrize("reader", [KNNAccuracy, LinearProbe])
def test_features_know_the_class_and_the_embedding_does_not(reader):
    features = read(reader(TRAIN, TEST), Backbone())
    embedding = read(reader(TRAIN, TEST, of="embedding"), Backbone())
    name = reader.name
    assert features[name] > 0.9 and abs(embedding[f"{name}_embedding"] - 1 / 3) < 0.15
    assert features[f"{name}_low"] < features[name] <= features[f"{name}_high"]


def test_the_test_table_is_what_is_scored():
    shuffled = InMemory(
        TEST.pixels, labels=TEST.labels[torch.randperm(200, generator=torch.Generator().manual_seed(0))]
    )
    assert abs(read(LinearProbe(TRAIN, shuffled), Backbone())["linear_probe"] - 1 / 3) < 0.15


def test_parts_do_not_matter_and_the_encoder_stays_in_its_mode(monkeypatch):
    encoder = Backbone(dropout=0.5).train()
    whole = read(LinearProbe(TRAIN, TEST), encoder)
    monkeypatch.setattr("noumena.diagnostics.encoding.CHUNK", 37)
    assert read(LinearProbe(TRAIN, TEST), encoder) == pytest.approx(whole, abs=0.02)
    assert encoder.training and bool((encoder.norm.running_mean == 0).all())


def test_it_is_the_metric_on_the_pixels():
    generator = torch.Generator().manual_seed(2)
    seed = int(torch.randint(2**31, (1,), generator=generator))
    encoder = Backbone().eval()
    with torch.no_grad():
        train, test = (encoder.features(table.pixels / 255) for table in (TRAIN, TEST))
    expected = linear_probe(train, TRAIN.labels, test, TEST.labels, seed=seed)
    assert read(LinearProbe(TRAIN, TEST), encoder)["linear_probe"] == pytest.approx(float(expected), abs=0.01)


def test_a_view_is_what_the_encoder_sees():
    seen = []

    class Spy(Backbone):
        def features(self, x):
            seen.append(x)
            return super().features(x)

    read(KNNAccuracy(TRAIN, TEST, view=Normalize((0.5,), (2.0,))), Spy())
    torch.testing.assert_close(seen[0], (TRAIN.pixels / 255 - 0.5) / 2)


def test_an_encoder_of_vectors_reads_images_as_vectors(generator):
    values = read(KNNAccuracy(TRAIN, TEST, of="embedding"), MLP(300, 4, [16], generator=generator))
    assert 0 <= values["knn_accuracy_embedding"] <= 1


def test_the_published_probe_and_its_quirk():
    encoder = Backbone(dropout=0.3).eval()
    plain = read(SGDProbe(TRAIN, TEST, epochs=6, lr=0.01, batch_size=32), encoder)
    quirk = read(SGDProbe(TRAIN, TEST, epochs=6, lr=0.01, batch_size=32, mode="train"), encoder)
    for values in (plain, quirk):
        assert values["sgd_probe_best"] >= values["sgd_probe_last"] > 0.8
    # Statistics drift on a copy alone.
    assert bool((encoder.norm.running_mean == 0).all()) and not encoder.training
    again = read(SGDProbe(TRAIN, TEST, epochs=6, lr=0.01, batch_size=32, mode="train"), encoder)
    assert again == quirk


def test_wrong_calls_of_class_readers(unchecked_shapes):
    unlabelled = InMemory(TRAIN.pixels, name="bare")
    with pytest.raises(ValueError, match="`train` must have labels, and `bare` has none"):
        LinearProbe(unlabelled, TEST)
    with pytest.raises(TypeError, match="`test` must be a `AbstractImageTable`"):
        KNNAccuracy(TRAIN, None)
    with pytest.raises(ValueError, match="needs an encoder with a method `features`; `Identity` has none"):
        read(KNNAccuracy(TRAIN, TEST), torch.nn.Identity())
    with pytest.raises(TypeError, match="`view` must be a `AbstractAugmentation`"):
        KNNAccuracy(TRAIN, TEST, view=Grayscale)
    with pytest.raises(ValueError, match="`mode` cannot be 'evaluate'"):
        SGDProbe(TRAIN, TEST, mode="evaluate")
