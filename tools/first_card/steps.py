"""One step of the first minutes with a card, by `aglet`: `steps.py NAME`. Every record is a line of JSON, printed at once.

What a card gives is compared with the processor word for word, and a record says so whatever it is. With `--rehearsal` toys and short secrets
stand for the real sets: an emulated card takes minutes for those.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import aglet
from aglet import Engine, FhewEngine, IntegerEngine, SchemeSwitch, Table, _core
from aglet_bench.ckks.card import CardCase, bench_card

Record = dict[str, Any]
REHEARSAL = "--rehearsal" in sys.argv
PRESETS = Path(__file__).parents[2] / "crates" / "aglet" / "presets" / "fhew"
REPEAT = 0 if "--once" in sys.argv else 1 if REHEARSAL else 5


def doctor() -> Iterator[Record]:
    """The processor, the cards, and what the self-test of each says."""
    machine = _core.doctor()
    yield {
        "operation": "doctor",
        **{name: machine[name] for name in ("version", "cpu", "cores", "backend", "memory_available_bytes")},
    }
    for card in _core.cards():
        start, said = time.perf_counter(), "passed"
        try:
            _core.test_card(card["index"])
        except aglet.DeviceError as error:
            said = str(error)
        yield {"operation": "self-test", **card, "self_test": said, "seconds": time.perf_counter() - start}


def compared(
    name: str, card: Callable[[], Any], here: Callable[[], Any], stored: Callable[[Any], bytes], repeat: int = REPEAT
) -> Record:
    """Runs of the same work on the card and on the processor: the first, the median of the others, and whether words are the same."""

    def timed(work: Callable[[], Any]) -> tuple[float, bytes]:
        start = time.perf_counter()
        made = stored(work())
        return time.perf_counter() - start, made

    first, found = timed(card)
    processor, wanted = timed(here)
    more = [timed(card) for _ in range(repeat)]
    return {
        "operation": name,
        "same_words": found == wanted and all(made == wanted for _, made in more),
        "first_seconds": first,
        "seconds": statistics.median(seconds for seconds, _ in more) if more else first,
        "processor_seconds": processor,
    }


def ckks(preset: str, **options: Any) -> Iterator[Record]:
    """Rotations, products and bootstraps, the latter stage by stage."""
    insecure = preset.startswith("toy")
    yield from bench_card(CardCase(preset, allow_insecure=insecure, **options), repeat=REPEAT)


def stages(preset: str) -> Iterator[Record]:
    """A bootstrap that waits at the end of each stage, so that times are those of the card's work."""
    os.environ["AGLET_CUDA_WAIT"] = "1"
    for record in bench_card(CardCase(preset, allow_insecure=preset.startswith("toy")), repeat=1):
        if record["operation"] == "bootstrap":
            yield record | {"operation": "bootstrap, waiting at each stage"}


