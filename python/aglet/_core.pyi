"""Types of `aglet._core`, the compiled half of Aglet (Rust, `crates/py`).

The classes in `aglet` check and convert arguments, then call this module. Every function releases the GIL while it
works. Long calls take `progress(done, total, what)` and call it in the calling thread several times a second. If it
raises an exception, the work stops and the exception comes out of the call. Long calls check Python's signals at least
twice a second, so Ctrl-C stops them with or without a callback.

`level` is always the user level: the number of multiplications left. Only plan tables show chain levels (limbs - 1).
"""

import os
from collections.abc import Callable, Mapping, Sequence
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
    """The name of the processor, and its family and model if the system reports them."""
    mhz: float | None
    """The clock that the system reports; often nominal."""
    features: list[str]
    backends: list[str]
    """Those that work here, best first."""
    backend: str
    """The one that engines use."""
    forced: str | None
    """The value of AGLET_BACKEND, if it is set."""
    cores: int
    memory_total_bytes: int | None
    memory_available_bytes: int | None
    """None if the system does not report it."""
    huge_pages: str

class NttTiming(TypedDict):
    """Median times of one transform of one limb, in microseconds, on one thread."""

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
    """Bits of the largest prime. Above 50 bits only the scalar kernels work."""
    log_q: float
    log_qp: float
    log_p: float
    secret: str
    """Distribution of the main secret, in words."""
    security_bits: float
    """A lower bound of the classical security in bits; below 128 bits it is a cautious estimate."""
    levels: int
    scale_bits: float
    precision_bits: float | None
    log2_failure: float | None
    """Base-2 logarithm of an upper bound: the probability that any slot is six bits below `precision_bits`."""
    precision_bits_two: float | None
    """Claimed after two iterations, if the message scale has enough bits for them."""
    log2_failure_two: float | None
    key_bytes: int | None
    methods: list[str]
    source: str
    experimental: str | None
    """Why the set is experimental, if it is."""
    raises_modulus: bool
    """Whether its bootstrap raises the modulus. That of SHIP does not."""
    few_slots: int
    """The largest number of slots for SPRU, below all slots of the ring; 0 if there is none."""
    sparse_secrets_bits: float | None
    """log2 of the number of its sparse secrets, as counted by the rule that makes the set experimental."""

class UnitCosts(TypedDict):
    """Microseconds that one thread takes for each kind of work on one limb."""

    forward: float
    inverse: float
    pointwise: float
    key: float
    diagonal: float
    matrix: float
    """The additional time for a limb of encoded diagonals that is read from memory."""
    conversion: float

class Work(TypedDict):
    """Numbers of transforms and products of limbs, and of bytes read."""

    forward_transforms: float
    inverse_transforms: float
    pointwise_products: float
    key_products: float
    diagonal_products: float
    conversion_products: float
    key_bytes_read: int
    matrix_bytes_read: int
    ciphertext_bytes_read: int

class FunctionalEstimate(TypedDict):
    """What is known of the results of a functional bootstrap before it runs."""

    level: int
    depth: int
    noise: float
    bound: float
    log2_failure: float | None
    largest_input_error: float | None

class StageRun(TypedDict):
    """What one stage of a bootstrap took."""

    name: str
    seconds: float
    work: Work
    launches: int
    """Kernels that a card was asked for; 0 on the processor, like the copies."""
    synchronous_copies: int
    """Copies that wait for the card: all from it, and those of more than a megabyte to it."""
    other_copies: int
    """Copies to the card that wait for nothing."""

class StageNoise(TypedDict):
    """The precision of an otherwise exact bootstrap in which only this stage adds noise."""

    name: str
    noise_bits: float | None
    """None if the stage adds no noise."""

class PrecisionForecast(TypedDict):
    """The predicted precision of a bootstrap, in bits."""

    mean_bits: float
    worst_bits: float
    approximation_bits: float
    """The precision without any noise."""
    stages: list[StageNoise]

class StageRow(TypedDict):
    """One stage of a bootstrap. Its levels are chain levels: limbs - 1."""

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
    """On one thread, computed from the unit costs; None without them."""

class FhewNoise(TypedDict):
    """Standard deviations of each kind of noise of an FHEW set, as parts of the torus."""

    fresh: float
    bootstrap: float
    """Of the result of a bootstrap."""
    key_switch: float
    mod_switch: float
    decision: float
    """Of the phase that a bootstrap rounds, for the heaviest sum that the set allows."""
    squared_weights: float
    """The sum of squared weights of that sum."""
    distance: dict[str, float]
    """By domain: the distance from a message to the nearest phase that is read as another."""

class IntegerPresetInfo(TypedDict):
    """A parameter set of integers (BGV/BFV)."""

    name: str
    log_n: int
    slot_count: int
    levels: int
    plaintext_modulus: int
    log_qp: float
    security_bits: float
    is_secure: bool
    """Whether it has 128 bits of security; toy sets have not."""
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
    """Whether the set has enough levels."""
    work: Work | None
    """None if the set has too few levels."""
    seconds: float | None
    """On one thread, computed from the unit costs; None without them."""

