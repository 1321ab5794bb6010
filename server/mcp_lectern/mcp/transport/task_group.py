"""A task group that ends with its block, and raises one error as itself; must not know what its tasks do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def task_group() -> AsyncIterator[TaskGroup]:
    """A task group whose tasks are cancelled at the block's end, however that comes about."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        error = group.exceptions[0]
        if len(group.exceptions) > 1:
            raise
        raise error from error.__cause__
