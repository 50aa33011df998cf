"""What a verdict says, as data: frozen, comparable, and written out by `Verdict.text`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

Blocks = tuple[tuple[int, ...], ...]


class Maps(StrEnum):
    """Classes of recovery maps h = encoder after mixing, each up to one overall scale (and a shift, off spheres).

    `IDENTITY`: the latents themselves. `PERMUTATION`: coordinates in another order, with signs and scales of their
    own. `BLOCK_ORTHOGONAL`: each block of coordinates up to a rotation or reflection, blocks in any order.
    `ORTHOGONAL`, `AFFINE`: as they say. `FIXED_PART`: z = (u, v) up to h(u, v) = R(u) (u, v), where R(u) is any
    isometry chosen for each u. `NOTHING`: no optimum need keep the latents, or none does. `OPEN`: no theorem says.
    """

    IDENTITY = "identity"
    PERMUTATION = "generalized permutation"
    BLOCK_ORTHOGONAL = "block-orthogonal"
    ORTHOGONAL = "orthogonal"
    AFFINE = "affine"
    FIXED_PART = "known up to maps of the fixed part"
    NOTHING = "nothing"
    OPEN = "open"


@dataclass(frozen=True)
class Theorem:
    """A statement: where it stands, under which number, and what it says."""

    paper: str
    number: str
    says: str

    def __str__(self) -> str:
        return f"{self.number} of {self.paper}"


@dataclass(frozen=True)
class Assumption:
    """One thing a theorem asks for.

    Attributes:
        name: What it is about.
        holds: Whether it does.
        reason: Why, with the numbers at hand.
        repair: What would make it hold; empty where it does.
        needed: False for what the statement at hand does not ask for, but which would let another say more.
    """

    name: str
    holds: bool
    reason: str
    repair: str = ""
    needed: bool = True


@dataclass(frozen=True)
class Evidence:
    """What an experiment found; no proof. `source` names paper and table."""

    source: str
    found: str


@dataclass(frozen=True)
class Representable:
    """Whether the encoder's class holds an inverse of the mixing: yes, no, or None where it can only come near."""

    holds: bool | None
    reason: str
    repair: str = ""


@dataclass(frozen=True)
class Verdict:
    """Up to which maps the latents are identified at the optimum of a loss, by which statement, and what fails.

    Attributes:
        maps: The class at the optimum over all encoders; `OPEN` where no theorem speaks.
        blocks: Coordinates of each block, for `BLOCK_ORTHOGONAL` and `PERMUTATION`.
        theorem: The statement that decides or, where none speaks, the nearest one.
        speaks: Whether all that it needs holds.
        assumptions: What it asks for, each with a reason.
        encoder: Whether the encoder can reach such an optimum; None where no encoder is known.
        expected: What to expect of a good optimiser: `maps` where a theorem speaks, else what experiments suggest.
        evidence: What experiments found in such a setting, beside the theorem or in its place.
        remarks: What else there is to know.
    """

    maps: Maps
    theorem: Theorem
    speaks: bool
    assumptions: tuple[Assumption, ...]
    blocks: Blocks = ()
    encoder: Representable | None = None
    expected: Maps = Maps.OPEN
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def violated(self) -> tuple[Assumption, ...]:
        """What the theorem needs and does not have."""
        return tuple(one for one in self.assumptions if one.needed and not one.holds)

    @property
    def repairs(self) -> tuple[str, ...]:
        """What would make the theorem speak, or another say more, and the encoder able to follow."""
        asked = [one.repair for one in self.assumptions if not one.holds]
        if self.encoder is not None and self.encoder.holds is not True:
            asked.append(self.encoder.repair)
        return tuple(dict.fromkeys(repair for repair in asked if repair))

    @property
    def summary(self) -> str:
        """One line."""
        if not self.speaks:
            names = ", ".join(one.name for one in self.violated)
            hint = "" if self.expected is Maps.OPEN else f"; experiments suggest: {self.expected}"
            return f"no theorem speaks (nearest: {self.theorem}; violated: {names}){hint}"
        said = f"{self.maps}{self._of_blocks()} by {self.theorem}"
        if self.encoder is not None and self.encoder.holds is False:
            said += "; this encoder holds no inverse"
        return said

    def text(self) -> str:
        """All of it, in lines."""
        lines = [f"identified up to: {self.maps}{self._of_blocks()}", f"by: {self.theorem}: {self.theorem.says}"]
        if not self.speaks:
            lines = [f"no theorem speaks; nearest: {self.theorem}: {self.theorem.says}"]
        for one in self.assumptions:
            mark = "✓" if one.holds else "✗"
            lines.append(f"  {mark} {one.name}: {one.reason}" + ("" if one.needed else " (not needed here)"))
        if self.encoder is not None:
            mark = {True: "✓", False: "✗", None: "~"}[self.encoder.holds]
            lines.append(f"  {mark} encoder: {self.encoder.reason}")
        lines += [f"  repair: {repair}" for repair in self.repairs]
        lines += [f"  experiment, no proof: {one.found} ({one.source})" for one in self.evidence]
        lines += [f"  note: {remark}" for remark in self.remarks]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, with the summary."""
        return {**asdict(self), "repairs": list(self.repairs), "summary": self.summary}

    def _of_blocks(self) -> str:
        if self.maps is not Maps.BLOCK_ORTHOGONAL:
            return ""
        return " in the blocks " + ", ".join(f"[{_spans(block)}]" for block in self.blocks)


def decide(
    theorem: Theorem,
    maps: Maps,
    assumptions: Sequence[Assumption],
    *,
    otherwise: Maps = Maps.OPEN,
    evidence: Sequence[Evidence] = (),
    remarks: Sequence[str] = (),
    blocks: Blocks = (),
) -> Verdict:
    """The verdict that a theorem gives if all it needs holds, and an open one, expecting `otherwise`, if not."""
    speaks = all(one.holds for one in assumptions if one.needed)
    return Verdict(
        maps=maps if speaks else Maps.OPEN,
        theorem=theorem,
        speaks=speaks,
        assumptions=tuple(assumptions),
        blocks=blocks if speaks or otherwise in (Maps.BLOCK_ORTHOGONAL, Maps.PERMUTATION) else (),
        expected=maps if speaks else otherwise,
        evidence=tuple(evidence),
        remarks=tuple(remarks),
    )


def with_encoder(verdict: Verdict, encoder: Representable | None, remark: str = "") -> Verdict:
    """The verdict with what is known of the encoder."""
    remarks = (*verdict.remarks, remark) if remark else verdict.remarks
    return replace(verdict, encoder=encoder, remarks=remarks)


def _spans(block: Sequence[int]) -> str:
    """0, 1, 2, 5 -> 0-2 5."""
    spans: list[list[int]] = []
    for index in block:
        if spans and index == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], index]
        else:
            spans.append([index])
    return " ".join("-".join(map(str, span)) for span in spans)
