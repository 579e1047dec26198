"""Types of `aglet._core`, the compiled half of Aglet (Rust, `crates/py`).

This module is the plumbing: `aglet.Engine` checks and converts arguments, then calls it. Every function releases the
GIL while it works. Long calls take `progress(done, total, what)`; it runs in the calling thread several times a
second, and an exception that it raises cancels the work and comes out of the call. Long calls look at Python's signals
at least twice a second, so Ctrl-C stops them with or without a callback.

`level` is always the user level: the number of multiplications left. Plan tables alone show chain levels (limbs - 1).
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn, TypedDict, final

import numpy as np
from numpy.typing import NDArray

PathLike = str | os.PathLike[str]
Progress = Callable[[int, int, str], None]
KeySize = Literal["large", "medium", "small"]
Method = Literal["regular", "lossy", "sign", "bits", "merge", "lossy-merge"]
Decoded = NDArray[np.complex128]
Slots = NDArray[np.float64] | NDArray[np.complex128]
"""A message: the dtype says whether it is real."""
Scalar = float | complex
"""A number: the type says whether it is real."""

class DoctorReport(TypedDict):
    """What `doctor` found on this machine."""

    version: str
    cpu: str
    """Its name, and its family and model where the system says them."""
    mhz: float | None
    """The clock that the system says, often a nominal one."""
    features: list[str]
    backends: list[str]
    """Usable here, best first."""
    backend: str
    """The one that engines use."""
    forced: str | None
    """The value of AGLET_BACKEND, if it is set."""
    cores: int
    memory_total_bytes: int | None
    memory_available_bytes: int | None
    """None where the system does not say."""
    huge_pages: str

class NttTiming(TypedDict):
    """Medians of one transform of one limb, in microseconds, on one thread."""

    backend: str
    log_n: int
    bits: int
    forward_us: float
    inverse_us: float
    repeat: int

class PresetInfo(TypedDict):
    """One parameter set with its claims; tests recompute the claims."""

    name: str
    log_n: int
    slots: int
    prime_bits: int
    """Of the largest prime: above 50 bits only the scalar kernels serve it."""
    log_q: float
    log_qp: float
    log_p: float
    secret: str
    """Distribution of the main secret, in words."""
    security_bits: float
    """A lower bound of the classical security; below 128 bits a cautious estimate."""
    levels: int
    scale_bits: float
    precision_bits: float | None
    log2_failure: float | None
    """Base-2 logarithm of the probability, at most, that some slot is six bits below `precision_bits`."""
    precision_bits_two: float | None
    """Claimed after two iterations, where the scale of messages leaves room for them."""
    log2_failure_two: float | None
    key_bytes: int | None
    methods: list[str]
    source: str
    experimental: str | None
    """Why the set is experimental, if it is."""
    by_roots: bool
    """Whether it bootstraps by roots of unity."""
    few_slots: int
    """Slots at most, below all of the ring, that a bootstrap by roots of unity may have; 0 for none."""
    sparse_secrets_bits: float | None
    """What the number of their sparse secrets is worth by the rule that makes them experimental."""

class UnitCosts(TypedDict):
    """Microseconds that work on one limb takes on one thread."""

    forward: float
    inverse: float
    pointwise: float
    key: float
    diagonal: float
    matrix: float
    """What a limb of encoded diagonals adds that comes from memory."""
    conversion: float

class Work(TypedDict):
    """Transforms and products of limbs, and bytes that are read."""

    forward_transforms: float
    inverse_transforms: float
    pointwise_products: float
    key_products: float
    diagonal_products: float
    conversion_products: float
    key_bytes_read: int
    matrix_bytes_read: int
    ciphertext_bytes_read: int

class StageRun(TypedDict):
    """What one stage of a bootstrap took."""

    name: str
    seconds: float
    work: Work

class StageNoise(TypedDict):
    """What the noise of one stage alone leaves of an otherwise exact bootstrap."""

    name: str
    noise_bits: float | None
    """None where there is no noise."""

class PrecisionForecast(TypedDict):
    """The precision that a bootstrap will have, in bits."""

    mean_bits: float
    worst_bits: float
    approximation_bits: float
    """Without any noise."""
    stages: list[StageNoise]

class StageRow(TypedDict):
    """One stage of a bootstrap. The levels are chain levels: limbs - 1."""

    name: str
    level_in: int
    level_out: int
    scale_in_log2: float
    scale_out_log2: float
    keys: int
    key_bytes: int
    note: str
    work: Work
    seconds: float | None
    """Of one thread, by the units; None without."""

class LookupNoise(TypedDict):
    """Deviations of every kind of noise of a set of gates and tables, in turns."""

    fresh: float
    bootstrap: float
    """Of the result of one."""
    key_switch: float
    modulus_switch: float
    decision: float
    """Of what a bootstrap of the heaviest sum allowed for decides by."""
    squared_weights: float
    """The sum of squared weights of that sum."""
    distance: dict[str, float]
    """By domain: from messages to where they would be misread."""

class IntegerPresetInfo(TypedDict):
    """A parameter set of integers."""

    name: str
    log_n: int
    slot_count: int
    levels: int
    plaintext_modulus: int
    log_qp: float
    security_bits: float
    secret: str
    primes: int
    special_primes: int
    relinearization_key_bytes: int
    rotation_key_bytes: int
    ciphertext_bytes: int
    source: str

class IntegerCircuitRow(TypedDict):
    """What one circuit on integers takes."""

    circuit: str
    levels: int
    relinearizations: int
    fits: bool
    """Whether the set has so many levels."""
    work: Work | None
    """None where it has not."""
    seconds: float | None
    """Of one thread, by the units; None without."""

class IntegerStageRow(TypedDict):
    """One stage of a bootstrap of integers."""

    name: str
    limbs_in: int
    limbs_out: int
    keys: int
    key_bytes: int
    work: Work
    seconds: float | None
    """Of one thread, by the units; None without."""

class IntegerBootstrapPlan(TypedDict):
    """A bootstrap of integers before its key exists."""

    input_level: int
    output_level: int
    noise_budget: float
    """Bits that a result has above the bound on its noise."""
    log2_failure: float | None
    """That any slot is wrong; None where there is no proof."""
    key_bytes: int
    map_bytes: int
    stages: list[IntegerStageRow]
    work: Work
    seconds: float | None
    """Of all stages."""

class RaisingStageRow(TypedDict):
    """One stage of a way up to integers."""

    name: str
    work: Work
    seconds: float | None
    """Of one thread, by the units; None without."""

class RaisingPlan(TypedDict):
    """A way up to integers before its keys exist."""

    messages: int
    """That are told apart."""
    bound: int
    """Errors below it are removed, in units of which the plaintext modulus are a turn."""
    deviation: float
    """Of errors, in such units."""
    log2_failure: float
    """That one message comes up wrong."""
    polynomial_levels: int
    """Of the polynomial that removes errors."""
    output_level: int
    stages: list[RaisingStageRow]

class IntegerPlan(TypedDict):
    """What a set of integers does, before a key exists."""

    circuits: list[IntegerCircuitRow]
    bootstrap: IntegerBootstrapPlan | None

class LookupPresetInfo(TypedDict):
    """One parameter set of gates and tables with its claims; tests recompute the claims."""

    name: str
    bits: int
    """Of a message: 1 for gates."""
    method: str
    log_n: int
    rank: int
    """Polynomials of the secret."""
    dimension: int
    """Coordinates of the LWE secret."""
    log_q: float
    secret: str
    security_bits: float
    log2_failure: float
    """Of a gate or table on the heaviest sum allowed for."""
    squared_weights: float
    """The sum of squared weights of that sum."""
    key_bytes: int | None
    source: str

class Plan(TypedDict):
    """A bootstrap before any key exists: levels, stages, work, keys and memory."""

    preset: str
    experimental: str | None
    method: str
    stage_count: int
    key_size: str
    slot_count: int
    real: bool
    input_level: int
    output_level: int
    log_n: int
    log_qp: float
    security_bits: float
    log2_failure: float | None
    log2_four_bits_short: float | None
    precision_bits: float | None
    stages: list[StageRow]
    rotations: dict[str, list[int]]
    seconds: float | None
    """Of all stages."""
    key_bytes: int
    key_bytes_seeded: int
    other_key_bytes: int
    """The relinearization key and the conjugation key together."""
    matrix_bytes: int
    working_bytes: int
    peak_bytes: int

def doctor() -> DoctorReport:
    """Describe the processor, the backends and the memory.

    Raises
    ------
    DeviceError
        If AGLET_BACKEND names an unknown backend, or one that this processor lacks.
    """

def bench_ntt(log_n: int, bits: int, backend: str, repeat: int) -> NttTiming:
    """Time the negacyclic number-theoretic transform of one limb on one thread (medians)."""

def lookup_presets() -> list[LookupPresetInfo]:
    """All parameter sets of gates and tables."""

def integer_presets() -> list[IntegerPresetInfo]:
    """All parameter sets of integers."""

def integer_plan(preset: str, units: UnitCosts | Mapping[str, float] | None = None) -> IntegerPlan:
    """What a set of integers does, before a key exists; given units, in how many seconds."""

def presets() -> list[PresetInfo]:
    """All parameter sets of this version."""

def plan(
    preset: str,
    method: str,
    stage_count: int | None,
    key_size: str,
    slot_count: int,
    real: bool = False,
    target_level: int | None = None,
    units: UnitCosts | None = None,
) -> Plan:
    """Plan a bootstrap: check levels, scales and keys, count the work, forecast memory and, given units, seconds."""

def scratch_bytes(
    preset: str, method: str, stage_count: int | None, key_size: str, slot_count: int, together: int
) -> int:
    """Bytes of the polynomials of so many bootstraps side by side, which stay with the engine. Takes a moment."""

def unit_costs(log_n: int, bits: int) -> UnitCosts:
    """Measure what a unit of each kind of work takes in rings of degree 2^log_n with primes of so many bits."""

def predicted_precision(
    preset: str,
    method: str,
    stage_count: int | None,
    key_size: str,
    slot_count: int,
    real: bool = False,
    target_level: int | None = None,
    bound: float = 1.0,
    by_stage: bool = False,
) -> PrecisionForecast:
    """Predict the precision of a bootstrap by running its plan in the clear with the noise that ciphertexts have."""

def rotation_key_bytes(preset: str, slot_count: int) -> tuple[int, int]:
    """Bytes of the rotation key that a small bootstrap key needs beside it: in memory, and stored with seeds.

    Takes seconds at N = 2^16.
    """

def peak_rss_bytes() -> int:
    """The largest resident memory of this process so far, in bytes."""

def restore(data: bytes) -> Any:
    """What was pickled: it fits every engine with the parameters and slots that it was made with."""

def stored_name(place: bytes | str) -> str:
    """What is stored, in the words of Python's methods: "ciphertext", "lossy bootstrap key". Reads the header."""

