"""`NetworkPlan`: a network with its bootstraps placed for an engine. It forecasts, makes keys, and runs."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aglet import _core, checks
from aglet._core import Ciphertext
from aglet.ckks import operands, values
from aglet.ckks.engine import Engine
from aglet.ckks.maps import GIANT
from aglet.ckks.options import presets
from aglet.errors import KeyMismatchError, ParameterError, RangeError
from aglet.forecast import Operations
from aglet.keys.making import refuse_above_free
from aglet.keys.sizes import key_bytes
from aglet.network.keys import NetworkKeys
from aglet.network.layers import INPUT
from aglet.network.lowering import lowered, placed
from aglet.network.packing import Packing
from aglet.network.placement import Part, Placed, best
from aglet.network.rehearsal import Noise, error
from aglet.network.steps import MapStep
from aglet.progress import ProgressCallback, progress_bar
from aglet.reports import gigabytes

if TYPE_CHECKING:
    from aglet.network.network import Network

__all__ = ["NetworkPlan", "PlannedStep", "planned"]


class PlannedStep(NamedTuple):
    """A step at its levels, and its seconds on one thread by the model."""

    name: str
    """The name of the layer, "bootstrap", or "level_down"."""
    kind: str
    level_in: int
    level_out: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}, level {self.level_in} to {self.level_out}, {self.seconds:.3g} s"


@dataclass(frozen=True, eq=False)
class NetworkPlan:
    """A network placed on the levels of an engine. `print` shows the forecast as a sentence.

    Call it with a ciphertext of `encrypt` and the keys of `create_keys`; `decrypt` gives the outputs.
    """

    network: Network
    engine: Engine
    part: Part
    levels: tuple[int, int]
    """The levels of the input and of the output."""
    batch: int
    """The inputs in one ciphertext."""
    packings: tuple[Packing, Packing]
    """Those of the input and of the output."""
    stage_count: int | None
    """The stages of the bootstrap key; None for the default."""
    key_size: str
    steps: list[PlannedStep]
    """The steps in their order."""
    rotations: frozenset[tuple[int, int]]
    """The rotations to the left that need a key, each with its level."""
    rotation_count: int
    """The key switches of all rotations."""
    key_bytes: int
    """Bytes in memory of all keys but the secret one."""
    peak_bytes: int
    """These keys, what a bootstrap takes beside them, and the largest encoded layer."""
    bits: float
    """-log2 of an error that outputs hardly exceed, against the network of polynomials in the clear."""

    @property
    def bootstraps(self) -> int:
        """The number of bootstraps."""
        return sum(step.name == "bootstrap" for step in self.steps)

    @property
    def seconds(self) -> float:
        """Seconds on one thread of this kind of processor, by the model."""
        return sum(step.seconds for step in self.steps)

    def __str__(self) -> str:
        return (
            f"{len(self.steps)} steps from level {self.levels[0]} to level {self.levels[1]}, {self.bootstraps} "
            f"bootstraps, {self.rotation_count} rotations; keys {gigabytes(self.key_bytes)}, peak "
            f"{gigabytes(self.peak_bytes)}; about {self.seconds:.3g} s on one thread; at least {self.bits:.1f} bits."
        )

    def create_keys(
        self,
        secret_key: Any,
        *,
        rotations: Iterable[tuple[int, int]] = (),
        progress: ProgressCallback | None = None,
    ) -> NetworkKeys:
        """Make the keys that the program needs, each rotation at its level.

        Parameters
        ----------
        rotations
            Further rotations to the left, each with its level: of other plans that share the keys, or of what is
            computed with the outputs. `NetworkKeys.rotation` gives their keys.

        Raises
        ------
        MemoryLimitError
            If the machine has less free memory than the program needs. Nothing is made then.
        """
        key, engine = operands.secret_key(secret_key), self.engine
        remedy = "free some, take a bootstrap key of size medium, or plan with few_keys=True."
        refuse_above_free(self.peak_bytes, "This network needs, with its keys,", remedy)
        wanted = sorted(self.rotations | {(checks.step(by), checks.count("level", at)) for by, at in rotations})
        return NetworkKeys.make(engine, key, wanted, self._bootstrap_options(), progress)

    def _bootstrap_options(self) -> dict[str, Any] | None:
        return {"stage_count": self.stage_count, "size": self.key_size} if self.bootstraps else None

    def encrypt(self, x: Any, key: Any) -> Ciphertext:
        """Encrypt an input of shape (channels, rows, columns) with the public or the secret key.

        A batch has one more axis in front.

        Raises
        ------
        ParameterError
            If it has another shape.
        RangeError
            If a value is larger than the range of the sample allows.
        """
        given, wanted = np.asarray(values.as_operand(x), dtype=np.float64), self.network.shapes[INPUT]
        if self.batch > 1:
            wanted = (self.batch, *wanted)
        if given.shape != wanted:
            raise ParameterError(f"This network takes an input of shape {wanted}, not {given.shape}.")
        stored = given / self.network.scales[INPUT]
        if np.abs(stored).max() > 1:
            raise RangeError(
                f"This input has a value of {np.abs(given).max():.6g}, and the sample of the network said at most "
                f"{self.network.scales[INPUT]:.6g}; scale it as the sample is."
            )
        slots = self.engine.slot_count
        return self.engine.encrypt(self.packings[0].laid(stored, slots), key, self.levels[0], real=True)

    def decrypt(self, ciphertext: Ciphertext, secret_key: Any) -> NDArray[np.float64]:
        """Decrypt the outputs, in their order; those of a batch as rows.

        Do not publish them as they are; see `Engine.decrypt`.
        """
        found = self.engine.decrypt(ciphertext, secret_key)
        outputs: NDArray[np.float64] = found.real[self.packings[1].all_places].reshape(self.batch, -1)
        return (outputs if self.batch > 1 else outputs[0]) * self.network.scales[self.network.output]

    def __call__(
        self,
        ciphertext: Ciphertext,
        keys: NetworkKeys,
        *,
        assume: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Run the network on a ciphertext of `encrypt`.

        Parameters
        ----------
        assume
            Declare that all values stay in the ranges that the sample reached. Nothing encrypted can prove it; the
            network in the clear checks it. If they do not stay there, the result is wrong and nothing shows it.
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work is cancelled.

        Raises
        ------
        RangeError
            If `assume` was not given.
        KeyMismatchError
            If the keys were made for another plan.
        LevelError
            If the ciphertext is at another level than this program begins at.
        """
        return self.run_many([ciphertext], keys, assume=assume, progress=progress)[0]

    def run_many(
        self,
        ciphertexts: Iterable[Ciphertext],
        keys: NetworkKeys,
        *,
        assume: bool = False,
        progress: ProgressCallback | None = None,
    ) -> list[Ciphertext]:
        """Run the network on several ciphertexts, step by step. Each takes less time than alone.

        Linear maps and bootstraps take two ciphertexts at once, as real and imaginary parts, and a map is encoded once
        for all. Results are within the same bits as those of a call, but not the same bit for bit. A ciphertext takes
        some megabytes more; maps that are encoded for many take up to a gigabyte at N = 2^16, if there is as much.

        Raises
        ------
        RangeError, KeyMismatchError, LevelError
            As in a call.
        """
        if not checks.flag("assume", assume):
            raise RangeError(
                "Encrypted values cannot be checked, and outside of the ranges of the sample polynomials are wrong; "
                "call the plan with assume=True if you know that values stay there."
            )
        keys = checks.need(keys, NetworkKeys, "plan.create_keys(secret_key)")
        given = [operands.ciphertext(one) for one in checks.each("ciphertexts", ciphertexts)]
        if not given:
            raise RangeError("There is no ciphertext; give at least one.")
        if missing := self.rotations - keys.rotations.keys():
            raise KeyMismatchError(f"These keys lack {len(missing)} rotations of this plan; make keys with this plan.")
        xs = [self.engine.level_down(x, self.levels[0]) for x in given]
        with progress_bar(progress) as report:
            return self._run(xs, keys, report)

    def _run(self, xs: list[Ciphertext], keys: NetworkKeys, report: ProgressCallback | None) -> list[Ciphertext]:
        done = 0

        def do(step: Placed, inputs: Sequence[Any]) -> Any:
            nonlocal done
            if report is not None:
                report(done, len(self.steps), _name(step))
            done += 1
            if step.step is not None:
                return step.step.run(self.engine, keys, *inputs)
            (ones,) = inputs
            if step.level_out < step.level_in:
                return [self.engine.level_down(one, step.level_out) for one in ones]
            return keys.bootstrapped(self.engine, ones, step.level_out)

        made: list[Ciphertext] = self.part.run(xs, self.levels, do)
        return made


