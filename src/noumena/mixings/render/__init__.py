"""A renderer is a mixing: latents of the published 3DIdent scene -> images, by ray tracing on the CPU."""

from .mesh import Mesh as Mesh
from .mesh import teapot as teapot
from .mixing import Renderer as Renderer
