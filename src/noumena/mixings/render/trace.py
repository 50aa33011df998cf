"""Scenes -> images by ray tracing on the CPU. Numba is imported here alone.

Vectors are tuples of three numbers, which the compiler keeps in registers. Rays are traced in the coordinates of the
object: it is moved, the tree over its triangles never is.
"""

import math
from functools import lru_cache
from typing import NamedTuple, no_type_check

import numpy as np
from jaxtyping import Float64, UInt64

from . import bvh
from .mesh import Mesh
from .scene import OBJECT_SCALE, Camera, Lights, Scenes, Surfaces

try:
    from numba import njit
except ModuleNotFoundError as error:
    message = f"rendering needs numba ({error}): run `pip install noumena[render]`."
    raise ModuleNotFoundError(message, name=error.name) from error

SPOT, AREA, SUN = 0, 1, 2
FAR = 1e30
SUN_DISTANCE = 1e3  # beyond everything that could cast a shadow
OFFSET = 1e-4  # shadow rays start this far above the surface, beyond rounding and far below a pixel
# Powers of the root of t^3 = t + 1: successive multiples, less whole numbers, fill the unit square evenly.
STEP_1, STEP_2 = 0.7548776662466927, 0.5698402909980532

compiled = njit(cache=True, nogil=True, error_model="numpy")


class Geometry(NamedTuple):
    """A mesh in the order of its tree, in as few arrays as there can be: each is handed down with every ray.

    Attributes:
        boxes: Lower and upper corner of each node's box (b, 6).
        walk: Where to go on beyond it, its first triangle, and how many it has (b, 3).
        triangles: First corner and the edges to the others (f, 9).
        normals: At the corners (f, 9).
    """

    boxes: np.ndarray
    walk: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray


class Pose(NamedTuple):
    """One scene's own parameters; see `Scenes`."""

    position: np.ndarray
    rotation: np.ndarray
    spot: np.ndarray
    object_rgb: np.ndarray
    spot_rgb: np.ndarray
    ground_rgb: np.ndarray


@lru_cache(maxsize=32)
def geometry(mesh: Mesh) -> Geometry:
    tree = bvh.build(mesh)
    corners = mesh.corners[tree.order]
    first = corners[:, 0]
    return Geometry(
        boxes=np.concatenate([tree.low, tree.high], axis=1),
        walk=np.stack([tree.skip, tree.first, tree.count], axis=1),
        triangles=np.concatenate([first, corners[:, 1] - first, corners[:, 2] - first], axis=1),
        normals=np.ascontiguousarray(mesh.normals[tree.order].reshape(-1, 9)),
    )


def render(
    scenes: Scenes,
    meshes: tuple[Mesh, ...],
    size: int,
    *,
    noise: UInt64[np.ndarray, " n"],
    pixel_samples: int,
    light_samples: int,
    camera: Camera,
    lights: Lights,
    surfaces: Surfaces,
) -> Float64[np.ndarray, "n 3 s s"]:
    """Linear radiance, channels first; nothing is cut off above or below.

    Args:
        scenes, meshes: What is shown; `scenes.mesh` chooses among `meshes`.
        size: Pixels of a side.
        noise: Decides the points on the lights that each image samples.
        pixel_samples: Rays through a pixel, along each side.
        light_samples: Points on each light for each of these rays.
        camera, lights, surfaces: What all scenes share.
    """
    images = np.empty((len(scenes), 3, size, size))
    offsets = tent(pixel_samples)
    shapes = [geometry(mesh) for mesh in meshes]
    for i, image in enumerate(images):
        own = (scenes.position, scenes.rotation, scenes.spot, scenes.object_rgb, scenes.spot_rgb, scenes.ground_rgb)
        pose = Pose(*(np.ascontiguousarray(values[i]) for values in own))
        _image(image, shapes[scenes.mesh[i]], pose, camera, lights, surfaces, offsets, light_samples, noise[i])
    return images


def tent(count: int) -> Float64[np.ndarray, " k"]:
    """Where rays cross a pixel, from its centre: equal shares of a tent that ends at the centres of its neighbours."""
    share = (np.arange(count) + 0.5) / count
    return np.where(share < 0.5, np.sqrt(2 * share) - 1, 1 - np.sqrt(2 - 2 * share))


