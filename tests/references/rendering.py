"""The 3DIdent scene pixel by pixel in float64: every ray tries every triangle, and the object moves, not the ray.

One ray through the centre of each pixel, and one point on each light for it.
"""

import math

import numpy as np

EYE = np.array([8.0, 0.0, 8.0])
GROUND = -4.442


def image(raw: np.ndarray, corners: np.ndarray, normals: np.ndarray, size: int, key: int = 0) -> np.ndarray:
    """Display values (3, size, size) at latents in [-1, 1]."""
    turn = rotation(raw[3:6] * math.pi / 2)
    place = 3 * raw[:3] + [0, 0, 2.221]
    world, facing = 1.5 * corners @ turn.T + place, normals @ turn.T
    theta = raw[6] * math.pi / 2
    spot = np.array([4 * math.sin(theta), 4 * math.cos(theta), 10.442])
    paint, glow, floor = (colour(raw[k] / 4, s) for k, s in ((7, 1.0), (8, 0.8), (9, 0.6)))
    pixels = np.empty((3, size, size))
    for row in range(size):
        for column in range(size):
            x, y = (2 * (column + 0.5) / size - 1), (1 - 2 * (row + 0.5) / size)
            reach = math.tan(1.2405 / 2)
            half = math.sqrt(0.5)
            look = np.array([-half - half * reach * y, reach * x, -half + half * reach * y])
            look /= np.linalg.norm(look)
            draws = [[uniform(key, row * size + column, 2 * light + k) for k in (0, 1)] for light in range(3)]
            pixels[:, row, column] = radiance(look, world, facing, spot, place, paint, glow, floor, draws)
    cut = pixels.clip(0, 1)
    return np.where(cut <= 0.0031308, 12.92 * cut, 1.055 * cut ** (1 / 2.4) - 0.055)


def radiance(look, world, facing, spot, place, paint, glow, floor, draws):
    far = (GROUND - 8) / look[2]
    distance, which, weights = first_hit(EYE, look, world)
    if which is not None and distance < far:
        normal = weights @ facing[which]
        normal /= np.linalg.norm(normal)
        plane = np.cross(world[which][1] - world[which][0], world[which][2] - world[which][0])
        plane /= np.linalg.norm(plane)
        plane *= -np.sign(plane @ look)
        normal *= np.sign(normal @ plane)
        point = EYE + distance * look + 1e-4 * plane
        cosine = max(-normal @ look, 1e-6)
        mirrored = dielectric(cosine, 1.25)
        albedo = paint * (1 - mirrored)
    else:
        which = None
        normal = np.array([0.0, 0.0, 1.0])
        point = EYE + far * look + 1e-4 * normal
        cosine, mirrored = -look[2], 0.0
        albedo = floor * 0.965 * (1 - (1 - cosine) ** 4) + 0.016
    total = np.zeros(3)
    for towards, reach, strength, tint in lights(point, spot, place, glow, draws):
        incident = normal @ towards
        if incident <= 0 or strength == 0:
            continue
        blocker, _, _ = first_hit(point, towards, world)
        if blocker < reach:
            continue
        shine = 0.0
        if which is not None:
            facet = towards - look
            facet /= np.linalg.norm(facet)
            shine = math.pi * mirrored * microfacets(normal @ facet, incident, cosine, 0.16)
        total += strength * incident * tint * (albedo + shine)
    return total


def lights(point, spot, place, glow, draws):
    """Direction, distance, radiance of a white surface held square to it, and colour."""
    white = np.ones(3)
    axis = (spot - point) / np.linalg.norm(spot - point)
    helper = np.array([0, 0, 1.0]) if abs(axis[2]) < 0.9 else np.array([1.0, 0, 0])
    one = np.cross(axis, helper)
    one /= np.linalg.norm(one)
    radius, turn = 0.5 * math.sqrt(draws[0][0]), 2 * math.pi * draws[0][1]
    way = spot + radius * (math.cos(turn) * one + math.sin(turn) * np.cross(axis, one)) - point
    reach = np.linalg.norm(way)
    aim = (place - spot) / np.linalg.norm(place - spot)
    rim = math.cos(math.radians(17.5))
    share = np.clip((-(way / reach) @ aim - rim) / (0.1 * (1 - rim)), 0, 1)
    yield (
        way / reach,
        reach,
        3000 / (4 * math.pi**2) * share**2 * (3 - 2 * share) * (way / reach @ axis) / reach**2,
        glow,
    )
    way = np.array([draws[1][0] - 0.5, draws[1][1] - 0.5, 7.0]) - point
    reach = np.linalg.norm(way)
    yield way / reach, reach, 39.27 / (4 * math.pi) * max(way[2] / reach, 0.0) / reach**2, white
    radius, turn = math.tan(0.0995) * math.sqrt(draws[2][0]), 2 * math.pi * draws[2][1]
    way = np.array([radius * math.cos(turn), radius * math.sin(turn), 1.0])
    yield way / np.linalg.norm(way), math.inf, 0.5 / math.pi, white


def first_hit(origin, way, world):
    """Distance, triangle and weights of its corners, by solving for all triangles; inf and None if there is none."""
    edges = np.stack(
        [world[:, 1] - world[:, 0], world[:, 2] - world[:, 0], np.broadcast_to(-way, world[:, 0].shape)], -1
    )
    solvable = np.abs(np.linalg.det(edges)) > 0
    u, v, t = np.linalg.solve(edges[solvable], (origin - world[solvable, 0])[..., None])[..., 0].T
    hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0)
    if not hit.any():
        return math.inf, None, None
    k = int(np.where(hit, t, np.inf).argmin())
    return t[k], int(np.flatnonzero(solvable)[k]), np.array([1 - u[k] - v[k], u[k], v[k]])


def dielectric(cosine, index):
    """Fresnel's equations, by the angles."""
    outer = math.acos(cosine)
    inner = math.asin(math.sin(outer) / index)
    if outer < 1e-9:
        return ((index - 1) / (index + 1)) ** 2
    return 0.5 * (
        (math.sin(outer - inner) / math.sin(outer + inner)) ** 2
        + (math.tan(outer - inner) / math.tan(outer + inner)) ** 2
    )


def microfacets(facet, incident, seen, alpha):
    """D G / (4 cos cos): GGX's density of facets and Smith's height-correlated masking, by tangents."""
    density = math.exp(-math.log(math.pi * alpha**2 * facet**4) - 2 * math.log1p((1 / facet**2 - 1) / alpha**2))
    masked = [(math.sqrt(1 + alpha**2 * (1 / c**2 - 1)) - 1) / 2 for c in (incident, seen)]
    return density / (1 + sum(masked)) / (4 * incident * seen)


def rotation(angles):
    """About x, then y, then z."""
    turned = np.eye(3)
    for axis, angle in enumerate(angles):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        one = np.eye(3)
        one[j, j] = one[k, k] = math.cos(angle)
        one[k, j], one[j, k] = math.sin(angle), -math.sin(angle)
        turned = one @ turned
    return turned


def colour(hue, saturation):
    """HSV at value 1: each channel falls off linearly with its distance on the circle."""
    away = np.array([abs((hue - centre + 0.5) % 1 - 0.5) for centre in (0, 1 / 3, 2 / 3)])
    return 1 - saturation * np.clip(6 * away - 1, 0, 1)


def uniform(key, pixel, k):
    mask = 2**64 - 1
    x = (key + pixel * 0x9E3779B97F4A7C15 + k * 0xD1B54A32D192ED03) & mask
    for _ in range(2):
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        x ^= x >> 31
    return (x >> 11) / 2**53
