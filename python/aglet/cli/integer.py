"""The sets of integers on the command line: `aglet params` and `aglet plan` of them."""

from __future__ import annotations

from aglet import IntegerEngine, _core
from aglet.cli import output
from aglet.integer.bootstrapping import BOOTSTRAP_INPUT_LEVEL
from aglet.reports import gigabytes

__all__ = ["is_integer_preset", "plan_integer", "print_integer_presets"]

_TABLES = ((4, 1), (8, 2), (8, 1), (12, 3))
"""Bits and digits of tables that a plan speaks of."""


def is_integer_preset(name: str) -> bool:
    """Whether integers have a set of this name."""
    return any(known["name"] == name for known in _core.integer_presets())


def _circuits(engine: IntegerEngine) -> list[dict[str, object]]:
    """What circuits take, and whether the set has their levels."""
    tables = [
        (bits, digits, engine.plan_lookup([pow(3, i, 65537) for i in range(2**bits)], digits))
        for bits, digits in _TABLES
    ]
    rows = [("product", 1, 1)]
    rows += [
        (f"table of {bits} bits" + (f" in {digits} digits" if digits > 1 else ""), made.levels, made.relinearizations)
        for bits, digits, made in tables
    ]
    for bits in (4, 8):
        made = engine.plan_compare(bits)
        rows.append((f"comparison of {bits} bits", made.levels, made.relinearizations))
    return [
        {"circuit": words, "levels": levels, "relinearizations": count, "fits": levels <= engine.max_level}
        for words, levels, count in rows
    ]


def _bootstrap(engine: IntegerEngine) -> dict[str, int] | None:
    """Levels and bytes of a bootstrap, if the set has one."""
    level = engine.bootstrap_output_level
    if level is None:
        return None
    key, maps = engine.bootstrap_forecast()
    return {"input_level": BOOTSTRAP_INPUT_LEVEL, "output_level": level, "key_bytes": key, "map_bytes": maps}


def plan_integer(preset: str, json: bool) -> None:
    """Print what a set has and what circuits take: no key is made, and nothing runs."""
    engine, info = IntegerEngine(preset=preset), next(p for p in _core.integer_presets() if p["name"] == preset)
    circuits, refresh = _circuits(engine), _bootstrap(engine)
    if json:
        output.json_line({**info, "slot_count": engine.slot_count, "circuits": circuits, "bootstrap": refresh})
        return
    console = output.console()
    title = f"{preset}: {engine.slot_count} integers modulo {engine.plaintext_modulus}, {engine.max_level} levels"
    rows = [
        (row["circuit"], row["levels"], row["relinearizations"], "" if row["fits"] else "too few levels here")
        for row in circuits
    ]
    for part in output.fitting(title, ("circuit", "levels", "relinearizations", ""), rows, console.width):
        console.print(part)
    console.print(
        output.facts(
            "Forecast",
            [
                ("ring", f"N = 2^{info['log_n']}, log QP = {info['log_qp']:.0f}"),
                ("security", f"{info['security_bits']:.1f} bits"),
                ("relinearization key", gigabytes(info["relinearization_key_bytes"])),
                ("rotation key", gigabytes(info["rotation_key_bytes"])),
                ("fresh ciphertext", f"{info['ciphertext_bytes'] / 1e6:.1f} MB"),
                *(
                    [
                        ("bootstrap", f"from level {refresh['input_level']} to {refresh['output_level']}"),
                        ("bootstrap key", gigabytes(refresh["key_bytes"])),
                        ("encoded maps", gigabytes(refresh["map_bytes"])),
                    ]
                    if refresh
                    else []
                ),
            ],
        )
    )


def print_integer_presets() -> None:
    """The sets of integers."""
    columns = ("preset", "log N", "levels", "modulus", "log QP", "secret", "security", "relinearization", "rotation")
    rows = [
        (
            preset["name"],
            preset["log_n"],
            preset["levels"],
            preset["plaintext_modulus"],
            f"{preset['log_qp']:.0f}",
            "ternary" if "ternary" in preset["secret"] else preset["secret"],
            f"{preset['security_bits']:.0f} bits",
            gigabytes(preset["relinearization_key_bytes"]),
            gigabytes(preset["rotation_key_bytes"]),
        )
        for preset in _core.integer_presets()
    ]
    console = output.console()
    title = "Sets of exact integers (IntegerEngine; other moduli with plaintext_modulus=)"
    for part in output.fitting(title, columns, rows, console.width):
        console.print(part)
