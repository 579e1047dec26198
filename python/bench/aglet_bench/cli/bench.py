"""`aglet bench`: the measurements that are recorded under repro/record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aglet import _core
from aglet.cli import output
from aglet.errors import ParameterError
from aglet.reports import failure_text, gigabytes
from aglet_bench import quiet
from aglet_bench.ckks.card import CardCase
from aglet_bench.ckks.functional import FunctionalCase, bench_functional
from aglet_bench.ckks.measure import MESSAGES, METHODS, Case, bench_bootstrap
from aglet_bench.cli import cards, options
from aglet_bench.cli.integer import is_integer_preset
from aglet_bench.fhew.measure import FhewCase, bench_fhew
from aglet_bench.integer.measure import OPERATIONS, IntegerCase, bench_integer

__all__ = ["bench", "print_quiet"]

bench = typer.Typer(help="Measure transforms, bootstraps, gates, lookup tables and integers.", no_args_is_help=True)


@bench.command()
@output.sentences
def ntt(
    log_n: Annotated[int, typer.Option(help="Base-2 logarithm of the ring dimension.")] = 16,
    bits: Annotated[int, typer.Option(help="Bits of the prime, at most 60.")] = 50,
    repeat: Annotated[int, typer.Option(help="Number of transforms; the median is reported.")] = 200,
    json: output.Json = False,
) -> None:
    """Time the number-theoretic transform of one limb on one thread, with every backend that this processor has."""
    watch = quiet.Watch()
    timings = [_core.bench_ntt(log_n, bits, backend, repeat) for backend in _core.doctor()["backends"]]
    seen = watch.done().fields()
    if json:
        cpu = _core.doctor()["cpu"]
        for timing in timings:
            output.json_line({**timing, "threads": 1, "cpu": cpu, **seen})
        return
    rows = [(t["backend"], f"{t['forward_us']:.1f}", f"{t['inverse_us']:.1f}") for t in timings]
    title = f"NTT, N = 2^{log_n}, {bits}-bit prime, one thread, median of {repeat}"
    output.console().print(output.table(title, ("backend", "forward us", "inverse us"), rows))
    print_quiet([seen])


@bench.command()
@output.sentences
def bootstrap(
    method: Annotated[str, typer.Option(help=", ".join(METHODS) + ".")] = "regular",
    key_size: options.KeySize = "large",
    stages: options.Stages = None,
    slots: Annotated[int | None, typer.Option(help="Number of slots; all of them if not given.")] = None,
    real: Annotated[
        bool, typer.Option(help="Declare the message real, which needs only one evaluation of eval_mod.")
    ] = False,
    compact: Annotated[bool, typer.Option(help="Use the compact parameters of the method.")] = False,
    bound: Annotated[
        float, typer.Option(help="Multiply the message by this, and give it to the bootstrap as bound=.")
    ] = 1.0,
    target_level: Annotated[
        int | None, typer.Option(help="Level of the result; the highest possible if not given.")
    ] = None,
    iterations: Annotated[
        int, typer.Option(help="Iterations: two double the precision, up to what the scale holds.")
    ] = 1,
    many: Annotated[
        int, typer.Option(help="Ciphertexts that bootstrap_many refreshes together; times are for one.")
    ] = 1,
    threads: Annotated[int, typer.Option(help="Threads; 0 means all cores.")] = 1,
    repeat: Annotated[int, typer.Option(help="Number of bootstraps; the median is reported.")] = 3,
    message: Annotated[list[str] | None, typer.Option(help=", ".join(MESSAGES) + "; may be given again.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="Use this parameter set instead of the method's own; also one of integers.")
    ] = None,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Make the keys of a bootstrap, run it on a message, and measure time, precision, levels and memory."""
    case = Case(
        method=method,
        key_size=key_size,
        stage_count=stages,
        slot_count=slots,
        real=real,
        compact=compact,
        preset=preset,
        bound=bound,
        target_level=target_level,
        iterations=iterations,
        many=many,
        threads=threads,
        allow_insecure=allow_insecure,
    )
    if preset is not None and is_integer_preset(preset):
        if message or case != Case(preset=preset, threads=threads):
            raise ParameterError(
                "A bootstrap of integers only takes --preset, --threads and --repeat; leave the other options out."
            )
        _print_integer(bench_integer(IntegerCase("bootstrap", preset, threads=threads), repeat=repeat), json)
        return
    records = bench_bootstrap(case, repeat=repeat, messages=message or ())
    if json:
        for record in records:
            output.json_line(record)
        return
    made = list(records)
    console = output.console()
    first = made[0]
    console.print(
        f"{first['method']} bootstrap, preset {first['preset']}, {first['key_size']} key, "
        f"{first['stage_count']} stages, "
        f"{first['slot_count']} slots, {first['many']} together, {first['threads']} threads, {first['backend']}, "
        f"{first['cpu']}"
    )
    console.print(precision_table(made))
    console.print(
        f"levels {first['input_level']} to {first['output_level']}, keys {gigabytes(first['key_bytes'])} "
        f"(stored seeded {gigabytes(first['key_bytes_seeded'])}) in {first['keygen_seconds']:.1f} s, "
        f"peak memory {gigabytes(made[-1]['peak_rss_bytes'])}, security {first['security_bits']:.1f} bits, "
        f"some slot six bits below the claim {failure_text(first['log2_failure'])}"
    )
    print_quiet(made)


