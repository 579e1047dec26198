"""Published tables of bootstraps, measured again on the machine at hand.

A table is data (`tables/*.json`): published figures and, for each row, the bench that stands for it and what it must
reach. `tables` reads it, `runner` measures and judges, `report`, `html` and `plot` show.
"""

from aglet.reproduce.runner import Outcome, run
from aglet.reproduce.tables import TABLES, Row, Table, load, select

__all__ = ["TABLES", "Outcome", "Row", "Table", "load", "run", "select"]
