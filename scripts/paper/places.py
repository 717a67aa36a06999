"""Where the runs take place: namespaces of this machine, hosts of a cluster, or this machine alone."""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETLAB = ROOT / "scripts" / "netlab"


def relative(path):
    """A path as commands name it, which all start in ROOT: so what is within it has the same name on every machine."""
    path = pathlib.Path(path).resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


class Refusal(Exception):
    """Something that the user can mend. Ends the program with exit status 2."""


class Local:
    """This machine, whose processes share memory: one node. `launcher`: of MPI."""

    most_nodes = 1
    name = "local"
    seconds_to_end = 0  # that `command` takes to end a job when `limit` is over, where it does

    def __init__(self, launcher, why=""):
        self.launcher = launcher
        self.text = "processes of one machine, no network between them" + (f" ({why})" if why else "")

    def start(self, nodes):
        pass

    def stop(self):
        pass

    def command(self, placement, limit):
        """What stands before the program. `limit`: seconds after which the job is to be ended."""
        return [] if sum(placement) == 1 else [self.launcher, "-n", str(sum(placement))]


class Hosts(Local):
    """Hosts that MPI's launcher reaches, by ssh or within Slurm's allocation."""

    name = "hosts"

    def __init__(self, launcher, hosts, source):
        super().__init__(launcher)
        self.hosts = hosts
        self.most_nodes = len(hosts)
        self.text = f"{len(hosts)} hosts ({source})"

    def command(self, placement, limit):
        hosts = ",".join(f"{host}:{count}" for host, count in zip(self.hosts, placement))
        return [self.launcher, "-hosts", hosts, "-n", str(sum(placement))]


class Netlab(Local):
    """Network namespaces of this machine as nodes, links of a limited rate between them: scripts/netlab."""

    most_nodes = 4
    name = "netlab"
    seconds_to_end = 15

    def __init__(self, launcher, rate):
        super().__init__(launcher)
        self.rate = rate
        self.is_up = False
        self.text = f"network namespaces of one machine as nodes, links of {rate}"

    def start(self, nodes):
        listed = subprocess.run(["ip", "netns", "list"], check=False, capture_output=True, text=True).stdout
        if "glinpack-node" in listed:
            raise Refusal("--nodes netlab: a lab is up, which this would take down: scripts/netlab/down first")
        self.is_up = True  # remembered before: so that `down` follows an interrupted `up`
        done = netlab("up", str(nodes), self.rate)
        if done.returncode != 0:
            raise Refusal(last_line(done.stderr) or f"scripts/netlab/up ended with exit status {done.returncode}")

    def stop(self):
        if self.is_up:
            done = netlab("down")
            if done.returncode != 0:
                raise Refusal(f"the namespaces are not gone: {last_line(done.stderr)}; try scripts/netlab/down")
            self.is_up = False

    def command(self, placement, limit):
        if sum(placement) == 1:
            return []
        per_node = ",".join(map(str, placement)) if len(set(placement)) > 1 else str(placement[0])
        return [relative(NETLAB / "run"), "--timeout", str(limit), str(len(placement)), per_node, "--"]


def netlab(command, *arguments):
    # a session of its own: Ctrl-C at the terminal is for paper.py alone
    return subprocess.run([NETLAB / command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False, start_new_session=True)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def why_no_netlab():
    """Why namespaces cannot be used here; empty where they can."""
    if not (NETLAB / "up").exists():
        return "there is no scripts/netlab"
    done = netlab("up", "--check")
    return "" if done.returncode == 0 else last_line(done.stderr)


def hosts_of_file(path):
    """The hosts of an MPICH host file: a name a line, with or without :SLOTS; # begins a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise Refusal(f"--hostfile {path}: {error.strerror}") from None
    hosts = [line.split("#")[0].split() for line in lines]
    hosts = [words[0].split(":")[0] for words in hosts if words]
    if not hosts:
        raise Refusal(f"--hostfile {path}: names no host")
    if len(set(hosts)) < len(hosts):
        raise Refusal(f"--hostfile {path}: names a host twice; a line for each host is expected")
    return hosts


def hosts_of_slurm():
    done = subprocess.run(["scontrol", "show", "hostnames", os.environ["SLURM_JOB_NODELIST"]], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Refusal(f"--nodes hosts: scontrol does not name the allocation's hosts: {last_line(done.stderr)}")
    return done.stdout.split()


def choose(nodes, rate, hostfile, launcher):
    """The place for --nodes; refuses options that do not belong to it. `rate`: None where not given."""
    if not shutil.which(launcher):
        raise Refusal(f"MPI's launcher {launcher} is not installed: scripts/install-deps.sh; MPIEXEC names another")
    if hostfile and nodes != "hosts":
        raise Refusal(f"--hostfile belongs to --nodes hosts, not to --nodes {nodes}")
    if rate and nodes not in ("auto", "netlab"):
        raise Refusal(f"--rate belongs to --nodes netlab, not to --nodes {nodes}")
    if nodes == "hosts":
        if hostfile:
            return Hosts(launcher, hosts_of_file(hostfile), str(hostfile))
        if "SLURM_JOB_NODELIST" in os.environ:
            return Hosts(launcher, hosts_of_slurm(), f"Slurm job {os.environ.get('SLURM_JOB_ID', '?')}")
        raise Refusal("--nodes hosts: which? --hostfile FILE names them, or start this inside a Slurm allocation")
    if nodes == "local":
        return Local(launcher)
    why = why_no_netlab()
    if not why:
        return Netlab(launcher, rate or "100mbit")
    if nodes == "netlab" or rate:
        raise Refusal(f"--nodes netlab: {why}")
    return Local(launcher, f"no namespaces: {why}")
