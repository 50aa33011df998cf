"""Rows trained in several processes: what that adds to their description, and which rows it suits."""

from dataclasses import replace

import torch

from ..training import BatchGrowth
from ..training.together import check_gathers, shares
from .build import Experiment, Stage, build
from .description import Description


def divided(description: Description, processes: int) -> Description:
    """The description of a row that `processes` train together.

    It is a part of what decides the numbers (each draws pairs of its own), so of the hash that names the folder as
    well. With one process, or where nothing is trained, the description is what it was.
    """
    if processes == 1 or "train" not in description.sections:
        return description
    return replace(description, sections={**description.sections, "processes": processes})


def check_divided(description: Description, seed: int) -> None:
    """Refuse, before anything runs, losses that do not gather, and batches that cannot be shared out."""
    processes = description.sections.get("processes", 1)
    if processes == 1:
        return
    for name, stage in stages(build(description, seed)).items():
        size = stage.training["batch_size"]
        sizes, multiple = ((size.start, size.end), size.multiple) if isinstance(size, BatchGrowth) else ((size,), 1)
        try:
            check_gathers(stage.loss, processes)
            for n in sorted({share for size in sizes for share in shares(size, processes, multiple)}):
                stage.source.draw(n, torch.Generator().manual_seed(seed))  # a source may ask for whole groups
        except (TypeError, ValueError) as error:
            where = f"{description.where}, `{name}`, in {processes} processes"
            raise ValueError(f"{where}: {error}") from error


def stages(experiment: Experiment) -> dict[str, Stage]:
    """What the encoder is trained with, in its order, by the name that a table gives it."""
    assert experiment.loss is not None and experiment.training is not None
    main = Stage(experiment.source, experiment.loss, experiment.training)
    return {"train": main} if experiment.before is None else {"pretrain": experiment.before, "train": main}