@final
class SecretKey:
    """The secret key: uniform ternary coefficients, wiped from memory when dropped. It refuses to be pickled."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

@final
class PublicKey:
    """An encryption of zero; whoever holds it can encrypt."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

@final
class RelinearizationKey:
    """Brings the product of two ciphertexts back to two polynomials."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform half."""

@final
class ConjugationKey:
    """Conjugates every slot."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class RotationKey:
    """Rotates by any step, as a composition of powers of two."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class FixedRotationKey:
    """Rotates by one fixed step, in one key switch."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...
    @property
    def delta(self) -> int:
        """The step, as in `numpy.roll`."""

    @property
    def level(self) -> int:
        """The highest level at which it rotates."""

@final
class MatrixMultiplicationKey:
    """Rotations for products of a plaintext matrix and an encrypted vector."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class BootstrapKey:
    """Every key that one bootstrap reads, except the relinearization and conjugation keys."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...
    @property
    def kind(self) -> str:
        """Its kind in words: "bootstrap key", "small bootstrap key" or "lossy bootstrap key"."""

    @property
    def method(self) -> str:
        """What it is made for: "regular" or "lossy"."""

    @property
    def stage_count(self) -> int: ...
    @property
    def size(self) -> str: ...

@final
class Plaintext:
    """An encoded message: one polynomial modulo Q_level."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def scale(self) -> float: ...
    @property
    def is_real(self) -> bool: ...
    @property
    def bound(self) -> float | None: ...

