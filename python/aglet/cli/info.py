"""`aglet doctor` and `aglet params`: what the machine is, what there is."""

from __future__ import annotations

from aglet import _core
from aglet.ckks.options import PRECISIONS
from aglet.cli import output
from aglet.cli.integer import print_integer_presets
from aglet.reports import failure_text, gigabytes

__all__ = ["doctor", "doctor_line", "params"]


def doctor_line(machine: _core.DoctorReport) -> str:
    """The machine in one line."""
    forced = f" (forced; the best here is {machine['backends'][0]})" if machine["forced"] else ""
    return (
        f"aglet {machine['version']} on {machine['cpu']}: backend {machine['backend']}{forced}, "
        f"{machine['cores']} cores, "
        f"{gigabytes(machine['memory_available_bytes'])} of {gigabytes(machine['memory_total_bytes'])} free"
    )


@output.sentences
def doctor(json: output.Json = False) -> None:
    """Show the processor, the chosen backend, the threads and the memory."""
    machine = _core.doctor()
    if json:
        output.json_line(dict(machine))
        return
    rows = [
        ("version", machine["version"]),
        ("processor", machine["cpu"]),
        ("clock", "unknown" if machine["mhz"] is None else f"{machine['mhz']:.0f} MHz"),
        ("features", " ".join(machine["features"])),
        ("backends, best first", ", ".join(machine["backends"])),
        ("backend in use", machine["backend"]),
        ("AGLET_BACKEND", machine["forced"] or "not set"),
        ("threads", machine["cores"]),
        ("memory", gigabytes(machine["memory_total_bytes"])),
        ("memory free", gigabytes(machine["memory_available_bytes"])),
        ("huge pages", machine["huge_pages"]),
    ]
    output.console().print(output.facts("aglet doctor", rows))


def _passes(count: int) -> str:
    return "" if count == 1 else f" with {count} iterations"


@output.sentences
def params(json: output.Json = False) -> None:
    """Show all parameter sets: size, security, levels, precision, keys."""
    presets = _core.presets()
    if json:
        for preset in presets:
            output.json_line(dict(preset))
        for lookup_preset in _core.lookup_presets():
            output.json_line(dict(lookup_preset))
        for integer_preset in _core.integer_presets():
            output.json_line(dict(integer_preset))
        return
    columns = (
        "preset",
        "log N",
        "slots",
        "log Q",
        "log QP",
        "secret",
        "security",
        "levels",
        "scale",
        "precision",
        "6 bits less",
        "keys",
    )
    rows = []
    for preset in presets:
        bits, keys = preset["precision_bits"], preset["key_bytes"]
        rows.append(
            (
                preset["name"],
                preset["log_n"],
                preset["slots"],
                f"{preset['log_q']:.0f}",
                f"{preset['log_qp']:.0f}",
                "ternary" if "ternary" in preset["secret"] else f"h = {preset['secret'].split()[-1]}",
                f"{preset['security_bits']:.0f} bits",
                preset["levels"],
                f"2^{preset['scale_bits']:.0f}",
                "-" if bits is None else f"{bits:.1f} bits",
                failure_text(preset["log2_failure"]) if preset["methods"] else "-",
                "-" if keys is None else gigabytes(keys),
            )
        )
    console = output.console()
    title = "Parameter sets (classical security, precision as claimed)"
    for part in output.fitting(title, columns, rows, console.width):
        console.print(part)
    console.print("Below 128 bits the security is a cautious estimate, and an engine needs allow_insecure=True.")
    words = "; ".join(f'"{word}" is {name}{_passes(count)}' for word, (name, count) in PRECISIONS.items())
    console.print(f"Engine(use_bootstrap=True, precision=...): {words}. The precision claimed is a floor, of one pass.")
    for preset in presets:
        methods = ", ".join(preset["methods"]) or "no bootstrapping"
        console.print(f"{preset['name']}: {methods}. {preset['source']}")
        if preset["experimental"] is not None:
            worth = f"{preset['sparse_secrets_bits']:.1f} bits by that rule"
            console.print(f"  Experimental: {preset['experimental']} Here {worth}.")
    _print_lookup_presets()
    print_integer_presets()


def _print_lookup_presets() -> None:
    """The sets of gates and tables."""
    columns = ("preset", "bits", "method", "n", "k x N", "log Q", "secret", "security", "failure", "keys")
    rows = []
    for preset in _core.lookup_presets():
        keys = preset["key_bytes"]
        rows.append(
            (
                preset["name"],
                preset["bits"],
                preset["method"],
                preset["dimension"],
                f"{preset['rank']} x {2 ** preset['log_n']}",
                f"{preset['log_q']:.0f}",
                preset["secret"],
                f"{preset['security_bits']:.0f} bits" if preset["security_bits"] else "unknown",
                f"2^{preset['log2_failure']:.0f}",
                "-" if keys is None else f"{keys / 1e6:.0f} MB",
            )
        )
    console = output.console()
    title = "Sets of gates (1 bit) and tables (failure of one on the heaviest sum allowed for)"
    for part in output.fitting(title, columns, rows, console.width):
        console.print(part)
