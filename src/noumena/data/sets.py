"""The sets that can be fetched, by name, and where the others are had."""

from difflib import get_close_matches

from .cifar import CIFAR10_SET
from .fetch import StoredSet
from .mnist import FASHION_SET, MNIST_SET

FETCHED = {one.name: one for one in (MNIST_SET, FASHION_SET, CIFAR10_SET)}
ELSEWHERE = {
    "3dident": "Zenodo record 4502485",
    "causal3dident": "Zenodo record 4784282",
    "kitti-masks": "Zenodo record 3931823",
    "imagenet": "image-net.org",
}


def named(name: str) -> StoredSet:
    if name in FETCHED:
        return FETCHED[name]
    if name in ELSEWHERE:
        raise LookupError(f"`{name}` is not fetched: get it from {ELSEWHERE[name]}, and give its loader the folder.")
    near = get_close_matches(name, FETCHED, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"choose from {', '.join(FETCHED)}."
    raise LookupError(f"no set `{name}`; {hint}")