@final
class EncodedWeights:
    """Weights for sums at one level, encoded: used again and again."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def byte_count(self) -> int: ...

@final
class EncodedDiagonals:
    """A matrix for one level and one shape of matrix multiplication keys, encoded: used again and again."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def byte_count(self) -> int: ...

@final
class Ciphertext:
    """An encrypted message: two polynomials (three before relinearization) modulo Q_level. Changed by `out=` alone."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int:
        """The number of multiplications left."""

    @property
    def level_available(self) -> int:
        """The same as `level`."""

    def __len__(self) -> int:
        """The number of units of `slot_count` values: always 1."""

    @property
    def scale(self) -> float: ...
    @property
    def slot_count(self) -> int: ...
    @property
    def is_real(self) -> bool:
        """Whether it is marked real: it was made of a real type by real operations."""

    @property
    def bound(self) -> float | None:
        """The largest absolute value that slots may have, as declared (`bound=`) and followed through arithmetic."""

    @property
    def noise(self) -> float | None:
        """What the root mean square of the error of a slot is at most; None if it is not known."""

    @property
    def key_id(self) -> str:
        """Short id of the secret key that decrypts it."""

    @property
    def byte_count(self) -> int: ...

EncryptionKey = PublicKey | SecretKey

@final
class Engine:
    """A parameter set with its tables and its private thread pool. All methods are safe to call from many threads."""

    def __init__(
        self,
        preset: str,
        slot_count: int | None,
        threads: int,
        *,
        allow_insecure: bool = False,
        levels: int | None = None,
        parameters: str | None = None,
    ) -> None:
        """With `levels` the smallest secure set that has them, with `parameters` the literal of this text."""

    @property
    def secret(self) -> str: ...
    def plan(self, method: str, stage_count: int | None, key_size: str) -> Plan: ...
    @property
    def preset(self) -> str: ...
    @property
    def slot_count(self) -> int: ...
    @property
    def max_level(self) -> int: ...
    @property
    def log_n(self) -> int: ...
    @property
    def log_q(self) -> float: ...
    @property
    def log_qp(self) -> float: ...
    @property
    def security_bits(self) -> float: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    def create_secret_key(self) -> SecretKey: ...
    def create_public_key(self, sk: SecretKey) -> PublicKey: ...
    def ciphertext_bytes(self, level: int) -> int: ...
    def create_relinearization_key(self, sk: SecretKey) -> RelinearizationKey: ...
    def create_conjugation_key(self, sk: SecretKey) -> ConjugationKey: ...
    def create_rotation_key(self, sk: SecretKey, progress: Progress | None = None) -> RotationKey: ...
    def create_fixed_rotation_key(self, sk: SecretKey, delta: int, level: int | None = None) -> FixedRotationKey: ...
    def create_bootstrap_key(
        self,
        sk: SecretKey,
        method: str,
        stage_count: int | None,
        size: str,
        memory_limit_bytes: int | None,
        progress: Progress | None = None,
    ) -> BootstrapKey: ...
    def encode(self, values: Slots, level: int, bound: float | None = None) -> Plaintext:
        """With a bound, the message is declared to be no larger."""

    def decode(self, pt: Plaintext) -> Decoded: ...
    def encrypt(self, pt: Plaintext, key: EncryptionKey) -> Ciphertext: ...
    def decrypt_decode(self, ct: Ciphertext, sk: SecretKey, check: bool = True) -> Decoded: ...
    def decrypt_shared(
        self, ct: Ciphertext, sk: SecretKey, queries: int, security: float, least_bits: float | None
    ) -> tuple[Decoded, float]:
        """The values, flooded with noise, and the bits that remain of them."""

    def decrypt_bits(self, ct: Ciphertext, sk: SecretKey) -> tuple[NDArray[np.int8], bool]:
        """The points that slots are at, and whether they are signs."""

    def add(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def add_plain(self, ct: Ciphertext, pt: Plaintext) -> Ciphertext: ...
    def add_scalar(self, ct: Ciphertext, value: Scalar) -> Ciphertext: ...
    def sub(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def sub_plain(self, ct: Ciphertext, pt: Plaintext) -> Ciphertext: ...
    def sub_scalar(self, ct: Ciphertext, value: Scalar) -> Ciphertext: ...
    def negate(self, ct: Ciphertext) -> Ciphertext: ...
    def multiply(self, a: Ciphertext, b: Ciphertext, relin: RelinearizationKey | None) -> Ciphertext:
        """Without a key the product keeps three polynomials, at the lower level; relinearize it later."""

    def multiply_plain(self, ct: Ciphertext, pt: Plaintext) -> Ciphertext: ...
    def multiply_scalar(self, ct: Ciphertext, value: Scalar) -> Ciphertext:
        """One level."""

    def multiply_int(self, ct: Ciphertext, value: int) -> Ciphertext:
        """No level."""

    def multiply_imaginary_int(self, ct: Ciphertext, value: int) -> Ciphertext:
        """By a whole multiple of the imaginary unit; no level."""

    def square(self, ct: Ciphertext, relin: RelinearizationKey | None) -> Ciphertext: ...
    def relinearize(self, ct: Ciphertext, relin: RelinearizationKey) -> Ciphertext: ...
    def rotate(self, ct: Ciphertext, key: FixedRotationKey | RotationKey | BootstrapKey, delta: int) -> Ciphertext:
        """`delta` as in `numpy.roll`: slot j moves to slot j + delta."""

    def conjugate(self, ct: Ciphertext, key: ConjugationKey) -> Ciphertext: ...
    def level_down(self, ct: Ciphertext, level: int) -> Ciphertext: ...
    def assume(self, ct: Ciphertext, bound: float | None = None, noise: float | None = None) -> Ciphertext:
        """The same, of which the caller says how large its values and the errors of its slots are at most."""

    def check_compared(self, ct: Ciphertext) -> None:
        """Refuses what is known to be larger than a comparison takes."""

    def assign(self, to: Ciphertext, source: Ciphertext) -> None:
        """What one ciphertext is, the other is from now on; what was made from it before stays as it was."""

    def clone(self, ct: Ciphertext) -> Ciphertext: ...
    def bootstrap(
        self,
        cts: list[Ciphertext],
        relin: RelinearizationKey,
        conj: ConjugationKey,
        rotation: RotationKey | None,
        bootstrap_key: BootstrapKey,
        method: str,
        stage_count: int | None,
        bound: float,
        real: bool | None,
        target_level: int | None,
        progress: Progress | None = None,
        iterations: int = 1,
        many: bool = False,
    ) -> list[Ciphertext]:
        """One ciphertext, or two for the merging methods, or with `many` any number, each on its own.

        `real` None asks the ciphertexts.
        """

    def evaluate_polynomial(
        self,
        ct: Ciphertext,
        coefficients: Decoded,
        basis: str,
        relin: RelinearizationKey,
        progress: Progress | None = None,
    ) -> Ciphertext:
        """`basis`: "power", "chebyshev", or "half-chebyshev" for Chebyshev polynomials of half the value."""

    def make_basis(
        self, ct: Ciphertext, degree: int, basis: str, relin: RelinearizationKey, progress: Progress | None = None
    ) -> list[Ciphertext]:
        """Elements 1 to `degree` of a basis, "power" or "chebyshev"."""

    def weighted_sum(
        self, ciphertexts: list[Ciphertext], weights: list[Scalar | Slots | Plaintext | EncodedWeights]
    ) -> Ciphertext: ...
    def encode_weights(self, weights: Slots, level: int) -> EncodedWeights: ...
    def rotate_batch(
        self, ct: Ciphertext, key: RotationKey, deltas: list[int], progress: Progress | None = None
    ) -> list[Ciphertext]: ...
    def rotate_batch_fixed(
        self, ct: Ciphertext, keys: list[FixedRotationKey], progress: Progress | None = None
    ) -> list[Ciphertext]: ...
    @property
    def matrix_key_bytes(self) -> int:
        """Bytes that the matrix multiplication key for all levels takes in memory."""

    def create_matrix_multiplication_key(
        self,
        sk: SecretKey,
        level: int | None,
        baby_step_count: int | None,
        progress: Progress | None = None,
    ) -> MatrixMultiplicationKey: ...
    def multiply_matrix(
        self,
        matrix: Slots | EncodedDiagonals,
        ct: Ciphertext,
        key: MatrixMultiplicationKey,
        progress: Progress | None = None,
    ) -> Ciphertext: ...
    def encode_matrix(
        self,
        matrix: Slots,
        key: MatrixMultiplicationKey,
        level: int,
        progress: Progress | None = None,
    ) -> EncodedDiagonals: ...
    def bootstrap_output_level(self, method: str, stage_count: int | None, size: str) -> int: ...
    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the last bootstrap on this engine."""
    def stage_runs(self) -> list[StageRun]:
        """Name, seconds and work of each."""

    def write(self, value: Any, path: PathLike, progress: Progress | None = None) -> None:
        """To a file, whole or not at all."""

    def serialize(self, value: Any, progress: Progress | None = None) -> bytes:
        """As bytes."""

    def read(self, kind: str, path: PathLike, progress: Progress | None = None) -> Any:
        """From a file; `kind` is the name of the class."""

    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any:
        """From bytes; `kind` is the name of the class."""

