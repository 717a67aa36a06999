# shellcheck shell=bash disable=SC2034 # names are used where this is sourced
# What the netlab commands share. Sourced, not run.
#
# A lab is nothing but network namespaces: glinpack-switch holds a bridge with a port for each node, and is where MPI's
# launcher runs; glinpack-node1, glinpack-node2 ... have one interface each, eth0, the other end of their port. The
# machine's own network is not touched, and a namespace takes its interfaces along when it goes.

switch=glinpack-switch
bridge=br0
subnet=198.18.0  # RFC 2544 sets 198.18.0.0/15 aside for measuring networks
switch_address=$subnet.254
most_nodes=250
# held by `up` and `down` while they work, and by every process of a job: free means that the last one is gone
lock_file=/run/glinpack-netlab.lock
all_namespaces='^glinpack-(switch|node[0-9]+)$'

node_namespace() { echo "glinpack-node$1"; }

# One line on stderr that names command, value and remedy; 2: refused, nothing was done
refuse() {
  printf 'netlab/%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# The same for what the kernel refused under way
give_up() {
  printf 'netlab/%s: %s\n' "${0##*/}" "$*" >&2
  exit 3
}

# require_whole NAME TEXT LEAST MOST
require_whole() {
  if ! [[ $2 =~ ^[0-9]{1,9}$ ]] || [ "$((10#$2))" -lt "$3" ] || [ "$((10#$2))" -gt "$4" ]; then
    refuse "$1 '$2' is no whole number from $3 to $4; see --help"
  fi
}

# Root, tools, and a shell that is not inside a node: that one would see another network, and end with the node.
require_root() {
  local tool inside
  [ "$(id -u)" -eq 0 ] || refuse "needs root, to make and enter network namespaces: sudo scripts/netlab/${0##*/}"
  for tool in ip tc unshare setpriv taskset flock timeout mpiexec.hydra; do
    command -v "$tool" >/dev/null || refuse "'$tool' is not installed: scripts/install-deps.sh --test"
  done
  inside=$(ip netns identify $$)
  [[ ! $inside =~ $all_namespaces ]] || refuse "this shell is inside the namespace $inside; leave it first"
}

# Tries what a lab needs, in namespaces that nobody else sees and that vanish with the process in them.
require_namespaces() {
  local words
  words=$(unshare --net --uts --ipc --mount --pid --fork true 2>&1) ||
    refuse "namespaces are not allowed here (${words##*$'\n'}); a container needs --privileged"
  words=$(unshare --net ip link add type bridge 2>&1) || refuse "this kernel has no bridges (${words##*$'\n'})"
  words=$(unshare --net ip link add type veth 2>&1) || refuse "this kernel has no veth pairs (${words##*$'\n'})"
  words=$(unshare --net tc qdisc add dev lo root tbf rate 1mbit burst 1600 limit 3000 2>&1) ||
    refuse "this kernel cannot limit rates, it has no tbf (${words##*$'\n'})"
}

# Sets `nodes`, the number of nodes that are up.
require_lab() {
  nodes=$(ip netns list | grep -c '^glinpack-node[0-9]' || true)
  if [ "$nodes" -eq 0 ] || [ ! -e "/run/netns/$switch" ]; then refuse "no lab is up: scripts/netlab/up 4 100mbit"; fi
}

# require_link RATE LATENCY: refuses what `shape` cannot do, and sets rate_bits. LATENCY may be ''.
require_link() {
  rate_bits=0
  if [ "$1" != unlimited ]; then
    [[ $1 =~ ^([1-9][0-9]{0,5})(kbit|mbit|gbit)$ ]] ||
      refuse "rate '$1' is neither unlimited nor a whole number of kbit, mbit or gbit per second, e.g. 100mbit"
    case ${BASH_REMATCH[2]} in
      kbit) rate_bits=$((BASH_REMATCH[1] * 1000)) ;;
      mbit) rate_bits=$((BASH_REMATCH[1] * 1000000)) ;;
      gbit) rate_bits=$((BASH_REMATCH[1] * 1000000000)) ;;
    esac
    if [ "$rate_bits" -lt 100000 ] || [ "$rate_bits" -gt 100000000000 ]; then
      refuse "rate '$1' is not between 100kbit and 100gbit; no limit at all: unlimited"
    fi
  fi
  [ -n "$2" ] || return 0
  [[ $2 =~ ^[1-9][0-9]{0,5}(us|ms)$ ]] || refuse "--latency '$2' is no whole number of us or ms, e.g. 50us"
  unshare --net tc qdisc add dev lo root netem delay "$2" 2>/dev/null ||
    refuse "--latency $2: this kernel has no netem, which adds delays (module sch_netem); leave the option out"
}

# shape NAMESPACE INTERFACE LATENCY: limits what leaves by the interface to rate_bits, 0 for no limit
shape() {
  local namespace=$1 interface=$2 latency=$3 parent=(root) burst limit
  tc -n "$namespace" qdisc delete dev "$interface" root 2>/dev/null || true  # the first time there is none
  if [ -n "$latency" ]; then
    tc -n "$namespace" qdisc add dev "$interface" root handle 1: netem delay "$latency" limit 100000
    parent=(parent 1:1)
  fi
  [ "$rate_bits" -gt 0 ] || return 0
  # After a pause `burst` bytes pass at once: one frame where possible, so that short messages do not beat the limit;
  # on fast links as much as passes in 125 us, since timers are late. `limit`: 10 ms of a switch's memory per port.
  burst=$((rate_bits / 8 / 8000))
  limit=$((rate_bits / 8 / 100))
  # overhead: preamble, checksum and gap of an Ethernet frame take their time, too
  tc -n "$namespace" qdisc add dev "$interface" "${parent[@]}" handle 2: tbf rate "${rate_bits}bit" \
    burst $((burst > 1600 ? burst : 1600)) limit $((limit > 262144 ? limit : 262144)) overhead 24
}

# shape_links NODES LATENCY: both directions of every link; the latency on the way to the switch alone, so that a
# message from node to node meets it once
shape_links() {
  local node
  for node in $(seq "$1"); do
    shape "$(node_namespace "$node")" eth0 "$2"
    shape "$switch" "port$node" ''
  done
}

# Ends what runs in the lab's namespaces and removes them. Fine where there is nothing, or only a part.
remove_lab() {
  local namespaces namespace processes
  namespaces=$(ip netns list | awk -v ours="$all_namespaces" '$1 ~ ours {print $1}')
  for _ in $(seq 50); do
    processes=$(for namespace in $namespaces; do ip netns pids "$namespace" 2>/dev/null || true; done)
    [ -n "$processes" ] || break
    # shellcheck disable=SC2086 # a word each
    kill -KILL $processes 2>/dev/null || true
    sleep 0.1
  done
  for namespace in $namespaces; do ip netns delete "$namespace"; done
}

# attempt COMMAND...: one that may fail. Sets `worked`, true or false, and `words`, the last line that it printed. Must
# not be called in a condition, where bash ignores `set -e`, and the command would go on after an error.
attempt() {
  set +e
  words=$(set -e; "$@" 2>&1)
  # shellcheck disable=SC2181 # see above
  if [ $? -eq 0 ]; then worked=true; else worked=false; fi
  set -e
  words=${words##*$'\n'}
}
