"""The theme's colours for charts and drawings, by the type of theme that the viewer sees."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.look.status import Slot

CONFIG = Path(__file__).parent.parent / ".streamlit" / "config.toml"
FONT = "IBM Plex Sans, sans-serif"
ICON_FONT = "Material Symbols Rounded"


@dataclass(frozen=True, slots=True)
class Tones:
    """One slot: for lines and icons, for areas behind text, and for text on those areas."""

    solid: str
    tint: str
    text: str


@dataclass(frozen=True, slots=True)
class Palette:
    """Every colour of one type of theme, as `#RRGGBB`."""

    dark: bool
    paper: str
    soft: str
    line: str
    text: str
    accent: str
    slots: dict[Slot, Tones]
    series: tuple[str, ...]
    """Chart series in order, at most five are used; never a status."""

    def __getitem__(self, slot: Slot) -> Tones:
        return self.slots[slot]

    @property
    def muted(self) -> str:
        """Text that is not read first: axis labels, second lines."""
        return self.slots[Slot.GRAY].text

    @property
    def on_solid(self) -> str:
        """Text on a slot's solid colour."""
        return self.paper


@cache
def palette_of(kind: str) -> Palette:
    """The palette of `light` or `dark`."""
    theme: dict[str, Any] = tomllib.loads(CONFIG.read_text(encoding="utf-8"))["theme"][kind]
    return Palette(
        dark=kind == "dark",
        paper=theme["backgroundColor"],
        soft=theme["secondaryBackgroundColor"],
        line=theme["borderColor"],
        text=theme["textColor"],
        accent=theme["primaryColor"],
        slots={
            slot: Tones(theme[f"{slot}Color"], theme[f"{slot}BackgroundColor"], theme[f"{slot}TextColor"])
            for slot in Slot
        },
        series=tuple(theme["chartCategoricalColors"]),
    )


def palette() -> Palette:
    """The palette of the theme that the viewer of this page sees."""
    return palette_of("dark" if st.context.theme.type == "dark" else "light")
