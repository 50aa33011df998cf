from noumena.spaces import Euclidean
from tests.contracts.spaces import SpaceContract


class TestEuclidean(SpaceContract):
    def make(self):
        return Euclidean(3)

    def monte_carlo_log_volume(self, generator):
        return None
