"""The settings in force, as a run here would take them: as far as they bound requests."""

from saftc.bounds.rules import Limits


def limits_here() -> Limits:
    """Those of the environment, the project file and the defaults; the runtime is loaded for them.

    ConfigError when one of them is not what it may be.
    """
    from saftc.runtime import program_limits, settings_to_show

    settings = settings_to_show()
    return Limits(
        settings.repairs,
        settings.max_tool_rounds,
        settings.max_tool_calls,
        program_limits.calls,
        settings.retries,
        settings.max_requests,
        settings.structured == "on",
    )
