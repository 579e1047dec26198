"""The second package: measurements and their records, advice, and published tables measured again.

`aglet` works without it. It loads it only for the commands `aglet demo`, `plan`, `advise`, `bench` and `reproduce`, and
for estimates, which use its records if it is installed.
"""

__version__ = "0.1.0"
