import importlib
import pkgutil

import numpy as np

import noumena.metrics


def test_functions_stay_functions_after_every_module_is_imported():
    for module in pkgutil.iter_modules(noumena.metrics.__path__):
        importlib.import_module(f"noumena.metrics.{module.name}")
    z = np.random.default_rng(0).standard_normal((40, 3))
    for name, best in {"linear_r2": 1, "mcc": 1, "cca_mcc": 1, "angle_error": 0}.items():
        score = getattr(noumena.metrics, name)(z, z)
        assert type(score) is float and abs(score - best) < 1e-12
    assert noumena.metrics.block_r2(z, z, {"all": [0, 1, 2]}) == {"all": 1.0}