class IntegerStageRow(TypedDict):
    """One stage of a bootstrap of integers."""

    name: str
    limbs_in: int
    limbs_out: int
    keys: int
    key_bytes: int
    work: Work
    seconds: float | None
    """On one thread, computed from the unit costs; None without them."""

class IntegerBootstrapPlan(TypedDict):
    """A bootstrap of integers, planned before its key exists."""

    input_level: int
    output_level: int
    noise_budget: float
    """The noise budget of a result in bits, from the bound on its noise."""
    log2_failure: float | None
    """Base-2 logarithm of the probability that any slot is wrong; None if there is no proof."""
    key_bytes: int
    key_bytes_seeded: int
    """As stored in files, with seeds in place of uniform halves."""
    map_bytes: int
    working_bytes: int
    """The polynomials of a run, tables, and the process itself."""
    peak_bytes: int
    card_bytes: CardBytes
    stages: list[IntegerStageRow]
    work: Work
    seconds: float | None
    """Of all stages."""

class RaisingStageRow(TypedDict):
    """One stage of the conversion from FHEW to integers."""

    name: str
    work: Work
    seconds: float | None
    """Of one thread, by the units; None without."""

class RaisingPlan(TypedDict):
    """The conversion from FHEW to integers, before its keys exist."""

    messages: int
    """That are told apart."""
    bound: int
    """Errors below it are removed. A unit is the torus divided by the plaintext modulus."""
    deviation: float
    """Of errors, in such units."""
    log2_failure: float
    """Base-2 logarithm of the probability that one message is wrong in its slot."""
    polynomial_levels: int
    """Of the polynomial that removes errors."""
    output_level: int
    stages: list[RaisingStageRow]

class IntegerPlan(TypedDict):
    """What a set of integers can do, computed before a key exists."""

    circuits: list[IntegerCircuitRow]
    bootstrap: IntegerBootstrapPlan | None

class FhewPresetInfo(TypedDict):
    """One parameter set of FHEW with its claims; tests recompute the claims."""

    name: str
    bits: int
    """Bits of a message; 1 for gates."""
    method: str
    log_n: int
    rank: int
    """The rank of the GLWE secret: its number of polynomials."""
    dimension: int
    """The dimension of the LWE secret."""
    log_q: float
    secret: str
    security_bits: float
    log2_failure: float
    """Of a gate or LUT on the heaviest sum that the set allows."""
    squared_weights: float
    """The sum of squared weights of that sum."""
    on_card: bool
    """Whether a card rotates by the set; if not, the processor does."""
    key_bytes: int | None
    source: str

class Plan(TypedDict):
    """A bootstrap, planned before any key exists: levels, stages, work, keys and memory."""

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
    card_bytes: CardBytes

class CardBytes(TypedDict):
    """The bytes that bootstraps side by side take on a card."""

    keys: int
    maps: int
    tables: int
    working: int
    all: int

class Card(TypedDict):
    """A card that the driver finds."""

    index: int
    name: str
    capability: str
    memory_bytes: int
    arithmetic: str
    """The arithmetic that is quicker there: "F50", doubles, or "S64", words."""

def cards() -> list[Card]:
    """The NVIDIA cards that the driver of this machine finds.

    Raises
    ------
    DeviceError
        If there is no card or no driver that can be used: the reason.
    """

def test_card(index: int) -> None:
    """Open a card, compare what it computes with this machine, and close it.

    Raises
    ------
    DeviceError
        If the card cannot be used: the reason.
    """

def doctor() -> DoctorReport:
    """Describe the processor, the backends and the memory.

    Raises
    ------
    DeviceError
        If AGLET_BACKEND names an unknown backend, or one that this processor lacks.
    """

def bench_ntt(log_n: int, bits: int, backend: str, repeat: int) -> NttTiming:
    """Time the negacyclic number-theoretic transform of one limb on one thread (medians)."""

def fhew_presets() -> list[FhewPresetInfo]:
    """All parameter sets of FHEW."""

def integer_presets() -> list[IntegerPresetInfo]:
    """All parameter sets of integers."""

def integer_plan(preset: str, units: UnitCosts | Mapping[str, float] | None = None) -> IntegerPlan:
    """What a set of integers can do, computed before a key exists; with unit costs also the seconds."""

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
    functional: Functional | None = None,
) -> Plan:
    """Plan a bootstrap, or a functional one: check levels, scales and keys; count work; forecast memory.

    With unit costs it forecasts seconds as well.
    """

def scratch_bytes(
    preset: str, method: str, stage_count: int | None, key_size: str, slot_count: int, together: int
) -> int:
    """Bytes of the temporary polynomials of `together` bootstraps side by side. The engine keeps them.

    Takes a moment.
    """

def unit_costs(log_n: int, bits: int) -> UnitCosts:
    """Measure the unit costs for rings of degree 2^log_n with primes of `bits` bits."""

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
    """Predict the precision of a bootstrap: run its plan on plain numbers with the noise of ciphertexts."""

def rotation_key_bytes(preset: str, slot_count: int) -> tuple[int, int]:
    """Bytes of the rotation key that a small bootstrap key needs beside it: in memory, and stored with seeds.

    Takes seconds at N = 2^16.
    """

