"""Fixtures of the quick suite: one toy engine (N = 2^10, no security) and its keys."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from aglet import (
    BootstrapKey,
    ConjugationKey,
    Engine,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
)

# Processes that pytest starts beside one another have it: tables of the command line would be of that width.
os.environ.pop("COLUMNS", None)

# Processes that tests start have both packages of this tree, as this one has by `pythonpath` of pyproject.toml.
TREE = Path(__file__).parents[2] / "python"
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(TREE), str(TREE / "bench"), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# The tests have the driver that they name (`test_gpu.py`), whatever this machine has.
os.environ["AGLET_CUDA_DRIVER"] = str(Path(__file__).parent / "no-driver.so")

# What a shell starts in the background ignores Ctrl-C, and so does all below it; tests send it and wait for it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Keys:
    secret: SecretKey
    public: PublicKey
    relinearization: RelinearizationKey
    conjugation: ConjugationKey
    rotation: RotationKey
    bootstrap: BootstrapKey

    @classmethod
    def of(cls, engine: Engine) -> Keys:
        secret = engine.create_secret_key()
        return cls(
            secret,
            engine.create_public_key(secret),
            engine.create_relinearization_key(secret),
            engine.create_conjugation_key(secret),
            engine.create_rotation_key(secret),
            engine.create_bootstrap_key(secret),
        )


@pytest.fixture(scope="session")
def engine() -> Engine:
    return Engine(preset="toy", allow_insecure=True)


@pytest.fixture(scope="session")
def keys(engine: Engine) -> Keys:
    return Keys.of(engine)
