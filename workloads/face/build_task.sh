#!/bin/sh
# Called by the harness in its root. WORKLOADS is the folder workloads of Aglet; PYTHON the interpreter that has it.
set -eu
: "${WORKLOADS:=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)}"
export WORKLOADS
exec sh "$WORKLOADS/build_task.sh" face submission/build
