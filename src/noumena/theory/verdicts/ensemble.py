"""Several losses that share an encoder: Corollary B.2."""

from collections.abc import Sequence
from dataclasses import replace

from .base import Assumption, Blocks, Maps, Verdict, decide
from .theorems import COROLLARY_B_2

_JOINED = (Maps.ORTHOGONAL, Maps.BLOCK_ORTHOGONAL, Maps.PERMUTATION)


def joined(verdicts: Sequence[Verdict], dim: int, whole: bool) -> Verdict:
    """What the members' verdicts say together, each about a loss of its own.

    Args:
        dim: Latent coordinates.
        whole: Whether every member sees all coordinates of the embedding.
    """
    if len(verdicts) == 1 and whole:
        return verdicts[0]
    asked = [
        Assumption(
            f"member {i}", one.speaks and one.maps in _JOINED, one.summary, "; ".join(one.repairs[:2]) or "see above"
        )
        for i, one in enumerate(verdicts)
    ]
    asked.append(
        Assumption(
            "whole embeddings",
            whole,
            "every loss sees all coordinates" if whole else "losses see coordinates of their own",
            "" if whole else "let every loss see all coordinates",
        )
    )
    blocks = common(verdicts, dim)
    maps = Maps.BLOCK_ORTHOGONAL
    if len(blocks) == dim:
        maps = Maps.PERMUTATION
    elif len(blocks) == 1:
        maps = Maps.ORTHOGONAL
    hopeful = whole and all((one.expected in _JOINED) for one in verdicts)
    shown = tuple(dict.fromkeys(found for one in verdicts for found in one.evidence))
    found = decide(COROLLARY_B_2, maps, asked, otherwise=maps if hopeful else Maps.OPEN, evidence=shown, blocks=blocks)
    return replace(found, blocks=()) if maps is Maps.ORTHOGONAL else found


def common(verdicts: Sequence[Verdict], dim: int) -> Blocks:
    """Coordinates that no member tells apart."""
    of = [{index: i for i, block in enumerate(one.blocks) for index in block} for one in verdicts]
    groups: dict[tuple[int, ...], list[int]] = {}
    for index in range(dim):
        groups.setdefault(tuple(block.get(index, -1) for block in of), []).append(index)
    return tuple(tuple(group) for group in groups.values())
