"""The part of `Engine` that refreshes: bootstrap keys, bootstraps, and their forecasts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from aglet import _core, checks, reports
from aglet._core import BootstrapKey, Ciphertext, ConjugationKey, RelinearizationKey, RotationKey, SecretKey
from aglet.ckks import operands, values
from aglet.errors import MissingKeyError, ParameterError
from aglet.progress import ProgressCallback, progress_bar

if TYPE_CHECKING:
    from aglet._core import KeySize, Method, Plan, StageRun


class Bootstrapping:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _iterations: int

    def memory_report(
        self, stage_count: int | None = None, size: KeySize = "large", method: Method = "regular"
    ) -> reports.MemoryReport:
        """Forecast the memory of a bootstrap and its keys. No key is made.

        Raises
        ------
        ParameterError
            If the engine cannot bootstrap with these stages.
        """
        return reports.memory_report(self._plan(stage_count, size, method))

    def estimate(
        self, stage_count: int | None = None, size: KeySize = "large", method: Method = "regular"
    ) -> reports.BootstrapEstimate:
        """What a bootstrap will give: levels, precision, failure probability, bytes. No key is made.

        Raises
        ------
        ParameterError
            If the engine cannot bootstrap with these stages.
        """
        return reports.bootstrap_estimate(self._plan(stage_count, size, method))

    def _plan(self, stage_count: int | None, size: str, method: str) -> Plan:
        stages = checks.optional_count("stage_count", stage_count, 1)
        return self._core.plan(checks.word("method", method), stages, checks.word("size", size))

    # Keys

    def create_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int | None = None,
        size: KeySize = "large",
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
        count: int | None = None,
    ) -> BootstrapKey:
        """Every rotation key of one bootstrap, and the keys to and from its sparse secret.

        Parameters
        ----------
        stage_count
            Into how many steps coeffs_to_slots is cut: 2 to 5 for all slots, from 1 for few. More stages are faster and
            need a lower precision of their primes; without it 3, which the primes are chosen for, or as many as few
            slots have layers. A preset that bootstraps by roots of unity has no such stages and refuses any. It may be
            given as `count=` too.
        size
            "large" is the fastest, and the default here, as it is less than a third of the documented medium key, which
            is the default there. "small" is what `create_small_bootstrap_key` makes.
        memory_limit_bytes
            Refuse to begin if the forecast is above this. Without it the limit is the memory that the machine has free.
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work. Without it a terminal
            shows a bar.

        Raises
        ------
        MemoryLimitError
            Before anything is allocated, if the forecast is above the limit.
        ParameterError
            If the engine cannot bootstrap with these stages.
        """
        stages = checks.one_of(stage_count=stage_count, count=count)
        return self._make("regular", secret_key, stages, size, memory_limit_bytes, progress)

    def create_lossy_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int | None = None,
        size: KeySize = "large",
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
        count: int | None = None,
    ) -> BootstrapKey:
        """The key of `lossy_bootstrap`, `sign_bootstrap` and `lossy_merge_bootstrap`; as `create_bootstrap_key`."""
        stages = checks.one_of(stage_count=stage_count, count=count)
        return self._make("lossy", secret_key, stages, size, memory_limit_bytes, progress)

    def create_merge_bootstrap_key(
        self,
        secret_key: SecretKey,
        stage_count: int | None = None,
        size: KeySize = "large",
        *,
        memory_limit_bytes: int | None = None,
        progress: ProgressCallback | None = None,
        count: int | None = None,
    ) -> BootstrapKey:
        """The key of `merge_bootstrap`; as `create_bootstrap_key`, whose key serves as well."""
        stages = checks.one_of(stage_count=stage_count, count=count)
        return self._make("merge", secret_key, stages, size, memory_limit_bytes, progress)

    def create_small_bootstrap_key(self, secret_key: SecretKey) -> BootstrapKey:
        """The keys to and from the sparse secret alone: rotations come from the rotation key, for any stage count.

        It serves the regular, lossy and sign bootstrap, with the rotation key before it in the call. All keys
        together take 2 GB.
        """
        return self._make("regular", secret_key, None, "small", None, None)

    def _make(
        self,
        method: str,
        secret_key: SecretKey,
        stage_count: int | None,
        size: str,
        memory_limit_bytes: int | None,
        progress: ProgressCallback | None,
    ) -> BootstrapKey:
        stages = checks.optional_count("stage_count", stage_count, 1)
        key, limit = operands.secret_key(secret_key), checks.optional_count("memory_limit_bytes", memory_limit_bytes)
        with progress_bar(progress) as report:
            return self._core.create_bootstrap_key(key, method, stages, checks.word("size", size), limit, report)

    # Bootstraps

    def bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        *,
        rotation_key: RotationKey | None = None,
        bound: float | None = None,
        real: bool | None = None,
        target_level: int | None = None,
        iterations: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Refresh a ciphertext of any level: the same values, with multiplications to spend again.

        Parameters
        ----------
        ciphertext
            Values of absolute value at most 1, at level 0 or higher.
        bootstrap_key
            From `create_bootstrap_key`; or the rotation key (also as `rotation_key=`), and then `small_bootstrap_key`
            after it.
        stage_count
            Stages, with a small bootstrap key: 3 if not given. Another key has its own.
        bound
            The largest absolute value of a slot, up to 2^18, if it is above 1 (the error grows with it).
        real
            Whether all values are real, which saves almost half of the time; imaginary parts are dropped. If not given,
            it is known of ciphertexts made from real messages by real operations.
        target_level
            A lower level than the highest possible, in less time.
        iterations
            2 bootstraps the error of the first bootstrap as well: twice the time, and twice the bits of precision, as
            far as the scale of the messages has them (26 with precision "standard", 35 with "high"; more with few
            slots). If not given, 1, and 2 in an engine of precision "highest".
        progress
            Called as `progress(done, total, what)`; an exception from it cancels the work.

        Raises
        ------
        RangeError
            If the ciphertext is known to hold values above the bound.
        LevelError
            If the target level is above what the method leaves.
        MissingKeyError, KeyMismatchError
            If a key is missing, was made for another method or stage count, or belongs to another engine or secret
            key.
        """
        given = checks.one_of(bootstrap_key=bootstrap_key, rotation_key=rotation_key)
        keys = (relinearization_key, conjugation_key, given, small_bootstrap_key)
        choices = (stage_count, bound, real, target_level, progress, iterations)
        return self._refresh("regular", [ciphertext], keys, *choices)[0]

    def lossy_bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        lossy_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        *,
        rotation_key: RotationKey | None = None,
        bound: float | None = None,
        real: bool | None = None,
        target_level: int | None = None,
        iterations: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Refresh a ciphertext of level `stage_count` or more, to level 16 - `stage_count` (13 at most).

        The published method of this name trades precision for levels; this one loses nothing against `bootstrap`.
        Arguments as there, with a lossy bootstrap key.

        Raises
        ------
        LevelError
            If the ciphertext is below level `stage_count`, and as `bootstrap`.
        """
        given = checks.one_of(lossy_bootstrap_key=lossy_bootstrap_key, rotation_key=rotation_key)
        keys = (relinearization_key, conjugation_key, given, small_bootstrap_key)
        choices = (stage_count, bound, real, target_level, progress, iterations)
        return self._refresh("lossy", [ciphertext], keys, *choices)[0]

    def sign_bootstrap(
        self,
        ciphertext: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        lossy_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        *,
        rotation_key: RotationKey | None = None,
        bits: bool = False,
        real: bool | None = None,
        target_level: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> Ciphertext:
        """Refresh values near -1 and 1 and clean them: an error `e` becomes `(pi e)^2 / 8`.

        With `bits=True` the values are near 0 and 1, and `e` becomes `(pi e)^2 / 4`. It takes any level, 0 included;
        the levels that it leaves and its keys are those of `lossy_bootstrap`. A value `x` in between becomes
        `sin(pi x / 2)`, or `(1 - cos(pi x)) / 2`: with -1, 0, 1 the 0 stays, and its error grows by `pi / 2`.

        The result is one rounding away from exact: 26 bits (27 if real) at the scale of 2^40, 29 (31 if real) with
        preset "regular-44", which is a tenth slower. Real messages do best with `real=True`: the imaginary part of
        another is not at a point that cleans.

        Encrypted values cannot be looked at, so values far from the points are refused only where they are known: in
        what was encrypted by this process and, since then, only rotated, conjugated, negated, squared, multiplied by
        numbers or brought down; and of sums, where their mean is. Elsewhere they come out as the function above says,
        which is periodic: 3 becomes -1, and nothing fails.

        Raises
        ------
        RangeError
            If a real or imaginary part is known to be above 1.25.
        """
        given = checks.one_of(lossy_bootstrap_key=lossy_bootstrap_key, rotation_key=rotation_key)
        keys = (relinearization_key, conjugation_key, given, small_bootstrap_key)
        method = "bits" if checks.flag("bits", bits) else "sign"
        return self._refresh(method, [ciphertext], keys, stage_count, None, real, target_level, progress)[0]

    def merge_bootstrap(
        self,
        ciphertext1: Ciphertext,
        ciphertext2: Ciphertext,
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        merge_bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        *,
        rotation_key: RotationKey | None = None,
        bound: float | None = None,
        real: bool | None = None,
        target_level: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[Ciphertext, Ciphertext]:
        """Refresh two ciphertexts of real values in the time of one complex bootstrap.

        Raises
        ------
        RangeError
            If one of them is not known to be real, unless `real=True` says so; and as `bootstrap`.
        """
        given = checks.one_of(merge_bootstrap_key=merge_bootstrap_key, rotation_key=rotation_key)
        keys = (relinearization_key, conjugation_key, given, small_bootstrap_key)
        both = [ciphertext1, ciphertext2]
        first, second = self._refresh("merge", both, keys, stage_count, bound, real, target_level, progress)
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
        *,
        rotation_key: RotationKey | None = None,
        bound: float | None = None,
        real: bool | None = None,
        target_level: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[Ciphertext, Ciphertext]:
        """As `merge_bootstrap`, with the levels and keys of `lossy_bootstrap`."""
        given = checks.one_of(lossy_bootstrap_key=lossy_bootstrap_key, rotation_key=rotation_key)
        keys = (relinearization_key, conjugation_key, given, small_bootstrap_key)
        both = [ciphertext1, ciphertext2]
        first, second = self._refresh("lossy-merge", both, keys, stage_count, bound, real, target_level, progress)
        return first, second

    def bootstrap_many(
        self,
        ciphertexts: Iterable[Ciphertext],
        relinearization_key: RelinearizationKey,
        conjugation_key: ConjugationKey,
        bootstrap_key: BootstrapKey | RotationKey | None = None,
        small_bootstrap_key: BootstrapKey | None = None,
        stage_count: int | None = None,
        *,
        rotation_key: RotationKey | None = None,
        bound: float | None = None,
        real: bool | None = None,
        target_level: int | None = None,
        iterations: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> list[Ciphertext]:
        """`bootstrap` for each of several ciphertexts, with the same keys and choices: the same results in less time.

        Up to four ciphertexts go through the linear maps side by side, which read keys and matrices once for all of
        them. Each beyond the first takes a third of a gigabyte (N = 2^16); with little memory there are fewer.

        Raises
        ------
        RangeError, LevelError, MissingKeyError, KeyMismatchError
            As `bootstrap`, before any work is done. What is wrong with one of the ciphertexts names its place, as in
            "ciphertexts[2]: ...".
        """
        given = checks.one_of(bootstrap_key=bootstrap_key, rotation_key=rotation_key)
        keys = (relinearization_key, conjugation_key, given, small_bootstrap_key)
        choices = (stage_count, bound, real, target_level, progress, iterations)
        return self._refresh("regular", checks.each("ciphertexts", ciphertexts), keys, *choices, many=True)

    def _refresh(
        self,
        method: str,
        ciphertexts: Sequence[Ciphertext],
        keys: tuple[Any, Any, Any, Any],
        stage_count: int | None,
        bound: float | None,
        real: bool | None,
        target_level: int | None,
        progress: ProgressCallback | None,
        iterations: int | None = 1,
        *,
        many: bool = False,
    ) -> list[Ciphertext]:
        relinearization, conjugation, given, small = keys
        stage_count = checks.optional_count("stage_count", stage_count, 1)
        rotation = given if isinstance(given, RotationKey) else None
        if rotation is not None and small is None:
            raise MissingKeyError(
                "A bootstrap with the rotation key needs a small bootstrap key after it; make one with "
                "engine.create_small_bootstrap_key(secret_key)."
            )
        if rotation is None and small is not None:
            raise ParameterError(
                "A small bootstrap key goes with the rotation key; give create_rotation_key(secret_key) before it, or "
                "the bootstrap key alone."
            )
        if rotation is not None and isinstance(small, BootstrapKey) and small.size != "small":
            raise ParameterError(
                f"After the rotation key comes a small bootstrap key, and this is a {small.size} {small.method} one; "
                "leave the rotation key out, or make the other with engine.create_small_bootstrap_key(secret_key)."
            )
        makers = {"regular": "create_bootstrap_key", "merge": "create_merge_bootstrap_key"}
        maker = makers.get(method, "create_lossy_bootstrap_key") if rotation is None else "create_small_bootstrap_key"
        key = checks.need(given if rotation is None else small, BootstrapKey, f"engine.{maker}(secret_key)")
        if rotation is None and stage_count not in (None, key.stage_count):
            raise ParameterError(
                f"This bootstrap key has stage_count={key.stage_count}, not {stage_count}; leave stage_count out, or "
                f"make another key with engine.{maker}(secret_key, stage_count={stage_count})."
            )
        return self._core.bootstrap(
            [operands.ciphertext(ciphertext) for ciphertext in ciphertexts],
            operands.relinearization_key(relinearization),
            operands.conjugation_key(conjugation),
            rotation,
            key,
            method,
            stage_count,
            1.0 if bound is None else values.as_bound(bound),
            values.as_declared(real),
            checks.optional_count("target_level", target_level),
            progress,
            self._iterations if iterations is None else checks.count("iterations", iterations, 1),
            many,
        )

    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the last bootstrap on this engine.

        An iterated bootstrap tells the stages of all its passes, those of the second as "pass 2: mod_raise";
        `bootstrap_many` tells the sums over all ciphertexts.
        """
        return self._core.stage_times()

    def stage_runs(self) -> list[StageRun]:
        """Name, seconds and work of each stage of the last bootstrap on this engine.

        The work is that of the engine's threads meanwhile: of the bootstrap alone, if nothing else ran on this engine.
        """
        return self._core.stage_runs()
