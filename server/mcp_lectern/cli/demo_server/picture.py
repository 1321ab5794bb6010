"""The tour's picture, a lectern in pixels, as PNG bytes; must not know who asks for it."""

from __future__ import annotations

import struct
import zlib
from functools import cache

_SCALE = 10

_PALETTE = {
    ".": (0x26, 0x35, 0x45),
    ":": (0x31, 0x44, 0x57),
    "+": (0x41, 0x59, 0x70),
    "*": (0xF3, 0xD9, 0x8B),
    "P": (0xFB, 0xF5, 0xE6),
    "-": (0xC9, 0xBC, 0xA2),
    "s": (0xE3, 0xD8, 0xC0),
    "r": (0xC9, 0x5A, 0x41),
    "W": (0xB8, 0x7A, 0x4B),
    "w": (0x94, 0x5B, 0x36),
    "d": (0x6B, 0x40, 0x27),
    "f": (0x1B, 0x26, 0x31),
    "m": (0x22, 0x2F, 0x3C),
}

_PIXELS = (
    "................................",
    "...*............................",
    "..........................*.....",
    "..............::::..............",
    ".....*......::++++::............",
    "..........::++++++++::..........",
    "........::++++++++++++::........",
    ".......:++sPPPPssPPPPPs++:......",
    "......:+PP-----PP-----PPP+:.....",
    "......:PPPPPPPPPPPPPPPPPPP:.....",
    ".....:+P------PPP-------PP+:....",
    ".....:PPPPPPPPPPsPPPPPPPPPP:....",
    ".....PPP-----PPPsP------PPPP....",
    "....PPPPPPPPPPPPsPPPPPPPPPPPP...",
    "....ssssssssssssrssssssssssss...",
    "...WWWWWWWWWWWWWrWWWWWWWWWWWWW..",
    "...wwwwwwwwwwwwwrwwwwwwwwwwwww..",
    ".........ddWWWWWrWWWWdd.........",
    "...........dWWWWWWWWd...........",
    "............dWWwwWWd............",
    "............dWWwwWWd............",
    "............dWWwwWWd............",
    "mmmmmmmmmmmmdWWwwWWdmmmmmmmmmmmm",
    "ffffffffffwwWWWWWWWWwwffffffffff",
    "fffffffffdddddddddddddddffffffff",
    "ffffffffffffffffffffffffffffffff",
)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


@cache
def png(scale: int = _SCALE) -> bytes:
    """The picture with ``scale`` by ``scale`` dots for each pixel; the same bytes each time."""
    letters = "".join(_PALETTE)
    rows = bytearray()
    for line in _PIXELS:
        row = b"\x00" + bytes(letters.index(pixel) for pixel in line for _ in range(scale))
        rows += row * scale
    header = struct.pack(">IIBBBBB", len(_PIXELS[0]) * scale, len(_PIXELS) * scale, 8, 3, 0, 0, 0)
    colours = b"".join(bytes(colour) for colour in _PALETTE.values())
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"PLTE", colours)
        + _chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + _chunk(b"IEND", b"")
    )
