"""scikit-learn's own suite, and the company in which its users will put the estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from noumena.estimators import ContrastiveEncoder

QUICK = {"steps": 5, "widths": (8, 8)}


@parametrize_with_checks(
    [ContrastiveEncoder(**QUICK), ContrastiveEncoder(2, space="box", validation_fraction=0.4, **QUICK)]
)
def test_the_public_suite(estimator, check, unchecked_shapes):
    check(estimator)
