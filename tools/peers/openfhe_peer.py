"""Time OpenFHE on one thread, by its wheel: `python openfhe_peer.py WHAT REPEAT` prints one line of JSON.

WHAT is bgv, bfv, ckks, rotation, bootstrap-50, bootstrap-59, table-4, table-8, switching, or a method and a set of gates, as GINX/STD128. Results are compared with plain ones.
"""

from __future__ import annotations

import json
import math
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import openfhe as fhe

MODULUS = 65537
DEPTH = 8
PAIRS = 16
"""Of slots that are compared: OpenFHE takes some seconds for each."""
FAILURES = {"GINX/STD128": "2^-135", "LMKCDEY/STD128_LMKCDEY": "2^-60"}
"""As its header states them, without the method."""
BOOTSTRAPS = {"bootstrap-50": (50, 57, 24), "bootstrap-59": (59, 60, 20)}
"""Bits of the scale and of the first prime, and the depth: the most at N = 2^16 and 128 bits with three digits. The longer scale is that of its
examples; of the shorter one the first prime is as long as its correction factor takes. The bootstrap itself needs 16."""
TABLES = {"table-4": (4, 40), "table-8": (8, 47)}
"""Bits of a message, in and out, and of the scale of its examples. Twelve bits more hide the noise of a fresh ciphertext."""
BUDGET = [3, 3]
"""What it spends on either transform."""


def timed(repeat: int, call: Callable[[], Any]) -> tuple[list[float], Any]:
    """A call that is not counted, and those that are."""
    found, seconds = call(), []
    for _ in range(repeat):
        start = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - start)
    return seconds, found


