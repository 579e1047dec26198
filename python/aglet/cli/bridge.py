"""`aglet bench bridge`."""

from __future__ import annotations

from typing import Annotated

import typer

from aglet.bridge.measure import BRIDGE_KINDS, BridgeCase, bench_bridge
from aglet.cli import output
from aglet.cli.bench import Repeat, Threads, print_quiet

__all__ = ["bridge"]


@output.sentences
def bridge(
    kind: Annotated[str, typer.Argument(help=", ".join(BRIDGE_KINDS) + ".")] = "compare",
    values: Annotated[int, typer.Option(help="Slots, bits, pairs, or slots in a row of argmin.")] = 64,
    bits: Annotated[int, typer.Option(help="Bits of real numbers, 2 to 20.")] = 16,
    preset: Annotated[str, typer.Option(help="A parameter set of slots.")] = "regular",
    lookup_preset: Annotated[str, typer.Option(help="A parameter set of look-ups.")] = "lut4",
    slots: Annotated[int | None, typer.Option(help="Slots in use; all of them if not given.")] = None,
    key_size: output.KeySize = "medium",
    allow_insecure: output.AllowInsecure = False,
    threads: Threads = 1,
    repeat: Repeat = 3,
    json: output.Json = False,
) -> None:
    """Make the keys of a bridge and time a way over it; results are compared with those in the clear."""
    case = BridgeCase(kind, values, bits, preset, lookup_preset, slots, key_size, threads, allow_insecure)
    record = bench_bridge(case, repeat=repeat)
    if json:
        output.json_line(record)
        return
    console = output.console()
    console.print(
        f"{record['kind']} of {record['values']} values, presets {record['preset']} and {record['lookup_preset']}, "
        f"{record['slot_count']} slots, {record['threads']} threads, {record['backend']}, {record['cpu']}"
    )
    console.print(
        f"{record['seconds'] * 1e3:.0f} ms (median of {len(record['seconds_all'])}), {record['wrong']} wrong, "
        f"bridge key {record['bridge_key_bytes'] / 1e6:.1f} MB "
        f"(stored {record['bridge_key_bytes_seeded'] / 1e6:.1f} MB), "
        f"all keys in {record['keygen_seconds']:.1f} s, security {record['security_bits']:.1f} bits"
    )
    print_quiet([record])
