"""Measure a bootstrap: its time, its levels, and its precision on easy and hard messages."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet.ckks.engine import Engine
from aglet.errors import ParameterError
from aglet.keys.keyset import KeySet
from aglet.progress import ProgressCallback
from aglet_bench.quiet import Watch

__all__ = [
    "MESSAGES",
    "METHODS",
    "Case",
    "Precision",
    "bench_bootstrap",
    "make_message",
    "run_bootstrap",
]

MESSAGES = ("uniform", "constant", "alternating", "spike", "random", "bits")
METHODS = ("regular", "to14", "sparse", "lossy", "sign", "bits", "merge", "lossy-merge")


def make_message(kind: str, slot_count: int) -> NDArray[Any]:
    """A test message.

    `uniform` is the grid on [-1, 1] of the published precision script, `constant` is all ones, `alternating` is 1, -1,
    1, -1, ..., `spike` is one 1 and zeros, `random` is uniform on the complex unit disc (fixed seed), `bits` is 1, 0,
    1, 0, .... Constant, alternating and spike messages are the hard ones, because they concentrate in few coefficients
    or few slots.

    Raises
    ------
    ParameterError
        If there is no such message.
    """
    if kind == "uniform":
        return np.linspace(-1, 1, slot_count)
    if kind == "constant":
        return np.ones(slot_count)
    if kind == "alternating":
        return np.where(np.arange(slot_count) % 2 == 0, 1.0, -1.0)
    if kind == "spike":
        return np.where(np.arange(slot_count) == 0, 1.0, 0.0)
    if kind == "bits":
        return np.where(np.arange(slot_count) % 2 == 0, 1.0, 0.0)
    if kind == "random":
        random = np.random.default_rng(1)
        radius = np.sqrt(random.uniform(0, 1, slot_count))
        return np.asarray(radius * np.exp(2j * np.pi * random.uniform(0, 1, slot_count)))
    raise ParameterError(f'There is no message "{kind}"; choose one of {", ".join(MESSAGES)}.')


@dataclass(frozen=True)
class Precision:
    """The distance of a result from the expected one: absolute errors, and the same in bits."""

    mean_error: float
    max_error: float

    @classmethod
    def of(cls, expected: NDArray[Any], actual: NDArray[Any]) -> Precision:
        """Compare two results slot by slot."""
        error = np.abs(expected - actual)
        return cls(float(np.mean(error)), float(np.max(error)))

    @property
    def bits_mean(self) -> float:
        """-log2 of the mean error, as in the published tables."""
        return float(-np.log2(self.mean_error))

    @property
    def bits_worst(self) -> float:
        """-log2 of the error of the worst slot."""
        return float(-np.log2(self.max_error))


@dataclass(frozen=True)
class Case:
    """The case of one bench, with the names of the command line.

    Method "to14" is the regular bootstrap of the 14-level parameters, and "sparse" the regular one with few slots.
    `compact` chooses the compact parameters. A `preset` replaces the parameters of the method.
    """

    method: str = "regular"
    key_size: str = "large"
    stage_count: int | None = None
    slot_count: int | None = None
    real: bool = False
    compact: bool = False
    preset: str | None = None
    bound: float = 1.0
    target_level: int | None = None
    iterations: int = 1
    many: int = 1
    threads: int = 1
    allow_insecure: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f'There is no method "{self.method}"; choose one of {", ".join(METHODS)}.')
        if self.method == "sparse" and self.slot_count is None:
            raise ParameterError("The sparse bootstrap needs a number of slots; give slot_count=.")
        if self.iterations != 1 and self.core_method not in ("regular", "lossy"):
            raise ParameterError(f"A {self.method} bootstrap cannot be iterated; leave iterations= at 1.")
        if self.many < 1 or (self.many > 1 and self.core_method != "regular"):
            raise ParameterError(
                f"bootstrap_many refreshes one or more ciphertexts with the regular method, not {self.many} with the "
                f"method {self.method}; leave many= at 1."
            )

    @property
    def core_method(self) -> str:
        """The name of the method in the engine."""
        return "regular" if self.method in ("to14", "sparse") else self.method

    @property
    def key_method(self) -> str:
        """The method that the keys are made for. All keys of SHIP are of one kind."""
        ship = any(not preset["raises_modulus"] for preset in _core.presets() if preset["name"] == self.preset_name)
        return "regular" if ship or self.core_method in ("regular", "merge") else "lossy"

    @property
    def pairs(self) -> bool:
        """Whether the bootstrap takes and returns two real ciphertexts."""
        return self.core_method in ("merge", "lossy-merge")

    @property
    def preset_name(self) -> str:
        """The parameter set of the case."""
        if self.preset is not None:
            return self.preset
        base = "to14" if self.method == "to14" else "regular"
        compact = {"to14": "to14-compact", "regular": "compact"}
        return compact[base] if self.compact else base

    def engine(self) -> Engine:
        """An engine with the parameters of the case."""
        return Engine(
            preset=self.preset_name,
            slot_count=self.slot_count,
            mode="parallel",
            thread_count=self.threads,
            allow_insecure=self.allow_insecure,
        )

    def keys(self, engine: Engine, progress: ProgressCallback | None = None) -> KeySet:
        """All keys of the bootstrap."""
        return engine.create_keys(
            bootstrap=self.key_size,
            stage_count=self.stage_count,
            method=self.key_method,
            rotation=self.key_size == "small",
            progress=progress,
        )

    def plan(self, engine: Engine) -> _core.Plan:
        """The plan of the case. No key is made."""
        return _core.plan(
            engine.preset,
            self.core_method,
            self.stage_count,
            self.key_size,
            engine.slot_count,
            self.real,
            self.target_level,
        )


@dataclass(frozen=True)
class BootstrapRun:
    """One message, encrypted with the secret key and bootstrapped one or more times."""

    seconds: list[float]
    """The seconds of each run, divided by the ciphertexts that were refreshed together."""
    precision: Precision
    """The mean over all slots and runs, and the worst slot of all runs."""
    output_level: int
    stage_seconds: dict[str, float]
    """The stages of the last run."""


def run_bootstrap(
    engine: Engine, keys: KeySet, message: NDArray[Any], repeat: int, case: Case | None = None
) -> BootstrapRun:
    """Bootstrap a message `repeat` times, each from a fresh encryption. Only the bootstrap is timed.

    The message is encrypted with the secret key, as in the published precision script, because a public key would add
    noise. The merging methods take the message and its reverse. With `many` above one, that many copies of the message
    are bootstrapped together.
    """
    if repeat < 1:
        raise ParameterError(f"repeat={repeat} is below 1; give repeat=1 or more.")
    case = Case() if case is None else case
    secret = checks.need(keys.secret, _core.SecretKey, "engine.create_secret_key()")
    level = case.plan(engine)["input_level"]
    messages = [message * case.bound] * case.many + ([message[::-1] * case.bound] if case.pairs else [])
    seconds, errors, levels = [], [], []
    for _ in range(repeat):
        ciphertexts = [engine.encrypt(part, secret, level=level) for part in messages]
        start = time.perf_counter()
        results = _bootstrap(engine, keys, ciphertexts, case)
        seconds.append((time.perf_counter() - start) / case.many)
        pairs = zip(messages, results, strict=True)
        errors += [Precision.of(part, engine.decrypt(result, secret)) for part, result in pairs]
        levels += [result.level for result in results]
    precision = Precision(statistics.fmean(e.mean_error for e in errors), max(e.max_error for e in errors))
    return BootstrapRun(seconds, precision, min(levels), dict(engine.stage_times()))


def _bootstrap(engine: Engine, keys: KeySet, ciphertexts: list[_core.Ciphertext], case: Case) -> list[_core.Ciphertext]:
    choices: dict[str, Any] = {"target_level": case.target_level}
    if case.key_size == "small":
        choices["stage_count"] = case.stage_count
    if case.pairs:
        merge = engine.merge_bootstrap if case.core_method == "merge" else engine.lossy_merge_bootstrap
        first, second = ciphertexts
        return list(merge(first, second, *keys.bootstrap_arguments, real=True, bound=case.bound, **choices))
    choices["real"] = case.real
    if case.many > 1:
        choices |= {"bound": case.bound, "iterations": case.iterations}
        return engine.bootstrap_many(ciphertexts, *keys.bootstrap_arguments, **choices)
    if case.core_method in ("sign", "bits"):
        bits = case.core_method == "bits"
        return [engine.sign_bootstrap(ciphertexts[0], *keys.bootstrap_arguments, bits=bits, **choices)]
    refresh = engine.bootstrap if case.core_method == "regular" else engine.lossy_bootstrap
    return [refresh(ciphertexts[0], *keys.bootstrap_arguments, bound=case.bound, iterations=case.iterations, **choices)]


def default_message(method: str) -> str:
    """The message that a method is measured with: signs for the sign bootstrap, the uniform grid for all others."""
    return {"sign": "alternating", "bits": "bits"}.get(method, "uniform")


def bench_bootstrap(
    case: Case,
    *,
    repeat: int,
    messages: Iterable[str] = (),
    keys: KeySet | None = None,
    engine: Engine | None = None,
) -> Iterator[dict[str, Any]]:
    """Measure each message. Yields one record per message, ready for JSON.

    Keys are made once, or given together with their engine.

    Raises
    ------
    ParameterError
        If the parameters do not fit.
    """
    engine = case.engine() if engine is None else engine
    plan = case.plan(engine)
    kinds = list(messages) or [default_message(case.core_method)]
    cases = [(kind, make_message(kind, engine.slot_count)) for kind in kinds]
    if keys is None:
        keys = case.keys(engine)
    machine = _core.doctor()
    for kind, message in cases:
        watch = Watch()
        run = run_bootstrap(engine, keys, message, repeat, case)
        quiet = watch.done(run.seconds)
        yield {
            "method": case.method,
            "preset": engine.preset,
            "message": kind,
            "key_size": case.key_size,
            "stage_count": plan["stage_count"],
            "slot_count": engine.slot_count,
            "real": case.real or case.pairs,
            "compact": case.compact,
            "bound": case.bound,
            "iterations": case.iterations,
            "many": case.many,
            "threads": engine.thread_count,
            "backend": engine.backend,
            "seconds": statistics.median(run.seconds),
            "seconds_all": run.seconds,
            "mean_error": run.precision.mean_error,
            "bits_mean": run.precision.bits_mean,
            "max_error": run.precision.max_error,
            "bits_worst": run.precision.bits_worst,
            "input_level": plan["input_level"],
            "output_level": run.output_level,
            "key_bytes": keys.bootstrap_bytes[0],
            "key_bytes_seeded": keys.bootstrap_bytes[1],
            "keygen_seconds": keys.seconds,
            "peak_rss_bytes": _core.peak_rss_bytes(),
            "log_n": engine.log_coeff_count,
            "log_qp": plan["log_qp"],
            "security_bits": plan["security_bits"],
            "log2_failure": plan["log2_failure"],
            "cpu": machine["cpu"],
            "cores": machine["cores"],
            "stage_seconds": run.stage_seconds,
            **quiet.fields(),
            "version": machine["version"],
        }
