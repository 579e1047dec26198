"""Published tables of bootstraps, measured again on this machine.

A table is data (`tables/*.json`): the published figures and, for each row, the bench that measures it and what it must
reach. `tables` reads it, `runner` measures and judges, `report`, `html` and `plot` show the result.
"""

from aglet_bench.reproduce.runner import Outcome, run
from aglet_bench.reproduce.tables import TABLES, Row, Table, load, select

__all__ = ["TABLES", "Outcome", "Row", "Table", "load", "run", "select"]
