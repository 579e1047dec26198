"""`aglet doctor`: describes the machine."""

from __future__ import annotations

from aglet import _core
from aglet.cli import output
from aglet.reports import gigabytes

__all__ = ["doctor", "doctor_line"]


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
    """Show the processor, the backend in use, the threads and the memory."""
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
