"""LangGraph's own savers on our databases. State is plain JSON, so no class is ever loaded from a checkpoint."""

from __future__ import annotations

import copy
import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.errors import StorageError
from traces.room import room_wanted

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

log = logging.getLogger(__name__)

BUSY_SECONDS = 10.0


def serializer() -> JsonPlusSerializer:
    """Loads LangGraph's own safe types only, and never a pickle."""
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer  # noqa: PLC0415  # LangGraph may be missing

    return JsonPlusSerializer(pickle_fallback=False, allowed_msgpack_modules=None)


@contextmanager
def open_checkpointer(location: str) -> Iterator[BaseCheckpointSaver[Any] | None]:
    """The saver for a path or a `postgresql://` URL, with its tables made; None if LangGraph cannot be imported.

    StorageError if the store cannot be opened.
    """
    postgresql = location.startswith("postgresql://")
    if not _importable("langgraph.checkpoint.postgres" if postgresql else "langgraph.checkpoint.sqlite"):
        yield None
    elif postgresql:
        with _postgres(location) as saver:
            yield saver
    else:
        with _sqlite(Path(location)) as saver:
            yield saver


def _importable(savers: str) -> bool:
    try:
        for module in ("langgraph.graph", savers):
            import_module(module)
    except Exception as error:  # noqa: BLE001  # the boundary: a framework that does not fit raises anything
        log.warning("LangGraph cannot be imported (%s); runs that begin now work without it.", error)
        return False
    return True


def guarded(saver: BaseCheckpointSaver[Any], check: Callable[[], None]) -> BaseCheckpointSaver[Any]:
    """The same saver for one run: nothing is written unless `check` passes, and its database's errors are ours.

    LangGraph's savers have no place for either, and they differ by engine; so the copy gets its methods wrapped.
    A failing store then stays what it is, and is never taken for a failing step.
    """
    copied = copy.copy(saver)
    for name, checked in (("get_tuple", False), ("put", True), ("put_writes", True)):
        setattr(copied, name, _wrapped(getattr(saver, name), check if checked else None))
    return copied


def _wrapped(method: Callable[..., Any], check: Callable[[], None] | None) -> Callable[..., Any]:
    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        if check is not None:
            check()
        try:
            return method(*args, **kwargs)
        except Exception as error:
            if type(error).__module__.split(".")[0] in ("sqlite3", "psycopg", "psycopg_pool"):
                raise StorageError(f"The checkpoints cannot be read or written now: {error}.") from error
            raise

    return call


@contextmanager
def _sqlite(path: Path) -> Iterator[BaseCheckpointSaver[Any]]:
    from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415  # only the engine in use is imported

    try:
        connection = sqlite3.connect(path, check_same_thread=False, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        saver = SqliteSaver(connection, serde=serializer())
        saver.setup()
    except sqlite3.Error as error:
        raise StorageError(
            f"{path} cannot be opened as a checkpoint database: {error}. Check the folder's permissions, or restore "
            f"the file from a backup. {room_wanted(path.parent)}"
        ) from error
    try:
        yield saver
    finally:
        connection.close()


@contextmanager
def _postgres(url: str) -> Iterator[BaseCheckpointSaver[Any]]:
    import psycopg  # noqa: PLC0415  # only the engine in use is imported
    from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415
    from psycopg.rows import dict_row  # noqa: PLC0415
    from psycopg_pool import ConnectionPool, PoolTimeout  # noqa: PLC0415

    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: Any = ConnectionPool(url, min_size=1, max_size=8, kwargs=options, open=False, timeout=BUSY_SECONDS)
    try:
        pool.open(wait=True, timeout=BUSY_SECONDS)
        saver = PostgresSaver(pool, serde=serializer())
        saver.setup()
    except (psycopg.Error, PoolTimeout) as error:
        pool.close()
        raise StorageError(f"The checkpoint tables cannot be opened on PostgreSQL: {error}.") from error
    try:
        yield saver
    finally:
        pool.close()
