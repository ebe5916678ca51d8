"""docs/configuration.md, made from the configuration classes, so that it cannot drift: ``python -m penname.core.reference``."""

from __future__ import annotations

from typing import get_args

from penname.core.config import Config


def configuration_page() -> str:
    """The page: a table a section with each key's default and what it does."""
    lines = [
        "# Configuration",
        "",
        "All of `voice.toml`. Every key has a default; `--set section.key=value` overrides one for a single command, and unknown keys",
        "are refused with the nearest match. Made by `python -m penname.core.reference`; a test fails where it is out of date.",
    ]
    for name, section in Config.model_fields.items():
        title = (section.annotation.__doc__ or "").strip() if section.annotation else ""
        lines += ["", f"## {title}", "", "| key | default | what it does |", "|---|---|---|"]
        for key, field in section.default.__class__.model_fields.items():
            options = [f"`{option}`" for option in get_args(field.annotation) if isinstance(option, str)]
            choice = f" One of {', '.join(options)}." if options else ""
            lines.append(f"| `{name}.{key}` | `{_shown(field.default)}` | {field.description}{choice} |")
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(_shown(item) for item in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    print(configuration_page(), end="")
