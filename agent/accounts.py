"""Who is at this machine."""

from __future__ import annotations

import getpass
import os


def system_user() -> str:
    """The account of the operating system, by number if it has no name; a claimed name is stored beside it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
