"""A text with the resources that it mentions, each once, in frames; must not know how anything is read.

The order of work: ``plan`` says which resources a text mentions, somebody reads them, ``outcomes`` says what
became of each, and ``framed`` writes it all down.
"""

from __future__ import annotations

from mcp_lectern.features.expand.frames import FORMATS, Format, framed
from mcp_lectern.features.expand.model import Outcome, Status, Unread, Wanted
from mcp_lectern.features.expand.outcome import outcomes
from mcp_lectern.features.expand.plan import plan

__all__ = ["FORMATS", "Format", "Outcome", "Status", "Unread", "Wanted", "framed", "outcomes", "plan"]
