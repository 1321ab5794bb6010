"""No name is one of a device of Windows, whatever a resource or its server is called."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

from mcp_lectern.documents.address import Key, address, file_name
from mcp_lectern.documents.files import materialize

NUMBERED = [f"{kind}{digit}" for kind, digit in product(("com", "lpt"), "123456789¹²³")]
DEVICES = ["con", "prn", "aux", "nul", "conin$", "conout$", *NUMBERED]
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$?|conout\$?|(com|lpt)[0-9¹²³])[ .]*(\..*)?", re.IGNORECASE)
"""What Windows takes for a device, with whatever extension; without the dollar signs too, to be sure."""
SPELLINGS = ["{}", "{}.txt", "{}.tar.gz", "{}.", "{} ", "%20{}%20", "{}:", "-{}-", "docs/{}", "docs\\{}"]


def spelled(device: str) -> list[str]:
    names = (device, device.upper(), device.title())
    return [f"x://{spelling.format(name)}" for spelling, name in product(SPELLINGS, names)]


@pytest.mark.parametrize("device", DEVICES)
def test_a_resource_called_like_a_device_has_another_name(device: str) -> None:
    for uri, item, extension in product(spelled(device), (None, 0, 11), (None, "txt", "gz")):
        name = file_name(uri, item, extension)
        assert not DEVICE.fullmatch(name), (uri, name)
        assert re.fullmatch(r"[A-Za-z0-9_-]+(\.[a-z]+)?", name), (uri, name)


@pytest.mark.parametrize("device", DEVICES)
def test_a_server_called_like_a_device_has_another_folder(device: str) -> None:
    for name in (device, device.upper(), f" {device} ", f"{device}."):
        made = address(name, "x://y", None, "text/plain", binary_extension=False)
        folder = made.removeprefix("lectern://mcp/").partition("/")[0]
        assert not DEVICE.fullmatch(folder), made


@pytest.mark.parametrize("device", DEVICES)
def test_a_file_on_disk_is_never_called_like_a_device(tmp_path: Path, device: str) -> None:
    for uri in spelled(device):
        path = materialize(tmp_path / "content", Key("docs", uri), b"x", "image/png")
        assert not DEVICE.fullmatch(path.name), (uri, path.name)
        assert path.suffix == ".png"


@pytest.mark.parametrize(
    "name", ["console", "prn1", "auxiliary", "null", "com", "com10", "lpt", "lpt1a", "icon"]
)
def test_what_merely_begins_or_ends_like_a_device_keeps_its_name(name: str) -> None:
    assert file_name(f"x://{name}", None, "txt") == f"{name}.txt"
