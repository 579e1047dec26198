"""`aglet doctor`: describes the machine."""

from __future__ import annotations

from typing import Any

from aglet import _core
from aglet.cli import output
from aglet.errors import DeviceError
from aglet.fhew import sets
from aglet.reports import gigabytes

__all__ = ["cards", "doctor", "doctor_line"]


def doctor_line(machine: _core.DoctorReport) -> str:
    """The machine in one line."""
    forced = f" (forced; the best here is {machine['backends'][0]})" if machine["forced"] else ""
    return (
        f"aglet {machine['version']} on {machine['cpu']}: backend {machine['backend']}{forced}, "
        f"{machine['cores']} cores, "
        f"{gigabytes(machine['memory_available_bytes'])} of {gigabytes(machine['memory_total_bytes'])} free"
    )


def cards() -> tuple[list[dict[str, Any]], str]:
    """The cards, each with what its self-test says, and why there is none."""
    try:
        found = _core.cards()
    except DeviceError as error:
        return [], str(error)
    return [{**card, "self_test": _self_test(card["index"])} for card in found], ""


def _self_test(index: int) -> str:
    try:
        _core.test_card(index)
    except DeviceError as error:
        return str(error)
    return "passed"


def _card_rows() -> list[tuple[str, str]]:
    found, why = cards()
    if why:
        return [("cards", f"none. {why}")]
    said = "{name}, compute capability {capability}, {memory}, {arithmetic}; self-test: {self_test}"
    rows = [(f"card {card['index']}", said.format(memory=gigabytes(card["memory_bytes"]), **card)) for card in found]
    return [*rows, ("FHEW on a card", sets.on_card(True)), ("FHEW on the processor alone", sets.on_card(False))]


@output.sentences
def doctor(json: output.Json = False) -> None:
    """Show the processor, the backend in use, the threads, the memory and the NVIDIA cards."""
    machine = _core.doctor()
    if json:
        found, why = cards()
        output.json_line({**machine, "cards": found, "cards_missing": why or None})
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
        *_card_rows(),
    ]
    output.console().print(output.facts("aglet doctor", rows))
