"""`validate_store` tells whether a store keeps every promise of the `Store` seam.

Give it a function that opens your store by name, and look at the report:
`report = validate_store(factory)`, then `assert report.ok, report`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..errors import InvalidValue
from . import change_checks, crowd_checks, row_checks, search_checks
from .case import Broken, Case, Factory, NotAsked

Check = Callable[[Case], None]

CHECKS: dict[str, tuple[Check, ...]] = {
    **row_checks.CHECKS,
    **search_checks.CHECKS,
    **change_checks.CHECKS,
    **crowd_checks.CHECKS,
}
"""Every check, by what it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one check ended."""

    group: str
    check: str
    """What is promised, as a sentence."""
    state: Literal["kept", "broken", "not asked"]
    why: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        sign = {"kept": "ok  ", "broken": "FAIL", "not asked": "  ? "}[self.state]
        return f"  {sign} {self.check}" + (f"\n         {self.why}" if self.why else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `validate_store` found. Printed, it says what failed and how."""

    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether every promise was asked for and kept."""
        return all(outcome.state == "kept" for outcome in self.outcomes)

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The promises that are not kept."""
        return tuple(outcome for outcome in self.outcomes if outcome.state == "broken")

    def __str__(self) -> str:
        lines = []
        for group in dict.fromkeys(outcome.group for outcome in self.outcomes):
            lines += [group, *(str(each) for each in self.outcomes if each.group == group)]
        return "\n".join([*lines, self._summary()])

    def _summary(self) -> str:
        states = [outcome.state for outcome in self.outcomes]
        counts = [f"{states.count('kept')} of {len(states)} promises kept"]
        counts += [f"{states.count(s)} {s}" for s in ("broken", "not asked") if s in states]
        return ", ".join(counts) + f" ({sum(each.seconds for each in self.outcomes):.1f} s)"


def validate_store(factory: Factory, *, groups: Sequence[str] = ()) -> Report:
    """Check every promise of the `Store` seam, and return what was found.

    `factory(name)` opens the store of that name, or opens it again. Names are new at each run, and
    each check uses its own. Some checks open the store in a second process: for them the factory
    must be a function at the top of a module, or a `functools.partial` of one. `groups` picks some
    of the groups only.
    """
    for group in groups:
        if group not in CHECKS:
            raise InvalidValue(f"no group {group!r} of checks. Allowed: {', '.join(CHECKS)}.")
    run = os.urandom(4).hex()
    return Report(
        outcomes=tuple(
            _outcome(group, check, Case(factory, f"{check.__name__[:40]}_{run}"))
            for group in groups or CHECKS
            for check in CHECKS[group]
        )
    )


def _outcome(group: str, check: Check, case: Case) -> Outcome:
    began = time.monotonic()
    state, why = _tried(check, case)
    return Outcome(
        group=group,
        check=check.__name__.replace("_", " "),
        state=state,
        why=why,
        seconds=time.monotonic() - began,
    )


def _tried(check: Check, case: Case) -> tuple[Literal["kept", "broken", "not asked"], str]:
    try:
        check(case)
    except Broken as broken:
        return "broken", str(broken)
    except NotAsked as reason:
        return "not asked", str(reason)
    except Exception as error:  # noqa: BLE001 - a store may raise anything, and the rest is asked too
        return "broken", f"{type(error).__name__}: {error}"
    finally:
        case.close()
    return "kept", ""
