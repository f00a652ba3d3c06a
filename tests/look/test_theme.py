import re
import tomllib
import xml.etree.ElementTree as ET
from itertools import combinations
from pathlib import Path

import pytest

from dashboard.look.colours import CONFIG, palette_of
from dashboard.look.status import Slot

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "dashboard" / "static"
THEME = tomllib.loads(CONFIG.read_text())["theme"]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_configuration_at_the_top_is_the_packaged_one() -> None:
    assert (ROOT / ".streamlit" / "config.toml").read_bytes() == CONFIG.read_bytes()


def test_every_font_of_the_theme_is_shipped_with_its_licence() -> None:
    for face in THEME["fontFaces"]:
        assert face["url"].startswith("app/static/fonts/")
        assert (STATIC / "fonts" / Path(face["url"]).name).read_bytes()[:4] == b"wOF2"
    shipped = {path.name for path in (STATIC / "fonts").glob("*.woff2")}
    assert shipped == {Path(face["url"]).name for face in THEME["fontFaces"]}
    for licence in (STATIC / "fonts").glob("OFL-*.txt"):
        assert "SIL OPEN FONT LICENSE" in licence.read_text().upper()


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_text_can_be_read_on_its_ground(kind: str) -> None:
    colours = palette_of(kind)
    for slot in Slot:
        assert contrast(colours[slot].text, colours[slot].tint) >= 5.8, slot
    assert contrast("#FFFFFF", colours.accent) >= 4.5
    assert contrast(colours.muted, colours.paper) >= 4.5


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_every_slot_has_a_colour_of_its_own(kind: str) -> None:
    colours = palette_of(kind)
    assert all(colours[one].solid != colours[other].solid for one, other in combinations(Slot, 2))
    assert not set(colours.series) & {colours[slot].solid for slot in Slot}
    assert len(THEME[kind]["chartSequentialColors"]) == 10


@pytest.mark.parametrize("name", ["logo-light", "logo-dark", "mark-light", "mark-dark"])
def test_the_logo_is_drawn_in_paths(name: str) -> None:
    svg = ET.fromstring((STATIC / f"{name}.svg").read_text())
    tags = {re.sub(r"{.*}", "", element.tag) for element in svg.iter()}
    assert tags <= {"svg", "g", "rect", "path"}
