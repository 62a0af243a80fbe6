"""What was compiled before: where it is kept, how much it is, and forgetting it."""

import typer

from saftc.commands.reporting import counted, say

cache = typer.Typer(
    help="Show or remove the cache of earlier compilations.",
    epilog="Example: `saftc cache`",
)


@cache.callback(invoke_without_command=True)
def show_cache(context: typer.Context) -> None:
    """Tell where compiled modules are kept, and how much that is.

    The folder is SAFT_CACHE_DIR, or saftc's folder in the user's cache.
    """
    if context.invoked_subcommand is None:
        from saftc.project.cache import Cache
        from saftc.user_cache import cache_folder

        kept = Cache(cache_folder())
        print(f"{kept.folder}: {_amount(*kept.size())}")


@cache.command(epilog="Example: `saftc cache clear`")
def clear() -> None:
    """Forget what was compiled. Nothing but time is lost."""
    from saftc.project.cache import Cache
    from saftc.user_cache import cache_folder

    kept = Cache(cache_folder())
    say(f"{kept.folder}: removed {_amount(*kept.clear())}")


def _amount(files: int, size: int) -> str:
    return f"{counted(files, 'file')}, {size / 1e6:.1f} MB"
