import io

import numpy as np
import pytest

from noumena.data import png


def picture(height=9, width=13, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)


def test_pictures_come_back():
    for shape in ((1, 1), (9, 13), (64, 64)):
        content = png.encode(picture(*shape))
        np.testing.assert_array_equal(png.decode(content), picture(*shape))
        assert png.is_whole(content, shape[1], shape[0])


def test_other_libraries_read_them_and_are_read():
    image = pytest.importorskip("PIL.Image")
    smooth = (np.add.outer(np.arange(40), np.arange(50))[..., None] * [1, 2, 3]).astype(np.uint8)
    for pixels in (picture(), smooth):
        with image.open(io.BytesIO(png.encode(pixels))) as opened:
            np.testing.assert_array_equal(np.asarray(opened), pixels)
        held = io.BytesIO()
        image.fromarray(pixels).save(held, "PNG")
        np.testing.assert_array_equal(png.decode(held.getvalue()), pixels)


@pytest.mark.parametrize("kind", range(5))
def test_every_filter_is_undone(kind):
    import struct
    import zlib

    pixels = picture(6, 5)
    rows = np.pad(pixels.reshape(6, 15).astype(int), ((1, 0), (3, 0)))
    left, up, corner = rows[1:, :-3], rows[:-1, 3:], rows[:-1, :-3]
    paeth = np.zeros_like(left)
    for place in np.ndindex(left.shape):
        a, b, c = left[place], up[place], corner[place]
        # Nearest to a + b - c, ties to the left, then above.
        paeth[place] = sorted((a, b, c), key=lambda value, goal=a + b - c: abs(value - goal))[0]
    guess = (0 * left, left, up, (left + up) // 2, paeth)[kind]
    filtered = np.concatenate([np.full((6, 1), kind), (rows[1:, 3:] - guess) % 256], axis=1).astype(np.uint8)
    header = struct.pack(">IIBBBBB", 5, 6, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes())), (b"IEND", b"")]
    content = png.SIGNATURE + b"".join(
        struct.pack(">I", len(held)) + name + held + struct.pack(">I", zlib.crc32(name + held)) for name, held in chunks
    )
    np.testing.assert_array_equal(png.decode(content), pixels)


def test_no_part_and_no_changed_byte_is_taken_for_whole():
    content = png.encode(picture())
    assert not any(png.is_whole(content[:k], 13, 9) for k in range(len(content)))
    assert not png.is_whole(content + b"x", 13, 9) and not png.is_whole(content, 9, 13)
    for k in range(0, len(content), 7):
        changed = bytearray(content)
        changed[k] ^= 1
        assert not png.is_whole(bytes(changed), 13, 9)
