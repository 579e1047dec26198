"""Aglet: compute on encrypted numbers with CKKS, BGV/BFV and FHEW/TFHE, and bootstrap them.

>>> from aglet import Engine
>>> engine = Engine(max_level=2)
>>> secret_key = engine.create_secret_key()
>>> ciphertext = engine.encrypt([1, 2, 3], secret_key)
>>> engine.decrypt(engine.add(ciphertext, ciphertext), secret_key)[:3].real.round(3).tolist()
[2.0, 4.0, 6.0]
"""

from aglet import errors
from aglet._core import (
    BootstrapKey,
    Ciphertext,
    ConjugationKey,
    EncodedWeights,
    FhewBootstrapKey,
    FhewPublicKey,
    FhewSecretKey,
    FixedRotationKey,
    IntegerBootstrapKey,
    IntegerCiphertext,
    IntegerFixedRotationKey,
    IntegerPlaintext,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSchemeSwitchKey,
    IntegerSecretKey,
    MatrixMultiplicationKey,
    PackingKey,
    Plaintext,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SchemeSwitchKey,
    SecretKey,
    doctor,
    presets,
)
from aglet.arrays import ml
from aglet.arrays.array import EncryptedArray
from aglet.arrays.digits.array import EncryptedIntegers
from aglet.arrays.digits.sent import CompressedIntegers
from aglet.arrays.digits.session import DigitPlan, DigitSession
from aglet.arrays.fixed.array import EncryptedFixed
from aglet.arrays.fixed.formats import fixed
from aglet.arrays.fixed.sent import CompressedFixed
from aglet.arrays.session import Session
from aglet.arrays.slots.array import EncryptedSlots
from aglet.arrays.slots.residues import EncryptedResidues, zmod
from aglet.arrays.slots.session import SlotSession
from aglet.ckks.comparison import ComparisonPlan
from aglet.ckks.elsewhere import GLEngine
from aglet.ckks.engine import Engine
from aglet.ckks.functional import FunctionalEstimate
from aglet.ckks.light import LightPlaintext, LossyBootstrapKey, MergeBootstrapKey, SmallBootstrapKey
from aglet.ckks.maps import MapKey
from aglet.ckks.matrices import EncodedMatrix, LightPlainMatrix, PlainMatrix
from aglet.errors import (
    AgletError,
    DeviceError,
    InsecureParametersError,
    KeyMismatchError,
    LevelError,
    MemoryLimitError,
    MissingKeyError,
    NoiseError,
    ParameterError,
    RangeError,
    SerializationError,
)
from aglet.fhew.ciphertext import FhewCiphertext
from aglet.fhew.engine import FhewEngine
from aglet.fhew.table import Table
from aglet.forecast import plan
from aglet.integer.engine import IntegerEngine
from aglet.keys.keyset import KeySet
from aglet.scheme_switch.switch import SchemeSwitch

__version__ = "0.1.0"

__all__ = [
    "AgletError",
    "BootstrapKey",
    "Ciphertext",
    "ComparisonPlan",
    "CompressedFixed",
    "CompressedIntegers",
    "ConjugationKey",
    "DeviceError",
    "DigitPlan",
    "DigitSession",
    "EncodedMatrix",
    "EncodedWeights",
    "EncryptedArray",
    "EncryptedFixed",
    "EncryptedIntegers",
    "EncryptedResidues",
    "EncryptedSlots",
    "Engine",
    "FhewBootstrapKey",
    "FhewCiphertext",
    "FhewEngine",
    "FhewPublicKey",
    "FhewSecretKey",
    "FixedRotationKey",
    "FunctionalEstimate",
    "GLEngine",
    "InsecureParametersError",
    "IntegerBootstrapKey",
    "IntegerCiphertext",
    "IntegerEngine",
    "IntegerFixedRotationKey",
    "IntegerPlaintext",
    "IntegerPublicKey",
    "IntegerRelinearizationKey",
    "IntegerRotationKey",
    "IntegerSchemeSwitchKey",
    "IntegerSecretKey",
    "KeyMismatchError",
    "KeySet",
    "LevelError",
    "LightPlainMatrix",
    "LightPlaintext",
    "LossyBootstrapKey",
    "MapKey",
    "MatrixMultiplicationKey",
    "MemoryLimitError",
    "MergeBootstrapKey",
    "MissingKeyError",
    "NoiseError",
    "PackingKey",
    "ParameterError",
    "PlainMatrix",
    "Plaintext",
    "PublicKey",
    "RangeError",
    "RelinearizationKey",
    "RotationKey",
    "SchemeSwitch",
    "SchemeSwitchKey",
    "SecretKey",
    "SerializationError",
    "Session",
    "SlotSession",
    "SmallBootstrapKey",
    "Table",
    "__version__",
    "doctor",
    "errors",
    "fixed",
    "ml",
    "plan",
    "presets",
    "zmod",
]
