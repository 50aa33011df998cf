"""Every annotated call of the package is checked for shapes and types while the tests run."""

import jaxtyping
import pytest
import torch

import tests.typechecking  # noqa: F401  (the import hook below finds it by name)

# One thread each: test processes run side by side, and threads that wait for one another would cost far more.
torch.set_num_threads(1)

_hook = jaxtyping.install_import_hook("noumena", "tests.typechecking.check")


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(20260)


@pytest.fixture
def unchecked_shapes():
    """Calls reach the package's own checks, as they do for a user, instead of the type checker's."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def global_random_state_untouched():
    before = torch.random.get_rng_state()
    yield
    assert torch.equal(before, torch.random.get_rng_state()), "a test or the package drew from the global generator"