def made(parameters: Any, *features: str) -> tuple[Any, Any]:
    """The context, of 128 bits by its own table, and its keys."""
    parameters.SetSecurityLevel(fhe.SecurityLevel.HEStd_128_classic)
    context = fhe.GenCryptoContext(parameters)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE", *features):
        context.Enable(getattr(fhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    return context, keys


def integers(scheme: str, repeat: int, log_n: int = 15, depth: int = DEPTH) -> dict[str, Any]:
    """A product of all slots; that of BGV with the switch of modulus."""
    parameters = fhe.CCParamsBGVRNS() if scheme == "bgv" else fhe.CCParamsBFVRNS()
    parameters.SetPlaintextModulus(MODULUS)
    parameters.SetMultiplicativeDepth(depth)
    parameters.SetRingDim(1 << log_n)
    if scheme == "bgv":
        parameters.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    context, keys = made(parameters)
    numbers = [31 * i * i % MODULUS - MODULUS // 2 for i in range(1 << log_n)]
    x, y = (context.Encrypt(keys.publicKey, context.MakePackedPlaintext(some)) for some in (numbers, numbers[::-1]))

    def product() -> Any:
        found = context.EvalMult(x, y)
        return context.ModReduce(found) if scheme == "bgv" else found

    seconds, product_of = timed(repeat, product)
    found = context.Decrypt(keys.secretKey, product_of).GetPackedValue()
    half = MODULUS // 2
    expected = [(a * b + half) % MODULUS - half for a, b in zip(numbers, numbers[::-1])]
    wrong = sum(a != b for a, b in zip(found, expected)) + len(expected) - len(found)
    return {"seconds": seconds, "wrong": wrong, "parameters": f"N = 2^{log_n}, depth {depth}"}


def precision(want: list[float], have: list[float]) -> dict[str, float]:
    errors = [abs(a - b) for a, b in zip(want, have)]
    return {"bits_mean": -math.log2(sum(errors) / len(errors)), "bits_worst": -math.log2(max(errors))}


def ckks(what: str, repeat: int) -> dict[str, Any]:
    """At the top of a chain with the primes of Aglet's levels-15. Nine digits are the fewest that 128 bits leave room for."""
    parameters = fhe.CCParamsCKKSRNS()
    parameters.SetMultiplicativeDepth(17)
    parameters.SetScalingModSize(40)
    parameters.SetFirstModSize(50)
    parameters.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    parameters.SetRingDim(1 << 15)
    parameters.SetNumLargeDigits(9)
    context, keys = made(parameters)
    context.EvalRotateKeyGen(keys.secretKey, [1])
    x = [math.sin(7 * i + 1) for i in range(1 << 14)]
    full = context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(x))
    if what == "rotation":
        seconds, found = timed(repeat, lambda: context.EvalRotate(full, 1))
        expected = x[1:] + x[:1]
    else:
        seconds, found = timed(repeat, lambda: context.Rescale(context.EvalMult(full, full)))
        expected = [a * a for a in x]
    bits = precision(expected, context.Decrypt(keys.secretKey, found).GetRealPackedValue())
    return {
        "seconds": seconds,
        "wrong": int(bits["bits_worst"] < 15),
        "parameters": "N = 2^15, 17 levels, 9 digits",
        **bits,
    }


def bootstrap(what: str, repeat: int) -> dict[str, Any]:
    scale, first, depth = BOOTSTRAPS[what]
    parameters = fhe.CCParamsCKKSRNS()
    parameters.SetSecretKeyDist(fhe.SecretKeyDist.SPARSE_ENCAPSULATED)
    parameters.SetScalingModSize(scale)
    parameters.SetFirstModSize(first)
    parameters.SetScalingTechnique(fhe.ScalingTechnique.FLEXIBLEAUTO)
    parameters.SetNumLargeDigits(3)
    parameters.SetRingDim(1 << 16)
    parameters.SetMultiplicativeDepth(depth)
    start = time.perf_counter()
    context, keys = made(parameters, "ADVANCEDSHE", "FHE")
    context.EvalBootstrapSetup(BUDGET, [0, 0], 1 << 15)
    context.EvalBootstrapKeyGen(keys.secretKey, 1 << 15)
    keygen = time.perf_counter() - start
    x = [math.sin(7 * i + 1) for i in range(1 << 15)]
    full = context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(x, 1, depth - 1))
    seconds, found = timed(repeat, lambda: context.EvalBootstrap(full))
    bits = precision(x, context.Decrypt(keys.secretKey, found).GetRealPackedValue())
    # One more is spent before the next bootstrap, as its documentation says.
    levels = depth - found.GetLevel() - (found.GetNoiseScaleDeg() - 1) - 1
    return {
        "seconds": seconds,
        "wrong": int(bits["bits_worst"] < 5),
        "parameters": f"N = 2^16, sparse secret encapsulated, scale 2^{scale}, depth {depth}, budget {BUDGET}",
        "levels": levels,
        "keygen_seconds": keygen,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        **bits,
    }


def functional(what: str, repeat: int, log_n: int = 16) -> dict[str, Any]:
    """A table of all coefficients of an RLWE ciphertext, which it looks up while it bootstraps (EvalFBT)."""
    (bits, log_q), count = TABLES[what], 1 << log_n
    size, q = 1 << bits, 1 << log_q
    table = [(7 * i * i + 3 * i) % size for i in range(size)]
    # Its coefficients are brought near 1, as its examples do.
    scale = 32
    coefficients = fhe.GetHermiteTrigCoefficients(lambda x: table[x % size], size, 1, scale)
    encapsulated = fhe.SecretKeyDist.SPARSE_ENCAPSULATED
    parameters = fhe.CCParamsCKKSRNS()
    parameters.SetSecretKeyDist(encapsulated)
    parameters.SetScalingModSize(log_q)
    parameters.SetFirstModSize(log_q)
    parameters.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    parameters.SetNumLargeDigits(3)
    parameters.SetBatchSize(count // 2)
    parameters.SetRingDim(count)
    depth = fhe.CryptoContext.GetFBTDepth(BUDGET, coefficients, size, 1, encapsulated, log_q)
    parameters.SetMultiplicativeDepth(depth)
    start = time.perf_counter()
    context, keys = made(parameters, "ADVANCEDSHE", "FHE")
    context.EvalFBTSetup(coefficients, count // 2, size, size, q, keys.publicKey, [0, 0], BUDGET, 0, 0, 1)
    context.EvalBootstrapKeyGen(keys.secretKey, count // 2)
    keygen = time.perf_counter() - start
    scheme, secret = fhe.SchemeletRLWEMP, keys.secretKey
    messages = [(31 * i * i + 17 * i) % size for i in range(count)]
    ring = scheme.GetElementParams(secret, depth)
    sample = scheme.EncryptCoeff(messages, 1 << 60, size, secret, ring)
    scheme.ModSwitch(sample, q, 1 << 60)
    full = scheme.ConvertRLWEToCKKS(context, sample, keys.publicKey, q, count // 2, depth)
    seconds, made_of = timed(repeat, lambda: context.EvalFBT(full, coefficients, bits, q, scale, 0, 1))
    back = scheme.ConvertCKKSToRLWE(made_of, q)
    found = scheme.DecryptCoeff(back, q, size, secret, ring, count // 2, count)
    return {
        "seconds": seconds,
        "wrong": sum((a - table[b]) % size != 0 for a, b in zip(found, messages)) + count - len(found),
        "parameters": f"N = 2^{log_n}, {count} messages, sparse secret encapsulated, scale 2^{log_q}, depth {depth}",
        "keygen_seconds": keygen,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def gate(what: str, repeat: int) -> dict[str, Any]:
    """A NAND of bits."""
    method, name = what.split("/")
    context = fhe.BinFHEContext()
    context.GenerateBinFHEContext(getattr(fhe.BINFHE_PARAMSET, name), getattr(fhe.BINFHE_METHOD, method))
    secret = context.KeyGen()
    context.BTKeyGen(secret)
    seconds, wrong = [], 0
    for i in range(repeat + 2):
        x, y = i % 2, i % 3 == 0
        a, b = context.Encrypt(secret, x), context.Encrypt(secret, int(y))
        start = time.perf_counter()
        found = context.EvalBinGate(fhe.BINGATE.NAND, a, b)
        seconds.append(time.perf_counter() - start)
        wrong += context.Decrypt(secret, found) != 1 - (x & y)
    return {"seconds": seconds[2:], "wrong": wrong, "parameters": what, "failure": FAILURES[what]}


def switching() -> dict[str, Any]:
    """Pairs of slots compared, in parts."""
    parameters = fhe.CCParamsCKKSRNS()
    # What its way back spends, at the scales that it is published with; the ring is the smallest of 128 bits.
    parameters.SetMultiplicativeDepth(17)
    parameters.SetScalingModSize(50)
    parameters.SetFirstModSize(60)
    parameters.SetScalingTechnique(fhe.ScalingTechnique.FIXEDAUTO)
    parameters.SetBatchSize(PAIRS)
    context, keys = made(parameters, "ADVANCEDSHE", "SCHEMESWITCH")
    options = fhe.SchSwchParams()
    options.SetSecurityLevelCKKS(fhe.SecurityLevel.HEStd_128_classic)
    options.SetSecurityLevelFHEW(fhe.BINFHE_PARAMSET.STD128)
    options.SetCtxtModSizeFHEWLargePrec(25)
    options.SetNumSlotsCKKS(PAIRS)
    options.SetNumValues(PAIRS)
    start = time.perf_counter()
    lwe = context.EvalSchemeSwitchingSetup(options)
    context.EvalSchemeSwitchingKeyGen(keys, lwe)
    keygen = time.perf_counter() - start
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
    found: dict[str, Any] = {"ring": context.GetRingDimension(), "dimension": fhew.Getn(), "keygen_seconds": keygen}
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


def main() -> None:
    what, repeat = sys.argv[1], int(sys.argv[2])
    if what in ("bgv", "bfv"):
        found = integers(what, repeat)
    elif what in ("ckks", "rotation"):
        found = ckks(what, repeat)
    elif what in BOOTSTRAPS:
        found = bootstrap(what, repeat)
    elif what in TABLES:
        found = functional(what, repeat)
    elif what == "switching":
        found = switching()
    else:
        found = gate(what, repeat)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
