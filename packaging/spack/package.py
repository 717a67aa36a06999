# Spack recipe. glinpack has no published archive: put this file into a repository of yours as
# packages/glinpack/package.py, and build what you have checked out:
#
#   spack repo create my-repo && mkdir -p my-repo/packages/glinpack && cp package.py my-repo/packages/glinpack/
#   spack repo add my-repo
#   spack develop --no-clone --path SOURCE glinpack@0.1.0 && spack add glinpack && spack install
from spack.package import *


class Glinpack(CMakePackage):
    """HPL-class LU benchmark for clusters of GPUs that speak OpenGL or Vulkan: one process for each GPU, GFLOPS, and where the
    time went, network against compute."""

    version("0.1.0")

    variant("tests", default=False, description="Build the tests")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("git", type="build")
    depends_on("mpi@3:")
    depends_on("openblas threads=pthreads")
    depends_on("hwloc@2:")
    depends_on("gl@4.5:")
    depends_on("egl")
    depends_on("glew@2.2:")
    depends_on("vulkan-headers", type="build")
    depends_on("glslang", type="build")
    depends_on("spdlog")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.3:")
    depends_on("tomlplusplus@3:")
    depends_on("xxhash@0.8:")
    depends_on("googletest +gmock", when="+tests")

    generator("ninja")

    conflicts("%gcc@:11", msg="glinpack is C++20 as g++ 12 has it")
    conflicts("%clang@:13", msg="glinpack is C++20 as clang 14 has it")

    def cmake_args(self):
        return [
            self.define("GLINPACK_MPI", "system"),
            self.define("GLINPACK_BENCHMARKS", False),
            self.define_from_variant("GLINPACK_TESTS", "tests"),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        glinpack = Executable(join_path(self.prefix.bin, "glinpack"))
        glinpack("--version")
        glinpack("plu", "--n", "64", "--nb", "16", "--backend", "openblas")
