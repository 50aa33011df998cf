"""A number of a loss that a schedule may move."""

from torch import nn

from .. import _checks


class Setting(nn.Module):
    """A positive number that is fixed between steps. A module, so that `Annealing` finds it by its name.

    Args:
        name: What errors call it.
        value: Its (initial) value.
    """

    def __init__(self, name: str, value: float) -> None:
        super().__init__()
        self.name = name
        self.set(value)

    def set(self, value: float) -> None:
        """Replace it."""
        # A plain number: moving or casting the module cannot change the model.
        self.value = _checks.positive(self.name, value)
