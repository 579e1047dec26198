"""Measure a bootstrap: its time, its levels, and its precision on messages that are easy and hard for it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aglet import _core
from aglet.engine import Engine
from aglet.errors import ParameterError
from aglet.progress import ProgressCallback
from aglet.reports import failure_text

__all__ = ["MESSAGES", "BootstrapKeys", "Precision", "bench_bootstrap", "make_keys", "make_message"]

MESSAGES = ("uniform", "constant", "alternating", "spike", "random")


def make_message(kind: str, slot_count: int) -> NDArray[Any]:
    """A test message.

    `uniform` is the grid on [-1, 1] of the published precision script, `constant` is all ones, `alternating` is
    1, -1, 1, -1, ..., `spike` is one 1 and zeros, `random` is uniform on the complex unit disc (fixed seed). Constant,
    alternating and spike messages gather in few coefficients or few slots; they are the hard ones.

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
    if kind == "random":
        random = np.random.default_rng(1)
        radius = np.sqrt(random.uniform(0, 1, slot_count))
        return np.asarray(radius * np.exp(2j * np.pi * random.uniform(0, 1, slot_count)))
    raise ParameterError(f'There is no message "{kind}"; the messages are {", ".join(MESSAGES)}.')


@dataclass(frozen=True)
class Precision:
    """How far a result is from what it should be: absolute errors, and the same in bits."""

    mean_error: float
    max_error: float

    @classmethod
    def of(cls, expected: NDArray[Any], actual: NDArray[Any]) -> Precision:
        """Compare slot by slot."""
        error = np.abs(expected - actual)
        return cls(float(np.mean(error)), float(np.max(error)))

    @property
    def bits_mean(self) -> float:
        """-log2 of the mean error, as the published tables count."""
        return float(-np.log2(self.mean_error))

    @property
    def bits_worst(self) -> float:
        """-log2 of the error of the worst slot."""
        return float(-np.log2(self.max_error))


@dataclass(frozen=True)
class BootstrapKeys:
    """All keys of one regular bootstrap, and the seconds that they took."""

    secret: _core.SecretKey
    public: _core.PublicKey
    relinearization: _core.RelinearizationKey
    conjugation: _core.ConjugationKey
    bootstrap: _core.BootstrapKey
    seconds: float

    @property
    def byte_count(self) -> int:
        """Bytes in memory of the keys that a bootstrap reads."""
        return sum(key.byte_count for key in self._read())

    @property
    def stored_bytes(self) -> int:
        """Bytes of the same keys, stored with seeds in place of their uniform halves."""
        return sum(key.stored_bytes for key in self._read())

    def _read(self) -> tuple[_core.BootstrapKey, _core.RelinearizationKey, _core.ConjugationKey]:
        return self.bootstrap, self.relinearization, self.conjugation


def make_keys(
    engine: Engine, stage_count: int, size: _core.KeySize, progress: ProgressCallback | None = None
) -> BootstrapKeys:
    """Make all keys of one regular bootstrap, and time it."""
    start = time.perf_counter()
    secret = engine.create_secret_key()
    return BootstrapKeys(
        secret,
        engine.create_public_key(secret),
        engine.create_relinearization_key(secret),
        engine.create_conjugation_key(secret),
        engine.create_bootstrap_key(secret, stage_count, size, progress=progress),
        time.perf_counter() - start,
    )


@dataclass(frozen=True)
class BootstrapRun:
    """One message, encrypted at level 0 with the secret key, and refreshed once or more."""

    seconds: list[float]
    precision: Precision
    """The mean over all slots and runs, and the worst slot of all runs."""
    output_level: int
    stage_seconds: dict[str, float]
    """Of the last run."""


def run_bootstrap(engine: Engine, keys: BootstrapKeys, message: NDArray[Any], repeat: int) -> BootstrapRun:
    """Refresh a message `repeat` times, each from a fresh encryption; only the bootstrap is timed.

    The secret key encrypts, as in the published precision script: a public key would add noise of its own.
    """
    if repeat < 1:
        raise ParameterError(f"A bench repeats at least once, not {repeat} times.")
    seconds, errors, level = [], [], 0
    for _ in range(repeat):
        ciphertext = engine.encrypt(message, keys.secret, level=0)
        start = time.perf_counter()
        result = engine.bootstrap(ciphertext, keys.relinearization, keys.conjugation, keys.bootstrap)
        seconds.append(time.perf_counter() - start)
        errors.append(Precision.of(message, engine.decrypt(result, keys.secret)))
        level = result.level
    precision = Precision(statistics.fmean(e.mean_error for e in errors), max(e.max_error for e in errors))
    return BootstrapRun(seconds, precision, level, dict(engine.stage_times()))


def bench_bootstrap(
    *,
    preset: str,
    method: str,
    key_size: _core.KeySize,
    stage_count: int,
    slot_count: int | None,
    threads: int,
    repeat: int,
    messages: Iterable[str],
    allow_insecure: bool = False,
) -> Iterator[dict[str, Any]]:
    """Make keys once, then measure each message; yields one record per message, ready for JSON.

    Raises
    ------
    ParameterError
        If this version does not have the method, or the parameters do not fit.
    """
    engine = Engine(
        preset=preset,
        slot_count=slot_count,
        mode="parallel",
        thread_count=threads,
        allow_insecure=allow_insecure,
    )
    plan = _core.plan(engine.preset, method, stage_count, key_size, engine.slot_count)
    cases = [(kind, make_message(kind, engine.slot_count)) for kind in messages]
    keys = make_keys(engine, stage_count, key_size)
    machine = _core.doctor()
    for kind, message in cases:
        run = run_bootstrap(engine, keys, message, repeat)
        yield {
            "method": method,
            "preset": engine.preset,
            "message": kind,
            "key_size": key_size,
            "stage_count": stage_count,
            "slot_count": engine.slot_count,
            "threads": engine.thread_count,
            "backend": engine.backend,
            "seconds": statistics.median(run.seconds),
            "seconds_all": run.seconds,
            "mean_error": run.precision.mean_error,
            "bits_mean": run.precision.bits_mean,
            "max_error": run.precision.max_error,
            "bits_worst": run.precision.bits_worst,
            "input_level": 0,
            "output_level": run.output_level,
            "key_bytes": keys.byte_count,
            "key_bytes_seeded": keys.stored_bytes,
            "keygen_seconds": keys.seconds,
            "peak_rss_bytes": _core.peak_rss_bytes(),
            "log_n": engine.log_coeff_count,
            "log_qp": plan["log_qp"],
            "security_bits": plan["security_bits"],
            "log2_failure": plan["log2_failure"],
            "overflow": failure_text(plan["log2_failure"]),
            "cpu": machine["cpu"],
            "cores": machine["cores"],
            "stage_seconds": run.stage_seconds,
            "version": machine["version"],
        }
