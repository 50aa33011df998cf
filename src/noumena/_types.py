"""Shape aliases: n anchors, m candidates or draws per anchor, d coordinates."""

from jaxtyping import Bool, Float
from torch import Tensor

Latents = Float[Tensor, "n d"]
Observations = Float[Tensor, "n x"]
Embeddings = Float[Tensor, "n d"]
PerAnchor = Float[Tensor, " n"]
Grid = Float[Tensor, "n m"]
Negatives = Float[Tensor, "m d"] | Float[Tensor, "n m d"]
Mask = Bool[Tensor, " n"]
