"""Measure a card beside the processor: the same operations on the same ciphertexts, and whether words are the same."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from aglet import Ciphertext, Engine, _core
from aglet_bench import recording
from aglet_bench.ckks.card_model import call_seconds, model_of

if TYPE_CHECKING:
    from aglet._core import KeySize

__all__ = ["CardCase", "bench_card"]


@dataclass(frozen=True)
class CardCase:
    """One measurement, with the names of the command line."""

    preset: str = "regular"
    key_size: str = "large"
    device_id: int = 0
    many: int = 1
    """Ciphertexts that go through each operation together."""
    allow_insecure: bool = False


Operation = Callable[[Engine, list[Ciphertext]], list[Ciphertext]]


def bench_card(case: CardCase, *, repeat: int) -> Iterator[dict[str, Any]]:
    """Compare operations on a card and on the processor; a record for each.

    It has the seconds that the processor makes keys for, those of the first run on the card, with what goes up for it,
    the median of the others, that of the processor, and whether results are the same bytes. Times are for all
    ciphertexts together, and include the way back.
    A bootstrap has its stages too: the seconds until a stage has launched its last kernel, those of the processor, and
    those of a model (`card_model.py`) for its work and for the launches and copies that it made. On an emulated card
    that is a dry run: only words and models mean anything.

    Raises
    ------
    DeviceError
        If the card cannot be used.
    """
    words: dict[str, Any] = {"preset": case.preset, "use_bootstrap": True, "allow_insecure": case.allow_insecure}
    # Engines of one parameter set use each other's keys.
    engines = [Engine(mode="gpu", device_id=case.device_id, **words), Engine(mode="parallel", **words)]
    start = time.perf_counter()
    secret = engines[1].create_secret_key()
    relinearization, conjugation = (
        engines[1].create_relinearization_key(secret),
        engines[1].create_conjugation_key(secret),
    )
    rotation = engines[1].create_fixed_rotation_key(secret, 1)
    bootstrap = engines[1].create_bootstrap_key(secret, size=cast("KeySize", case.key_size))
    key_seconds = time.perf_counter() - start
    random = np.random.default_rng(1)
    slots = engines[1].slot_count
    high = [engines[1].encrypt(random.uniform(-1, 1, slots), secret) for _ in range(case.many)]
    low = [engines[1].level_down(x, 0) for x in high]
    operations: dict[str, tuple[list[Ciphertext], Operation]] = {
        "rotate": (high, lambda engine, of: [engine.rotate(x, rotation) for x in of]),
        "multiply": (high, lambda engine, of: [engine.multiply(x, x, relinearization) for x in of]),
        "bootstrap": (low, lambda engine, of: engine.bootstrap_many(of, relinearization, conjugation, bootstrap)),
    }
    for name, (inputs, operation) in operations.items():
        timed: list[list[float]] = [[], []]
        for _ in range(repeat + 1):
            results = []
            for engine, seconds in zip(engines, timed, strict=True):
                start = time.perf_counter()
                # Serialization reads the words.
                made = operation(engine, inputs)
                engine._fetch(made)
                results.append([engine.serialize(x) for x in made])
                seconds.append(time.perf_counter() - start)
            same = results[0] == results[1]
            if not same:
                break
        first, *rest = timed[0]
        yield {
            **recording.stamp(),
            "operation": name,
            **asdict(case),
            "device": engines[0].device,
            "cpu": _core.doctor()["cpu"],
            "threads": engines[1].thread_count,
            "key_seconds": key_seconds,
            "same_words": same,
            "first_seconds": first,
            "seconds": statistics.median(rest) if rest else first,
            "processor_seconds": statistics.median(timed[1][1:] or timed[1]),
            **(_stages(engines, case) if name == "bootstrap" else {}),
        }


def _stages(engines: list[Engine], case: CardCase) -> dict[str, Any]:
    """The stages of the last bootstrap."""
    card, processor = (engine.stage_runs() for engine in engines)
    model, log_n = model_of(engines[0].device), engines[0].slot_count.bit_length()
    rows = [
        {
            "name": there["name"],
            "seconds": there["seconds"],
            "processor_seconds": here["seconds"],
            "model_seconds": model.seconds(here["work"], log_n) + call_seconds(there),
            "model_call_seconds": call_seconds(there),
            **{name: there[name] for name in ("launches", "synchronous_copies", "other_copies")},
        }
        for there, here in zip(card, processor, strict=True)
    ]
    return {"model": model.name, "stages": rows}
