"""Aglet: compute on encrypted numbers, and refresh them.

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
    BridgeKey,
    Ciphertext,
    ConjugationKey,
    EncodedWeights,
    FixedRotationKey,
    IntegerBootstrapKey,
    IntegerBridgeKey,
    IntegerCiphertext,
    IntegerPlaintext,
    IntegerPublicKey,
    IntegerRelinearizationKey,
    IntegerRotationKey,
    IntegerSecretKey,
    LookupKey,
    LweSecretKey,
    MatrixMultiplicationKey,
    PackingKey,
    Plaintext,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
    doctor,
    presets,
)
from aglet.arrays import ml
from aglet.arrays.array import EncryptedArray
from aglet.arrays.keyset import KeySet
from aglet.arrays.session import Session
from aglet.bridge.bridge import Bridge
from aglet.bridge.integers import IntegerBridge
from aglet.bridge.keys import BridgeKeys, IntegerBridgeKeys
from aglet.ckks.comparison import ComparisonPlan
from aglet.ckks.elsewhere import GLEngine
from aglet.ckks.engine import Engine
from aglet.ckks.light import LightPlaintext, LossyBootstrapKey, MergeBootstrapKey, SmallBootstrapKey
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
from aglet.forecast import plan
from aglet.integer.engine import IntegerEngine
from aglet.lookup.ciphertext import LweCiphertext
from aglet.lookup.engine import LookupEngine
from aglet.lookup.table import Table

__version__ = "0.1.0"

__all__ = [
    "AgletError",
    "BootstrapKey",
    "Bridge",
    "BridgeKey",
    "BridgeKeys",
    "Ciphertext",
    "ComparisonPlan",
    "ConjugationKey",
    "DeviceError",
    "EncodedMatrix",
    "EncodedWeights",
    "EncryptedArray",
    "Engine",
    "FixedRotationKey",
    "GLEngine",
    "InsecureParametersError",
    "IntegerBootstrapKey",
    "IntegerBridge",
    "IntegerBridgeKey",
    "IntegerBridgeKeys",
    "IntegerCiphertext",
    "IntegerEngine",
    "IntegerPlaintext",
    "IntegerPublicKey",
    "IntegerRelinearizationKey",
    "IntegerRotationKey",
    "IntegerSecretKey",
    "KeyMismatchError",
    "KeySet",
    "LevelError",
    "LightPlainMatrix",
    "LightPlaintext",
    "LookupEngine",
    "LookupKey",
    "LossyBootstrapKey",
    "LweCiphertext",
    "LweSecretKey",
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
    "SecretKey",
    "SerializationError",
    "Session",
    "SmallBootstrapKey",
    "Table",
    "__version__",
    "doctor",
    "errors",
    "ml",
    "plan",
    "presets",
]
