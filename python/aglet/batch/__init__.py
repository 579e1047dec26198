"""Batches: one operation on a folder or url of ciphertexts, on this machine or on the nodes of a Ray cluster."""

from aglet.batch.memory import node_bytes
from aglet.batch.methods import Method, methods
from aglet.batch.pool import BatchError, Pool
from aglet.batch.results import Failure, Report

__all__ = ["BatchError", "Failure", "Method", "Pool", "Report", "methods", "node_bytes"]
