"""No provider: every prompt is an error that says how to get one."""

from __future__ import annotations

from runtime_support.errors import ConfigError
from runtime_support.exchange import Reply, Request


class NoProvider:
    """Answers nothing."""

    def complete(self, request: Request) -> Reply:
        """ConfigError, always."""
        raise ConfigError(
            "no model is configured",
            setting="provider",
            hint=(
                "set OPENAI_API_KEY or OPENROUTER_API_KEY, or SAFT_BASE_URL for another server; "
                "`pip install 'saftc[local]'` and set SAFT_LOCAL_MODEL to a GGUF file for an "
                "embedded model; or set SAFT_PROVIDER=mock to try things without one"
            ),
        )