@bench.command()
@output.sentences
def card(
    preset: options.Preset = "regular",
    key_size: options.KeySize = "large",
    device_id: Annotated[int, typer.Option(help="Number of the card; `aglet doctor` lists them.")] = 0,
    many: Annotated[int, typer.Option(help="Ciphertexts that go through each operation together.")] = 1,
    repeat: Annotated[int, typer.Option(help="Runs after the first one; the median is reported.")] = 3,
    record: Annotated[Path | None, typer.Option(help="A file to which records are added, one on a line.")] = None,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Measure a card beside all cores of the processor, and compare the words of the results."""
    case = CardCase(preset, key_size, device_id, many, allow_insecure)
    cards.measured(case, repeat=repeat, json=json, record=record)


@bench.command()
@output.sentences
def functional(
    entries: Annotated[int, typer.Option(help="Entries of the table, 2 to 256.")] = 16,
    method: Annotated[str, typer.Option(help="The bootstrap whose key is used: regular or lossy.")] = "regular",
    preset: options.Preset = "regular",
    order: Annotated[int, typer.Option(help="Derivatives that are zero at the entries, 1 to 3.")] = 1,
    tables: Annotated[int, typer.Option(help="Tables that share the exponential.")] = 1,
    real: Annotated[bool, typer.Option(help="One message in a slot instead of two.")] = False,
    target_level: Annotated[int | None, typer.Option(help="Level of the results; the highest if not given.")] = None,
    threads: Annotated[int, typer.Option(help="Threads; 0 means all cores.")] = 1,
    repeat: Annotated[int, typer.Option(help="Number of runs; the median is reported.")] = 3,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Look up random messages in tables while they are bootstrapped, beside a regular bootstrap."""
    case = FunctionalCase(
        entries=entries,
        method=method,
        preset=preset,
        order=order,
        tables=tables,
        real=real,
        target_level=target_level,
        threads=threads,
        allow_insecure=allow_insecure,
    )
    record = bench_functional(case, repeat=repeat)
    if json:
        output.json_line(record)
        return
    console = output.console()
    console.print(
        f"{tables} tables of {entries} entries, order {order}, preset {preset}, {method} key, {record['messages']} "
        f"messages, to level {record['output_level']}, {record['threads']} threads, {record['backend']}, "
        f"{record['cpu']}"
    )
    console.print(
        f"{record['seconds']:.2f} s (median of {repeat}), {record['ratio']:.2f} of a regular bootstrap, "
        f"{record['wrong']} wrong, {record['bits_rms']:.1f} bits (root mean square; {record['bits_stated']:.1f} "
        f"stated), {record['bits_worst']:.1f} in the worst slot, a wrong entry "
        f"{failure_text(record['log2_failure'])}, keys "
        f"{gigabytes(record['key_bytes'])}, security {record['security_bits']:.1f} bits"
    )
    print_quiet([record])


Batch = Annotated[int, typer.Option(help="Ciphertexts computed together; times are for one.")]
Threads = Annotated[int, typer.Option(help="Threads; 0 means all cores.")]
Repeat = Annotated[int, typer.Option(help="Number of runs; the median is reported.")]
FhewPreset = Annotated[str | None, typer.Option(help="Name of the parameter set.")]
IntegerPreset = Annotated[str, typer.Option(help="Name of the parameter set; wide allows the most bits.")]


@bench.command()
@output.sentences
def gate(
    gate: Annotated[str, typer.Option(help="A gate on two bits.")] = "nand",
    method: Annotated[str | None, typer.Option(help="Blind rotation: block, cggi, ginx, lmkcdey, dm or ntru.")] = None,
    preset: FhewPreset = None,
    allow_insecure: output.AllowInsecure = False,
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make FHEW keys and time a gate, alone or in a batch. Results are compared with plain ones."""
    case = FhewCase(
        gate=gate, method=method, preset=preset, allow_insecure=allow_insecure, batch=batch, threads=threads
    )
    _print_fhew(bench_fhew(case, repeat=repeat), json)


@bench.command()
@output.sentences
def lookup(
    bits: Annotated[
        int | None, typer.Option(help="Bits of a message, 2 to 4; 4 if neither this nor --preset is given.")
    ] = None,
    domain: Annotated[str, typer.Option(help="Encoding of messages: padded or full.")] = "padded",
    preset: FhewPreset = None,
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make FHEW keys and time a lookup table, alone or in a batch. Results are compared with plain ones."""
    size = 4 if bits is None and preset is None else bits
    case = FhewCase(kind="lookup", bits=size, preset=preset, domain=domain, batch=batch, threads=threads)
    _print_fhew(bench_fhew(case, repeat=repeat), json)


@bench.command()
@output.sentences
def lookup2(
    domain: Annotated[str, typer.Option(help="Encoding of messages: padded or full.")] = "padded",
    preset: Annotated[str, typer.Option(help="Name of the parameter set.")] = "wide",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make FHEW keys and time two lookup tables of two messages: a byte as two 4-bit messages, in and out."""
    case = FhewCase(kind="lookup2", preset=preset, domain=domain, batch=batch, threads=threads)
    _print_fhew(bench_fhew(case, repeat=repeat), json)


@bench.command()
@output.sentences
def sign(
    bits: Annotated[int, typer.Option(help="Bits of the integers, 2 to 20, including the sign.")] = 20,
    preset: IntegerPreset = "lut4",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make FHEW keys and time the sign of an integer, alone or in a batch."""
    case = FhewCase(kind="sign", preset=preset, integer_bits=bits, batch=batch, threads=threads)
    _print_fhew(bench_fhew(case, repeat=repeat), json)


@bench.command()
@output.sentences
def floor(
    bits: Annotated[int, typer.Option(help="Bits of the integers, which have no sign.")] = 10,
    low: Annotated[int, typer.Option(help="Number of low bits to remove.")] = 5,
    preset: IntegerPreset = "lut4",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make FHEW keys and time the removal of the low bits of an integer."""
    case = FhewCase(kind="floor", preset=preset, integer_bits=bits, low=low, batch=batch, threads=threads)
    _print_fhew(bench_fhew(case, repeat=repeat), json)


@bench.command()
@output.sentences
def digits(
    bits: Annotated[int, typer.Option(help="Bits of the integers, which have no sign.")] = 8,
    preset: IntegerPreset = "lut4",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make FHEW keys and time the decomposition of an integer into digits of the size of a message."""
    case = FhewCase(kind="digits", preset=preset, integer_bits=bits, batch=batch, threads=threads)
    _print_fhew(bench_fhew(case, repeat=repeat), json)


@bench.command()
@output.sentences
def integer(
    operation: Annotated[str, typer.Argument(help=", ".join(OPERATIONS) + ".")] = "product",
    preset: Annotated[
        str | None, typer.Option(help="Parameter set of integers; int-levels-15 if not given, for bootstraps int16.")
    ] = None,
    bits: Annotated[
        int, typer.Option(help="Bits of a lookup table: 1 to 4, 8 or 12; above 4 in digits of 4 bits.")
    ] = 4,
    level: Annotated[
        int | None,
        typer.Option(
            help="Level of the operands; if not given, the highest, and for tables and bootstraps the lowest."
        ),
    ] = None,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Time an operation on integers: a product, a rotation, a lookup table or a bootstrap."""
    case = IntegerCase(operation=operation, preset=preset, bits=bits, level=level, threads=threads)
    _print_integer(bench_integer(case, repeat=repeat), json)


def _print_integer(record: dict[str, Any], json: bool) -> None:
    if json:
        output.json_line(record)
        return
    console = output.console()
    console.print(
        f"{record['operation']}, preset {record['preset']}, {record['slot_count']} slots modulo "
        f"{record['plaintext_modulus']}, level {record['input_level']} to {record['output_level']}, "
        f"{record['threads']} threads, {record['backend']}, {record['cpu']}"
    )
    console.print(
        f"{record['seconds'] * 1e3:.2f} ms (median of {len(record['seconds_all'])}), {record['wrong']} wrong, budget "
        f"{record['noise_budget']:.1f} bits ({record['noise_budget_estimated']:.1f} by the bound), "
        f"security {record['security_bits']:.1f} bits"
    )
    print_quiet([record])


def _print_fhew(record: dict[str, Any], json: bool) -> None:
    if json:
        output.json_line(record)
        return
    console = output.console()
    console.print(
        f"{record['operation']}, preset {record['preset']}, method {record['method']}, {record['batch']} together, "
        f"{record['threads']} threads, {record['backend']}, {record['cpu']}"
    )
    console.print(
        f"{record['seconds'] * 1e3:.2f} ms each (median of {len(record['seconds_all'])}), {record['wrong']} wrong, "
        f"keys {record['key_bytes'] / 1e6:.1f} MB (stored {record['key_bytes_seeded'] / 1e6:.1f} MB) in "
        f"{record['keygen_seconds']:.2f} s, security {record['security_bits']:.1f} bits, "
        f"failure at most 2^{record['log2_failure']:.0f}"
    )
    print_quiet([record])


def print_quiet(records: list[dict[str, Any]]) -> None:
    """Print the load, the drift of the reference kernel, and a warning for each record that is too noisy to quote."""
    load = records[0]["load"]
    drift = max((record["drift"] for record in records), key=abs)
    console = output.console()
    console.print(f"load {'unknown' if load is None else f'{load:.2f}'} before, reference kernel {drift:+.1%} after")
    for record in records:
        text = quiet.warning(record)
        if text is not None:
            console.print(f"{record['message']}: {text}" if "message" in record else text, style="bold")


def precision_table(records: list[dict[str, Any]]) -> Any:
    """Time and precision of bench records, one row each."""
    rows = [
        (
            record["message"],
            f"{record['seconds']:.2f}",
            f"{record['mean_error']:.2e}",
            f"{record['bits_mean']:.1f}",
            f"{record['max_error']:.2e}",
            f"{record['bits_worst']:.1f}",
        )
        for record in records
    ]
    columns = ("message", "seconds", "mean error", "bits, mean", "worst error", "bits, worst slot")
    return output.table("Time (median) and precision", columns, rows)
