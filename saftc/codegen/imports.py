"""The import lines of a module: what was used, and nothing else, in isort's order."""

import sys
from dataclasses import dataclass, field

# What the output may import, and from where.
SOURCES = {
    "Annotated": "typing",
    "Any": "typing",
    "Literal": "typing",
    "Result": "runtime_support",
    "ToolCall": "runtime_support",
    "TypedDict": "typing",
    "Usage": "runtime_support",
    "field": "dataclasses",
    "dataclass": "dataclasses",
    "suppress": "contextlib",
    "ambiguous": "runtime_support",
    "check": "runtime_support",
    "kind": "runtime_support",
    "ops": "runtime_support",
    "option": "runtime_support",
    "Plan": "runtime_support",
    "run": "runtime_support",
    "parse": "runtime_support",
    "program": "runtime_support",
    "prompt": "runtime_support",
    "read_text": "runtime_support",
    "show": "runtime_support",
    "to_json": "runtime_support",
    "write_text": "runtime_support",
    "os": "",
}


@dataclass(slots=True)
class Imports:
    """The names used so far."""

    names: set[str] = field(default_factory=set[str])

    def render(self) -> str:
        """The import lines, one module each, the standard library first; empty when none."""
        plain = sorted(name for name in self.names if not SOURCES[name])
        modules: dict[str, list[str]] = {}
        for name in sorted(self.names, key=_isort_key):
            if SOURCES[name]:
                modules.setdefault(SOURCES[name], []).append(name)
        standard = [f"import {name}" for name in plain]
        ours: list[str] = []
        for module in sorted(modules):
            line = f"from {module} import {', '.join(modules[module])}"
            (standard if module in sys.stdlib_module_names else ours).append(line)
        return "\n\n".join("\n".join(group) for group in (standard, ours) if group)


def _isort_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest, each by name."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