def peak_rss_bytes() -> int:
    """The largest resident memory of this process so far, in bytes."""

def restore(data: bytes) -> Any:
    """Unpickle. The result works with every engine that has the same parameters and slots."""

def stored_name(place: bytes | str) -> str:
    """The kind of a stored thing, such as "ciphertext" or "lossy bootstrap key". Only its header is read."""

@final
class SecretKey:
    """The secret key: uniform ternary coefficients. It is wiped from memory when dropped and cannot be pickled."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

@final
class PublicKey:
    """An encryption of zero. Anyone who has it can encrypt."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

@final
class RelinearizationKey:
    """Relinearizes: turns the product of two ciphertexts into two polynomials again."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored, with a seed in place of the uniform half."""

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
    """Rotates by any step, composed of rotations by powers of two."""

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
    """The rotation keys for products of a plaintext matrix and an encrypted vector."""

    @property
    def preset(self) -> str: ...
    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int: ...

@final
class Functional:
    """What a functional bootstrap evaluates: lookup tables, or functions by their Fourier series."""

    @staticmethod
    def tables(
        tables: Sequence[tuple[Sequence[float], Sequence[float]]], low: float, step: float, order: int
    ) -> Functional:
        """Tables of real and of imaginary parts: `low + step m` becomes `entries[m]`."""

    @staticmethod
    def series(
        period: float, points: Sequence[float], functions: Sequence[tuple[Sequence[complex], Sequence[complex]]]
    ) -> Functional:
        """Functions `2 Re sum c_k exp(2 pi i k v / period)` that are wanted at the points `v`."""

    @property
    def depth(self) -> int:
        """The levels that it takes below the exponential."""

@final
class BootstrapKey:
    """All keys that one bootstrap reads, except the relinearization and conjugation keys."""

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
        """Its name: "bootstrap key", "small bootstrap key" or "lossy bootstrap key"."""

    @property
    def method(self) -> str:
        """The method that it serves: "regular" or "lossy"."""

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
    """Weights of a sum, encoded for one level. They can be used again and again."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def byte_count(self) -> int: ...

@final
class EncodedDiagonals:
    """A matrix, encoded for one level and one shape of matrix multiplication key. It can be used again and again."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def byte_count(self) -> int: ...

