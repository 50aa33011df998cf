"""Every annotated call of the package is checked for shapes and types while the tests run."""

import jaxtyping
import pytest
import torch

_hook = jaxtyping.install_import_hook("noumena", "beartype.beartype")


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
