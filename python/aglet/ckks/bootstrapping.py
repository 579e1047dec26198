"""The bootstraps of `Engine`, and the forecasts of their cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from aglet import _core, checks, reports
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, RotationKey
from aglet.ckks import operands, values
from aglet.errors import MissingKeyError, ParameterError
from aglet.progress import ProgressCallback

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from aglet._core import KeySize, Method, Plan, StageRun


class _Options(TypedDict, total=False):
    """What every bootstrap takes by name; see `Engine.bootstrap`."""

    rotation_key: RotationKey | None
    real: bool | None
    target_level: int | None
    progress: ProgressCallback | None


class SignOptions(_Options, total=False):
    """What `Engine.sign_bootstrap` takes by name."""

    bits: bool


class MergeOptions(_Options, total=False):
    """What bootstraps of two ciphertexts take by name."""

    bound: float | None


class BootstrapOptions(MergeOptions, total=False):
    """What other bootstraps take by name."""

    iterations: int | None


_TAKES: dict[str, type] = {
    "sign": SignOptions, "merge": MergeOptions, "lossy-merge": MergeOptions,
}  # fmt: skip
_KEYS = {"regular": "bootstrap_key", "merge": "merge_bootstrap_key"}


class FoundKeys(NamedTuple):
    """The keys of a bootstrap that are not for arithmetic, checked."""

    rotation: RotationKey | None
    key: BootstrapKey
    stage_count: int | None


def bootstrap_keys(name: str, given: Any, small: Any, rotation_key: Any, stage_count: int | None) -> FoundKeys:
    """Find out which keys were given: a large bootstrap key, or the rotation key and a small one.

    Raises
    ------
    MissingKeyError, ParameterError
        If they do not belong together. `name` is the argument that takes the large key.
    """
    given = checks.one_of(**{name: given, "rotation_key": rotation_key})
    stage_count = checks.optional_count("stage_count", stage_count, 1)
    rotation = given if isinstance(given, RotationKey) else None
    if rotation is not None and small is None:
        raise MissingKeyError(
            "The rotation key needs a small bootstrap key after it; make one with "
            "engine.create_small_bootstrap_key(secret_key)."
        )
    if rotation is None and small is not None:
        raise ParameterError(
            "A small bootstrap key needs the rotation key before it; make one with "
            "engine.create_rotation_key(secret_key), or give a large bootstrap key alone."
        )
    if rotation is not None and isinstance(small, BootstrapKey) and small.size != "small":
        raise ParameterError(
            f"The rotation key needs a small bootstrap key after it, and this is a {small.size} {small.method} "
            "key; leave the rotation key out, or make a small key with "
            "engine.create_small_bootstrap_key(secret_key)."
        )
    maker = f"create_{name}" if rotation is None else "create_small_bootstrap_key"
    key = checks.need(given if rotation is None else small, BootstrapKey, f"engine.{maker}(secret_key)")
    if rotation is None and stage_count not in (None, key.stage_count):
        raise ParameterError(
            f"This bootstrap key has stage_count={key.stage_count}, not {stage_count}; leave stage_count out, or "
            f"make another key with engine.{maker}(secret_key, stage_count={stage_count})."
        )
    return FoundKeys(rotation, key, stage_count)


class Bootstrapping:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _iterations: int
    _plans: dict[tuple[str, int | None, str], Plan]
    """Those that were asked for. To prove one takes 0.1 s at the real size."""

    def memory_report(
        self, stage_count: int | None = None, size: KeySize = "large", method: Method = "regular"
    ) -> reports.MemoryReport:
        """Forecast the memory of a bootstrap and its keys, without making a key.

        Raises
        ------
        ParameterError
            If the engine cannot bootstrap with this number of stages.
        """
        return reports.memory_report(self._plan(stage_count, size, method))

    def estimate(
        self, stage_count: int | None = None, size: KeySize = "large", method: Method = "regular"
    ) -> reports.BootstrapEstimate:
        """Forecast levels, precision, failure probability and bytes of a bootstrap, without making a key.

        Raises
        ------
        ParameterError
            If the engine cannot bootstrap with this number of stages.
        """
        return reports.bootstrap_estimate(self._plan(stage_count, size, method))

    def _plan(self, stage_count: int | None, size: str, method: str) -> Plan:
        stages = checks.optional_count("stage_count", stage_count, 1)
        key = checks.string("method", method), stages, checks.string("size", size)
        if key not in self._plans:
            self._plans[key] = self._core.plan(*key)
        return self._plans[key]

    def bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        **options: Unpack[BootstrapOptions],
    ) -> Ciphertext:
        """Refresh a ciphertext: the result has the same values, and levels for further products.

        Parameters
        ----------
        ciphertext
            A ciphertext of any level. Its values have an absolute value of at most 1, or of at most `bound`.
        bootstrap_key
            From `create_bootstrap_key`. With a small key, give the rotation key here (also as `rotation_key=`) and the
            `small_bootstrap_key` after it.
        stage_count
            The number of stages, for a small bootstrap key; if not given, the default of `create_bootstrap_key`. Other
            keys have a fixed number of stages.
        bound
            The largest absolute value of a slot, if it is above 1. It may be up to 2^18. The error grows with it.
        real
            True if all values are real: this saves almost half of the time and drops imaginary parts. If not given, the
            engine uses what it knows: a ciphertext made from real messages by real operations is real.
        target_level
            The level of the result, if a lower one than the highest possible is enough. A lower level takes less time.
        iterations
            2 bootstraps the error of the first bootstrap as well. This takes twice the time and gives twice the bits of
            precision, up to what the scale of the messages holds: 26 bits with precision "standard", 35 with "high",
            and more with few slots. If not given, it is 1, or 2 in an engine of precision "highest".
        progress
            Called as `progress(done, total, what)`. If it raises an exception, the work is cancelled.

        Raises
        ------
        RangeError
            If the ciphertext is known to hold values above the bound.
        LevelError
            If the target level is above the highest level that this bootstrap can leave.
        MissingKeyError, KeyMismatchError
            If a key is missing, was made for another method or number of stages, or belongs to another engine or secret
            key.
        """
        keys = (relinearization_key, conjugation_key, bootstrap_key, small_bootstrap_key, stage_count)
        return self._refresh("regular", [ciphertext], keys, options)[0]

    def lossy_bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        lossy_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        **options: Unpack[BootstrapOptions],
    ) -> Ciphertext:
        """Refresh a ciphertext of any level, to level 16 - `stage_count` (at most 13).

        Elsewhere the method of this name loses precision to gain levels, and takes ciphertexts of level `stage_count`
        or more. This one is as precise as `bootstrap`. It takes the same arguments, with a lossy bootstrap key.

        Raises
        ------
        RangeError, LevelError, MissingKeyError, KeyMismatchError
            As in `bootstrap`.
        """
        keys = (relinearization_key, conjugation_key, lossy_bootstrap_key, small_bootstrap_key, stage_count)
        return self._refresh("lossy", [ciphertext], keys, options)[0]

    def sign_bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        lossy_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        **options: Unpack[SignOptions],
    ) -> Ciphertext:
        """Refresh values near -1 and 1 and clean them: an error `e` becomes `(pi e)^2 / 8`.

        With `bits=True` the values are near 0 and 1, and `e` becomes `(pi e)^2 / 4`. The input may have any level, also
        0. Keys and output levels are those of `lossy_bootstrap`.

        A value `x` in between becomes `sin(pi x / 2)`. With `bits=True` it becomes `sin(pi x / 2)^2`. So a 0 beside -1
        and 1 stays 0, and its error grows by the factor `pi / 2`.

        The result is exact but for rounding: 26 bits (27 if real) at the scale of 2^40, and 29 bits (31 if real) with
        preset "regular-44", which is a tenth slower. Give `real=True` for real messages: the result is more precise,
        because the imaginary part of a complex message is not cleaned.

        Values far from the expected points give wrong results, because the function above is periodic: 3 becomes -1.
        The engine refuses such values if it knows them. It knows the values of a ciphertext that this process encrypted
        and has since only rotated, conjugated, negated, squared, multiplied by numbers or brought to a lower level. It
        knows only the mean of a sum.

        Raises
        ------
        RangeError
            If a real or imaginary part is known to be above 1.25.
        """
        keys = (relinearization_key, conjugation_key, lossy_bootstrap_key, small_bootstrap_key, stage_count)
        return self._refresh("sign", [ciphertext], keys, options)[0]

    def merge_bootstrap(
        self,
        ciphertext1: Ciphertext,
        ciphertext2: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        merge_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        **options: Unpack[MergeOptions],
    ) -> tuple[Ciphertext, Ciphertext]:
        """Refresh two ciphertexts of real values in the time of one complex bootstrap.

        Raises
        ------
        RangeError
            If one of them is not known to be real and `real=True` was not given, and as in `bootstrap`.
        """
        keys = (relinearization_key, conjugation_key, merge_bootstrap_key, small_bootstrap_key, stage_count)
        first, second = self._refresh("merge", [ciphertext1, ciphertext2], keys, options)
        return first, second

    def lossy_merge_bootstrap(
        self,
        ciphertext1: Ciphertext,
        ciphertext2: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        lossy_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        **options: Unpack[MergeOptions],
    ) -> tuple[Ciphertext, Ciphertext]:
        """Do the same as `merge_bootstrap`, with the levels and keys of `lossy_bootstrap`."""
        keys = (relinearization_key, conjugation_key, lossy_bootstrap_key, small_bootstrap_key, stage_count)
        first, second = self._refresh("lossy-merge", [ciphertext1, ciphertext2], keys, options)
        return first, second

    def bootstrap_many(
        self,
        ciphertexts: Iterable[Ciphertext],
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        **options: Unpack[BootstrapOptions],
    ) -> list[Ciphertext]:
        """Refresh several ciphertexts with the same keys and options: the results of `bootstrap`, in less time.

        Up to four ciphertexts (16 on a card) are processed together, so that keys and matrices are read once for all of
        them. Each ciphertext beyond the first takes a third of a gigabyte (N = 2^16). With little memory, fewer are
        processed together.

        Raises
        ------
        RangeError, LevelError, MissingKeyError, KeyMismatchError
            As in `bootstrap`, before any work is done. The error names the ciphertext, as in "ciphertexts[2]: ...".
        """
        keys = (relinearization_key, conjugation_key, bootstrap_key, small_bootstrap_key, stage_count)
        return self._refresh("regular", checks.each("ciphertexts", ciphertexts), keys, options, many=True)

    def _refresh(
        self,
        method: str,
        ciphertexts: Sequence[Ciphertext],
        keys: tuple[Any, Any, Any, Any, int | None],
        options: Mapping[str, Any],
        many: bool = False,
    ) -> list[Ciphertext]:
        checks.known(options, _TAKES.get(method, BootstrapOptions))
        relinearization, conjugation, given, small, stage_count = keys
        name = _KEYS.get(method, "lossy_bootstrap_key")
        found = bootstrap_keys(name, given, small, options.get("rotation_key"), stage_count)
        bound, iterations = options.get("bound"), checks.optional_count("iterations", options.get("iterations"), 1)
        return self._core.bootstrap(
            [operands.ciphertext(ciphertext) for ciphertext in ciphertexts],
            operands.relinearization_key(relinearization),
            operands.conjugation_key(conjugation),
            found.rotation,
            found.key,
            "bits" if checks.flag("bits", options.get("bits", False)) else method,
            found.stage_count,
            1.0 if bound is None else values.as_bound(bound),
            values.as_declared(options.get("real")),
            checks.optional_count("target_level", options.get("target_level")),
            options.get("progress"),
            iterations or (1 if method in _TAKES else self._iterations),
            many,
        )

    def stage_times(self) -> list[tuple[str, float]]:
        """The name and the seconds of each stage of the last bootstrap on this engine.

        A bootstrap with two iterations lists the stages of both, those of the second as "pass 2: mod_raise".
        `bootstrap_many` lists the sums over all ciphertexts.
        """
        return self._core.stage_times()

    def stage_runs(self) -> list[StageRun]:
        """The name, the seconds, the work and the calls of a card of each stage of the last bootstrap on this engine.

        The work is everything that the engine's threads did meanwhile. It is the bootstrap's alone if nothing else ran
        on this engine.
        """
        return self._core.stage_runs()
