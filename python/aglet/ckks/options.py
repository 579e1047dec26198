"""The meaning of the arguments of `Engine`: a preset, a number of slots, a number of threads.

The arguments are those of the documented CKKS interface. What this version does not have is refused with a sentence,
never ignored.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from aglet import _core, cards, checks
from aglet.errors import ParameterError

__all__ = ["PRECISIONS", "EngineOptions", "available_cores", "choose", "presets"]

_T = TypeVar("_T")

# By (bootstrap to 14 levels, compact).
_BOOTSTRAP_PRESETS = {
    (False, False): "regular",
    (False, True): "compact",
    (True, False): "to14",
    (True, True): "to14-compact",
}
# By the word for precision: the preset, and the iterations of a bootstrap.
PRECISIONS = {"standard": ("regular", 1), "high": ("precise", 1), "highest": ("precise", 2)}
_DEFAULT_MAX_LEVEL = 7
_MIN_SECURITY_BITS = 128.0
# log_coeff_count -> the most levels that the ring carries. Special primes are Aglet's own choice.
_RING_LEVELS = {13: 2, 14: 7, 15: 17, 16: 36, 17: 77}
_NUMBERS = (
    "max_level", "slot_count", "log_slot_count", "thread_count", "device_id", "log_coeff_count", "special_prime_count",
)  # fmt: skip
# An engine takes so many threads, or twice the cores where that is more.
_MOST_THREADS = 64


@dataclass(frozen=True)
class EngineOptions:
    """The arguments of `Engine`, resolved."""

    preset: str
    slot_count: int | None
    max_level: int | None
    mode: str
    threads: int
    levels: int | None = None
    """The number of levels that the parameter set is cut to; None for a set that bootstraps."""
    iterations: int = 1
    """The iterations of a bootstrap that does not say how many."""
    parameters: str | None = None
    """The text of the user's own parameter set, which replaces the preset."""
    card: int | None = None
    """The number of the card that computes; None for the processor."""


