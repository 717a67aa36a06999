# shellcheck shell=bash
# A Debian with nothing on it, and what a new user types there. Sourced by what tries an installation, as root.

if [ "$(id -u)" -ne 0 ]; then
  echo "$0: a clean root is made by root alone" >&2
  exit 2
fi

# make_clean_root FOLDER LOG [SUITE [OPTION...]]: nothing but apt and what Debian holds essential; of Debian 12 by
# default. OPTION: debootstrap's
make_clean_root() {
  local root=$1 log=$2 suite=${3:-bookworm} mirror=${GLINPACK_DEBIAN_MIRROR:-http://deb.debian.org/debian}
  debootstrap --variant=minbase "${@:4}" "$suite" "$root" "$mirror" >"$log" 2>&1 || { tail -20 "$log"; return 1; }
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/quick" # nobody needs this root after a power failure
  # only suites that are no release say until when their lists hold, and a mirror may be behind
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/quick"
  chroot "$root" apt-get update -qq
}

# type_into_clean_root FOLDER TRANSCRIPT [NAME=VALUE...] <COMMANDS
# Commands are one a line, typed by root, or by clean_root_user, in HOME, where they leave the folder and the variables
# to those that follow; the first that fails is the last. They see nothing of this environment but proxies and the
# variables that are given here, and have namespaces of their own, so that nothing stays mounted, no process is left, and
# none of others is seen. The folder becomes their root by pivot_root: whom chroot has confined gets no user namespaces
# from Linux, which Apptainer asks for.
type_into_clean_root() {
  local root=$1 transcript=$2
  shift 2
  local proxy
  for proxy in http_proxy https_proxy no_proxy; do
    [ -z "${!proxy:-}" ] || set -- "$proxy=${!proxy}" "$@"
  done
  cat >"$root/commands"
  cat >"$root/type-commands" <<'TYPE_COMMANDS'
set -o pipefail
cd "$HOME"
while IFS= read -r command <&3; do
  printf '$ %s\n' "$command"
  eval "$command" </dev/null 3<&- || { echo "exit status $?"; exit 1; }
done 3</commands
TYPE_COMMANDS
  # shellcheck disable=SC2016  # $0 and $@ are the inner shell's
  unshare --mount --pid --fork --kill-child bash -c '
    mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" &&
    mount -t tmpfs tmpfs "$0/dev/shm" && mount -t devpts devpts "$0/dev/pts" &&
    cd "$0" && pivot_root . mnt && umount --lazy /mnt && user=$1 && shift &&
    exec setpriv --reuid="$user" --regid="$user" --init-groups env -i "$@" bash /type-commands' \
    "$root" "${clean_root_user:-root}" \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" \
    2>&1 | tee "$transcript"
}
