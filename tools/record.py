#!/usr/bin/env python3
"""Run the benches behind the target table and write them down under repro/record.

Usage: .venv/bin/python tools/record.py [--repeat 3] [--out repro/record]
       [--sets | --gates | --integers | --ship | --scheme-switch | --arrays | --package]

Writes <out>/<cpu>/<date>.jsonl, one line per measurement with the command that made it, and <out>/<cpu>/<date>.md, the
table of targets with the measured column filled in. A row whose backend this CPU lacks says so. Takes some minutes and
8 GB of memory; run it on an idle machine, from a clean checkout. With --sets it measures the bootstraps of CKKS on one thread
stage by stage, with the bytes that each reads (five minutes), with --gates it measures gates and tables instead, in a
minute, and writes <date>-gates.md, with --integers those of integers, with --ship SHIP (seven
minutes), with --scheme-switch ways between slots and lookups (two minutes), with --arrays encrypted arrays and programs on
them (six), with --package the wheel and the documentation site (as long as both take to build); the lines of the other
families stay as they are.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from array_records import Figure, arrays
from package_records import packaging
from set_records import sets

from aglet import Engine
from aglet.ckks.options import PRECISIONS
from aglet_bench.recording import machine_folder

ROOT = Path(__file__).resolve().parents[1]
AGLET = Path(sys.executable).with_name("aglet")
NTT = "bench ntt --log-n 16 --json"
BOOTSTRAP = "bench bootstrap --method regular --key-size large --slots 32768"
HARD = ("constant", "alternating", "spike")
GIB = 1e9


@dataclass(frozen=True)
class Row:
    """One line of the target table: what is asked, what was measured, and whether that is enough (None: unknown)."""

    name: str
    target: str
    measured: str
    met: bool | None


def git(*arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.strip()


def run(arguments: str, backend: str | None = None) -> list[dict[str, Any]]:
    """Run `aglet ARGUMENTS` and read its JSON lines; each keeps the command that made it."""
    command = f"AGLET_BACKEND={backend} aglet {arguments}" if backend else f"aglet {arguments}"
    print(command, file=sys.stderr)
    environment = {**os.environ, "AGLET_BACKEND": backend} if backend else dict(os.environ)
    result = subprocess.run(
        [str(AGLET), *arguments.split()], env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    if result.returncode:
        raise SystemExit(f"{command} ended with {result.returncode}; nothing was recorded.")
    return [{"command": command, **json.loads(line)} for line in result.stdout.splitlines()]


def peak_of_demo() -> dict[str, Any]:
    """Run `aglet demo` and measure its peak memory from outside."""
    print("aglet demo", file=sys.stderr)
    start = time.monotonic()
    process = subprocess.Popen([str(AGLET), "demo"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"aglet demo ended with {process.returncode}; nothing was recorded.")
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = time.monotonic() - start
    return {"command": "aglet demo", "seconds": seconds, "peak_rss_bytes": usage.ru_maxrss * unit}


def bits_of_products(precision: str) -> dict[str, Any]:
    """Multiply uniform messages in the engine of one precision: bits of the mean error, real and complex."""
    print(f"products of precision {precision}", file=sys.stderr)
    engine = Engine(use_bootstrap=True, precision=precision)
    secret_key = engine.create_secret_key()
    key, random = engine.create_relinearization_key(secret_key), np.random.default_rng(1)
    record: dict[str, Any] = {"command": f'Engine(use_bootstrap=True, precision="{precision}").multiply'}
    for name, unit in (("real", 1), ("complex", (1 + 1j) / 2)):
        x, y = random.uniform(-1, 1, (2, engine.slot_count)) * unit
        product = engine.multiply(engine.encrypt(x, secret_key), engine.encrypt(y, secret_key), key)
        errors = np.abs(engine.decrypt(product, secret_key) - x * y)
        record[f"product_bits_{name}"] = -float(np.log2(errors.mean()))
    return {"precision": precision, **record}


def bootstrap_of(precision: str) -> str:
    preset, iterations = PRECISIONS[precision]
    return f"{BOOTSTRAP} --preset {preset} --iterations {iterations} --threads 1"


def measure(repeat: int, backends: list[str]) -> list[dict[str, Any]]:
    messages = " ".join(f"--message {kind}" for kind in ("uniform", *HARD, "random"))
    records = run(NTT)
    records += run(f"{BOOTSTRAP} --threads 1 --repeat {repeat} {messages} --json")
    records += run(f"{BOOTSTRAP} --threads 2 --repeat {repeat} --message uniform --json")
    for backend in backends[1:]:
        once = 1 if backend == "scalar" else repeat
        records += run(f"{BOOTSTRAP} --threads 1 --repeat {once} --message uniform --json", backend)
    for precision in ("high", "highest"):
        records += run(f"{bootstrap_of(precision)} --repeat {repeat} --message uniform --json")
    records += [bits_of_products(precision) for precision in PRECISIONS]
    records.append(peak_of_demo())
    return records


def table(records: list[dict[str, Any]], backends: list[str]) -> list[Row]:
    ntt = {r["backend"]: r for r in records if "forward_us" in r}
    bootstraps = [r for r in records if "bits_mean" in r and "--preset" not in r["command"]]
    products = {r["precision"]: r for r in records if "product_bits_real" in r}
    best = backends[0]

    def bootstrap(backend: str, threads: int, message: str = "uniform") -> dict[str, Any]:
        wanted = (backend, threads, message)
        return next(r for r in bootstraps if (r["backend"], r["threads"], r["message"]) == wanted)

    def of_precision(precision: str, bits: float, product_bits: float, times: float) -> Row:
        found = next(r for r in records if r["command"].startswith(f"aglet {bootstrap_of(precision)}"))
        ratio, product = found["seconds"] / one["seconds"], products[precision]
        least = min(product["product_bits_real"], product["product_bits_complex"])
        return Row(
            f'precision="{precision}": a bootstrap, a product (real, complex), times the time of "standard"',
            f">= {bits} bits, >= {product_bits} bits at 9 levels or more, <= {times}",
            f"{found['bits_mean']:.2f} bits to level {found['output_level']}, {product['product_bits_real']:.1f} and "
            f"{product['product_bits_complex']:.1f} bits, {ratio:.2f} ({found['seconds']:.2f} s)",
            found["bits_mean"] >= bits and least >= product_bits and ratio <= times and found["output_level"] >= 9,
        )

    def per_backend(name: str, backend: str, target: str, limit: float, value: Callable[[], float], unit: str) -> Row:
        if backend not in backends:
            return Row(name, target, "not measurable on this CPU", None)
        measured = value()
        return Row(name, target, f"{measured:.4g} {unit}", measured <= limit)

    one, two, demo = bootstrap(best, 1), bootstrap(best, 2), records[-1]
    ratio = two["seconds"] / one["seconds"]
    portable, scalar = (bootstrap(name, 1)["seconds"] for name in ("portable", "scalar"))
    faster = scalar / portable
    worst = {kind: bootstrap(best, 1, kind)["bits_worst"] for kind in HARD}
    keys, seeded = one["key_bytes"] / GIB, one["key_bytes_seeded"] / GIB
    peak = demo["peak_rss_bytes"] / GIB
    return [
        per_backend(
            "forward NTT, N = 2^16, 50-bit prime, AVX-512 IFMA",
            "avx512ifma",
            "<= 110 us",
            110,
            lambda: ntt["avx512ifma"]["forward_us"],
            "us",
        ),
        per_backend("the same, AVX2", "avx2", "<= 300 us", 300, lambda: ntt["avx2"]["forward_us"], "us"),
        Row("the same, scalar", "-", f"{ntt['scalar']['forward_us']:.4g} us", None),
        Row(
            f"regular bootstrap, large key, {one['stage_count']} stages, 2^15 slots, one thread, {best}",
            "<= 3.0 s, aim 2.0",
            f"{one['seconds']:.2f} s to level {one['output_level']}",
            one["seconds"] <= 3.0 and one["output_level"] >= 10,
        ),
        Row("the same on 2 threads", "<= 0.56 of one", f"{ratio:.2f} ({two['seconds']:.2f} s)", ratio <= 0.56),
        per_backend(
            "the same on one thread, AVX2 forced",
            "avx2",
            "<= 7 s",
            7,
            lambda: bootstrap("avx2", 1)["seconds"],
            "s",
        ),
        Row(
            "the same, portable: times faster than scalar",
            ">= 3",
            f"{faster:.2f} ({portable:.2f} and {scalar:.2f} s)",
            faster >= 3,
        ),
        Row(
            "precision, uniform message, mean",
            ">= 22 bits",
            f"{one['bits_mean']:.2f} bits",
            one["bits_mean"] >= 22,
        ),
        Row(
            "precision, constant, alternating, spike: worst slot",
            ">= 18 bits",
            ", ".join(f"{bits:.2f}" for bits in worst.values()) + " bits",
            min(worst.values()) >= 18,
        ),
        of_precision("high", 24.5, 33, 1.35),
        of_precision("highest", 34, 33, 3.2),
        Row(
            "some slot six bits below the claim",
            "<= 2^-64",
            f"2^{one['log2_failure']:.1f}",
            one["log2_failure"] <= -64,
        ),
        Row("keys for it, in memory", "<= 8 GB", f"{keys:.2f} GB", keys <= 8),
        Row("keys for it, stored seeded", "<= 4.2 GB", f"{seeded:.2f} GB", seeded <= 4.2),
        Row(
            "key generation, all keys, 2 threads",
            "<= 20 s",
            f"{two['keygen_seconds']:.1f} s",
            two["keygen_seconds"] <= 20,
        ),
        Row("peak memory of `aglet demo`", "<= 14 GB", f"{peak:.2f} GB", peak <= 14),
    ]


@dataclass(frozen=True)
class Bench:
    """A bench of gates or tables, and the most milliseconds that one may take, if there is a target."""

    name: str
    arguments: str
    most: float | None
    backend: str | None = None


GATES = (
    Bench("NAND, alone", "gate", 3.0),
    Bench("NAND, each of 8", "gate --batch 8", 2.0),
    Bench("NAND, each of 64", "gate --batch 64", 2.0),
    Bench("NAND, plain CGGI", "gate --method cggi", 6),
    Bench("NAND, ternary GINX", "gate --method ginx", 6),
    Bench("NAND, LMKCDEY", "gate --method lmkcdey", 12),
    Bench("NAND, DM", "gate --method dm", 16),
    Bench("NAND, AVX2 forced", "gate", 8, "avx2"),
    Bench("table of 2 bits, padded", "lookup --bits 2", 4),
    Bench("table of 4 bits, padded", "lookup --bits 4", 6),
    Bench("table of 4 bits, full domain", "lookup --bits 4 --domain full", 12),
    Bench("tables of 8 bits, two nibbles in and out", "lookup2", 30),
    Bench("tables of 8 bits, each of 8", "lookup2 --batch 8", 30),
    Bench("sign of 20 bits", "sign", 40),
    Bench("5 of 10 bits off", "floor", None),
    Bench("digits of 8 bits", "digits", None),
    Bench("digits of 16 bits, set wide", "digits --bits 16 --preset wide", None),
)
SHARED = "gate --batch 64 --threads 2"
"""What is measured again on two threads."""


def gates(backends: list[str]) -> tuple[list[dict[str, Any]], list[Row]]:
    """Measure gates and tables."""
    records, rows = timed(GATES, backends)
    (two,) = run(f"bench {SHARED} --json")
    one = next(r for r in records if r["command"] == "aglet bench gate --batch 64 --json")
    times = one["seconds"] / two["seconds"]
    rows.append(Row("NAND, each of 64, two threads", ">= 1.8 times one", f"{times:.2f}", times >= 1.8))
    for name, wanted, memory, stored in (("gate", "gate --json", 30, 8), ("lut4", "lookup --bits 4 --json", 45, 22)):
        found = next(r for r in records if r["command"] == f"aglet bench {wanted}")
        sizes = found["key_bytes"] / 1e6, found["key_bytes_seeded"] / 1e6
        text = f"{sizes[0]:.1f} and {sizes[1]:.1f} MB, in {found['keygen_seconds']:.2f} s"
        met = sizes[0] <= memory and sizes[1] <= stored and found["keygen_seconds"] <= 2
        rows.append(Row(f"keys of {name}, in memory and stored", f"<= {memory} and {stored} MB, 2 s", text, met))
    dm = next(r for r in records if r["method"] == "dm")
    rows.append(Row("keys of dm", "<= 2 s", f"{dm['keygen_seconds']:.2f} s", dm["keygen_seconds"] <= 2))
    return [*records, two], rows


INTEGERS = (
    Bench("product with relinearization and switch, N = 2^15, 9 limbs", "integer --level 8", 15),
    Bench("the same, N = 2^14, 9 levels", "integer --preset int-levels-14", 8),
    Bench("table of 4 bits over 32,768 slots", "integer lookup", 60),
    Bench("table of 8 bits over 32,768 slots, two digits", "integer lookup --bits 8", 300),
    Bench("bootstrap of 32,768 numbers of 16 bits, int16", "integer bootstrap --repeat 7", 900),
    Bench("the same, two threads", "integer bootstrap --repeat 7 --threads 2", 540),
    Bench("the same, one thread, AVX2", "integer bootstrap --repeat 5", 2250, "avx2"),
    Bench("bootstrap to 25 products, int16-deep", "integer bootstrap --preset int16-deep --repeat 5", 3000),
)


SCHEME_SWITCHES = (
    Bench("down, 64 slots", "switch down --values 64", 200.64),
    Bench("down, 4,096 slots", "switch down --values 4096", 240.96),
    Bench("up, 4,096 bits", "switch up --values 4096", 1500),
    Bench("the same, an engine of 4,096 slots", "switch up --values 4096 --slots 4096", 1500),
    Bench("down and up again, 4,096 bits", "switch roundtrip --values 4096", 1740.96),
    Bench("down from integers, 4,096 slots", "switch down --values 4096 --preset int16", 240.96),
    Bench("up to integers, 4,096 bits that tables gave", "switch up --values 4096 --preset int16", 1500),
    Bench("the same, 64 bits", "switch up --values 64 --preset int16", None),
    Bench("the same, 64 messages of 4 bits", "switch up --values 64 --bits 4 --preset int16", None),
    Bench("down from integers and up again, 4,096 bits", "switch roundtrip --values 4096 --preset int16", 1740.96),
    Bench("64 pairs compared at 20 bits and brought up", "switch compare --bits 20 --preset regular-44", 4000),
    Bench("argmin of 16 slots", "switch argmin --values 16", 2500),
)
"""With large keys, on one thread."""


def switches(backends: list[str]) -> tuple[list[dict[str, Any]], list[Row]]:
    """Measure switches."""
    large = tuple(replace(bench, arguments=f"{bench.arguments} --key-size large") for bench in SCHEME_SWITCHES)
    records, rows = timed(large, backends)
    most = max(record["switch_key_bytes"] for record in records) / 1e6
    rows.append(Row("switching key, in memory", "<= 60 MB", f"{most:.1f} MB", most <= 60))
    return records, rows


BITS = "bench bootstrap --preset bits15 --method bits --repeat 5"


def integers(backends: list[str]) -> tuple[list[dict[str, Any]], list[Row]]:
    """Measure integers, the keys of their bootstrap, and bootstraps of bits: real ones, and complex ones, which have two in a slot."""
    records, rows = timed(INTEGERS, backends)
    one = next(r for r in records if r["preset"] == "int16")
    sizes = one["key_bytes"] / 1e9, one["key_bytes_seeded"] / 1e9
    text = f"{sizes[0]:.3f} and {sizes[1]:.3f} GB"
    rows.append(
        Row("keys of int16, in memory and stored", "<= 1.8 and 0.9 GB", text, sizes[0] <= 1.8 and sizes[1] <= 0.9)
    )
    slow = next((r for r in records if r["backend"] == "avx2"), None)
    if slow is not None and one["backend"] != "avx2":
        most = slow["seconds"] / one["seconds"]
        rows.append(Row("int16 with AVX2 forced", "<= 2.5 times", f"{most:.2f}", most <= 2.5))
    for name, words, limit in (("16,384 real", "--real", 0.7), ("32,768 packed", "--message bits", 0.9)):
        (found,) = run(f"{BITS} {words} --json")
        records.append(found)
        seconds, worst = found["seconds"], found["bits_worst"]
        text = f"{seconds:.3f} s to level {found['output_level']}, {worst:.1f} bits in the worst slot"
        rows.append(Row(f"bootstrap of {name} bits, bits15", f"<= {limit} s", text, seconds <= limit and worst > 2))
    return records, rows


def timed(benches: tuple[Bench, ...], backends: list[str]) -> tuple[list[dict[str, Any]], list[Row]]:
    """Run benches with a target each; a result that is wrong is a failure."""
    records, rows = [], []
    for bench in benches:
        target = "-" if bench.most is None else f"<= {bench.most:g} ms"
        if bench.backend is not None and bench.backend not in backends:
            rows.append(Row(bench.name, target, "not measurable on this CPU", None))
            continue
        (record,) = run(f"bench {bench.arguments} --json", bench.backend)
        records.append(record)
        milliseconds, wrong = record["seconds"] * 1e3, record["wrong"]
        text = f"{milliseconds:.2f} ms" + (f", {wrong} wrong" if wrong else "")
        met = None if bench.most is None and not wrong else not wrong and milliseconds <= (bench.most or math.inf)
        rows.append(Row(bench.name, target, text, met))
    return records, rows


@dataclass(frozen=True)
class RootsTarget:
    """What SHIP must reach; of bits alone the worst slot must be right."""

    preset: str
    seconds: float
    keys: float
    bits: float
    worst: float
    method: str = "regular"


SHIP = (
    RootsTarget("ship14", 1.0, 7.5, 17.0, 15.0),
    RootsTarget("ship14-precise", 1.2, 9.0, 19.0, 16.9),
    RootsTarget("ship13", 0.45, 3.3, 5.5, 3.5),
    RootsTarget("ship13-bits", 0.35, 2.5, 1.0, 1.0, "bits"),
)


def ship(repeat: int, backends: list[str]) -> tuple[list[dict[str, Any]], list[Row]]:
    """Measure SHIP of real messages: on one thread, on two, and with AVX2."""
    records: list[dict[str, Any]] = []
    rows = []
    for target in SHIP:
        bench = f"bench bootstrap --preset {target.preset} --method {target.method} --real --repeat {repeat}"
        (one,) = run(f"{bench} --threads 1 --json")
        (two,) = run(f"{bench} --threads 2 --json")
        records += [one, two]
        name, ratio = f"{target.preset}, {target.method}", two["seconds"] / one["seconds"]
        bits, worst, keys = one["bits_mean"], one["bits_worst"], one["key_bytes"] / GIB
        times = f"{one['seconds']:.3f} s"
        rows += [
            Row(f"{name}, one thread", f"<= {target.seconds:g} s", times, one["seconds"] <= target.seconds),
            Row("the same on 2 threads", "<= 0.56 of one", f"{ratio:.2f} ({two['seconds']:.3f} s)", ratio <= 0.56),
            Row(
                "precision, mean and worst slot",
                f">= {target.bits:g}, {target.worst:g} bits",
                f"{bits:.2f}, {worst:.2f} bits",
                bits >= target.bits and worst >= target.worst,
            ),
            Row("keys, in memory", f"<= {target.keys:g} GB", f"{keys:.2f} GB", keys <= target.keys),
            Row(
                "key generation, 2 threads",
                "<= 15 s",
                f"{two['keygen_seconds']:.1f} s",
                two["keygen_seconds"] <= 15,
            ),
        ]
        if "avx2" in backends:
            (slow,) = run(f"{bench} --threads 1 --json", "avx2")
            records.append(slow)
            most, times = 2.5 * target.seconds, slow["seconds"] / one["seconds"]
            goal, took = f"<= {most:g} s, 2.5 times the target", f"{slow['seconds']:.3f} s, {times:.2f} times"
            rows.append(Row("AVX2 forced", goal, took, slow["seconds"] <= most))
    for slots in FEW:
        more, of_few = few_slots(slots)
        records, rows = [*records, *more], [*rows, *of_few]
    return records, rows


FEW = (1, 8, 64)
FEW_REPEAT = 100
"""One run of one slot says little of the precision."""


def few_slots(slots: int) -> tuple[list[dict[str, Any]], list[Row]]:
    """Measure SPRU, and beside it that of `regular` with as many."""
    options = f"--slots {slots} --real --threads 1"
    (found,) = run(f"bench bootstrap --preset ship14 {options} --repeat {FEW_REPEAT} --json")
    (sparse,) = run(f"bench bootstrap --method sparse --stages 1 {options} --repeat 5 --json")
    ratio, bits, worst = found["seconds"] / sparse["seconds"], found["bits_mean"], found["bits_worst"]
    name = f"ship14 of {slots} slot{'s' if slots > 1 else ''}"
    rows = [
        Row(
            f"{name}, one thread, to level {found['output_level']}",
            f"<= 0.1 of `regular` with as many, to level {sparse['output_level']}",
            f"{ratio:.3f} ({found['seconds']:.3f} and {sparse['seconds']:.2f} s)",
            ratio <= 0.1,
        ),
        Row(
            f"precision, mean and worst of {FEW_REPEAT} runs",
            ">= 17, 15 bits",
            f"{bits:.2f}, {worst:.2f} bits (`regular`: {sparse['bits_mean']:.2f})",
            bits >= 17 and worst >= 15,
        ),
        Row(
            "keys, in memory",
            "-",
            f"{found['key_bytes'] / GIB:.2f} GB (`regular`: {sparse['key_bytes'] / GIB:.2f})",
            None,
        ),
    ]
    return [found, sparse], rows


def of_figures(figures: list[Figure]) -> tuple[list[dict[str, Any]], list[Row]]:
    """Records and rows of figures, each of which knows its target."""
    rows = [
        Row(
            figure.name,
            "-" if figure.most is None else f"<= {figure.said(figure.most)}",
            ", ".join(filter(None, (figure.said(figure.value), figure.remark))),
            figure.met,
        )
        for figure in figures
    ]
    return [figure.record for figure in figures], rows


def markdown(rows: list[Row], machine: dict[str, Any], header: dict[str, Any], records: list[dict[str, Any]]) -> str:
    words = {True: "yes", False: "**no**", None: "-"}
    commands = list(dict.fromkeys(r["command"] for r in records))
    stages = next((r["stage_seconds"] for r in records if "stage_seconds" in r), {})
    clock = "" if machine["mhz"] is None else f" at {machine['mhz']:.0f} MHz, as the system says"
    lines = [
        f"# {machine['cpu']}, {header['date']}",
        "",
        f"Commit {header['commit']}. {machine['cores']} cores{clock}, {machine['memory_total_bytes'] / GIB:.0f} GB of memory, "
        f"backends {', '.join(machine['backends'])}, huge pages: {machine['huge_pages']}.",
        "",
        "| | target | measured | met |",
        "|---|---|---|---|",
        *(f"| {row.name} | {row.target} | {row.measured} | {words[row.met]} |" for row in rows),
        "",
        *(
            [
                "Stages of one bootstrap on one thread, in seconds: "
                + ", ".join(f"{name} {seconds:.3f}" for name, seconds in stages.items())
                + ".",
                "",
            ]
            if stages
            else []
        ),
        "Made by `tools/record.py` with these commands; all fields stand in the `.jsonl` file beside this one.",
        "",
        *(f"- `{command}`" for command in commands),
        "",
        *noise(records),
    ]
    return "\n".join(lines)


def noise(records: list[dict[str, Any]]) -> list[str]:
    """What says that the machine was not quiet: it is not a row's fault, and a reader should know."""
    noisy = [f"- `{r['command']}`: {'; '.join(r['noisy'])}" for r in records if r.get("noisy")]
    return ["Too noisy to quote, by docs/measuring.md; others used the machine:", "", *noisy, ""] if noisy else []


