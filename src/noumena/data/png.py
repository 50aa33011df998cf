"""Images as PNG files: written without another library, and checked to be whole."""

import struct
import zlib

import numpy as np
from jaxtyping import UInt8

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END = struct.pack(">I", 0) + b"IEND" + struct.pack(">I", zlib.crc32(b"IEND"))


def encode(image: UInt8[np.ndarray, "h w 3"], level: int = 6) -> bytes:
    """A PNG file of the image; each row is stored as its difference to the one above, which suits smooth shading."""
    height, width, _ = image.shape
    rows = image.reshape(height, -1)
    filtered = np.empty((height, 1 + rows.shape[1]), np.uint8)
    filtered[:, 0] = 2  # the filter "up"
    filtered[0, 1:] = rows[0]
    filtered[1:, 1:] = rows[1:] - rows[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), level)) + _END


def is_whole(content: bytes, width: int, height: int) -> bool:
    """Whether these are all bytes of a PNG file of that size: every chunk there, with its checksum, up to the end."""
    if not content.startswith(SIGNATURE):
        return False
    place, size = len(SIGNATURE), None
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        kind, end = content[place + 4 : place + 8], place + 12 + length
        if (
            end > len(content)
            or zlib.crc32(content[place + 4 : end - 4]) != struct.unpack_from(">I", content, end - 4)[0]
        ):
            return False
        if kind == b"IHDR":
            size = struct.unpack_from(">II", content, place + 8)
        if kind == b"IEND":
            return size == (width, height) and end == len(content)
        place = end
    return False


def decode(content: bytes) -> UInt8[np.ndarray, "h w 3"]:
    """The colours of a PNG file with eight bits for each of red, green, blue and perhaps opacity, not interlaced."""
    place, packed, header = len(SIGNATURE), b"", None
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        kind, held = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", held)
        packed += held if kind == b"IDAT" else b""
        place += 12 + length
    if header is None or header[2] != 8 or header[3] not in (2, 6) or header[6]:
        raise ValueError("a PNG must have eight bits for each of red, green and blue, and no interlacing; convert it")
    width, height, channels = header[0], header[1], 3 if header[3] == 2 else 4
    stride = width * channels
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + stride)
    above, lines = [0] * stride, []
    for kind, *line in rows.tolist():
        above = _unfiltered(kind, line, above, channels)
        lines.append(above)
    return np.array(lines, dtype=np.uint8).reshape(height, width, channels)[:, :, :3]


def _unfiltered(kind: int, line: list[int], above: list[int], step: int) -> list[int]:
    """A row from its differences: to nothing, left, above, the mean of both, or the one that Paeth predicts."""
    done = [0] * step + line  # what is left of the first pixel is zero
    for i, value in enumerate(line):
        left, up, corner = done[i], above[i], above[i - step] if i >= step else 0
        if kind == 4:
            guess = left + up - corner
            near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
        else:
            near = (0, left, up, (left + up) // 2)[kind]
        done[i + step] = (value + near) & 255
    return done[step:]


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