@final
class IntegerSecretKey:
    """The secret key of integers, wiped from memory when dropped. It refuses to be pickled."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    def __reduce__(self) -> NoReturn: ...

@final
class IntegerPublicKey:
    """An encryption of zero; whoever holds it can encrypt integers."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

@final
class IntegerRelinearizationKey:
    """Brings the product of two ciphertexts of integers back to two polynomials."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform half."""

@final
class IntegerBootstrapKey:
    """Every key that a bootstrap of integers reads."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class IntegerRotationKey:
    """Rotates rows by any step, as a composition of powers of two, and exchanges them."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform half."""

@final
class IntegerPlaintext:
    """An encoded message of integers: one polynomial modulo t, for every level."""

    @property
    def preset(self) -> str: ...

@final
class IntegerCiphertext:
    """Encrypted integers: two polynomials, three before relinearization."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int:
        """Products that are left, one after the other."""

    @property
    def degree(self) -> int:
        """1, or 2 for a product that is not relinearized."""

    @property
    def noise_budget(self) -> float:
        """Bits that are free above the noise by its bound, for everybody."""

    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

_StoredIntegers = (
    IntegerSecretKey
    | IntegerPublicKey
    | IntegerRelinearizationKey
    | IntegerRotationKey
    | IntegerPlaintext
    | IntegerCiphertext
)

@final
class IntegerEngine:
    """An engine of exact integers. All methods are safe to call from many threads."""

    def __init__(
        self, preset: str | None, depth: int, plaintext_modulus: int, in_slots: bool, threads: int
    ) -> None: ...
    @property
    def preset(self) -> str: ...
    @property
    def plaintext_modulus(self) -> int: ...
    @property
    def count(self) -> int:
        """Numbers of a message."""

    @property
    def max_level(self) -> int: ...
    @property
    def log_n(self) -> int: ...
    @property
    def log_qp(self) -> float: ...
    @property
    def security_bits(self) -> float: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    def create_secret_key(self) -> IntegerSecretKey: ...
    def create_public_key(self, sk: IntegerSecretKey) -> IntegerPublicKey: ...
    def create_relinearization_key(self, sk: IntegerSecretKey) -> IntegerRelinearizationKey: ...
    def create_rotation_key(self, sk: IntegerSecretKey, progress: Progress | None = None) -> IntegerRotationKey: ...
    def encode(self, values: NDArray[np.int64]) -> IntegerPlaintext: ...
    def decode(self, pt: IntegerPlaintext) -> NDArray[np.int64]:
        """In `[-t/2, t/2]`."""

    def encrypt(
        self, pt: IntegerPlaintext, key: IntegerPublicKey | IntegerSecretKey, level: int
    ) -> IntegerCiphertext: ...
    def decrypt(self, ct: IntegerCiphertext, sk: IntegerSecretKey) -> NDArray[np.int64]:
        """In `[-t/2, t/2]`."""

    def noise_budget(self, ct: IntegerCiphertext, sk: IntegerSecretKey) -> float:
        """Whole bits that are free above the noise."""

    def add(self, a: IntegerCiphertext, b: IntegerCiphertext) -> IntegerCiphertext: ...
    def subtract(self, a: IntegerCiphertext, b: IntegerCiphertext) -> IntegerCiphertext: ...
    def negate(self, ct: IntegerCiphertext) -> IntegerCiphertext: ...
    def add_plain(self, ct: IntegerCiphertext, pt: IntegerPlaintext) -> IntegerCiphertext: ...
    def add_number(self, ct: IntegerCiphertext, number: int) -> IntegerCiphertext: ...
    def multiply_plain(self, ct: IntegerCiphertext, pt: IntegerPlaintext) -> IntegerCiphertext: ...
    def multiply_number(self, ct: IntegerCiphertext, number: int) -> IntegerCiphertext: ...
    def multiply(
        self, a: IntegerCiphertext, b: IntegerCiphertext, relin: IntegerRelinearizationKey | None = None
    ) -> IntegerCiphertext:
        """Without a key the product keeps three polynomials, at the lower level of both."""

    def multiply_scaled(
        self, a: IntegerCiphertext, b: IntegerCiphertext, relin: IntegerRelinearizationKey
    ) -> IntegerCiphertext: ...
    def relinearize(self, ct: IntegerCiphertext, relin: IntegerRelinearizationKey) -> IntegerCiphertext: ...
    def level_down(self, ct: IntegerCiphertext, level: int) -> IntegerCiphertext: ...
    def rotate_rows(self, ct: IntegerCiphertext, key: IntegerRotationKey, delta: int) -> IntegerCiphertext:
        """To the right, as `numpy.roll` along the second axis of two rows."""

    def rotate_columns(self, ct: IntegerCiphertext, key: IntegerRotationKey) -> IntegerCiphertext: ...
    @property
    def bootstrap_output_level(self) -> int | None:
        """The level that a bootstrap leaves; None where the set has none."""

    def bootstrap_forecast(self) -> tuple[int, int]:
        """Bytes of the bootstrap key and of the encoded maps."""

    def create_bootstrap_key(
        self, sk: IntegerSecretKey, memory_limit: int | None, progress: Progress | None = None
    ) -> IntegerBootstrapKey: ...
    def bootstrap(
        self, cts: list[IntegerCiphertext], key: IntegerBootstrapKey, progress: Progress | None = None
    ) -> list[IntegerCiphertext]: ...
    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the latest bootstrap."""

    def sum_slots(self, ct: IntegerCiphertext, key: IntegerRotationKey) -> IntegerCiphertext: ...
    def power(
        self,
        ct: IntegerCiphertext,
        exponent: int,
        relin: IntegerRelinearizationKey,
        progress: Progress | None = None,
    ) -> IntegerCiphertext: ...
    def evaluate_polynomial(
        self,
        ct: IntegerCiphertext,
        coefficients: NDArray[np.int64],
        relin: IntegerRelinearizationKey,
        progress: Progress | None = None,
    ) -> IntegerCiphertext: ...
    def lookup(
        self,
        digits: list[IntegerCiphertext],
        values: NDArray[np.int64],
        relin: IntegerRelinearizationKey,
        progress: Progress | None = None,
    ) -> IntegerCiphertext:
        """A ciphertext for each digit of the index, the lowest first."""

    def plan_lookup(self, values: NDArray[np.int64], digits: int) -> tuple[int, int]:
        """Levels and relinearizations of a table."""

    def compare(
        self,
        what: str,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        bits: int,
        relin: IntegerRelinearizationKey,
        progress: Progress | None = None,
    ) -> IntegerCiphertext:
        """`<`, `==` or `maximum` of integers that differ by less than `2^bits`."""

    def plan_compare(self, what: str, bits: int) -> tuple[int, int]:
        """Levels and relinearizations of a comparison."""

    def write(self, value: _StoredIntegers, path: str, progress: Progress | None = None) -> None: ...
    def serialize(self, value: _StoredIntegers, progress: Progress | None = None) -> bytes: ...
    def read(self, kind: str, path: str, progress: Progress | None = None) -> Any: ...
    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any: ...

