"""The page of threads. Looking at a thread, scrubbing and playing only read."""

from __future__ import annotations

from agent.errors import NotFoundError
from dashboard.look import places
from dashboard.named_stores import OWN
from dashboard.services import services
from dashboard.threads_page.listing import draw_list
from dashboard.threads_page.opened import draw_thread
from dashboard.threads_page.reading import stores_of


def draw() -> None:
    """The list, or the thread that the address names."""
    app = services()
    stores = stores_of(app)
    name = places.selected("store") or OWN
    store = stores.get(name)
    if store is None:
        raise NotFoundError(f"There is no store {name} here; there are {', '.join(stores)}.")
    thread_id = places.selected("thread")
    if thread_id is None:
        draw_list(app, stores, store)
    else:
        draw_thread(app, store, thread_id)


draw()
