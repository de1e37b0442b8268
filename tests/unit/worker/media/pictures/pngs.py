"""PNG files as the specification has them (ISO/IEC 15948), written by hand: our ffmpeg may have no encoder."""

import struct
import zlib

WIDTH, HEIGHT = 60, 40
RGB = tuple[int, ...]


def colour(x: int, y: int) -> RGB:
    return (x * 4, y * 6, (x * 2 + y * 3) % 256)


def grey(x: int, y: int) -> int:
    return x * 4


def expected(mode: str, x: float, y: float) -> RGB:
    """What a person sees at a fraction of width and height."""
    left, top = int(x * WIDTH), int(y * HEIGHT)
    if mode == "grey":
        return (grey(left, top),) * 3
    if mode == "palette":
        return PALETTE[left // 20]
    if mode == "rgba" and left >= WIDTH // 2:
        return (255, 255, 255)
    return colour(left, top)


PALETTE = ((255, 0, 0), (0, 255, 0), (0, 0, 255))


def _pixel(mode: str, x: int, y: int) -> bytes:
    match mode:
        case "grey":
            return bytes([grey(x, y)])
        case "palette":
            return bytes([x // 20])
        case "rgba":
            return bytes([*colour(x, y), 0 if x >= WIDTH // 2 else 255])
        case "sixteen":
            return struct.pack(">3H", *(v * 257 for v in colour(x, y)))
    return bytes(colour(x, y))


TYPES = {"grey": (8, 0), "rgb": (8, 2), "palette": (8, 3), "rgba": (8, 6), "sixteen": (16, 2)}


def written(mode: str, filtered: int) -> bytes:
    """A file whose every row uses that filter."""
    depth, kind = TYPES[mode]
    rows = [b"".join(_pixel(mode, x, y) for x in range(WIDTH)) for y in range(HEIGHT)]
    step = len(_pixel(mode, 0, 0))
    above = [bytes(len(rows[0])), *rows]
    data = b"".join(
        bytes([filtered]) + _filter(row, up, step, filtered) for row, up in zip(rows, above, strict=False)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, kind, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(v for rgb in PALETTE for v in rgb)) if mode == "palette" else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + palette
        + chunk(b"IDAT", zlib.compress(data))
        + chunk(b"IEND", b"")
    )


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _filter(row: bytes, up: bytes, step: int, kind: int) -> bytes:
    out = bytearray()
    for i, value in enumerate(row):
        a, b = (row[i - step] if i >= step else 0), up[i]
        c = up[i - step] if i >= step else 0
        p = a + b - c
        near = min((a, b, c), key=lambda v: abs(p - v))
        out.append((value - (0, a, b, (a + b) // 2, near)[kind]) % 256)
    return bytes(out)
