# shellcheck shell=bash disable=SC2034 # names are used where this is sourced
# What the commands of the Slurm lab share. Sourced, not run.
#
# The lab is a real Slurm on one machine: munged, slurmctld, and a slurmd for each of node1 ... node4, started by hand,
# with a folder and ports of their own. A Slurm of the machine's is neither used nor touched. All daemons, and so all
# jobs, are in one process namespace: with its first process the kernel ends them all.

lab=${GLINPACK_SLURM_LAB:-/run/glinpack-slurm-lab}
nodes=4
cores_per_node=4 # as Slurm is told, whatever the machine has
gpus_per_node=2 # for Slurm alone: they are /dev/null
gpu_type=lab
controller_port=26817
first_node_port=26821
# the process whose end is the lab's
pid_file=$lab/lab.pid

# One line on stderr that names command, value and remedy; 2: refused, nothing was done
refuse() {
  printf 'slurm/lab/%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# The same for what failed under way
give_up() {
  printf 'slurm/lab/%s: %s\n' "${0##*/}" "$*" >&2
  exit 3
}

# require_whole NAME TEXT LEAST MOST
require_whole() {
  if ! [[ $2 =~ ^[0-9]{1,9}$ ]] || [ "$((10#$2))" -lt "$3" ] || [ "$((10#$2))" -gt "$4" ]; then
    refuse "$1 '$2' is no whole number from $3 to $4; see --help"
  fi
}

require_root() {
  local tool
  [ "$(id -u)" -eq 0 ] || refuse "needs root, to start Slurm's daemons: sudo scripts/slurm/lab/${0##*/}"
  for tool in slurmctld slurmd munged munge unshare setpriv timeout; do
    command -v "$tool" >/dev/null || refuse "'$tool' is not installed: scripts/install-deps.sh --test"
  done
  # sockets have names of 107 characters at most, folders without blanks are what slurm.conf can name
  [[ $lab =~ ^/[A-Za-z0-9._/-]{1,80}$ ]] ||
    refuse "GLINPACK_SLURM_LAB='$lab' is no absolute name of a folder of at most 80 letters, digits, '.', '_', '-', '/'"
}

# Tries what the lab needs, in namespaces that vanish with the process in them.
require_namespaces() {
  local words
  words=$(unshare --uts --mount --pid --fork --mount-proc true 2>&1) ||
    refuse "namespaces are not allowed here (${words##*$'\n'}); a container needs --privileged"
}

# The process whose end is the lab's; fails where it has ended.
lab_process() {
  local process
  process=$(cat "$pid_file" 2>/dev/null) && [ "$(ps -o comm= -p "$process")" = timeout ] && echo "$process"
}

# Processes of the lab's process namespace, by their numbers outside.
lab_processes() {
  local namespace entry
  namespace=$(cat "$lab/namespace" 2>/dev/null) || return 0
  for entry in /proc/[0-9]*/ns/pid; do
    if [ "$(readlink "$entry")" = "$namespace" ]; then entry=${entry#/proc/} && echo "${entry%%/*}"; fi
  done
}

require_lab() {
  lab_process >/dev/null || refuse "no lab is up: scripts/slurm/lab/up"
}

# Ends the lab's processes, waits until they are gone, and removes its folder. Fine where there is none.
remove_lab() {
  local process
  if process=$(lab_process); then kill -KILL "$process"; fi
  for _ in $(seq 100); do
    [ -n "$(lab_processes)" ] || break
    sleep 0.1
  done
  [ -z "$(lab_processes)" ] || return 1
  # nothing but a folder that `up` has made
  if [ -f "$lab/slurm.conf" ]; then rm -rf "$lab"; fi
}

# What jobs and Slurm's commands need of their environment. Not that of a job of another Slurm, which this may be
enter_lab() {
  local name
  for name in "${!SLURM_@}"; do unset "$name"; done
  export SLURM_CONF=$lab/slurm.conf
  # the nodes' names are known to Slurm alone, so that MPICH's launcher is to give the address itself
  export HYDRA_IFACE=${HYDRA_IFACE:-lo}
  # all nodes compute on the same cores, which no process can see by itself
  if [ "$((nodes * cores_per_node))" -gt "$(nproc)" ]; then
    export GLINPACK_OVERSUBSCRIBED=${GLINPACK_OVERSUBSCRIBED:-1}
    export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} LP_NUM_THREADS=${LP_NUM_THREADS:-0}
  fi
}
