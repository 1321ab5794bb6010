"""The settings, from whichever place they come; must not know editors, files or servers."""

from mcp_lectern.settings.model import DEFAULT_LANGUAGES, PLACES, Filter, Settings
from mcp_lectern.settings.reading import read

__all__ = ["DEFAULT_LANGUAGES", "PLACES", "Filter", "Settings", "read"]
