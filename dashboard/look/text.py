"""Text that is not ours, made harmless for Markdown: it shows exactly what it says and loads nothing.

Streamlit's Markdown makes formulas of `$…$`, links of addresses even when they are escaped, icons of `:material/…:`,
arrows of `->`, and loads pictures from strangers' servers. What a backslash cannot stop is shown as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_NOT_STOPPED_BY_A_BACKSLASH = re.compile(
    r"(?P<address>(?:https?://|www\.)[^\s<>]+"
    r"|(?<![-.\w+])[-.\w+]{1,128}@[-\w]{1,128}(?:\.[-\w]{1,64})+"
    r"|@[-\w]{1,128}(?:\.[-\w]{1,64})+)"
    r"|(?P<icon>:material(?=/\w*:))"  # Streamlit changes the slash even in code, so the two are kept apart
    r"|(?P<sign>(?<!\S)(?:<->|->|<-|--|>=|<=|~=)(?!\S))",
    re.IGNORECASE,
)
Write = Callable[[SyntaxTreeNode], str]
NOTHING = "&nbsp;"
_CITATION = re.compile(r"\[(\d{1,3})\]")


def code(text: str) -> str:
    """The text as inline code, whatever it contains; nothing of it is interpreted."""
    flat = _one_line(text)
    if not flat.strip():
        return ""
    runs = [len(run) for run in re.findall(r"`+", flat)]
    fence = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    padding = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{padding}{flat}{padding}{fence}"


def escape(text: str) -> str:
    """Markdown of one line that shows the text literally; line breaks become spaces."""
    flat = _one_line(text).strip()
    written, done = [], 0
    for match in _NOT_STOPPED_BY_A_BACKSLASH.finditer(flat):
        found, end = match.group(), match.end()
        if match.group("address"):
            found = found.rstrip(".,;:!?\"')]}")
            end = match.start() + len(found)
        written += [_backslashed(flat[done : match.start()]), code(found)]
        done = end
    written.append(_backslashed(flat[done:]))
    return "".join(written)


def escape_lines(text: str) -> str:
    """Like `escape`, with line breaks and paragraphs kept."""
    paragraphs = re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n").strip())
    return "\n\n".join("  \n".join(escape(line) for line in paragraph.split("\n")) for paragraph in paragraphs)


def safe_markdown(text: str, *, citations: bool = False) -> str:
    """Markdown that a model wrote, with its tables, lists, emphasis and code, and nothing else.

    Pictures and links are shown as their words and address, HTML as text, headings as bold lines. With `citations`,
    `[1]` becomes a small mark. The result is written anew from what was parsed, so nothing unparsed gets through.
    """
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return _Writer(citations).blocks(SyntaxTreeNode(parser.parse(text)))


class _Writer:
    """Writes a parsed document as Markdown again, all of its text escaped."""

    def __init__(self, citations: bool) -> None:
        self._citations = citations
        self._block_writers: dict[str, Write] = {
            "paragraph": self._inline,
            "heading": lambda node: _around(self._inline(node), "**"),
            "bullet_list": lambda node: self._list(node, ["- "] * len(node.children)),
            "ordered_list": lambda node: self._list(node, _numbers(node)),
            "blockquote": lambda node: _prefixed(self.blocks(node), "> ", "> "),
            "fence": lambda node: _fenced(node.content),
            "code_block": lambda node: _fenced(node.content),
            "table": self._table,
            "hr": lambda _: "---",
        }
        self._span_writers: dict[str, Write] = {
            "text": lambda node: self._words(node.content),
            "code_inline": lambda node: code(node.content),
            "strong": lambda node: _around(self._spans(node), "**"),
            "em": lambda node: _around(self._spans(node), "*"),
            "s": lambda node: _around(self._spans(node), "~~"),
            "softbreak": lambda _: "\n",
            "hardbreak": lambda _: "  \n",
            "link": lambda node: _with_address(self._spans(node), node.attrs.get("href")),
            "image": lambda node: _with_address(self._words(node.content), node.attrs.get("src")),
        }

    def blocks(self, node: SyntaxTreeNode) -> str:
        """The blocks inside a node; close together where they were."""
        tight = any(child.type == "paragraph" and child.hidden for child in node.children)
        return ("\n" if tight else "\n\n").join(filter(None, map(self._block, node.children)))

    def _block(self, node: SyntaxTreeNode) -> str:
        write = self._block_writers.get(node.type)
        return write(node) if write else escape_lines(node.content)

    def _list(self, node: SyntaxTreeNode, signs: list[str]) -> str:
        # A list item without words would take the next line into itself.
        return "\n".join(
            _prefixed(self.blocks(item) or NOTHING, sign, " " * len(sign))
            for item, sign in zip(node.children, signs, strict=True)
        )

    def _table(self, node: SyntaxTreeNode) -> str:
        rows = [[self._cell(cell) for cell in row.children] for part in node.children for row in part.children]
        rules = [_alignment(cell) for cell in node.children[0].children[0].children]
        lines = [rows[0], rules, *rows[1:]]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _cell(self, cell: SyntaxTreeNode) -> str:
        # In a table a bar inside code has to be escaped too; one that is escaped already stays so.
        return re.sub(r"(?<!\\)\|", r"\\|", self._inline(cell))

    def _inline(self, node: SyntaxTreeNode) -> str:
        return "".join(self._spans(inline) for inline in node.children)

    def _spans(self, node: SyntaxTreeNode) -> str:
        return "".join(map(self._span, node.children))

    def _span(self, node: SyntaxTreeNode) -> str:
        write = self._span_writers.get(node.type)
        return write(node) if write else escape(node.content)

    def _words(self, text: str) -> str:
        if not self._citations:
            return _spaced(text)
        parts = _CITATION.split(text)
        return "".join(code(part) if index % 2 else _spaced(part) for index, part in enumerate(parts))


def _around(inner: str, sign: str) -> str:
    return f"{sign}{inner}{sign}" if inner.strip() else inner


def _with_address(words: str, address: object) -> str:
    shown = code(str(address or ""))
    if not words or words == shown:
        return shown
    return f"{words} ({shown})" if shown else words


def _numbers(node: SyntaxTreeNode) -> list[str]:
    first = int(node.attrs.get("start", 1))
    return [f"{first + index}. " for index in range(len(node.children))]


def _spaced(text: str) -> str:
    """Escaped, with the spaces at its ends kept: they stand between this piece of a line and the next."""
    if not text.strip():
        return " " if text else ""
    return (" " if text[0].isspace() else "") + escape(text) + (" " if text[-1].isspace() else "")


def _prefixed(text: str, first: str, rest: str) -> str:
    lines = text.split("\n")
    marked = [(first if index == 0 else rest) + line for index, line in enumerate(lines)]
    return "\n".join(whole if line else whole.rstrip(" ") for whole, line in zip(marked, lines, strict=True))


def _fenced(content: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{content.rstrip()}\n{fence}"


def _alignment(cell: SyntaxTreeNode) -> str:
    style = str(cell.attrs.get("style", ""))
    return "---:" if "right" in style else ":---:" if "center" in style else "---"


def _one_line(text: str) -> str:
    return re.sub(r"\s*[\r\n\u2028\u2029]\s*", " ", text).replace("\t", " ").replace("\x00", "\ufffd")


def _backslashed(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", text)