@final
class EncodedMap:
    """A linear map, encoded for one level and its rotation keys. It can be used again and again."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int: ...
    @property
    def byte_count(self) -> int: ...

@final
class Ciphertext:
    """An encrypted message: two polynomials modulo Q_level, or three before relinearization. Only `out=` changes it."""

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
        """Whether it is marked as real: real inputs and real operations only."""

    @property
    def bound(self) -> float | None:
        """The largest absolute value that slots may have: declared with `bound=` and tracked through arithmetic."""

    @property
    def noise(self) -> float | None:
        """An upper bound of the root-mean-square error of a slot; None if it is not known."""

    @property
    def key_id(self) -> str:
        """Short id of the secret key that decrypts it."""

    @property
    def byte_count(self) -> int: ...

EncryptionKey = PublicKey | SecretKey

@final
class Engine:
    """A CKKS parameter set with its tables and its own thread pool. Many threads may call its methods at once."""

    def __new__(
        cls,
        preset: str,
        slot_count: int | None,
        machine: tuple[int, int | None],
        *,
        allow_insecure: bool = False,
        levels: int | None = None,
        parameters: str | None = None,
    ) -> Engine:
        """`levels` chooses the smallest secure set with these levels.

        `parameters` is the text of an own parameter set. `machine` is the number of threads and, if it computes on one,
        that of the card.
        """

    @property
    def device(self) -> str: ...
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
        """`bound` declares that no value of the message is larger."""

    def decode(self, pt: Plaintext) -> Decoded: ...
    def encrypt(self, pt: Plaintext, key: EncryptionKey) -> Ciphertext: ...
    def fetch(self, cts: Sequence[Ciphertext]) -> None:
        """Has ciphertexts here that a card made, together."""

    def decrypt_decode(self, ct: Ciphertext, sk: SecretKey, check: bool = True) -> Decoded: ...
    def decrypt_shared(
        self, ct: Ciphertext, sk: SecretKey, queries: int, security: float, least_bits: float | None
    ) -> tuple[Decoded, float]:
        """The values with flooding noise, and the bits of precision that remain."""

    def decrypt_bits(self, ct: Ciphertext, sk: SecretKey) -> tuple[NDArray[np.int8], bool]:
        """The values that slots are rounded to, and whether they are signs."""

    def add(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def add_plain(self, ct: Ciphertext, pt: Plaintext) -> Ciphertext: ...
    def add_scalar(self, ct: Ciphertext, value: Scalar) -> Ciphertext: ...
    def sub(self, a: Ciphertext, b: Ciphertext) -> Ciphertext: ...
    def sub_plain(self, ct: Ciphertext, pt: Plaintext) -> Ciphertext: ...
    def sub_scalar(self, ct: Ciphertext, value: Scalar) -> Ciphertext: ...
    def negate(self, ct: Ciphertext) -> Ciphertext: ...
    def multiply(self, a: Ciphertext, b: Ciphertext, relin: RelinearizationKey | None) -> Ciphertext:
        """Without a key the product has three polynomials and the lower level of the two; relinearize it later."""

    def multiply_plain(self, ct: Ciphertext, pt: Plaintext) -> Ciphertext: ...
    def multiply_scalar(self, ct: Ciphertext, value: Scalar) -> Ciphertext:
        """Takes one level."""

    def multiply_int(self, ct: Ciphertext, value: int) -> Ciphertext:
        """Takes no level."""

    def multiply_imaginary_int(self, ct: Ciphertext, value: int) -> Ciphertext:
        """Multiply by an integer times the imaginary unit. Takes no level."""

    def square(self, ct: Ciphertext, relin: RelinearizationKey | None) -> Ciphertext: ...
    def relinearize(self, ct: Ciphertext, relin: RelinearizationKey) -> Ciphertext: ...
    def rotate(self, ct: Ciphertext, key: FixedRotationKey | RotationKey | BootstrapKey, delta: int) -> Ciphertext:
        """`delta` as in `numpy.roll`: slot j moves to slot j + delta."""

    def conjugate(self, ct: Ciphertext, key: ConjugationKey) -> Ciphertext: ...
    def part(self, ct: Ciphertext, imaginary: bool, key: ConjugationKey) -> Ciphertext:
        """The real parts of all slots, or the imaginary ones, as real numbers. It uses a level."""

    def level_down(self, ct: Ciphertext, level: int) -> Ciphertext: ...
    def assume(self, ct: Ciphertext, bound: float | None = None, noise: float | None = None) -> Ciphertext:
        """The same ciphertext, with bounds that the caller states: on its values and on the errors of its slots."""

    def check_compared(self, ct: Ciphertext) -> None:
        """Refuse a ciphertext whose values are known to be too large for a comparison."""

    def assign(self, to: Ciphertext, source: Ciphertext) -> None:
        """Give `to` the content of `source`. Results that were computed from `to` before do not change."""

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
        """Bootstrap one ciphertext, or two for the merging methods, or any number separately with `many`.

        With `real` None the ciphertexts decide.
        """

    def functional_bootstrap(
        self,
        ct: Ciphertext,
        functional: Functional,
        relin: RelinearizationKey,
        conj: ConjugationKey,
        rotation: RotationKey | None,
        bootstrap_key: BootstrapKey,
        method: str,
        stage_count: int | None,
        real: bool | None,
        target_level: int | None,
        input_error: float | None,
        max_failure: float,
        progress: Progress | None = None,
    ) -> list[Ciphertext]:
        """Bootstrap and evaluate functions: one result for each."""

    def functional_estimate(
        self,
        functional: Functional,
        method: str,
        stage_count: int | None,
        size: str,
        real: bool,
        target_level: int | None,
        input_error: float,
        max_failure: float,
    ) -> FunctionalEstimate:
        """What is known of the results of a functional bootstrap beforehand."""

    def evaluate_polynomial(
        self,
        ct: Ciphertext,
        coefficients: Decoded,
        basis: str,
        relin: RelinearizationKey,
        progress: Progress | None = None,
    ) -> Ciphertext:
        """`basis` is "power", "chebyshev", or "half-chebyshev" for Chebyshev polynomials of half the value."""

    def make_basis(
        self, ct: Ciphertext, degree: int, basis: str, relin: RelinearizationKey, progress: Progress | None = None
    ) -> list[Ciphertext]:
        """The elements 1 to `degree` of a basis, "power" or "chebyshev"."""

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
        """Bytes in memory of the matrix multiplication key for all levels."""

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
    def fixed_rotation_key_bytes(self, level: int) -> int:
        """Bytes in memory of a fixed rotation key for levels up to this one."""

    def encode_map(
        self,
        keys: list[FixedRotationKey],
        steps: list[tuple[int | None, list[tuple[int | None, Slots]]]],
        level: int,
        progress: Progress | None = None,
        *,
        once: bool = False,
    ) -> EncodedMap:
        """Encode a linear map for ciphertexts of one level, for one use or many. Steps name keys by their places."""

    def linear_map(
        self, map: EncodedMap, ct: Ciphertext, keys: list[FixedRotationKey], progress: Progress | None = None
    ) -> Ciphertext: ...
    def product_sum(self, left: list[Ciphertext], right: list[Ciphertext], relin: RelinearizationKey) -> Ciphertext: ...
    def bootstrap_output_level(self, method: str, stage_count: int | None, size: str) -> int: ...
    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the last bootstrap on this engine."""
    def stage_runs(self) -> list[StageRun]:
        """Name, seconds, work and, on a card, calls of each stage of the last bootstrap."""

    def write(self, value: Any, path: PathLike, progress: Progress | None = None) -> None:
        """Write to a file: all of it, or no file at all."""

    def serialize(self, value: Any, progress: Progress | None = None) -> bytes:
        """Return as bytes."""

    def read(self, kind: str, path: PathLike, progress: Progress | None = None) -> Any:
        """Read from a file; `kind` is the name of the class."""

    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any:
        """Read from bytes; `kind` is the name of the class."""

