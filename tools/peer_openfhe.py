#!/usr/bin/env python3
"""Measure OpenFHE's wheel beside ours, in one run on one thread, and write a page under repro/record.

Usage: .venv/bin/python tools/peer_openfhe.py PYTHON [--part products | switching]

PYTHON is a CPython 3.10, which the wheel is built for, of an environment that has `openfhe`, the package of that name. A product is that
of two ciphertexts of all slots modulo 65537, with relinearization and, for BGV, the switch of modulus (a minute). Switching is from CKKS
slots to LWE ciphertexts and back, a comparison the whole way (three minutes, 9 GB). A page has the parts that were measured that day last.
Run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODULUS = 65537
REPEAT = 15
PAIRS = 16
"""Of slots that are compared: OpenFHE takes some seconds for each."""
OURS = {15: ("int-levels-15", 8), 14: ("int-levels-14", 9)}
"""For each log2 of the ring a set of ours and the level of the product."""
PEERS = [("bgv", 15, 8), ("bfv", 15, 8), ("bgv", 14, 5), ("bfv", 14, 9)]
"""Scheme, log2 of the ring, and depth: the most that OpenFHE takes for 128 bits up to ours."""


def peer(scheme: str, log_ring: str, levels: str) -> dict[str, Any]:
    """One product of OpenFHE, measured in this process: the interpreter that has it."""
    import openfhe

    log_n, depth = int(log_ring), int(levels)
    parameters = openfhe.CCParamsBGVRNS() if scheme == "bgv" else openfhe.CCParamsBFVRNS()
    parameters.SetPlaintextModulus(MODULUS)
    parameters.SetMultiplicativeDepth(depth)
    parameters.SetRingDim(1 << log_n)
    parameters.SetSecurityLevel(openfhe.SecurityLevel.HEStd_128_classic)
    if scheme == "bgv":
        parameters.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDMANUAL)
    context = openfhe.GenCryptoContext(parameters)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE"):
        context.Enable(getattr(openfhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    numbers = [(31 * i * i) % MODULUS - MODULUS // 2 for i in range(1 << log_n)]
    x = context.Encrypt(keys.publicKey, context.MakePackedPlaintext(numbers))
    y = context.Encrypt(keys.publicKey, context.MakePackedPlaintext(numbers[::-1]))

    def product() -> Any:
        made = context.EvalMult(x, y)
        return context.ModReduce(made) if scheme == "bgv" else made

    product()
    seconds = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        made = product()
        seconds.append(time.perf_counter() - start)
    found = context.Decrypt(keys.secretKey, made).GetPackedValue()
    half = MODULUS // 2
    expected = [(a * b + half) % MODULUS - half for a, b in zip(numbers, numbers[::-1])]
    wrong = sum(a != b for a, b in zip(found, expected))
    return {"seconds": statistics.median(seconds), "wrong": wrong + len(expected) - len(found)}


def switching() -> dict[str, Any]:
    """Pairs of slots compared by OpenFHE, in its parts, in this process: the interpreter that has it."""
    import openfhe

    parameters = openfhe.CCParamsCKKSRNS()
    # What its way back spends, at the scales that it is published with; the ring is the smallest of 128 bits.
    parameters.SetMultiplicativeDepth(17)
    parameters.SetScalingModSize(50)
    parameters.SetFirstModSize(60)
    parameters.SetScalingTechnique(openfhe.ScalingTechnique.FIXEDAUTO)
    parameters.SetSecurityLevel(openfhe.SecurityLevel.HEStd_128_classic)
    parameters.SetBatchSize(PAIRS)
    context = openfhe.GenCryptoContext(parameters)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "SCHEMESWITCH"):
        context.Enable(getattr(openfhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    options = openfhe.SchSwchParams()
    options.SetSecurityLevelCKKS(openfhe.SecurityLevel.HEStd_128_classic)
    options.SetSecurityLevelFHEW(openfhe.BINFHE_PARAMSET.STD128)
    options.SetCtxtModSizeFHEWLargePrec(25)
    options.SetNumSlotsCKKS(PAIRS)
    options.SetNumValues(PAIRS)
    start = time.perf_counter()
    lwe = context.EvalSchemeSwitchingSetup(options)
    context.EvalSchemeSwitchingKeyGen(keys, lwe)
    made = time.perf_counter() - start
    fhew = context.GetBinCCForSchemeSwitch()
    space = (1 << 25) // (2 * fhew.GetBeta())
    context.EvalCompareSwitchPrecompute(space, 1.0)
    # Differences are whole units of its precision, up to nearly the most that it takes.
    numbers = [((37 * i * i + 11 * i) % 1000 - 500.0) * space / 2048 for i in range(PAIRS)]
    x, y = (
        context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(some, 1, 0, None, PAIRS))
        for some in (numbers, numbers[::-1])
    )
    difference = context.EvalSub(x, y)
    found: dict[str, Any] = {"ring": context.GetRingDimension(), "dimension": fhew.Getn(), "keygen_seconds": made}
    down = []
    for _ in range(3):
        start = time.perf_counter()
        low = context.EvalCKKStoFHEW(difference, PAIRS)
        down.append(time.perf_counter() - start)
    assert len(low) == PAIRS
    start = time.perf_counter()
    result = context.EvalCompareSchemeSwitching(x, y, PAIRS, PAIRS)
    compared = time.perf_counter() - start
    plain = context.Decrypt(keys.secretKey, result)
    plain.SetLength(PAIRS)
    bits = plain.GetRealPackedValue()
    wrong = sum((a < b) != (bit > 0.5) for a, b, bit in zip(numbers, numbers[::-1], bits))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {**found, "to-fhew": statistics.median(down), "compare": compared, "wrong": wrong, "peak_bytes": peak}


def run_ours(*words: str) -> dict[str, Any]:
    """The record of a bench of ours."""
    run = f"import sys; from aglet.cli import app; app({['bench', *words, '--json']!r})"
    text = subprocess.run([sys.executable, "-c", run], check=True, capture_output=True, text=True).stdout
    return dict(json.loads(text))


def run_theirs(python: Path, *words: str) -> dict[str, Any]:
    """What the other interpreter says of itself, on one thread."""
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [str(python), __file__, "--peer", *words]
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=alone).stdout
    return dict(json.loads(text.splitlines()[-1]))


def switched(python: Path) -> list[str]:
    """The lines of a page on switching."""
    theirs = run_theirs(python, "switching")
    size = ("--values", str(PAIRS), "--key-size", "large")
    down, compare = (
        run_ours("scheme_switch", "to-fhew", *size),
        run_ours("scheme_switch", "compare", *size, "--bits", "16"),
    )
    wrong = down["wrong"] + compare["wrong"]
    if wrong or theirs["wrong"]:
        raise SystemExit(f"of comparisons {wrong} of ours are wrong, {theirs['wrong']} of theirs")
    sets = f"`{compare['preset']}` with `{compare['fhew_preset']}`, 16 bits"
    other = f"N = {theirs['ring']}, n = {theirs['dimension']}, 17 bits"
    return [
        "## Between CKKS slots and LWE ciphertexts",
        "",
        f"{PAIRS} pairs of slots, compared by lookups, and the results slots again; down alone is the difference as LWE ciphertexts. Both "
        "sides have 128 bits by their own tables. All results are checked. Ours come up at the level of a bootstrap, with 13 levels; those "
        "of OpenFHE after what its way back spends of 17, as its parameters are published. A median of three, comparisons of OpenFHE once.",
        "",
        "| | library | parameters | seconds |",
        "|---|---|---|---|",
        f"| down, {PAIRS} slots | Aglet | {sets} | {down['seconds']:.3f} |",
        f"| | OpenFHE | {other} | {theirs['down']:.3f} |",
        f"| {PAIRS} pairs compared and brought up | Aglet | {sets} | {compare['seconds']:.2f} |",
        f"| | OpenFHE | {other} | {theirs['compare']:.1f} |",
        "",
        f"Keys were made in {compare['keygen_seconds']:.1f} s (Aglet, all of them, on all cores) and {theirs['keygen_seconds']:.1f} s (OpenFHE, "
        f"those of switching, on one). Memory at its peak: {compare['peak_rss_bytes'] / 1e9:.1f} and {theirs['peak_bytes'] / 1e9:.1f} GB.",
        "",
    ]


def measured(python: Path) -> list[tuple[str, str, float]]:
    """Ours and theirs in turn: what it is, of which library, seconds."""
    rows = []
    for scheme, log_n, depth in PEERS:
        preset, level = OURS[log_n]
        operation = "bfv-product" if scheme == "bfv" else "product"
        ours = run_ours("integer", operation, "--preset", preset, "--level", str(level), "--repeat", str(REPEAT))
        theirs = run_theirs(python, scheme, str(log_n), str(depth))
        if ours["wrong"] or theirs["wrong"]:
            raise SystemExit(f"{scheme} at 2^{log_n}: {ours['wrong']} of ours are wrong, {theirs['wrong']} of theirs")
        rows.append((f"N = 2^{log_n}, level {level} of `{preset}`", f"Aglet {scheme.upper()}", ours["seconds"]))
        rows.append((f"N = 2^{log_n}, depth {depth}", f"OpenFHE {scheme.upper()}", theirs["seconds"]))
    return rows


def products(python: Path) -> list[str]:
    """The lines of a page on products."""
    load = f"Load of the machine in the minute before: {os.getloadavg()[0]:.1f}; niceness {os.nice(0)}."
    rows = [f"| {what} | {library} | {seconds * 1e3:.1f} ms |" for what, library, seconds in measured(python)]
    return [
        "## Products of integers",
        "",
        f"The median of {REPEAT} products of all slots modulo {MODULUS}, with relinearization; those of BGV switch the modulus as well, those "
        f"of BFV are scale-invariant, on both sides. Every slot is checked. {load}",
        "",
        "| | library | a product |",
        "|---|---|---|",
        *rows,
        "",
    ]


PARTS = {"products": products, "switching": switched}


def page(place: Path, head: list[str], lines: list[str]) -> str:
    """The page with this part new, and others as they stand there."""
    there = place.read_text() if place.exists() else ""
    kept = {text.splitlines()[0]: text for text in there.split("\n## ")[1:]}
    kept = {name: text.split("\nMade by ")[0].strip() for name, text in kept.items()}
    new = "\n".join(lines).strip()
    kept[new.splitlines()[0].removeprefix("## ")] = new.removeprefix("## ")
    made = f"Made by `tools/{Path(__file__).name}`."
    return "\n".join([*head, *(f"## {text}\n" for text in kept.values()), made, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("python", type=Path, nargs="?")
    parser.add_argument("--part", choices=PARTS, help="measure this part alone")
    parser.add_argument("--peer", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(switching() if options.peer == ["switching"] else peer(*options.peer)))
        return
    if options.python is None:
        parser.error("name the interpreter that has openfhe")
    from aglet import _core
    from aglet_bench import recording

    ask = "from importlib.metadata import version; print(version('openfhe'))"
    version = subprocess.run([options.python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    machine, today = _core.doctor(), datetime.date.today().isoformat()
    head = [
        f"# {machine['cpu']}, {today}: beside OpenFHE",
        "",
        f"Aglet {machine['version']} with {machine['backend']}, and the wheel openfhe {version} from PyPI, both on one thread, in turn. A wheel "
        "is built for any x86-64: OpenFHE with AVX-512 would have to be built from source.",
        "",
    ]
    folder = ROOT / recording.DEFAULT_FOLDER / recording.machine_folder(machine["cpu"])
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS if options.part is None else [options.part]:
        place = folder / f"{today}-openfhe.md"
        place.write_text(page(place, head, PARTS[part](options.python)))
    print(place.read_text())


if __name__ == "__main__":
    main()
