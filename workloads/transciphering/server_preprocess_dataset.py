"""Server: look at what was sent."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workloads.common import Place, run
from workloads.transciphering import parts


def stage(place: Place) -> None:
    """What AES encrypted is complete; nothing is computed before the first stage."""
    parts.public_states(place)


if __name__ == "__main__":
    run(stage, parts.SIZES)
