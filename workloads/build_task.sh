#!/bin/sh
# Write launchers of the stages of a workload where a harness looks for executables; nothing is compiled.
#
#   build_task.sh NAME FOLDER     for example: build_task.sh mnist submission/build
#
# PYTHON is the interpreter that has Aglet, python3 if not given. WORKLOADS is this folder, if the script was copied.
set -eu
name=$1
folder=$2
here=${WORKLOADS:-$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)}
python=$(command -v "${PYTHON:-python3}") || { echo "build_task.sh: there is no ${PYTHON:-python3}; set PYTHON." >&2; exit 1; }
if ! "$python" -c 'import aglet' 2>/dev/null; then
    echo "build_task.sh: $python has no Aglet; run make build, and set PYTHON=.venv/bin/python of that checkout." >&2
    exit 1
fi
if [ ! -f "$here/$name/client_key_generation.py" ]; then
    echo "build_task.sh: $here has no workload $name; set WORKLOADS to the folder workloads of Aglet." >&2
    exit 1
fi
mkdir -p "$folder"
for stage in "$here/$name"/client_*.py "$here/$name"/server_*.py; do
    launcher=$folder/$(basename "$stage" .py)
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$python" "$stage" >"$launcher"
    chmod +x "$launcher"
done
