"""HTML that is escaped unless it says that it is HTML."""

from html import escape

VOID = ("meta", "br", "img", "link")


class Markup(str):
    """Text that is HTML already; all other text is escaped on its way into an element."""


def element(name: str, /, *content: str, **attributes: str | int | None) -> Markup:
    """`element("td", "a < b", class_="number")`. Attributes that are None are left out; `_` stands for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(*content)}</{name}>")


def join(*content: str) -> Markup:
    """Pieces one after another."""
    return Markup("".join(piece if isinstance(piece, Markup) else escape(piece, quote=False) for piece in content))