@final
class BridgeKey:
    """What leads from the secret key of slots to that of look-ups, and back."""

    @property
    def key_id(self) -> str: ...
    @property
    def lookup_key_id(self) -> str:
        """Short id of the secret key of look-ups."""

    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with seeds in place of the uniform part."""

@final
class Bridge:
    """An engine of slots and one of look-ups. All methods are safe to call from many threads."""

    def __init__(self, slots: Engine, lookups: LookupEngine) -> None: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def key_bytes(self) -> int:
        """Bytes in memory that its key takes."""

    def packing_bytes(self, values: int) -> int:
        """Bytes that so many values take on their way up, beside keys and what a bootstrap takes."""

    def log2_failure_up(self, variance: float) -> float:
        """Base-2 logarithm of the probability that a bit comes up wrong that has this variance, in turns squared."""

    def create_bridge_key(
        self,
        sk: SecretKey,
        lookup_sk: LweSecretKey,
        memory_limit_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> BridgeKey: ...
    def to_lookup(
        self,
        ct: Ciphertext,
        indices: list[int],
        shape: list[int],
        part: str,
        key: BridgeKey,
        bootstrap_key: BootstrapKey,
        bits: int | None = None,
        signed: bool = True,
        size: float = 1.0,
        progress: Progress | None = None,
    ) -> LweArray: ...
    def fresh_variance(self, bits: int | None = None, signed: bool = True, terms: int = 1, size: float = 1.0) -> float:
        """Of what comes down of fresh ciphertexts or of sums of `terms` of them, in turns squared."""

    def from_lookup(
        self,
        bits: LweArray,
        imaginary: LweArray | None,
        relin: RelinearizationKey,
        conj: ConjugationKey,
        bootstrap_key: BootstrapKey,
        key: BridgeKey,
        progress: Progress | None = None,
    ) -> Ciphertext: ...
    def write(self, value: BridgeKey, path: str, progress: Progress | None = None) -> None: ...
    def serialize(self, value: BridgeKey, progress: Progress | None = None) -> bytes: ...
    def read(self, kind: str, path: str, progress: Progress | None = None) -> Any: ...
    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any: ...

@final
class IntegerBridgeKey:
    """What leads from the secret key of integers to that of look-ups, and back."""

    @property
    def key_id(self) -> str: ...
    @property
    def lookup_key_id(self) -> str:
        """Short id of the secret key of look-ups."""

    @property
    def leads_up(self) -> bool:
        """Whether `from_lookup` takes it: keys in files of before anything went up to integers lead down alone."""

    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform part."""

