"""What a run leaves to look at: latents and embeddings of fresh anchors, observations, and pictures of some pairs."""

import torch
from torch import Tensor

from .build import Experiment

ROWS = 1024
PICTURES = 24  # pairs that are kept as pictures
SIDE = 64  # longest side of a picture


@torch.no_grad()
def sample(experiment: Experiment) -> dict[str, Tensor]:
    """Latents `z` where they are known, embeddings `h`, and observations `x`.

    In place of images `x`, pictures of them as bytes: `anchors` and `positives` of pairs that were trained on.
    """
    encoder, generator = experiment.encoder, experiment.streams.eval
    dtype = next(encoder.parameters()).dtype
    n = ROWS if experiment.mixing is not None else min(ROWS, len(experiment.test))  # pyright: ignore[reportArgumentType]
    encoder.eval()
    kept: dict[str, list[Tensor]] = {"z": [], "x": [], "h": []}
    for batch in experiment.test.draw_parts(n, experiment.part or n, generator, dtype):
        if batch.z is not None:
            kept["z"].append(batch.z.cpu())
        if not experiment.images:
            kept["x"].append(batch.x.cpu())
        kept["h"].append(encoder(batch.x).cpu())
    found = {name: torch.cat(parts) for name, parts in kept.items() if parts}
    if experiment.images:
        pairs = experiment.source.draw(PICTURES, generator, dtype)
        shape = experiment.shape
        found |= {"anchors": _pictures(pairs.x, shape), "positives": _pictures(pairs.x_pos, shape)}
    return found


def _pictures(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Images in [0, 1] as bytes, smaller where they are large: each picture element the mean of a block."""
    x = x.reshape(-1, *shape)
    step = -(-max(x.shape[-2:]) // SIDE)
    if step > 1:
        x = torch.nn.functional.avg_pool2d(x, step, ceil_mode=True)
    return (x.clamp(0, 1) * 255).round().to(torch.uint8).cpu()
