"""scikit-learn's own suite, and the company in which its users will put the estimator."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from noumena.estimators import ContrastiveEncoder
from noumena.estimators.rows import read
from tests.estimators.worlds import sphere_pairs

QUICK = {"steps": 5, "widths": (8, 8)}


@pytest.fixture(scope="module")
def pairs():
    return sphere_pairs(400)


@parametrize_with_checks(
    [ContrastiveEncoder(**QUICK), ContrastiveEncoder(2, space="box", validation_fraction=0.4, **QUICK)]
)
def test_the_public_suite(estimator, check, unchecked_shapes):
    check(estimator)


def test_cross_validation_splits_positives_along(pairs):
    """Model selection by the score: a temperature far too hot loses, and pairs stay pairs in every fold."""
    x, x_pos, _ = pairs
    search = GridSearchCV(
        ContrastiveEncoder(**{**QUICK, "steps": 60}, random_state=0), {"temperature": [0.2, 50.0]}, cv=3
    )
    search.fit(x, x_pos)
    assert search.best_params_ == {"temperature": 0.2}
    assert search.best_score_ > 0.5 > search.cv_results_["mean_test_score"][1]
    assert search.best_estimator_.n_pairs_ == 360


def test_before_a_supervised_step_labels_are_not_positives(pairs):
    x, x_pos, z = pairs
    target = z[:, 0]
    with config_context(enable_metadata_routing=True):
        encoder = ContrastiveEncoder(**{**QUICK, "steps": 60}, random_state=0).set_fit_request(X_pos=True)
        # Scaled by the first step, as X is: `transform_input` sees to that.
        model = Pipeline(
            [("scale", StandardScaler()), ("latents", encoder), ("fit", Ridge())], transform_input=["X_pos"]
        )
        model.fit(x, target, X_pos=x_pos)
    assert model.score(x, target) > 0.3
    alone = ContrastiveEncoder(**{**QUICK, "steps": 60}, random_state=0)
    scaler = StandardScaler().fit(x)
    expected = alone.fit(scaler.transform(x), scaler.transform(x_pos)).transform(scaler.transform(x))
    np.testing.assert_allclose(model[:-1].transform(x), expected, atol=1e-12)


def test_pickles_and_clones(pairs):
    x, x_pos, _ = pairs
    encoder = ContrastiveEncoder(**QUICK, random_state=0).fit(x, x_pos)
    copied = pickle.loads(pickle.dumps(encoder))
    assert np.array_equal(copied.transform(x), encoder.transform(x))
    assert copied.score(x, x_pos) == encoder.score(x, x_pos)
    assert not hasattr(clone(encoder), "encoder_")


def test_memory_mapped_frames_are_trained_on_where_they_lie(pairs, tmp_path):
    np.save(tmp_path / "x.npy", pairs[0])
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    fitted = ContrastiveEncoder(**QUICK, random_state=0).fit(mapped)
    assert np.array_equal(fitted.transform(mapped), ContrastiveEncoder(**QUICK, random_state=0).fit_transform(pairs[0]))
    rows = read(fitted, mapped, None, None, None, lag=1, reset=False)
    assert np.shares_memory(rows.x, mapped)


def test_latents_are_named(pairs):
    encoder = ContrastiveEncoder(2, **QUICK, random_state=0).fit(*pairs[:2])
    assert encoder.get_feature_names_out().tolist() == ["contrastiveencoder0", "contrastiveencoder1"]


def test_columns_of_data_frames_keep_their_names(pairs):
    pandas = pytest.importorskip("pandas")
    x, x_pos = (pandas.DataFrame(one, columns=["a", "b", "c"]) for one in pairs[:2])
    encoder = ContrastiveEncoder(**QUICK, random_state=0).set_output(transform="pandas").fit(x, x_pos)
    assert encoder.feature_names_in_.tolist() == ["a", "b", "c"]
    assert list(encoder.transform(x).columns) == list(encoder.get_feature_names_out())
    with pytest.raises(ValueError, match="feature names"):
        encoder.fit(x, x_pos[["b", "a", "c"]])