def methods(preset: str, slots: int) -> Iterator[Record]:
    """Bootstraps of few slots, whose trace adds rotations, by each method."""
    words: dict[str, Any] = {"preset": preset, "slot_count": slots, "use_bootstrap": True, "allow_insecure": True}
    card, here = Engine(mode="gpu", **words), Engine(mode="parallel", **words)
    secret = here.create_secret_key()
    keys = here.create_relinearization_key(secret), here.create_conjugation_key(secret)
    regular, lossy = here.create_bootstrap_key(secret), here.create_lossy_bootstrap_key(secret)
    random = np.random.default_rng(1)
    signs, numbers = random.choice([-1.0, 1.0], slots), random.integers(0, 4, slots) / 4
    x, y = (here.encrypt(values, secret, level=0) for values in (signs, numbers))
    works: dict[str, Callable[[Engine], Any]] = {
        "bootstrap": lambda engine: engine.bootstrap(x, *keys, regular),
        "lossy bootstrap": lambda engine: engine.lossy_bootstrap(x, *keys, lossy),
        "sign bootstrap": lambda engine: engine.sign_bootstrap(x, *keys, lossy),
        "functional bootstrap": lambda engine: engine.functional_bootstrap(y, [0, 1, 1, 0], *keys, lossy, step=0.25),
    }
    for name, work in works.items():
        made = compared(name, lambda work=work: work(card), lambda work=work: work(here), here.serialize, REPEAT // 2)
        yield {"preset": preset, "slots": slots, "device": card.device, **made}


def switches(preset: str, low: str) -> Iterator[Record]:
    """Slots to bits of FHEW, a gate there, and back."""
    words, fhew_words = {"preset": preset, "slot_count": 64, "allow_insecure": True}, short(low)
    card, here = (
        SchemeSwitch(Engine(mode=mode, **words), FhewEngine(mode=mode, **fhew_words)) for mode in ("gpu", "parallel")
    )
    keys, bits = here.create_keys(bootstrap="medium"), np.random.default_rng(1).integers(0, 2, 64)
    x = here.engine.encrypt(bits, keys.secret, level=0)

    def down(switch: SchemeSwitch) -> Any:
        made = switch.to_fhew(x, range(8), keys)
        return switch.fhew_engine.nand(made[:4], made[4:], keys.fhew_bootstrap)

    names = {"preset": preset, "fhew": low, "device": card.engine.device}
    yield names | compared(
        "to FHEW, and a gate", lambda: down(card), lambda: down(here), here.fhew_engine.serialize, REPEAT
    )
    made = down(here)
    yield names | compared(
        "from FHEW",
        lambda: card.from_fhew(made, keys),
        lambda: here.from_fhew(made, keys),
        here.engine.serialize,
        REPEAT,
    )


def integers(preset: str) -> Iterator[Record]:
    """A product and a bootstrap."""
    words: dict[str, Any] = {"preset": preset, "allow_insecure": preset.startswith("toy")}
    card, here = IntegerEngine(mode="gpu", **words), IntegerEngine(mode="parallel", **words)
    start = time.perf_counter()
    secret = here.create_secret_key()
    relin, key = here.create_relinearization_key(secret), here.create_bootstrap_key(secret)
    yield {"operation": "keys", "preset": preset, "seconds": time.perf_counter() - start}
    values = np.random.default_rng(1).integers(-100, 100, here.slot_count)
    x, low = here.encrypt(values, secret), here.encrypt(values, secret, level=1)
    common = {"preset": preset, "device": card.device}
    yield common | compared(
        "multiply", lambda: card.multiply(x, x, relin), lambda: here.multiply(x, x, relin), here.serialize
    )
    made = compared("bootstrap", lambda: card.bootstrap(low, key), lambda: here.bootstrap(low, key), here.serialize)
    yield common | made | {"right": bool((here.decrypt(card.bootstrap(low, key), secret) == values).all())}


def short(preset: str) -> dict[str, Any]:
    """A set of FHEW with a short secret, as an engine takes it."""
    text = (PRESETS / f"{preset}.toml").read_text().split("[claims]")[0]
    for name, value in (("dimension", 196), ("lwe_error", -20.0)):
        text = re.sub(f"{name} = .*", f"{name} = {value}", text, count=1)
    return {"parameters": text, "allow_insecure": True}


def fhew(preset: str, counts: tuple[int, ...]) -> Iterator[Record]:
    """Gates or tables of so many ciphertexts at once."""
    words = short(preset) if REHEARSAL else {"preset": preset}
    card, here = FhewEngine(mode="gpu", **words), FhewEngine(mode="parallel", **words)
    start = time.perf_counter()
    secret = here.create_secret_key()
    key = here.create_bootstrap_key(secret)
    yield {"operation": "keys", "preset": preset, "seconds": time.perf_counter() - start}
    random, table = np.random.default_rng(1), Table(lambda m: (m * m + 1) % (1 << here.bits))

    def run(engine: FhewEngine, x: Any, y: Any) -> Any:
        return engine.nand(x, y, key) if engine.bits == 1 else engine.lookup(x, table, key)

    def measured(count: int) -> Record:
        x, y = (here.encrypt(random.integers(0, 1 << here.bits, count), secret) for _ in range(2))
        what = "nand" if here.bits == 1 else "lookup"
        made = compared(what, lambda: run(card, x, y), lambda: run(here, x, y), here.serialize, min(REPEAT, 3))
        return {"preset": preset, "count": count, "device": card.device, "per_second": count / made["seconds"], **made}

    yield from map(measured, counts)


def several(*steps: Iterator[Record]) -> Iterator[Record]:
    """One after the other; one that fails does not end the others."""
    for step in steps:
        try:
            yield from step
        except Exception as error:
            yield {"operation": "error", "error": f"{type(error).__name__}: {error}"}


def steps() -> dict[str, Callable[[], Iterator[Record]]]:
    """All steps by name."""
    gates = (1, 4) if REHEARSAL else (1, 64, 4096, 65536)
    few, real = (2,) if REHEARSAL else (8,), "toy" if REHEARSAL else "regular"
    small = (few,) if REHEARSAL else ((1, 4096),)
    return {
        "doctor": doctor,
        "toy": lambda: ckks("toy"),
        "toy-ship": lambda: ckks("toy-ship"),
        "toy-int16": lambda: integers("toy-int16"),
        "toy-fhew": lambda: several(
            *(fhew(preset, few) for preset in ("gate", "cggi", "ginx3", "lut2", "lut4", "wide"))
        ),
        "toy-methods": lambda: several(methods("toy", 16), methods("toy", 512)),
        "toy-switch": lambda: switches("toy", "gate"),
        "regular": lambda: ckks(real),
        "ship14": lambda: ckks("toy-ship" if REHEARSAL else "ship14"),
        "int16": lambda: integers("toy-int16" if REHEARSAL else "int16"),
        "gates": lambda: fhew("gate", gates),
        "tables": lambda: several(*(fhew(preset, *small) for preset in ("lut2", "lut4"))),
        "batches": lambda: several(*(ckks(real, many=many) for many in ((2,) if REHEARSAL else (4, 16)))),
        "stages": lambda: stages(real),
        "ship14-stages": lambda: stages("toy-ship" if REHEARSAL else "ship14"),
        "medium": lambda: ckks(real, key_size="medium"),
    }


def main() -> None:
    """Run the step that is named."""
    warnings.simplefilter("ignore")
    name, failed = sys.argv[1], False
    try:
        for record in steps()[name]():
            failed |= record.get("same_words") is False or "error" in record
            print(json.dumps(record), flush=True)
    except Exception as error:
        print(json.dumps({"operation": "error", "error": f"{type(error).__name__}: {error}"}), flush=True)
        raise
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
