"""`aglet plan` for a set of FHEW: the time of calls, and the margin that their noise leaves."""

from __future__ import annotations

import math
from typing import Any

from aglet import FhewEngine, _core
from aglet.cli import output
from aglet.errors import RangeError
from aglet.fhew.estimate import Estimate

__all__ = ["is_fhew_preset", "plan_fhew"]

_CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("table", "lookup", {}),
    ("table in the full domain", "lookup", {"domain": "full"}),
    ("two tables at once", "lookup", {"table": [lambda m: m, lambda m: 0]}),
    ("table of two messages", "lookup2", {}),
    ("sign of 8 bits", "sign", {"bits": 8}),
    ("sign of 20 bits", "sign", {"bits": 20}),
    ("comparison of 20 bits", "<", {"bits": 20}),
    ("5 of 10 bits off", "floor", {"bits": 10, "low": 5}),
    ("digits of 8 bits", "digits", {"bits": 8}),
    ("digits of 16 bits", "digits", {"bits": 16}),
]
_GATES: list[tuple[str, str, dict[str, Any]]] = [(gate, gate, {}) for gate in ("nand", "xor", "majority", "mux")]
_SOURCES = {
    "fresh": "a fresh ciphertext",
    "bootstrap": "the result of a bootstrap",
    "key_switch": "the key switch before a rotation",
    "mod_switch": "rounding to exponents",
    "decision": "all of the heaviest sum",
}


def is_fhew_preset(name: str) -> bool:
    """Whether FHEW has a parameter set of this name."""
    return any(known["name"] == name for known in _core.fhew_presets())


def plan_fhew(preset: str, allow_insecure: bool, json: bool) -> None:
    """Print the plan. No key is made, and nothing is run."""
    engine = FhewEngine(preset=preset, allow_insecure=allow_insecure)
    found = [(words, made) for words, what, options in (_GATES if engine.bits == 1 else _CALLS)
             if (made := _estimate(engine, what, options)) is not None]  # fmt: skip
    facts = {
        "preset": engine.preset,
        "bits": engine.bits,
        "method": engine.method,
        "security_bits": engine.security_bits,
        "log2_failure": engine.log2_failure,
        "key_bytes": found[0][1].key_bytes,
        "backend": engine.backend,
    }
    if json:
        calls = [{"call": words, **vars(made)} for words, made in found]
        output.json_line({**facts, "noise": engine.noise, "calls": calls})
        return
    console = output.console()
    source = found[0][1].source
    how = f"by a model of one thread with {engine.backend} kernels" if source == "modelled" else f"rotations {source}"
    title = f"{engine.preset}: one call on fresh ciphertexts, {how}"
    rows = [(words, one.rotations, f"{1000 * one.seconds:.1f} ms", _failure(one)) for words, one in found]
    for part in output.fitting(title, ("call", "rotations", "time", "failure"), rows, console.width):
        console.print(part)
    console.print(
        output.facts(
            "Noise: standard deviations, and the distance at which a message is misread, on the torus", _noise(engine)
        )
    )
    console.print(
        f"A sum of results is decrypted wrongly with probability 2^{engine.log2_failure:.0f} at most if its squared "
        f"weights add up to {engine.noise['squared_weights']:g} or less; security {engine.security_bits:.1f} bits, "
        f"FHEW bootstrap key {found[0][1].key_bytes / 1000000.0:.1f} MB."
    )


def _estimate(engine: FhewEngine, what: str, options: dict[str, Any]) -> Estimate | None:
    """None for calls that fail too often in this set with any method."""
    try:
        return engine.estimate(what, **options)
    except RangeError:
        return None


def _failure(one: Estimate) -> str:
    return f"2^{one.log2_failure:.0f}" + ("" if one.log2_failure <= -128 else ", refused")


def _noise(engine: FhewEngine) -> list[tuple[str, str]]:
    noise = engine.noise
    deviations = [(words, noise[name]) for name, words in _SOURCES.items()]  # type: ignore[literal-required]
    distances = [(f"distance, {domain} messages", found) for domain, found in noise["distance"].items()]
    return [(words, f"2^{math.log2(value):.2f}") for words, value in deviations + distances]