def available_cores() -> int:
    """The number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choose(positional: tuple[int | str, ...], given: Mapping[str, Any]) -> EngineOptions:
    """Resolve the arguments of `Engine`; see there for their meaning.

    Raises
    ------
    TypeError
        If the positional arguments have none of the known forms.
    ParameterError
        If arguments contradict one another or ask for something that this version does not have.
    DeviceError
        If the mode is "gpu" and the card cannot be used.
    """
    by_position = _read_positional(
        tuple(v if isinstance(v, str) else _whole("A number by position", v) for v in positional)
    )
    w = SimpleNamespace(**given)
    for name in _NUMBERS:
        setattr(w, name, _whole(name, given[name]))
    for name in ("mode", "precision", "preset"):
        setattr(w, name, None if given[name] is None else checks.string(name, given[name]))
    for name, value in by_position._asdict().items():
        setattr(w, name, _once(name, value, getattr(w, name)))
    mode = "cpu" if w.mode is None else w.mode
    mode, card = cards.chosen(mode, w.device_id)
    threads = _threads(mode, w.thread_count)

    if w.use_bootstrap and w.use_bootstrap_to_14_levels:
        raise ParameterError("use_bootstrap and use_bootstrap_to_14_levels exclude each other; give one of them.")
    bootstraps = w.use_bootstrap or w.use_bootstrap_to_14_levels
    slots, by_ring = _slot_count(w.slot_count, w.log_slot_count), (w.log_coeff_count, w.special_prime_count)
    if w.parameters is not None:
        others = [w.max_level, *by_ring, w.precision, w.preset]
        if bootstraps or w.compact or any(word is not None for word in others):
            raise ParameterError(
                "parameters defines the whole parameter set; leave out preset, precision, max_level, "
                "log_coeff_count, special_prime_count, compact and use_bootstrap (a set that can bootstrap does so "
                "without it)."
            )
        return EngineOptions("", slots, None, mode, threads, None, 1, w.parameters, card)
    _check_precision(w.precision, w.use_bootstrap, w.compact, w.preset)
    flag = "use_bootstrap" if w.use_bootstrap else "use_bootstrap_to_14_levels"
    fixed = "preset" if w.preset is not None else flag if bootstraps else None
    if fixed and (w.max_level, *by_ring) != (None, None, None):
        raise ParameterError(
            f"{fixed} already fixes the ring and its levels; "
            "leave out max_level, log_coeff_count and special_prime_count."
        )
    preset, max_level, levels, iterations = w.preset, w.max_level, None, 1
    if preset is None:
        if w.precision is not None and not w.compact:
            preset, iterations = PRECISIONS[w.precision]
        elif bootstraps:
            preset = _BOOTSTRAP_PRESETS[w.use_bootstrap_to_14_levels, w.compact]
        else:
            levels = _level_count(max_level, *by_ring, slots)
            preset = _level_preset(levels)
            if w.log_coeff_count is None and levels < _levels_for(slots):
                # The set is chosen by its levels, so a wider ring is asked for by those that only it carries.
                max_level, levels = levels, _levels_for(slots)
                preset = _level_preset(levels)
    info = _preset_info(preset)
    if bootstraps and not info["methods"]:
        raise ParameterError(f'The preset "{preset}" cannot bootstrap; leave out {flag} or choose another.')
    return EngineOptions(preset, slots, max_level, mode, threads, levels, iterations, card=card)


def _check_precision(precision: str | None, use_bootstrap: bool, compact: bool, preset: str | None) -> None:
    if precision is None:
        return
    checks.choice("precision", precision, PRECISIONS)
    if preset is not None:
        raise ParameterError("preset already fixes the precision; leave one of the two out.")
    if not use_bootstrap or (compact and precision != "standard"):
        raise ParameterError(
            f'precision="{precision}" needs use_bootstrap=True and excludes compact; give Engine(use_bootstrap=True, '
            f'precision="{precision}").'
        )


def _whole(name: str, value: Any) -> Any:
    """Convert a whole number of numpy to `int`. None stays None."""
    if value is None:
        return None
    found = checks.whole(name, value)
    if abs(found) >= 2**62:
        raise ParameterError(f"{name}={value} has more than 62 bits; give a smaller number.")
    return found


class _Positional(NamedTuple):
    mode: str | None = None
    max_level: int | None = None
    log_coeff_count: int | None = None
    special_prime_count: int | None = None


def _read_positional(values: tuple[int | str, ...]) -> _Positional:
    match values:
        case ():
            return _Positional()
        case (str(mode),):
            return _Positional(mode)
        case (int(max_level),):
            return _Positional(None, max_level)
        case (int(max_level), str(mode)):
            return _Positional(mode, max_level)
        case (int(log_count), int(primes)):
            return _Positional(None, None, log_count, primes)
        case (int(log_count), int(primes), str(mode)):
            return _Positional(mode, None, log_count, primes)
    raise TypeError(
        "Engine() takes these arguments by position: (mode), (max_level), (max_level, mode), (log_coeff_count, "
        "special_prime_count) or (log_coeff_count, special_prime_count, mode); give all others by name."
    )


def _once(name: str, by_position: _T | None, by_name: _T | None) -> _T | None:
    if by_position is not None and by_name is not None:
        raise TypeError(f"{name} was given twice, by position and by name; give it once.")
    return by_name if by_position is None else by_position


def _threads(mode: str, thread_count: int | None) -> int:
    if thread_count is not None and thread_count < 0:
        raise ParameterError(f"thread_count={thread_count} is negative; use 0 for all cores.")
    most = max(_MOST_THREADS, 2 * (os.cpu_count() or 1), 2 * available_cores())
    if thread_count is not None and thread_count > most:
        cores = available_cores()
        warnings.warn(
            f"thread_count={thread_count} is more than the {most} threads that an engine uses on this machine; it "
            f"uses {cores}, one per core. Leave thread_count out, or give 0 for all cores.",
            RuntimeWarning,
            stacklevel=4,
        )
        return cores
    return thread_count or (1 if mode == "cpu" else available_cores())


def _level_count(
    max_level: int | None, log_coeff_count: int | None, special_prime_count: int | None, slots: int | None
) -> int:
    if log_coeff_count is None and special_prime_count is None:
        if max_level is not None:
            return max_level
        # More slots than the ring of 7 levels has: the smallest ring that has them, with all its levels.
        wide = slots is not None and slots > _slots_of(_DEFAULT_MAX_LEVEL)
        return _RING_LEVELS[_ring_for(slots)] if wide else _DEFAULT_MAX_LEVEL
    if log_coeff_count is None or special_prime_count is None:
        raise ParameterError("log_coeff_count and special_prime_count belong together; give both, or max_level alone.")
    if max_level is not None:
        raise ParameterError("log_coeff_count already fixes the levels; leave out max_level.")
    if log_coeff_count not in _RING_LEVELS:
        raise ParameterError(
            f"There is no ring with log_coeff_count={log_coeff_count}; give {min(_RING_LEVELS)} to {max(_RING_LEVELS)}."
        )
    if special_prime_count < 1:
        raise ParameterError(f"special_prime_count={special_prime_count} is below 1; give at least 1.")
    return _RING_LEVELS[log_coeff_count]


def _ring_for(slots: int | None) -> int:
    """The smallest ring with that many slots."""
    needed = (slots or 1).bit_length()
    if needed > max(_RING_LEVELS):
        raise ParameterError(
            f"slot_count={slots} is more than any ring has; give at most {2 ** (max(_RING_LEVELS) - 1)}, and split "
            "longer messages into several ciphertexts with encrypt_many."
        )
    return max(needed, min(_RING_LEVELS))


def _slots_of(levels: int) -> int:
    """The number of slots of the smallest ring with that many levels."""
    return int(2 ** (min(ring for ring, most in _RING_LEVELS.items() if most >= levels) - 1))


def _levels_for(slots: int | None) -> int:
    """The fewest levels whose ring has that many slots: one more than the levels of the next smaller ring."""
    return _RING_LEVELS.get(_ring_for(slots) - 1, -1) + 1


@functools.cache
def presets() -> tuple[_core.PresetInfo, ...]:
    """The parameter sets of this version. They never change, and to estimate all of them takes 50 ms."""
    return tuple(_core.presets())


def _level_preset(levels: int) -> str:
    """The smallest secure preset without bootstrapping that has at least `levels` levels."""
    if levels < 0:
        raise ParameterError(f"max_level={levels} is negative; give the number of multiplications in a row, 0 or more.")
    plain = [p for p in presets() if not p["methods"] and p["security_bits"] >= _MIN_SECURITY_BITS]
    fitting = [p for p in plain if p["levels"] >= levels]
    if not fitting:
        most = max((p["levels"] for p in plain), default=0)
        raise ParameterError(
            f"This version has no parameter set with max_level={levels}; without bootstrapping it has up to {most}. "
            "Engine(use_bootstrap=True) computes without a limit."
        )
    return min(fitting, key=lambda p: (p["log_n"], p["levels"]))["name"]


def _preset_info(name: str) -> _core.PresetInfo:
    known = {p["name"]: p for p in presets()}
    if name not in known:
        raise ParameterError(f'There is no preset "{name}"; this version has {", ".join(sorted(known))}.')
    return known[name]


def _slot_count(slot_count: int | None, log_slot_count: int | None) -> int | None:
    if slot_count is not None and log_slot_count is not None:
        raise ParameterError("slot_count and log_slot_count mean the same; give one of them.")
    given = slot_count if slot_count is not None else log_slot_count
    if given is None:
        return None
    if log_slot_count is not None:
        if not 0 <= log_slot_count <= 32:
            raise ParameterError(
                f"log_slot_count={log_slot_count} is out of range; give for example 15 for 32768 slots."
            )
        return int(2**log_slot_count)
    if given < 1 or given & (given - 1):
        raise ParameterError(f"slot_count={given} is not a power of two; the next larger one is {_next_power(given)}.")
    return given


def _next_power(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()
