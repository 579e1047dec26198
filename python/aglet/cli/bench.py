"""`aglet bench`: the measurements that stand under repro/record."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from aglet import _core, quiet
from aglet.cli import output
from aglet.cli.integer import is_integer_preset
from aglet.errors import ParameterError
from aglet.integer.measure import OPERATIONS, IntegerCase, bench_integer
from aglet.lookup.measure import LookupCase, bench_lookup
from aglet.measure import MESSAGES, METHODS, Case, bench_bootstrap
from aglet.reports import failure_text, gigabytes

__all__ = ["bench", "print_quiet"]

bench = typer.Typer(help="Measure transforms, bootstraps, gates, tables and integers.", no_args_is_help=True)


@bench.command()
@output.sentences
def ntt(
    log_n: Annotated[int, typer.Option(help="Base-2 logarithm of the ring dimension.")] = 16,
    bits: Annotated[int, typer.Option(help="Bits of the prime.")] = 50,
    repeat: Annotated[int, typer.Option(help="Transforms to take the median of.")] = 200,
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
    key_size: output.KeySize = "large",
    stages: output.Stages = None,
    slots: Annotated[int | None, typer.Option(help="Slots in use; all of them if not given.")] = None,
    real: Annotated[bool, typer.Option(help="Declare the message real: one evaluation of eval_mod.")] = False,
    compact: Annotated[bool, typer.Option(help="The compact parameters of the method.")] = False,
    bound: Annotated[float, typer.Option(help="The message is multiplied by this, and the bootstrap told.")] = 1.0,
    target_level: Annotated[int | None, typer.Option(help="The level to leave; the highest if not given.")] = None,
    iterations: Annotated[int, typer.Option(help="Passes: two double the precision, as far as the scale goes.")] = 1,
    many: Annotated[int, typer.Option(help="Ciphertexts for bootstrap_many; times are those of one.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads; 0 means all cores.")] = 1,
    repeat: Annotated[int, typer.Option(help="Bootstraps to take the median of.")] = 3,
    message: Annotated[list[str] | None, typer.Option(help=", ".join(MESSAGES) + "; may be given again.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="A parameter set instead of the method's own; one of integers, too.")
    ] = None,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Make the keys of a bootstrap, refresh a message, and measure time, precision, levels and memory."""
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
                "A bootstrap of integers is measured with --preset, --threads and --repeat alone; leave the rest out."
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


Batch = Annotated[int, typer.Option(help="Ciphertexts together; times are those of one.")]
Threads = Annotated[int, typer.Option(help="Threads; 0 means all cores.")]
Repeat = Annotated[int, typer.Option(help="Runs to take the median of.")]
LookupPreset = Annotated[str | None, typer.Option(help="A parameter set by its name.")]
IntegerPreset = Annotated[str, typer.Option(help="A parameter set by its name; wide bears the most bits.")]


@bench.command()
@output.sentences
def gate(
    gate: Annotated[str, typer.Option(help="A gate of two bits.")] = "nand",
    method: Annotated[str | None, typer.Option(help="block, cggi, ginx, lmkcdey, dm or ntru.")] = None,
    preset: LookupPreset = None,
    allow_insecure: output.AllowInsecure = False,
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make the keys of gates and time one, alone or in a batch; results are compared with those in the clear."""
    case = LookupCase(
        gate=gate, method=method, preset=preset, allow_insecure=allow_insecure, batch=batch, threads=threads
    )
    _print_lookup(bench_lookup(case, repeat=repeat), json)


@bench.command()
@output.sentences
def lookup(
    bits: Annotated[int | None, typer.Option(help="Bits of a message, 2 to 4; 4 if nothing is given.")] = None,
    domain: Annotated[str, typer.Option(help="padded or full.")] = "padded",
    preset: LookupPreset = None,
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make the keys of tables and time one, alone or in a batch; results are compared with those in the clear."""
    size = 4 if bits is None and preset is None else bits
    case = LookupCase(kind="lookup", bits=size, preset=preset, domain=domain, batch=batch, threads=threads)
    _print_lookup(bench_lookup(case, repeat=repeat), json)


@bench.command()
@output.sentences
def lookup2(
    domain: Annotated[str, typer.Option(help="padded or full.")] = "padded",
    preset: Annotated[str, typer.Option(help="A parameter set by its name.")] = "wide",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make the keys of tables of two messages and time two of them: a byte as two nibbles, in and out."""
    case = LookupCase(kind="lookup2", preset=preset, domain=domain, batch=batch, threads=threads)
    _print_lookup(bench_lookup(case, repeat=repeat), json)


@bench.command()
@output.sentences
def sign(
    bits: Annotated[int, typer.Option(help="Bits of the integers, 2 to 20, the sign included.")] = 20,
    preset: IntegerPreset = "lut4",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make the keys of tables and time the sign of an integer, alone or in a batch."""
    case = LookupCase(kind="sign", preset=preset, integer_bits=bits, batch=batch, threads=threads)
    _print_lookup(bench_lookup(case, repeat=repeat), json)


@bench.command()
@output.sentences
def floor(
    bits: Annotated[int, typer.Option(help="Bits of the integers, which have no sign.")] = 10,
    low: Annotated[int, typer.Option(help="The bits that are taken off.")] = 5,
    preset: IntegerPreset = "lut4",
    batch: Batch = 1,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Make the keys of tables and time how the low bits of an integer are taken off."""
    case = LookupCase(kind="floor", preset=preset, integer_bits=bits, low=low, batch=batch, threads=threads)
    _print_lookup(bench_lookup(case, repeat=repeat), json)


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
    """Make the keys of tables and time how an integer falls into digits of as many bits as a message has."""
    case = LookupCase(kind="digits", preset=preset, integer_bits=bits, batch=batch, threads=threads)
    _print_lookup(bench_lookup(case, repeat=repeat), json)


@bench.command()
@output.sentences
def integer(
    operation: Annotated[str, typer.Argument(help=", ".join(OPERATIONS) + ".")] = "product",
    preset: Annotated[
        str | None, typer.Option(help="A parameter set of integers; int-levels-15, for bootstraps int16.")
    ] = None,
    bits: Annotated[int, typer.Option(help="Bits of a table: 1 to 4, 8 or 12, in digits of 4.")] = 4,
    level: Annotated[
        int | None, typer.Option(help="The level of operands; the highest, for tables and bootstraps the lowest.")
    ] = None,
    threads: Threads = 1,
    repeat: Repeat = 15,
    json: output.Json = False,
) -> None:
    """Time what integers do: a product with relinearization and switch, a rotation, a table, or a bootstrap."""
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


def _print_lookup(record: dict[str, Any], json: bool) -> None:
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
    """The load and the drift of the reference kernel, and a warning for each record that is too noisy to quote."""
    load = records[0]["load"]
    drift = max((record["drift"] for record in records), key=abs)
    console = output.console()
    console.print(f"load {'unknown' if load is None else f'{load:.2f}'} before, reference kernel {drift:+.1%} after")
    for record in records:
        text = quiet.warning(record)
        if text is not None:
            console.print(f"{record['message']}: {text}" if "message" in record else text, style="bold")


def precision_table(records: list[dict[str, Any]]) -> Any:
    """Time and precision of bench records, a row each."""
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
