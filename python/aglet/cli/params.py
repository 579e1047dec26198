"""`aglet params`: lists the parameter sets on one screen, or all figures of the named ones."""

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
"""The figures of a parameter set of any family."""
Columns = dict[str, str | Callable[[Preset], Any]]
"""By heading: the name of a figure, or a function of the set."""


class _Family(NamedTuple):
    """The parameter sets of one class of engines, and how to show them."""

    title: str
    sets: list[Preset]
    columns: Columns
    details: Callable[[Preset], list[tuple[str, Any]]]

    def row(self, preset: Preset) -> list[Any]:
        """The cells of a set."""
        return [preset[one] if isinstance(one, str) else one(preset) for one in self.columns.values()]


def _families() -> list[_Family]:
    ckks: Columns = {"preset": "name", "log N": "log_n", "slots": "slots", "levels": "levels", "precision": _precision}
    fhew: Columns = {"preset": "name", "bits": "bits", "method": "method", "failure": _failure}
    integer: Columns = {"preset": "name", "log N": "log_n", "levels": "levels", "modulus": "plaintext_modulus"}
    last: Columns = {"security": _security, "keys": _size_of("key_bytes")}
    relinearization: Columns = {"security": _security, "relinearization key": _size_of("relinearization_key_bytes")}
    return [
        _Family("CKKS: Engine(preset=...)", [*_core.presets()], ckks | last, _ckks_details),
        _Family("FHEW, 1 bit for gates: FhewEngine(preset=...)", [*_core.fhew_presets()], fhew | last, _fhew_details),
        _Family(
            "Exact integers: IntegerEngine(preset=...)",
            [*_core.integer_presets()],
            integer | relinearization,
            _integer_details,
        ),
    ]


@output.sentences
def params(
    names: Annotated[list[str] | None, typer.Argument(help="Parameter sets to show in full.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also list the sets below 128 bits: published ones and those for tests.")
    ] = False,
    json: output.Json = False,
) -> None:
    """List the parameter sets: size, levels, precision, security, keys."""
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
        for part in output.fitting(family.title, [*family.columns], map(family.row, shown), console.width):
            console.print(part)
    if hidden:
        console.print(
            f"{len(hidden)} sets below 128 bits are not shown (published ones and those for tests); list them with: "
            "aglet params --all"
        )
    console.print("All figures of a set and its source: aglet params NAME")


def _details(families: list[_Family], names: list[str], json: bool) -> None:
    known = {preset["name"]: (family, preset) for family in families for preset in family.sets}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise ParameterError(f"There is no parameter set {name!a}; {meant}list all with `aglet params --all`.")
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


def _size_of(figure: str) -> Callable[[Preset], str]:
    return lambda preset: _bytes(preset[figure])


def _failure(preset: Preset) -> str:
    return f"2^{preset['log2_failure']:.0f}"


def _precision(preset: Preset) -> str:
    bits = preset["precision_bits"]
    return "-" if bits is None else f"{bits:.1f} bits"


def _ckks_details(preset: Preset) -> list[tuple[str, Any]]:
    rows = [
        ("log N, slots", f"{preset['log_n']}, {preset['slots']}"),
        ("log Q, log QP", f"{preset['log_q']:.0f}, {preset['log_qp']:.0f}"),
        ("secret", _secret(preset)),
        (
            "security",
            f"{_security(preset)} (classical; below 128 a cautious estimate, and allow_insecure=True is needed)",
        ),
        ("levels, scale", f"{preset['levels']}, 2^{preset['scale_bits']:.0f}"),
        ("bootstraps", ", ".join(preset["methods"]) or "none"),
        ("precision of a bootstrap", f"at least {_precision(preset)} in the mean, as claimed"),
    ]
    if preset["methods"]:
        rows.append(("some slot 6 bits below that", failure_text(preset["log2_failure"])))
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


def _fhew_details(preset: Preset) -> list[tuple[str, Any]]:
    return [
        ("bits of a message", preset["bits"]),
        ("blind rotation", preset["method"]),
        ("LWE dimension", preset["dimension"]),
        ("k x N of GLWE", f"{preset['rank']} x {2 ** preset['log_n']}"),
        ("log Q", f"{preset['log_q']:.0f}"),
        ("secret", preset["secret"]),
        ("security", _security(preset)),
        (
            "failure",
            f"at most {_failure(preset)} for one bootstrap, at the largest sum that the set allows",
        ),
        ("keys", _bytes(preset["key_bytes"])),
        ("source", preset["source"]),
    ]


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
