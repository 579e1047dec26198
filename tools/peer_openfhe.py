#!/usr/bin/env python3
"""Measure products of integers by OpenFHE's wheel beside ours, in one run on one thread, and write a page under repro/record.

Usage: .venv/bin/python tools/peer_openfhe.py PYTHON

PYTHON is a CPython 3.10, which the wheel is built for, of an environment that has `openfhe`, the package of that name. A product is that
of two ciphertexts of all slots modulo 65537, with relinearization and, for BGV, the switch of modulus. Run it on a machine that does
nothing else.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODULUS = 65537
REPEAT = 15
OURS = {15: ("int-levels-15", 8), 14: ("int-levels-14", 9)}
"""For each log2 of the ring a set of ours and the level of the product."""
PEERS = [("bgv", 15, 8), ("bfv", 15, 8), ("bgv", 14, 5), ("bfv", 14, 9)]
"""Scheme, log2 of the ring, and depth: the most that OpenFHE takes for 128 bits up to ours."""


def peer(scheme: str, log_n: int, depth: int) -> dict[str, Any]:
    """One product of OpenFHE, measured in this process: the interpreter that has it."""
    import openfhe

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


def measured(python: Path) -> list[tuple[str, str, float]]:
    """Ours and theirs in turn: what it is, of which library, seconds."""
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    rows = []
    for scheme, log_n, depth in PEERS:
        preset, level = OURS[log_n]
        command = ["bench", "integer", "--preset", preset, "--level", str(level), "--repeat", str(REPEAT), "--json"]
        run = f"import sys; from aglet.cli import app; app({command!r})"
        text = subprocess.run([sys.executable, "-c", run], check=True, capture_output=True, text=True).stdout
        ours = json.loads(text)
        arguments = [str(python), __file__, "--peer", scheme, str(log_n), str(depth)]
        text = subprocess.run(arguments, check=True, capture_output=True, text=True, env=alone).stdout
        theirs = json.loads(text.splitlines()[-1])
        if ours["wrong"] or theirs["wrong"]:
            raise SystemExit(f"{scheme} at 2^{log_n}: {ours['wrong']} of ours are wrong, {theirs['wrong']} of theirs")
        rows.append((f"N = 2^{log_n}, level {level} of `{preset}`", "Aglet, both schemes", ours["seconds"]))
        rows.append((f"N = 2^{log_n}, depth {depth}", f"OpenFHE {scheme.upper()}", theirs["seconds"]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("python", type=Path, nargs="?")
    parser.add_argument("--peer", nargs=3, metavar=("SCHEME", "LOG_N", "DEPTH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        scheme, log_n, depth = options.peer
        print(json.dumps(peer(scheme, int(log_n), int(depth))))
        return
    if options.python is None:
        parser.error("name the interpreter that has openfhe")
    from aglet import _core, recording

    ask = "from importlib.metadata import version; print(version('openfhe'))"
    version = subprocess.run([options.python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    machine, today = _core.doctor(), datetime.date.today().isoformat()
    rows = [f"| {what} | {library} | {seconds * 1e3:.1f} ms |" for what, library, seconds in measured(options.python)]
    text = "\n".join(
        [
            f"# {machine['cpu']}, {today}: products of integers beside OpenFHE",
            "",
            f"Aglet {machine['version']} with {machine['backend']}, and the wheel openfhe {version} from PyPI, both on one thread, in turn. The "
            f"median of {REPEAT} products of all slots modulo {MODULUS}, with relinearization and (Aglet, BGV) the switch of modulus; every "
            "slot is checked. A wheel is built for any x86-64: OpenFHE with AVX-512 would have to be built from source.",
            "",
            "| | library | a product |",
            "|---|---|---|",
            *rows,
            "",
            f"Made by `tools/{Path(__file__).name}`.",
            "",
        ]
    )
    folder = ROOT / recording.DEFAULT_FOLDER / recording.machine_folder(machine["cpu"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{today}-openfhe.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
