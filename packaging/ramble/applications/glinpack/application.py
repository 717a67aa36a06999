# Ramble application. glinpack_path of ramble.yaml is where glinpack is installed; Spack sets it, too (packaging/spack).
#
#   ramble repo add packaging/ramble
#   ramble workspace create -c packaging/ramble/ramble.yaml linpack
#   ramble -w linpack workspace setup && ramble -w linpack on && ramble -w linpack workspace analyze
import os

from ramble.appkit import *
from ramble.expander import Expander


class Glinpack(ExecutableApplication):
    """HPL-class LU benchmark for clusters of GPUs that speak OpenGL or Vulkan. Its report has the lines of HPL 2.3, so the
    figures of merit are those of Ramble's application hpl."""

    name = "glinpack"

    tags("benchmark-app", "benchmark", "linpack")

    software_spec("glinpack", pkg_spec="glinpack@0.1.0", package_manager="spack*")
    required_package("glinpack", package_manager="spack*")

    executable(
        "solve",
        "{glinpack_path}/bin/glinpack plu --n {n} --nb {nb} --grid {grid} --backend {backend} {options}",
        use_mpi=True,
    )

    workload("standard", executables=["solve"])

    workload_variable("n", default="auto", description="Order of the matrix, --n", workload="standard")
    workload_variable("nb", default="auto", description="Block size, --nb", workload="standard")
    workload_variable("grid", default="auto", description="P x Q, --grid", workload="standard")
    workload_variable("backend", default="auto", description="--backend", workload="standard")
    workload_variable(
        "options",
        default="--json {experiment_run_dir}/results.json --force",
        description="Other options",
        workload="standard",
    )

    log = os.path.join(Expander.expansion_str("experiment_run_dir"), Expander.expansion_str("experiment_name") + ".out")

    # the pattern of Ramble's application hpl
    row = (
        r".*\s+(?P<N>[0-9]+)\s+(?P<NB>[0-9]+)\s+(?P<P>[0-9]+)\s+(?P<Q>[0-9]+)"
        r"\s+(?P<time>[0-9]+\.[0-9]+)\s+(?P<gflops>[0-9].*)\n"
    )
    figure_of_merit("Time", log_file=log, fom_regex=row, group_name="time", units="s", contexts=["problem-name"])
    figure_of_merit(
        "GFlops", log_file=log, fom_regex=row, group_name="gflops", units="GFLOP/s", contexts=["problem-name"]
    )
    figure_of_merit_context("problem-name", regex=row, output_format="N-NB-P-Q = {N}-{NB}-{P}-{Q}")

    success_criteria("all passed", mode="string", match=r".*\s0 tests completed and failed residual checks", file=log)
    success_criteria("some passed", mode="string", match=r".* \.\.\.\.\.\. PASSED", file=log)
