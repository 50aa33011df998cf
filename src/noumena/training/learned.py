"""The few learned values that people look at: precision, importance, temperature, radius, bounds."""

import torch
from torch import nn

NAMES = ("precision", "importance", "tau", "radius", "bound")


@torch.no_grad()
def learned_values(*modules: nn.Module) -> dict[str, list[float]]:
    """Values named in `NAMES` that training moves, of the modules and all that is in them.

    Temperatures always count, since a schedule may move them; the others if they are trained. Members of a list are
    told apart by their place: "0/precision" is that of the first loss of an ensemble.
    """
    found = {}
    for module in modules:
        for path, part in module.named_modules():
            trained = any(parameter.requires_grad for parameter in part.parameters())
            for name in NAMES:
                if hasattr(type(part), name) and (trained or name == "tau"):
                    key = "/".join([*(place for place in path.split(".") if place.isdigit()), name])
                    found[key] = torch.as_tensor(getattr(part, name), device="cpu").reshape(-1).tolist()
    return found