@final
class IntegerSecretKey:
    """The secret key of integers. It is wiped from memory when dropped and cannot be pickled."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

@final
class IntegerPublicKey:
    """An encryption of zero. Anyone who has it can encrypt integers."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

@final
class IntegerRelinearizationKey:
    """Relinearizes: turns the product of two ciphertexts of integers into two polynomials again."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored, with a seed in place of the uniform half."""

@final
class IntegerBootstrapKey:
    """All keys that a bootstrap of integers reads."""

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
    """Rotates rows by any step, composed of rotations by powers of two, and swaps the two rows."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored, with a seed in place of the uniform half."""

@final
class IntegerFixedRotationKey:
    """Rotates rows by one step, with one key switch."""

    @property
    def delta(self) -> int:
        """Slots that rows are rotated by, to the right."""

    @property
    def level(self) -> int:
        """The highest level of a ciphertext that it rotates."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored, with a seed in place of the uniform half."""

@final
class IntegerPlaintext:
    """An encoded message of integers: one polynomial modulo t, for every level."""

    @property
    def preset(self) -> str: ...

@final
class IntegerCiphertext:
    """Encrypted integers: two polynomials, or three before relinearization."""

    @property
    def preset(self) -> str: ...
    @property
    def level(self) -> int:
        """How many products can still follow one another."""

    @property
    def degree(self) -> int:
        """1, or 2 for a product that is not relinearized."""

    @property
    def noise_budget(self) -> float:
        """The noise budget in bits, from the bound on the noise; no key is needed."""

    @property
    def key_id(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

_StoredIntegers = (
    IntegerSecretKey
    | IntegerPublicKey
    | IntegerRelinearizationKey
    | IntegerRotationKey
    | IntegerFixedRotationKey
    | IntegerPlaintext
    | IntegerCiphertext
)

@final
class IntegerEngine:
    """An engine of exact integers (BGV/BFV). Many threads may call its methods at once."""

    def __new__(
        cls,
        choice: tuple[str | None, int],
        plaintext_modulus: int,
        in_slots: bool,
        machine: tuple[int, int | None],
        *,
        parameters: str | None = None,
        allow_insecure: bool = False,
    ) -> IntegerEngine: ...
    @property
    def device(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def is_secure(self) -> bool:
        """Whether the set has 128 bits of security."""

    @property
    def plaintext_modulus(self) -> int: ...
    @property
    def count(self) -> int:
        """The number of integers in a message."""

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
    def create_fixed_rotation_key(
        self, sk: IntegerSecretKey, delta: int, level: int, progress: Progress | None = None
    ) -> IntegerFixedRotationKey: ...
    def encode(self, values: NDArray[np.int64]) -> IntegerPlaintext: ...
    def decode(self, pt: IntegerPlaintext) -> NDArray[np.int64]:
        """Values are in `[-t/2, t/2]`."""

    def encrypt(
        self, pt: IntegerPlaintext, key: IntegerPublicKey | IntegerSecretKey, level: int
    ) -> IntegerCiphertext: ...
    def fetch(self, cts: Sequence[IntegerCiphertext]) -> None:
        """Has ciphertexts here that a card made, together."""

    def decrypt(self, ct: IntegerCiphertext, sk: IntegerSecretKey) -> NDArray[np.int64]:
        """Values are in `[-t/2, t/2]`."""

    def noise_budget(self, ct: IntegerCiphertext, sk: IntegerSecretKey) -> float:
        """The noise budget that the secret key measures, in whole bits."""

    def noise_excess(self, ct: IntegerCiphertext) -> float:
        """Bits by which the bound on the noise is above that of a rounding."""

    def add(self, a: IntegerCiphertext, b: IntegerCiphertext) -> IntegerCiphertext: ...
    def subtract(self, a: IntegerCiphertext, b: IntegerCiphertext) -> IntegerCiphertext: ...
    def negate(self, ct: IntegerCiphertext) -> IntegerCiphertext: ...
    def add_plain(self, ct: IntegerCiphertext, pt: IntegerPlaintext) -> IntegerCiphertext: ...
    def add_number(self, ct: IntegerCiphertext, number: int) -> IntegerCiphertext: ...
    def multiply_plain(self, ct: IntegerCiphertext, pt: IntegerPlaintext) -> IntegerCiphertext: ...
    def weighted_sum(
        self, ciphertexts: Sequence[IntegerCiphertext], weights: Sequence[IntegerPlaintext]
    ) -> IntegerCiphertext: ...
    def multiply_number(self, ct: IntegerCiphertext, number: int) -> IntegerCiphertext: ...
    def multiply(
        self, a: IntegerCiphertext, b: IntegerCiphertext, relin: IntegerRelinearizationKey | None = None
    ) -> IntegerCiphertext:
        """Without a key the product has three polynomials and the lower level of the two."""

    def multiply_scaled(
        self, a: IntegerCiphertext, b: IntegerCiphertext, relin: IntegerRelinearizationKey
    ) -> IntegerCiphertext: ...
    def relinearize(self, ct: IntegerCiphertext, relin: IntegerRelinearizationKey) -> IntegerCiphertext: ...
    def level_down(self, ct: IntegerCiphertext, level: int) -> IntegerCiphertext: ...
    def rescale(self, ct: IntegerCiphertext) -> IntegerCiphertext: ...
    def rotate_rows(
        self, ct: IntegerCiphertext, key: IntegerFixedRotationKey | IntegerRotationKey, delta: int
    ) -> IntegerCiphertext:
        """Rotate to the right, as `numpy.roll` along the second axis of two rows."""

    def rotate_columns(self, ct: IntegerCiphertext, key: IntegerRotationKey) -> IntegerCiphertext: ...
    @property
    def bootstrap_output_level(self) -> int | None:
        """The level after a bootstrap; None if the set has no bootstrap."""

    def figures(self) -> IntegerPresetInfo:
        """The figures of its parameters."""

    def plan(self, units: UnitCosts | Mapping[str, float] | None = None) -> IntegerPlan:
        """What its parameters can do."""

    def bootstrap_forecast(self) -> tuple[int, int]:
        """Bytes of the bootstrap key, and of the encoded linear maps."""

    def create_bootstrap_key(
        self, sk: IntegerSecretKey, memory_limit: int | None, progress: Progress | None = None
    ) -> IntegerBootstrapKey: ...
    def bootstrap(
        self, cts: list[IntegerCiphertext], key: IntegerBootstrapKey, progress: Progress | None = None
    ) -> list[IntegerCiphertext]: ...
    def stage_times(self) -> list[tuple[str, float]]:
        """Name and seconds of each stage of the last bootstrap."""

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
        bootstrap: IntegerBootstrapKey | None = None,
        progress: Progress | None = None,
    ) -> IntegerCiphertext: ...
    def lookup_many(
        self,
        numbers: list[list[IntegerCiphertext]],
        values: list[NDArray[np.int64]],
        spare: int,
        relin: IntegerRelinearizationKey,
        bootstrap: IntegerBootstrapKey | None = None,
        progress: Progress | None = None,
    ) -> list[list[IntegerCiphertext]]:
        """Numbers, each one ciphertext for each digit, the lowest first, by each of these tables of one length."""

    def product_sum(
        self,
        left: list[IntegerCiphertext],
        right: list[IntegerCiphertext],
        relin: IntegerRelinearizationKey,
    ) -> IntegerCiphertext:
        """The sum of the products of pairs, relinearized once."""

    def plan_lookup_in_parts(self, values: list[NDArray[np.int64]], level: int) -> tuple[int, int, int, float] | None:
        """Bootstraps, relinearizations, output level and noise of tables of one variable at a level, or None."""

    def plan_polynomial_in_parts(
        self, coefficients: NDArray[np.int64], level: int
    ) -> tuple[int, int, int, float] | None:
        """The same of a polynomial."""

    def plan_compare_in_parts(self, what: str, bits: int, level: int) -> tuple[int, int, int, float] | None:
        """The same of a comparison."""

    def plan_lookup(self, values: list[NDArray[np.int64]], digits: int, spare: int) -> tuple[int, int]:
        """Levels and relinearizations of lookup tables of one length."""

    def compare(
        self,
        what: str,
        a: IntegerCiphertext,
        b: IntegerCiphertext,
        bits: int,
        relin: IntegerRelinearizationKey,
        bootstrap: IntegerBootstrapKey | None = None,
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
class SchemeSwitchKey:
    """What leads from the secret key of slots to that of FHEW, and back."""

    @property
    def key_id(self) -> str: ...
    @property
    def fhew_key_id(self) -> str:
        """Short id of the secret key of FHEW."""

    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with seeds in place of the uniform part."""

@final
class SchemeSwitch:
    """An engine of slots and one of FHEW. All methods are safe to call from many threads."""

    def __new__(cls, slots: Engine, fhew: FhewEngine) -> SchemeSwitch: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def key_bytes(self) -> int:
        """Bytes in memory that its key takes."""

    def packing_bytes(self, values: int) -> int:
        """Bytes that `from_fhew` takes for so many values, beside keys and what a bootstrap takes."""

    def log2_failure_from_fhew(self, variance: float) -> float:
        """Base-2 logarithm of the probability that a bit of this variance, on the torus, is wrong in its slot."""

    def create_switch_key(
        self,
        sk: SecretKey,
        fhew_secret_key: FhewSecretKey,
        memory_limit_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> SchemeSwitchKey: ...
    def to_fhew(
        self,
        ct: Ciphertext,
        indices: list[int],
        shape: list[int],
        part: str,
        key: SchemeSwitchKey,
        bootstrap_key: BootstrapKey,
        bits: int | None = None,
        signed: bool = True,
        size: float = 1.0,
        progress: Progress | None = None,
    ) -> FhewArray: ...
    def fresh_variance(self, bits: int | None = None, signed: bool = True, terms: int = 1, size: float = 1.0) -> float:
        """The variance, on the torus, that `to_fhew` leaves for fresh ciphertexts or sums of `terms` of them."""

    def from_fhew(
        self,
        bits: FhewArray,
        imaginary: FhewArray | None,
        relin: RelinearizationKey,
        conj: ConjugationKey,
        bootstrap_key: BootstrapKey,
        key: SchemeSwitchKey,
        progress: Progress | None = None,
    ) -> Ciphertext: ...
    def write(self, value: SchemeSwitchKey, path: str, progress: Progress | None = None) -> None: ...
    def serialize(self, value: SchemeSwitchKey, progress: Progress | None = None) -> bytes: ...
    def read(self, kind: str, path: str, progress: Progress | None = None) -> Any: ...
    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any: ...

@final
class IntegerSchemeSwitchKey:
    """What leads from the secret key of integers to that of FHEW, and back."""

    @property
    def key_id(self) -> str: ...
    @property
    def fhew_key_id(self) -> str:
        """Short id of the secret key of FHEW."""

    @property
    def both_ways(self) -> bool:
        """Whether `from_fhew` takes it. Keys from older files serve `to_fhew` alone."""

    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored with a seed in place of the uniform part."""

@final
class IntegerSchemeSwitch:
    """An engine of integers and one of FHEW. All methods are safe to call from many threads."""

    def __new__(cls, numbers: IntegerEngine, fhew: FhewEngine) -> IntegerSchemeSwitch: ...
    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def key_bytes(self) -> int:
        """Bytes in memory that its key takes."""

    def packing_bytes(self, values: int) -> int:
        """Bytes that `from_fhew` takes for so many values, beside keys and what a bootstrap takes."""

    def plan_from_fhew(
        self, variance: float, bits: int | None = None, units: UnitCosts | Mapping[str, float] | None = None
    ) -> RaisingPlan:
        """The stages of `from_fhew` for results of tables or gates of this variance."""

    def create_switch_key(
        self,
        sk: IntegerSecretKey,
        fhew_secret_key: FhewSecretKey,
        memory_limit_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> IntegerSchemeSwitchKey: ...
    def variance(self, bits: int | None = None) -> float:
        """The variance, on the torus, that `to_fhew` leaves."""

    def to_fhew(
        self,
        ct: IntegerCiphertext,
        indices: list[int],
        shape: list[int],
        key: IntegerSchemeSwitchKey,
        bootstrap_key: IntegerBootstrapKey,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> FhewArray: ...
    def from_fhew(
        self,
        x: FhewArray,
        key: IntegerSchemeSwitchKey,
        bootstrap_key: IntegerBootstrapKey,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> IntegerCiphertext: ...
    def write(self, value: IntegerSchemeSwitchKey, path: str, progress: Progress | None = None) -> None: ...
    def serialize(self, value: IntegerSchemeSwitchKey, progress: Progress | None = None) -> bytes: ...
    def read(self, kind: str, path: str, progress: Progress | None = None) -> Any: ...
    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any: ...

@final
class FhewSecretKey:
    """The secret key of FHEW. It is wiped from memory when dropped and cannot be pickled."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...

@final
class FhewPublicKey:
    """The compact public key of FHEW, one RLWE sample: who has no secret key encrypts with it."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...

@final
class FhewBootstrapKey:
    """The bootstrap key of FHEW: keys of the blind rotation and of the key switch."""

    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored, with a seed in place of the uniform part."""

@final
class PackingKey:
    """The key that LUTs on two messages need beside the bootstrap key. It packs LWE ciphertexts by automorphisms."""

    @property
    def key_id(self) -> str: ...
    def precise(self) -> PackingKey:
        """The same key, whose tables leave the least noise and take longer."""

    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def stored_bytes(self) -> int:
        """Bytes when stored, with a seed in place of the uniform part."""

@final
class FhewArray:
    """An array of FHEW ciphertexts with its shape. The public class is `aglet.FhewCiphertext`."""

    @property
    def shape(self) -> list[int]: ...
    @property
    def is_bits(self) -> bool: ...
    @property
    def form(self) -> str:
        """ "bits", "padded", "full", "negacyclic", "signed" or "unsigned"."""

    @property
    def bits(self) -> int: ...
    @property
    def key_id(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def byte_count(self) -> int: ...
    @property
    def variance(self) -> float:
        """The largest variance of the noise of a ciphertext, on the torus; 0 of an empty array."""

    def take(self, places: NDArray[np.int64], shape: list[int]) -> FhewArray: ...
    @staticmethod
    def joined(arrays: list[FhewArray]) -> FhewArray: ...
    def plus(self, other: FhewArray, weight: int) -> FhewArray: ...
    def sums(self, count: int) -> FhewArray: ...
    def plus_clear(self, numbers: NDArray[np.int64]) -> FhewArray: ...
    def times(self, factors: NDArray[np.int64]) -> FhewArray: ...
    def without_padding(self) -> FhewArray:
        """Padded messages as those of the full domain, which lie twice as far apart."""

    def negated(self) -> FhewArray: ...

@final
class FhewEngine:
    """An engine of FHEW/TFHE. Many threads may call its methods at once."""

    def __new__(
        cls,
        preset: str,
        machine: tuple[int, int | None],
        *,
        parameters: str | None = None,
        allow_insecure: bool = False,
    ) -> FhewEngine: ...
    @property
    def device(self) -> str: ...
    @property
    def insecurity(self) -> str | None:
        """Why the security check refuses the parameters; None if it does not."""

    @property
    def on_card(self) -> bool:
        """Whether a card would rotate by these parameters."""

    @property
    def preset(self) -> str: ...
    @property
    def messages(self) -> int:
        """The number of messages, without the padding bit."""

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
        """Of a bootstrap of the heaviest sum that the set allows."""

    @property
    def backend(self) -> str: ...
    @property
    def threads(self) -> int: ...
    def create_secret_key(self) -> FhewSecretKey: ...
    def create_public_key(self, sk: FhewSecretKey) -> FhewPublicKey: ...
    def create_bootstrap_key(
        self, sk: FhewSecretKey, memory_limit_bytes: int | None = None, progress: Progress | None = None
    ) -> FhewBootstrapKey: ...
    def create_packing_key(
        self, sk: FhewSecretKey, memory_limit_bytes: int | None = None, progress: Progress | None = None
    ) -> PackingKey: ...
    @property
    def public_key_bytes(self) -> int | None:
        """Bytes of the public key in memory; None for a set that has none."""

    @property
    def packing_key_bytes(self) -> int:
        """Bytes of the packing key in memory."""

    def encrypt_bits(
        self, bits: NDArray[np.bool_], shape: list[int], key: FhewSecretKey | FhewPublicKey
    ) -> FhewArray: ...
    def encrypt_messages(
        self, messages: NDArray[np.int64], shape: list[int], key: FhewSecretKey | FhewPublicKey, domain: str
    ) -> FhewArray: ...
    def encrypt_integers(
        self, values: NDArray[np.int64], shape: list[int], key: FhewSecretKey | FhewPublicKey, bits: int
    ) -> FhewArray:
        """Encrypt signed integers."""

    def encrypt_unsigned(
        self, values: NDArray[np.int64], shape: list[int], key: FhewSecretKey | FhewPublicKey, bits: int
    ) -> FhewArray:
        """Encrypt unsigned integers, which wrap around."""

    def compress(
        self,
        ct: FhewArray,
        packing_key: PackingKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray:
        """The same array, packed and rounded for sending."""

    def decrypt(self, ct: FhewArray, sk: FhewSecretKey, max_log2_failure: float | None = None) -> NDArray[np.int64]:
        """Values in C order; bits are 0 and 1."""

    def gate(
        self,
        name: str,
        inputs: list[FhewArray],
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray: ...
    def refresh(
        self,
        ct: FhewArray,
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray: ...
    def mux(
        self,
        inputs: list[FhewArray],
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray: ...
    def lookup(
        self,
        ct: FhewArray,
        tables: list[list[int]],
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
        step: int = 1,
    ) -> list[FhewArray]: ...
    def lookup_tree(
        self,
        messages: list[FhewArray],
        tables: Sequence[bytes | list[int]],
        key: FhewBootstrapKey,
        packing_key: PackingKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> list[FhewArray]:
        """Evaluate tables on two to four messages, the first counts most; one array for each table.

        Values come as a list, or as bytes. One array more gives the message before the last as two digits, the high one
        first.
        """

    def sign(
        self,
        ct: FhewArray,
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray:
        """1 for integers of 0 or more, else 0, as padded messages."""

    def compare(
        self,
        order: str,
        inputs: list[FhewArray],
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray:
        """`order` is one of <, <=, >, >=, ==."""

    def floor(
        self,
        ct: FhewArray,
        bits: int,
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> FhewArray:
        """Unsigned integers without their low bits."""

    def digits(
        self,
        ct: FhewArray,
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> list[FhewArray]:
        """The digits of unsigned integers as padded messages, the lowest first."""

    def nearest(
        self,
        ct: FhewArray,
        digits: int,
        key: FhewBootstrapKey,
        max_log2_failure: float | None = None,
        progress: Progress | None = None,
    ) -> list[FhewArray]:
        """The lowest digits of two bits of the nearest whole numbers, as padded messages, the lowest first."""

    def half_way(self, bits: int, variance: float, max_log2_failure: float | None = None) -> float:
        """How near to half way between two numbers a value may lie, and become the farther one too often."""

    def estimate(
        self,
        what: str,
        batch: int,
        domain: str,
        tables: Sequence[bytes | list[int]],
        bits: int,
        low: int,
        variance: float | None = None,
        step: int = 1,
    ) -> tuple[int, float, int, int, int, float]:
        """Rotations, seconds, bytes of the bootstrap key, other working bytes, bytes on a card, log2 of a failure."""

    def tree_variance(self, tables: Sequence[bytes | list[int]], split: bool = False, precise: bool = False) -> float:
        """The noise variance, on the torus, of results of LUTs on several padded messages, evaluated together."""

    def noise(self) -> FhewNoise:
        """The noise of the parameter set."""

    def write(self, value: Any, path: PathLike, progress: Progress | None = None) -> None:
        """Write to a file: all of it, or no file at all."""

    def serialize(self, value: Any, progress: Progress | None = None) -> bytes:
        """Return as bytes."""

    def read(self, kind: str, path: PathLike, progress: Progress | None = None) -> Any:
        """Read from a file; `kind` is the name of the class."""

    def deserialize(self, kind: str, data: bytes, progress: Progress | None = None) -> Any:
        """Read from bytes; `kind` is the name of the class."""
