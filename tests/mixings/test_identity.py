from noumena.mixings import Identity
from tests.contracts.mixings import MixingContract


class TestIdentity(MixingContract):
    random = False

    def make(self, seed=0):
        return Identity(4)

    def reference(self, z):
        return z