def family(record: dict[str, Any]) -> str:
    """The family that a record is of; bootstraps have no kind, and some presets are of a family."""
    kind = record.get("kind")
    if str(record.get("command")).startswith("aglet plan"):
        return "sets"
    if kind is None:
        preset = str(record.get("preset"))
        # Few slots of the usual bootstrap stand beside those of SHIP.
        beside = preset.startswith("ship") or record.get("method") == "sparse"
        return "ship" if beside else "integers" if preset == "bits15" else ""
    of_kind = {"integer": "integers", "application": "arrays", "array": "arrays", "package": "package"}
    return of_kind.get(
        kind, "scheme_switch" if kind.startswith(("scheme-switch-", "integer-scheme-switch-")) else "gates"
    )


def kept(path: Path, measured: str) -> list[str]:
    """The lines of a file that a new record leaves: those of `aglet reproduce`, and those of the other families."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = [(line, json.loads(line)) for line in lines]
    return [line for line, record in found if "table" in record or family(record) != measured]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--repeat", type=int, default=3)
    families = parser.add_mutually_exclusive_group()
    families.add_argument("--sets", dest="family", action="store_const", const="sets")
    families.add_argument("--gates", dest="family", action="store_const", const="gates", default="")
    families.add_argument("--integers", dest="family", action="store_const", const="integers")
    families.add_argument("--ship", dest="family", action="store_const", const="ship")
    families.add_argument("--scheme-switch", dest="family", action="store_const", const="scheme_switch")
    families.add_argument("--arrays", dest="family", action="store_const", const="arrays")
    families.add_argument("--package", dest="family", action="store_const", const="package")
    parser.add_argument("--out", type=Path, default=ROOT / "repro" / "record")
    options = parser.parse_args()

    (machine,) = run("doctor --json")
    if machine["forced"]:
        raise SystemExit("AGLET_BACKEND is set; unset it, so that every backend is measured.")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!repro/record")
    commit = git("rev-parse", "--short=12", "HEAD") + (" with uncommitted changes" if changed else "")
    header = {"date": datetime.date.today().isoformat(), "commit": commit, "cpu": machine["cpu"], "mhz": machine["mhz"]}
    if options.family == "sets":
        records, said = sets(run, options.repeat)
        rows = [Row(name, "-", text, None) for name, text in said]
    elif options.family == "gates":
        records, rows = gates(machine["backends"])
    elif options.family == "integers":
        records, rows = integers(machine["backends"])
    elif options.family == "scheme_switch":
        records, rows = switches(machine["backends"])
    elif options.family == "ship":
        records, rows = ship(options.repeat, machine["backends"])
    elif options.family == "arrays":
        records, rows = of_figures(arrays())
    elif options.family == "package":
        records, rows = of_figures(packaging())
    else:
        records = measure(options.repeat, machine["backends"])
        rows = table(records, machine["backends"])

    folder = options.out / machine_folder(machine["cpu"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{header['date']}.jsonl"
    made = records if options.family else [machine, *records]
    lines = [json.dumps({**header, **record}) for record in made]
    path.write_text("\n".join([*kept(path, options.family), *lines]) + "\n")
    text = markdown(rows, machine, header, records)
    suffix = options.family and f"-{options.family}"
    (folder / f"{header['date']}{suffix}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
