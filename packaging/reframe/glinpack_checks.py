"""ReFrame checks (4.x): glinpack and netlib's HPL solve the same systems, from the same HPL.dat.

    reframe -C SITE.py -c glinpack_checks.py -r -S LinpackCheck.n=40000 -S LinpackCheck.num_tasks=16

The programs are found by PATH, or through modules that -S modules=... names. Sanity: every system passed HPL's test.
Performance: GFLOPS of the slowest run.
"""
import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import performance_function, run_before, sanity_function, variable

# Lines of HPL's report; glinpack's are byte for byte the same.
RESULT = r"^W[RC]\S+\s+\d+\s+\d+\s+\d+\s+\d+\s+\d[\d.]*\s+(?P<gflops>\d\S*)$"
PASSED = r"\)\*N\)=\s+\S+ \.\.\.\.\.\. PASSED$"
FAILED = r"\)\*N\)=\s+\S+ \.\.\.\.\.\. FAILED$"
COUNT = r"^\s+(?P<passed>\d+) tests completed and passed residual checks,$"

HPL_DAT = """HPLinpack benchmark input file
written by glinpack_checks.py
HPL.out      output file name (if any)
6            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
{n}          Ns
1            # of NBs
{nb}         NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
{p}          Ps
{q}          Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""


def squarest(processes):
    """P x Q with P at most Q, P as large as it can be."""
    p = max(p for p in range(1, int(processes**0.5) + 1) if processes % p == 0)
    return p, processes // p


class LinpackCheck(rfm.RunOnlyRegressionTest):
    """What both programs have in common."""

    n = variable(int, value=8000)
    nb = variable(int, value=128)
    num_tasks = 4
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    tags = {"linpack"}

    @run_before("run")
    def write_hpl_dat(self):
        p, q = squarest(self.num_tasks)
        text = HPL_DAT.format(n=self.n, nb=self.nb, p=p, q=q)
        self.prerun_cmds = ["cat >HPL.dat <<'END'\n" + text + "END"]

    @sanity_function
    def every_system_passed(self):
        return sn.all([
            sn.assert_found(PASSED, self.stdout),
            sn.assert_not_found(FAILED, self.stdout),
            sn.assert_ge(sn.extractsingle(COUNT, self.stdout, "passed", int), 1),
        ])

    @performance_function("GFLOPS")
    def gflops(self):
        return sn.min(sn.extractall(RESULT, self.stdout, "gflops", float))


@rfm.simple_test
class GlinpackCheck(LinpackCheck):
    """One process per GPU where there are GPUs (--backend auto), else OpenBLAS."""

    backend = variable(str, value="auto")
    executable = "glinpack"

    @run_before("run")
    def name_the_input(self):
        self.executable_opts = ["plu", "--hpl-dat", "HPL.dat", "--backend", self.backend, "--json", "results.json"]
        self.keep_files = ["results.json"]


@rfm.simple_test
class HplCheck(LinpackCheck):
    """netlib's HPL reads HPL.dat by itself."""

    executable = "xhpl"