@final
class IntegerBridge:
    """An engine of integers and one of look-ups. All methods are safe to call from many threads."""

    def __init__(self, numbers: IntegerEngine, lookups: LookupEngine) -> None: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def key_bytes(self) -> int:
        """Bytes in memory that its key takes."""

    def packing_bytes(self, values: int) -> int:
        """Bytes that so many values take on their way up, beside keys and what a bootstrap takes."""

    def plan_up(
        self, variance: float, bits: int | None = None, units: UnitCosts | Mapping[str, float] | None = None
    ) -> RaisingPlan:
        """What results of tables or gates would go through on their way up, if they have this variance."""

    def create_bridge_key(
        self,
        sk: IntegerSecretKey,
        lookup_sk: LweSecretKey,
        memory_limit_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> IntegerBridgeKey: ...
    def variance(self, bits: int | None = None) -> float:
        """Of what comes down, in turns squared."""

    def to_lookup(
        self,
        ct: IntegerCiphertext,
        indices: list[int],
        shape: list[int],
        key: IntegerBridgeKey,
        bootstrap_key: IntegerBootstrapKey,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> LweArray: ...
    def from_lookup(
        self,
        x: LweArray,
        key: IntegerBridgeKey,
        bootstrap_key: IntegerBootstrapKey,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> IntegerCiphertext: ...
    def write(self, value: IntegerBridgeKey, path: str, progress: Progress | None = None) -> None: ...
    def serialize(self, value: IntegerBridgeKey, progress: Progress | None = None) -> bytes: ...
    def read(self, kind: str, path: str, progress: Progress | None = None) -> Any: ...
    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any: ...

@final
class LweSecretKey:
    """The secret key of gates and tables, wiped from memory when dropped. It refuses to be pickled."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

@final
class LookupKey:
    """What gates and tables need: the keys of a blind rotation and of a key switch."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform part."""

@final
class PackingKey:
    """What tables of two messages need beside a lookup key: the automorphisms that pack samples."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform part."""

@final
class LweArray:
    """Ciphertexts in a row, with the shape that they stand for; `aglet.LweCiphertext` is the face of it."""

    @property
    def shape(self) -> list[int]: ...
    @property
    def is_bits(self) -> bool: ...
    @property
    def form(self) -> str:
        """What its phases stand for: "bits", "padded", "full", "negacyclic" or "signed"."""

    @property
    def bits(self) -> int: ...
    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    def take(self, places: NDArray[np.int64], shape: list[int]) -> LweArray: ...
    @staticmethod
    def joined(arrays: list[LweArray]) -> LweArray: ...
    def plus(self, other: LweArray, weight: int) -> LweArray: ...
    def sums(self, count: int) -> LweArray: ...
    def plus_clear(self, numbers: NDArray[np.int64]) -> LweArray: ...
    def times(self, factors: NDArray[np.int64]) -> LweArray: ...
    def negated(self) -> LweArray: ...

@final
class LookupEngine:
    """An engine of gates and tables. All methods are safe to call from many threads."""

    def __init__(
        self, preset: str, threads: int, *, parameters: str | None = None, allow_insecure: bool = False
    ) -> None: ...
    @property
    def insecurity(self) -> str | None:
        """Why the security gate refuses the parameters, if it does."""

    @property
    def preset(self) -> str: ...
    @property
    def messages(self) -> int:
        """Messages of a ciphertext beside the bit of padding."""

    @property
    def secret(self) -> str: ...
    @property
    def method(self) -> str:
        """The method of blind rotation."""

    @property
    def security_bits(self) -> float:
        """Of the weaker of the two secrets."""

    @property
    def log2_failure(self) -> float:
        """Of a bootstrap of the heaviest sum allowed for."""

    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    def create_secret_key(self) -> LweSecretKey: ...
    def create_lookup_key(
        self, sk: LweSecretKey, memory_limit_bytes: int | None = None, progress: Progress | None = None
    ) -> LookupKey: ...
    def create_packing_key(
        self, sk: LweSecretKey, memory_limit_bytes: int | None = None, progress: Progress | None = None
    ) -> PackingKey: ...
    @property
    def packing_key_bytes(self) -> int:
        """Bytes that the packing key takes in memory."""

    def encrypt_bits(self, bits: NDArray[np.bool_], shape: list[int], sk: LweSecretKey) -> LweArray: ...
    def encrypt_messages(
        self, messages: NDArray[np.int64], shape: list[int], sk: LweSecretKey, domain: str
    ) -> LweArray: ...
    def encrypt_integers(self, values: NDArray[np.int64], shape: list[int], sk: LweSecretKey, bits: int) -> LweArray:
        """Integers with a sign."""

    def encrypt_words(self, values: NDArray[np.int64], shape: list[int], sk: LweSecretKey, bits: int) -> LweArray:
        """Integers without a sign, which wrap around."""

    def decrypt(self, ct: LweArray, sk: LweSecretKey, max_log2_failure: float | None = None) -> NDArray[np.int64]:
        """In the order of C; bits are 0 and 1."""

    def gate(
        self,
        name: str,
        inputs: list[LweArray],
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> LweArray: ...
    def refresh(
        self,
        ct: LweArray,
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> LweArray: ...
    def mux(
        self,
        inputs: list[LweArray],
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> LweArray: ...
    def lookup(
        self,
        ct: LweArray,
        tables: list[list[int]],
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> list[LweArray]: ...
    def lookup_pairs(
        self,
        pair: list[LweArray],
        tables: list[list[int]],
        key: LookupKey,
        packing_key: PackingKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> list[LweArray]:
        """Of messages, high and low; an array for each table."""

    def sign(
        self,
        ct: LweArray,
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> LweArray:
        """1 for integers from 0 on and 0 for others, as padded messages."""

    def compare(
        self,
        order: str,
        inputs: list[LweArray],
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> LweArray:
        """By one of <, <=, >, >=, ==."""

    def floor(
        self,
        ct: LweArray,
        bits: int,
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> LweArray:
        """Words without their low bits."""

    def digits(
        self,
        ct: LweArray,
        key: LookupKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> list[LweArray]:
        """Of words, as padded messages, the lowest first."""

    def estimate(
        self,
        what: str,
        batch: int,
        domain: str,
        tables: list[list[int]],
        bits: int,
        low: int,
        variance: float | None = None,
    ) -> tuple[int, float, int, int, float]:
        """Rotations, seconds, bytes of the lookup key and beside it, log2 of the failure."""

    def pair_variance(self, tables: list[list[int]]) -> float:
        """In turns squared, of results of tables of two padded messages that are read together."""

    def noise(self) -> LookupNoise:
        """Of the parameter set."""

    def write(self, value: Any, path: PathLike, progress: Progress | None = None) -> None:
        """To a file, whole or not at all."""

    def serialize(self, value: Any, progress: Progress | None = None) -> bytes:
        """As bytes."""

    def read(self, kind: str, path: PathLike, progress: Progress | None = None) -> Any:
        """From a file; `kind` is the name of the class."""

    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any:
        """From bytes; `kind` is the name of the class."""