def planned(
    network: Network,
    engine: Any,
    size: str,
    stage_count: int | None,
    batch: int,
    output_level: int,
    few_keys: bool,
) -> NetworkPlan:
    """See `Network.plan`, whose arguments these are."""
    if not isinstance(engine, Engine):
        raise TypeError(f"engine is an Engine, not {type(engine).__name__}; network.plan(engine).")
    size = checks.choice("bootstrap", size, ("large", "medium"))
    preset = next((one for one in presets() if one["name"] == engine.preset), None)
    if preset is None:
        raise ParameterError("This engine has parameters of its own, whose work is not known; take one of a preset.")
    if checks.count("batch", batch, 1) & (batch - 1):
        raise ParameterError(f"A batch of {batch} inputs is no power of two; fill it up with zeros.")
    least = values.as_level(output_level, engine.max_level)
    graph = lowered(network, engine.slot_count, batch, 1 if checks.flag("few_keys", few_keys) else GIANT)
    forecast = _Forecast(engine, preset, size, checks.optional_count("stage_count", stage_count, 1))
    part = placed(graph, forecast.work, forecast.bootstrap, forecast.most, engine.max_level)
    levels = best(part, engine.max_level, least)
    walk = list(part.walk(*levels))
    maps = [(one.step, one.level_in) for one in walk if isinstance(one.step, MapStep)]
    rotations = frozenset((by, level) for step, level in maps for by in step.rotations)
    bootstraps = any(one.step is None and one.level_out > one.level_in for one in walk)
    made = sum(engine._core.fixed_rotation_key_bytes(level) for _, level in rotations) + key_bytes(
        engine, size if bootstraps else None, forecast.stages, "regular", rotation=False, matrix=False
    )
    noise = Noise.of(preset, engine.slot_count, forecast.refresh_bits if bootstraps else None)
    return NetworkPlan(
        network, engine, part, levels, batch, (graph.packings[INPUT], graph.packings[network.output]),
        forecast.stages, size,
        steps=[forecast.step(one) for one in walk],
        rotations=rotations,
        rotation_count=sum(len(step.cut.babies - {0}) + len(step.cut.giants) - 1 + len(step.sums) for step, _ in maps),
        key_bytes=made,
        peak_bytes=made + forecast.beside(bootstraps, maps),
        bits=-float(np.log2(error(network, part, levels, noise))),
    )  # fmt: skip


