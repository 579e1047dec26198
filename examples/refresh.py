"""Refresh a ciphertext: from no multiplication left to ten. Needs 8 GB of memory and a minute."""

import numpy as np

from aglet import Engine

engine = Engine(use_bootstrap=True, mode="parallel")
print(engine.security_report())

# Before any key is made: what a bootstrap gives, and what its keys need.
print(engine.estimate())
print(engine.memory_report())

secret_key = engine.create_secret_key()
relinearization_key = engine.create_relinearization_key(secret_key)
conjugation_key = engine.create_conjugation_key(secret_key)
bootstrap_key = engine.create_bootstrap_key(secret_key)

message = np.linspace(-1, 1, engine.slot_count)
exhausted = engine.encrypt(message, secret_key, level=0)
refreshed = engine.bootstrap(exhausted, relinearization_key, conjugation_key, bootstrap_key)

error = np.abs(engine.decrypt(refreshed, secret_key) - message)
print(f"level {exhausted.level} to {refreshed.level}")
print(f"mean error 2^{np.log2(error.mean()):.1f}, worst slot 2^{np.log2(error.max()):.1f}")