def srgb(linear: Float64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
    """Linear radiance -> display values in [0, 1], by the transform that Blender calls Standard."""
    cut = np.clip(linear, 0.0, 1.0)
    return np.where(cut <= 0.0031308, 12.92 * cut, 1.055 * cut ** (1 / 2.4) - 0.055)


@compiled
@no_type_check
def _image(image, mesh, pose, camera, lights, surfaces, offsets, light_samples, noise):
    size = image.shape[1]
    eye = camera.position
    forward = _unit((-eye[0], -eye[1], -eye[2]))
    right = _unit(_cross(forward, (0.0, 0.0, 1.0)))
    up = _cross(right, forward)
    reach = math.tan(camera.field / 2)
    position = (pose.position[0], pose.position[1], pose.position[2])
    spot = (pose.spot[0], pose.spot[1], pose.spot[2])
    aim = _unit(_minus(position, spot))
    rotation = pose.rotation
    start = _into(rotation, _minus(eye, position))
    shift = np.empty((3, 2))
    for row in range(size):
        for column in range(size):
            for k in range(6):
                shift[k // 2, k % 2] = _uniform(noise, row * size + column, k)
            red, green, blue = 0.0, 0.0, 0.0
            ray = 0
            for dy in offsets:
                for dx in offsets:
                    across = (2 * (column + 0.5 + dx) / size - 1) * reach
                    upright = (1 - 2 * (row + 0.5 + dy) / size) * reach
                    look = _unit(_along(_along(forward, across, right), upright, up))
                    far = FAR if look[2] >= 0 else (surfaces.ground_height - eye[2]) / look[2]
                    t, which, u, v = closest(mesh, start, _into(rotation, look), far)
                    if which < 0 and far == FAR:
                        ray += 1
                        continue  # the world beyond is black
                    if which < 0:
                        facing, normal = (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)
                        rgb = pose.ground_rgb
                    else:
                        facing, normal = _normals(mesh, which, u, v, rotation, look)
                        rgb = pose.object_rgb
                    point = _along(_along(eye, t, look), OFFSET, facing)
                    white, coloured = _light(
                        mesh, point, normal, look, which >= 0, position, rotation, spot, aim, lights, surfaces, shift,
                        ray, light_samples,
                    )  # fmt: skip
                    cosine = max(-_dot(normal, look), 1e-6)
                    if which < 0:
                        # The ground's white part is spread evenly, so it is a part of what is diffuse.
                        diffuse = surfaces.ground_albedo * (1 - (1 - cosine) ** surfaces.ground_exponent)
                        extra = surfaces.ground_white
                    else:
                        diffuse, extra = 1 - fresnel(cosine, surfaces.object_index), 0.0
                    # Of `white` and `coloured`, the first is diffuse reflection, the second the highlight.
                    tint = pose.spot_rgb
                    red += (rgb[0] * diffuse + extra) * (white[0] + coloured[0] * tint[0])
                    green += (rgb[1] * diffuse + extra) * (white[0] + coloured[0] * tint[1])
                    blue += (rgb[2] * diffuse + extra) * (white[0] + coloured[0] * tint[2])
                    red += white[1] + coloured[1] * tint[0]
                    green += white[1] + coloured[1] * tint[1]
                    blue += white[1] + coloured[1] * tint[2]
                    ray += 1
            image[0, row, column] = red / ray
            image[1, row, column] = green / ray
            image[2, row, column] = blue / ray


@compiled
@no_type_check
def _light(
    mesh, point, normal, look, glossy, position, rotation, spot, aim, lights, surfaces, shift, ray, samples
):  # fmt: skip
    """What a white surface sends to the eye: of the white lights, and of the spot were it white; diffuse, highlight."""
    origin = _into(rotation, _minus(point, position))
    cosine = max(-_dot(normal, look), 1e-6)
    reflected = fresnel(cosine, surfaces.object_index) if glossy else 0.0
    diffuse_white, glossy_white, diffuse_spot, glossy_spot = 0.0, 0.0, 0.0, 0.0
    for sample in range(samples):
        turn = ray * samples + sample
        for light in range(3):
            a = (shift[light, 0] + STEP_1 * turn) % 1.0
            b = (shift[light, 1] + STEP_2 * turn) % 1.0
            if light == SPOT:
                way, strength = _to_spot(point, spot, aim, lights, a, b)
            elif light == AREA:
                way, strength = _to_area(point, lights, a, b)
            else:
                way, strength = _to_sun(lights, a, b)
            towards = _unit(way)
            received = strength * _dot(normal, towards)
            if received <= 0 or _blocked(mesh, origin, _into(rotation, way)):
                continue
            highlight = 0.0
            if glossy:
                highlight = reflected * _highlight(normal, look, towards, cosine, surfaces.object_roughness) * received
            if light == SPOT:
                diffuse_spot += received
                glossy_spot += highlight
            else:
                diffuse_white += received
                glossy_white += highlight
    share = 1.0 / samples
    return (share * diffuse_white, share * glossy_white), (share * diffuse_spot, share * glossy_spot)


@compiled
@no_type_check
def _to_spot(point, spot, aim, lights, a, b):
    """The way to a point of the disc that faces `point`, and the radiance of a white surface held square to it."""
    centre = _minus(spot, point)
    axis = _unit(centre)
    helper = (0.0, 0.0, 1.0) if abs(axis[2]) < 0.9 else (1.0, 0.0, 0.0)
    one = _unit(_cross(axis, helper))
    two = _cross(axis, one)
    radius, turn = lights.spot_radius * math.sqrt(a), 2 * math.pi * b
    way = _along(_along(centre, radius * math.cos(turn), one), radius * math.sin(turn), two)
    square = _dot(way, way)
    towards = _unit(way)
    edge = math.cos(lights.spot_cone / 2)
    inside = min(max((-_dot(towards, aim) - edge) / ((1 - edge) * lights.spot_blend), 0.0), 1.0)
    fading = inside * inside * (3 - 2 * inside)
    return way, lights.spot_watts / (4 * math.pi**2) * fading * _dot(axis, towards) / square


@compiled
@no_type_check
def _to_area(point, lights, a, b):
    way = (lights.area_side * (a - 0.5) - point[0], lights.area_side * (b - 0.5) - point[1], 0.0)
    way = (way[0], way[1], lights.area_height - point[2])
    square = _dot(way, way)
    # It shines downwards only.
    cosine = max(way[2], 0.0) / math.sqrt(square)
    return way, lights.area_watts / (4 * math.pi) * cosine / square


@compiled
@no_type_check
def _to_sun(lights, a, b):
    radius, turn = math.tan(lights.sun_angle / 2) * math.sqrt(a), 2 * math.pi * b
    way = (radius * math.cos(turn), radius * math.sin(turn), 1.0)
    return (SUN_DISTANCE * way[0], SUN_DISTANCE * way[1], SUN_DISTANCE * way[2]), lights.sun_strength / math.pi


@compiled
@no_type_check
def fresnel(cosine, index):
    """The share that a smooth dielectric of this refractive index reflects, unpolarised."""
    inner = math.sqrt(1 - (1 - cosine * cosine) / (index * index))
    across = (cosine - index * inner) / (cosine + index * inner)
    along = (index * cosine - inner) / (index * cosine + inner)
    return 0.5 * (across * across + along * along)


@compiled
@no_type_check
def _highlight(normal, look, towards, cosine, roughness):
    """pi D G / (4 cos cos) of GGX microfacets, D with alpha = roughness^2 and G with Smith's correlated masking."""
    half = _minus(towards, look)
    facet = _dot(normal, half) / math.sqrt(_dot(half, half))
    if facet <= 0:
        return 0.0
    alpha = roughness**4
    spread = facet * facet * (alpha - 1) + 1
    lit = _dot(normal, towards)
    masking = lit * math.sqrt(alpha + (1 - alpha) * cosine**2) + cosine * math.sqrt(alpha + (1 - alpha) * lit**2)
    return alpha / (spread * spread) * 0.5 / masking


@compiled
@no_type_check
def _normals(mesh, which, u, v, rotation, look):
    """The triangle's own normal and the interpolated one, both turned towards the eye, in the world's coordinates."""
    flat = _cross(_vector(mesh.triangles, which, 3), _vector(mesh.triangles, which, 6))
    one, two, three = (
        _vector(mesh.normals, which, 0),
        _vector(mesh.normals, which, 3),
        _vector(mesh.normals, which, 6),
    )
    smooth = _along(_along(_along((0.0, 0.0, 0.0), 1 - u - v, one), u, two), v, three)
    facing, normal = _out_of(rotation, _unit(flat)), _out_of(rotation, _unit(smooth))
    if _dot(facing, look) > 0:
        facing = (-facing[0], -facing[1], -facing[2])
    if _dot(normal, facing) < 0:
        normal = (-normal[0], -normal[1], -normal[2])
    return facing, normal


@compiled
@no_type_check
def closest(mesh, origin, way, far):
    """The first triangle on a ray before `far`, in multiples of `way`, and the weights of its second and third corner.

    Returns `far` and -1 if there is none.
    """
    inverse = (_reciprocal(way[0]), _reciprocal(way[1]), _reciprocal(way[2]))
    best, which, best_u, best_v = far, -1, 0.0, 0.0
    node = 0
    while node < len(mesh.walk):
        if not _enters(mesh.boxes, node, origin, inverse, best):
            node = mesh.walk[node, 0]
            continue
        for k in range(mesh.walk[node, 1], mesh.walk[node, 1] + mesh.walk[node, 2]):
            t, u, v = _meets(mesh.triangles, k, origin, way)
            if 0 < t < best:
                best, which, best_u, best_v = t, k, u, v
        node += 1
    return best, which, best_u, best_v


@compiled
@no_type_check
def _blocked(mesh, origin, way):
    """Whether any triangle lies between `origin` and `origin + way`."""
    inverse = (_reciprocal(way[0]), _reciprocal(way[1]), _reciprocal(way[2]))
    node = 0
    while node < len(mesh.walk):
        if not _enters(mesh.boxes, node, origin, inverse, 1.0):
            node = mesh.walk[node, 0]
            continue
        for k in range(mesh.walk[node, 1], mesh.walk[node, 1] + mesh.walk[node, 2]):
            if 0 < _meets(mesh.triangles, k, origin, way)[0] < 1:
                return True
        node += 1
    return False


@compiled
@no_type_check
def _enters(boxes, node, origin, inverse, far):
    x_1, x_2 = (boxes[node, 0] - origin[0]) * inverse[0], (boxes[node, 3] - origin[0]) * inverse[0]
    y_1, y_2 = (boxes[node, 1] - origin[1]) * inverse[1], (boxes[node, 4] - origin[1]) * inverse[1]
    z_1, z_2 = (boxes[node, 2] - origin[2]) * inverse[2], (boxes[node, 5] - origin[2]) * inverse[2]
    near = max(max(min(x_1, x_2), min(y_1, y_2)), max(min(z_1, z_2), 0.0))
    end = min(min(max(x_1, x_2), max(y_1, y_2)), min(max(z_1, z_2), far))
    return near <= end


@compiled
@no_type_check
def _meets(triangles, k, origin, way):
    """Distance along the ray and the weights of the second and third corner (Moller and Trumbore); -1 if it misses."""
    edge_1, edge_2 = _vector(triangles, k, 3), _vector(triangles, k, 6)
    p = _cross(way, edge_2)
    determinant = _dot(edge_1, p)
    if determinant == 0:
        return -1.0, 0.0, 0.0
    inverse = 1 / determinant
    apart = _minus(origin, _vector(triangles, k, 0))
    u = _dot(apart, p) * inverse
    if u < 0 or u > 1:
        return -1.0, 0.0, 0.0
    q = _cross(apart, edge_1)
    v = _dot(way, q) * inverse
    if v < 0 or u + v > 1:
        return -1.0, 0.0, 0.0
    return _dot(edge_2, q) * inverse, u, v


@compiled
@no_type_check
def _uniform(noise, pixel, k):
    """A number in [0, 1) that three whole numbers decide: two rounds of the mixing of splitmix64."""
    x = (
        np.uint64(noise)
        + np.uint64(pixel) * np.uint64(0x9E3779B97F4A7C15)
        + np.uint64(k) * np.uint64(0xD1B54A32D192ED03)
    )
    for _ in range(2):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return (x >> np.uint64(11)) * 2.0**-53


@compiled
@no_type_check
def _into(rotation, v):
    """World -> object, directions; OBJECT_SCALE makes multiples of a ray the same in both."""
    return (
        (rotation[0, 0] * v[0] + rotation[1, 0] * v[1] + rotation[2, 0] * v[2]) / OBJECT_SCALE,
        (rotation[0, 1] * v[0] + rotation[1, 1] * v[1] + rotation[2, 1] * v[2]) / OBJECT_SCALE,
        (rotation[0, 2] * v[0] + rotation[1, 2] * v[1] + rotation[2, 2] * v[2]) / OBJECT_SCALE,
    )


@compiled
@no_type_check
def _out_of(rotation, v):
    """Object -> world, unit vectors."""
    return (
        rotation[0, 0] * v[0] + rotation[0, 1] * v[1] + rotation[0, 2] * v[2],
        rotation[1, 0] * v[0] + rotation[1, 1] * v[1] + rotation[1, 2] * v[2],
        rotation[2, 0] * v[0] + rotation[2, 1] * v[1] + rotation[2, 2] * v[2],
    )


@compiled
@no_type_check
def _vector(rows, k, first):
    return rows[k, first], rows[k, first + 1], rows[k, first + 2]


@compiled
@no_type_check
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
@no_type_check
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
@no_type_check
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
@no_type_check
def _along(start, length, way):
    return start[0] + length * way[0], start[1] + length * way[1], start[2] + length * way[2]


@compiled
@no_type_check
def _unit(v):
    scale = 1 / math.sqrt(_dot(v, v))
    return scale * v[0], scale * v[1], scale * v[2]


@compiled
@no_type_check
def _reciprocal(x):
    return 1 / x if x != 0 else FAR
