"""The same scene in Blender, for images by the pipeline that the published set was made with.

Needs Blender's Python module, `bpy` (some gigabyte, and for one version of Python each), which is no extra of this
package: install it into an environment of its own, or run this file inside Blender. Nothing else here imports it.

    python -m noumena.mixings.render.blender SET/latents.npy OUT --size 224 --samples 512
"""

import argparse
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float64

from .mesh import Mesh, teapot
from .scene import OBJECT_SCALE, Camera, Lights, Scenes, Surfaces, scenes


def blender() -> ModuleType:
    """`bpy`, or an error that says where to get it."""
    try:
        import bpy  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError as error:
        message = f"the exact pipeline needs Blender ({error}): run `pip install bpy` in an environment of its own."
        raise ModuleNotFoundError(message, name=error.name) from error
    return bpy


def render(latents: Float64[np.ndarray, "n 10"], out: str | Path, *, size: int = 224, samples: int = 512) -> None:
    """Write `out`/INDEX.png for each row of latents in render units; images that are there are left alone.

    Args:
        latents: Columns as in `scene.FACTORS`, in render units.
        out: A folder; made if it is not there.
        size: Pixels of a side.
        samples: Of each pixel, before denoising.
    """
    bpy = blender()
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    stage = _stage(bpy, teapot(), size, samples)
    shown = scenes(latents)
    for i in range(len(shown)):
        path = folder / f"{i:0{len(str(len(shown) - 1))}d}.png"
        if not path.exists():
            _pose(stage, shown, i, latents[i, 3:6])
            bpy.context.scene.render.filepath = str(path.absolute())
            bpy.ops.render.render(write_still=True)


def _stage(bpy: Any, mesh: Mesh, size: int, samples: int) -> dict[str, Any]:
    """What all images share; returns what differs, by name."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    camera, lights, surfaces = Camera(), Lights(), Surfaces()
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.max_bounces = samples, True, 0
    scene.render.resolution_x = scene.render.resolution_y = size
    scene.view_settings.view_transform = "Standard"
    scene.world = bpy.data.worlds.new("black")
    scene.world.color = (0, 0, 0)

    def add(name: str, data: Any, place: tuple[float, ...], angles: tuple[float, ...] = (0, 0, 0)) -> Any:
        thing = bpy.data.objects.new(name, data)
        thing.location, thing.rotation_euler = place, angles
        scene.collection.objects.link(thing)
        return thing

    eye = bpy.data.cameras.new("camera")
    eye.angle = camera.field
    across = math.hypot(*camera.position[:2])
    # From looking down, tilted up by the first angle and turned about the vertical by the last.
    tilt = math.atan2(across, camera.position[2])
    turn = math.atan2(camera.position[1], camera.position[0]) + math.pi / 2
    scene.camera = add("camera", eye, camera.position, (tilt, 0, turn))

    spot = bpy.data.lights.new("spot", "SPOT")
    spot.energy, spot.shadow_soft_size = lights.spot_watts, lights.spot_radius
    spot.spot_size, spot.spot_blend = lights.spot_cone, lights.spot_blend
    area = bpy.data.lights.new("area", "AREA")
    area.energy, area.size = lights.area_watts, lights.area_side
    add("area", area, (0, 0, lights.area_height))
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = lights.sun_strength, lights.sun_angle
    add("sun", sun, (0, 0, 20))

    half = 750.0
    plane = bpy.data.meshes.new("ground")
    corners = [(x, y, surfaces.ground_height) for x, y in ((-half, -half), (half, -half), (half, half), (-half, half))]
    plane.from_pydata(corners, [], [(0, 1, 2, 3)])
    ground_paint = _paint(bpy, "ground", roughness=1.0)
    plane.materials.append(ground_paint)
    add("ground", plane, (0, 0, 0))

    points, faces = np.unique(mesh.corners.reshape(-1, 3).round(9), axis=0, return_inverse=True)
    surface = bpy.data.meshes.new("object")
    surface.from_pydata(points.tolist(), [], faces.reshape(-1, 3).tolist())
    surface.shade_smooth()
    object_paint = _paint(bpy, "object", roughness=surfaces.object_roughness)
    surface.materials.append(object_paint)
    thing = add("object", surface, (0, 0, 0))
    thing.scale = (OBJECT_SCALE,) * 3
    lamp = add("spot", spot, (0, 0, 0))
    track = lamp.constraints.new("TRACK_TO")
    track.target, track.track_axis, track.up_axis = thing, "TRACK_NEGATIVE_Z", "UP_Y"
    return {"object": thing, "spot": lamp, "object_paint": object_paint, "ground_paint": ground_paint}


def _paint(bpy: Any, name: str, *, roughness: float) -> Any:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = roughness
    return material


def _pose(stage: dict[str, Any], shown: Scenes, i: int, angles: np.ndarray) -> None:
    stage["object"].location, stage["object"].rotation_euler = shown.position[i].tolist(), angles.tolist()
    stage["spot"].location, stage["spot"].data.color = shown.spot[i].tolist(), shown.spot_rgb[i].tolist()
    for paint, rgb in (("object_paint", shown.object_rgb[i]), ("ground_paint", shown.ground_rgb[i])):
        body = stage[paint].node_tree.nodes["Principled BSDF"]
        body.inputs["Base Color"].default_value = (*rgb.tolist(), 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Render the latents of a set with Blender.")
    parser.add_argument("latents", help="latents.npy of a set, in render units")
    parser.add_argument("out", help="folder of the images")
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--samples", type=int, default=512)
    given = parser.parse_args()
    render(
        np.load(given.latents, allow_pickle=False).astype(np.float64), given.out, size=given.size, samples=given.samples
    )


if __name__ == "__main__":
    main()
