"""Commands that kinds of problems add to the command line, found in their records when they are asked for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import BrokenPlugin
from ..plugins import tell_once
from ..registry import BUILT_IN, kinds


class Commands(TyperGroup):
    """The commands of this package, and behind them those of kinds; a name that is taken stays with its first owner.

    Records of kinds are loaded for help, and for a command that is none of ours.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, for help; a command that cannot be loaded is named once, and left out."""
        own = super().list_commands(ctx)
        return [*own, *(name for name in added(own) if self._sound(ctx, name))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name, ``None`` if there is none."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        owner = added(super().list_commands(ctx)).get(cmd_name)
        return None if owner is None else _command(cmd_name, kinds.command(owner, cmd_name))

    def _sound(self, ctx: Any, name: str) -> bool:
        try:
            return self.get_command(ctx, name) is not None
        except BrokenPlugin as failure:
            tell_once(f"command:{name}", f"{failure} It is passed by.")
            return False


def added(taken: Collection[str]) -> dict[str, str]:
    """Name of a command to the kind that adds it, built-in kinds first; without those that are taken."""
    owners: dict[str, str] = {}
    for kind in sorted(kinds.sound(), key=lambda kind: kinds.origin(kind.name) != BUILT_IN):
        for name in kind.commands:
            if name in taken or name in owners:
                whose = f"kind {owners[name]!r}" if name in owners else "optmodels"
                sentence = f"command {name!r} of kind {kind.name!r} is passed by, {whose} has one of this name."
                tell_once(f"command:{kind.name}:{name}", sentence)
            else:
                owners[name] = kind.name
    return owners


def _command(name: str, function: Any) -> Any:
    """The command that a function with the annotations of `typer` stands for."""
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    single.command(name)(function)
    try:
        return typer.main.get_command(single)
    except Exception as failure:  # annotations that typer does not take
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise BrokenPlugin(f"command {name!r} is none: {reason}; tell those who offer it.") from failure
