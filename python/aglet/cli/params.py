"""`aglet params`: the parameter sets, on one screen; every figure of a set that is named."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer

from aglet import _core
from aglet.ckks.options import PRECISIONS
from aglet.cli import output
from aglet.errors import ParameterError
from aglet.reports import failure_text, gigabytes

__all__ = ["params"]

Preset = Any
"""The facts of one set of any family."""


class _Family(NamedTuple):
    """Parameter sets of one class of engines, and how they are shown."""

    title: str
    sets: list[Preset]
    columns: tuple[str, ...]
    row: Callable[[Preset], tuple[Any, ...]]
    details: Callable[[Preset], list[tuple[str, Any]]]


def _families() -> list[_Family]:
    return [
        _Family(
            "CKKS: Engine(preset=...)",
            [*_core.presets()],
            ("preset", "log N", "slots", "levels", "precision", "security", "keys"),
            _ckks_row,
            _ckks_details,
        ),
        _Family(
            "Gates (1 bit) and tables: LookupEngine(preset=...)",
            [*_core.lookup_presets()],
            ("preset", "bits", "method", "failure", "security", "keys"),
            _lookup_row,
            _lookup_details,
        ),
        _Family(
            "Exact integers: IntegerEngine(preset=...)",
            [*_core.integer_presets()],
            ("preset", "log N", "levels", "modulus", "security", "relinearization key"),
            _integer_row,
            _integer_details,
        ),
    ]


@output.sentences
def params(
    names: Annotated[list[str] | None, typer.Argument(help="Sets to show every figure of.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also sets below 128 bits: published ones and those of tests.")
    ] = False,
    json: output.Json = False,
) -> None:
    """Show the parameter sets: size, levels, precision, security, keys."""
    families = _families()
    if names:
        _details(families, names, json)
    elif json:
        for family in families:
            for preset in family.sets:
                output.json_line(dict(preset))
    else:
        _overview(families, everything)


def _overview(families: list[_Family], everything: bool) -> None:
    console, hidden = output.console(), []
    for family in families:
        shown = [p for p in family.sets if everything or p["security_bits"] >= 128]
        hidden += [p["name"] for p in family.sets if p not in shown]
        for part in output.fitting(family.title, family.columns, map(family.row, shown), console.width):
            console.print(part)
    if hidden:
        console.print(f"{len(hidden)} sets below 128 bits, published ones and those of tests: aglet params --all.")
    console.print("Every figure of a set, and where it is from: aglet params NAME.")


def _details(families: list[_Family], names: list[str], json: bool) -> None:
    known = {preset["name"]: (family, preset) for family in families for preset in family.sets}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise ParameterError(f"There is no set {name!a}; {meant}`aglet params --all` lists them.")
    console = output.console()
    for name in names:
        family, preset = known[name]
        if json:
            output.json_line(dict(preset))
            continue
        console.print(output.facts(f"{name}, {family.title}", family.details(preset)))


def _security(preset: Preset) -> str:
    # 0 stands for what no table judges.
    return f"{preset['security_bits']:.0f} bits" if preset["security_bits"] else "unknown"


def _secret(preset: Preset) -> str:
    words = preset["secret"]
    return "ternary" if "ternary" in words else words


def _bytes(count: int | None) -> str:
    return "-" if count is None else gigabytes(count)


def _precision(preset: Preset) -> str:
    bits = preset["precision_bits"]
    return "-" if bits is None else f"{bits:.1f} bits"


def _ckks_row(preset: Preset) -> tuple[Any, ...]:
    return (
        preset["name"],
        preset["log_n"],
        preset["slots"],
        preset["levels"],
        _precision(preset),
        _security(preset),
        _bytes(preset["key_bytes"]),
    )


def _ckks_details(preset: Preset) -> list[tuple[str, Any]]:
    rows = [
        ("log N, slots", f"{preset['log_n']}, {preset['slots']}"),
        ("log Q, log QP", f"{preset['log_q']:.0f}, {preset['log_qp']:.0f}"),
        ("secret", _secret(preset)),
        ("security", f"{_security(preset)} (classical; below 128 a cautious estimate, with allow_insecure=True only)"),
        ("levels, scale", f"{preset['levels']}, 2^{preset['scale_bits']:.0f}"),
        ("bootstraps", ", ".join(preset["methods"]) or "none"),
        ("precision of one", f"{_precision(preset)} at least in the mean, as claimed"),
    ]
    if preset["methods"]:
        rows.append(("worst slot 6 bits below", failure_text(preset["log2_failure"])))
    rows.append(("keys", _bytes(preset["key_bytes"])))
    words = [_precision_call(word, count) for word, (name, count) in PRECISIONS.items() if name == preset["name"]]
    if words:
        rows.append(("also named", "; ".join(words)))
    if preset["experimental"] is not None:
        worth = f"{preset['sparse_secrets_bits']:.1f} bits by that rule"
        rows.append(("Experimental", f"{preset['experimental']} Here {worth}."))
    return [*rows, ("source", preset["source"])]


def _precision_call(word: str, passes: int) -> str:
    return f'Engine(use_bootstrap=True, precision="{word}")' + (f", {passes} iterations" if passes > 1 else "")


def _lookup_row(preset: Preset) -> tuple[Any, ...]:
    return (
        preset["name"],
        preset["bits"],
        preset["method"],
        f"2^{preset['log2_failure']:.0f}",
        _security(preset),
        _bytes(preset["key_bytes"]),
    )


def _lookup_details(preset: Preset) -> list[tuple[str, Any]]:
    return [
        ("bits of a message", preset["bits"]),
        ("blind rotation", preset["method"]),
        ("dimension of LWE", preset["dimension"]),
        ("k x N of GLWE", f"{preset['rank']} x {2 ** preset['log_n']}"),
        ("log Q", f"{preset['log_q']:.0f}"),
        ("secret", preset["secret"]),
        ("security", _security(preset)),
        ("failure", f"2^{preset['log2_failure']:.0f} of one on the heaviest sum that it takes"),
        ("keys", _bytes(preset["key_bytes"])),
        ("source", preset["source"]),
    ]


def _integer_row(preset: Preset) -> tuple[Any, ...]:
    return (
        preset["name"],
        preset["log_n"],
        preset["levels"],
        preset["plaintext_modulus"],
        _security(preset),
        _bytes(preset["relinearization_key_bytes"]),
    )


def _integer_details(preset: Preset) -> list[tuple[str, Any]]:
    return [
        ("log N, slots", f"{preset['log_n']}, {preset['slot_count']}"),
        ("levels", preset["levels"]),
        ("modulus", f"{preset['plaintext_modulus']}; others with plaintext_modulus="),
        ("log QP", f"{preset['log_qp']:.0f}"),
        ("secret", _secret(preset)),
        ("security", _security(preset)),
        ("relinearization key", _bytes(preset["relinearization_key_bytes"])),
        ("rotation key", _bytes(preset["rotation_key_bytes"])),
        ("source", preset["source"]),
    ]