class _Forecast:
    """What an engine takes for bootstraps and steps."""

    def __init__(self, engine: Engine, preset: _core.PresetInfo, size: str, stages: int | None) -> None:
        self.engine, self._size, self.stages = engine, size, stages
        # Without a bootstrap nothing leads to a higher level.
        self.most, hidden = 0, 0
        if engine.can_bootstrap:
            plan = engine._plan(stages, size, "regular")
            self.most = plan["output_level"]
            hidden = plan["stages"][0]["level_in"] - plan["input_level"]
        self.work = Operations(preset, hidden)

    @functools.cached_property
    def refresh_bits(self) -> float:
        """The mean bits of a bootstrap of real values."""
        asked = (self.engine.preset, "regular", self.stages, self._size, self.engine.slot_count)
        return _core.predicted_precision(*asked, real=True)["mean_bits"]

    @functools.cache  # noqa: B019
    def bootstrap(self, level: int) -> float:
        """The seconds of a real bootstrap to a level."""
        asked = (self.engine.preset, "regular", self.stages, self._size, self.engine.slot_count)
        found = _core.plan(*asked, real=True, target_level=level, units=self.work.units)  # type: ignore[arg-type]
        return self.work.factor * (found["seconds"] or 0.0)

    def step(self, one: Placed) -> PlannedStep:
        """A step with its seconds."""
        seconds, kind = 0.0, "change of level"
        if one.step is not None:
            seconds, kind = one.step.cost(self.work, one.level_in), type(one.step).__name__.removesuffix("Step").lower()
        elif one.level_out > one.level_in:
            seconds = self.bootstrap(one.level_out)
        return PlannedStep(_name(one), kind, one.level_in, one.level_out, seconds)

    def beside(self, bootstraps: bool, maps: Sequence[tuple[MapStep, int]]) -> int:
        """Bytes beside the keys: of a bootstrap, and of the largest layer."""
        report = self.engine.memory_report(self.stages, self._size) if bootstraps else None  # type: ignore[arg-type]
        of_bootstrap = report.matrices + report.working if report else 0

        def encoded(step: MapStep) -> int:
            words = sum(2 * len(diagonal) for diagonal in step.diagonals.values())
            # Coefficients, for each thread those of one limb, and the numbers three times, of which two are complex.
            return words * (8 * (1 + self.engine.thread_count) + 20)

        return of_bootstrap + max((encoded(step) for step, _ in maps), default=0)


def _name(one: Placed) -> str:
    if one.step is not None:
        return str(one.step.name)
    return "bootstrap" if one.level_out > one.level_in else "level_down"
