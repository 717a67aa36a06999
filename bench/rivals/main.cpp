// rivals: what scripts/bench/cpu.sh sets beside glinpack.
//   mpirun.mpich -np 2 rivals scalapack --n 8000 --nb 64 --p 1 --q 2 --precision double
//   rivals getrf --n 8000 --threads 2 --precision single
//   rivals gemm --n 4000 --threads 2
// One line on standard output, of words key=value. Exit status: 0 the answer passes HPL's check, 1 it does not, 2
// unusable arguments, 3 an error.
#include <cblas.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "openblas/blas_library.hpp"
#include "rivals.hpp"
#include "version.hpp"

namespace {

using namespace glinpack;
using namespace glinpack::rivals;

constexpr double threshold = 16.0;  // HPL's

struct Arguments {
  Settings settings;
  std::string library;
  std::string precision = "double";
};

template <class Real>
Measurement run(const Arguments& arguments) {
  set_blas_threads(arguments.settings.threads);
  if (arguments.library == "scalapack") return run_scalapack<Real>(arguments.settings);
  return arguments.library == "getrf" ? run_getrf<Real>(arguments.settings) : run_gemm<Real>(arguments.settings);
}

void define_options(CLI::App& app, Arguments& arguments) {
  Settings& settings = arguments.settings;
  app.require_subcommand(1);
  CLI::App& scalapack = *app.add_subcommand("scalapack", "ScaLAPACK's p?getrf and p?getrs, by P x Q processes");
  CLI::App& getrf = *app.add_subcommand("getrf", "OpenBLAS's ?getrf and ?getrs in one process");
  CLI::App& gemm = *app.add_subcommand("gemm", "OpenBLAS's ?gemm in one process: three n x n matrices");
  for (CLI::App* const library : {&scalapack, &getrf, &gemm}) {
    library->add_option("--n", settings.n, "order of the matrix")->check(CLI::Range(1, 1000000))->capture_default_str();
    library->add_option("--precision", arguments.precision, "single or double")
        ->check(CLI::IsMember({"single", "double"}))
        ->capture_default_str();
    library->add_option("--threads", settings.threads, "OpenBLAS's threads in each process")
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    library->callback([library, &arguments] { arguments.library = library->get_name(); });
  }
  scalapack.add_option("--nb", settings.nb, "block size")->check(CLI::Range(1, 1000000))->capture_default_str();
  scalapack.add_option("--p", settings.grid.rows, "rows of processes")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  scalapack.add_option("--q", settings.grid.columns, "columns of processes")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
}

void print(const Measurement& measurement, const Arguments& arguments) {
  std::printf("routine=%s n=%lld", measurement.routine.c_str(), static_cast<long long>(arguments.settings.n));
  if (arguments.library == "scalapack") {
    std::printf(" nb=%lld grid=%dx%d", static_cast<long long>(arguments.settings.nb), arguments.settings.grid.rows,
                arguments.settings.grid.columns);
  }
  std::printf(" threads=%d kernels=%s seconds=%.6f gflops=%.3f", arguments.settings.threads, blas_kernels().c_str(),
              measurement.seconds, measurement.flops / measurement.seconds * 1e-9);
  if (measurement.residual) std::printf(" residual=%.4e", *measurement.residual);
  std::printf("\n");
}

int wanted_processes(const Arguments& arguments) {
  return arguments.library == "scalapack" ? arguments.settings.grid.size() : 1;
}

int measure(int argc, char** argv, const Arguments& arguments) {
  MpiSession session(argc, argv);
  if (session.size() != wanted_processes(arguments)) {
    if (session.rank() == 0) {
      std::cerr << "rivals: " << wanted_processes(arguments) << " processes are needed, not " << session.size() << '\n';
    }
    return session.finish(2);
  }
  try {
    const Measurement measurement = arguments.precision == "single" ? run<float>(arguments) : run<double>(arguments);
    if (session.rank() == 0) print(measurement, arguments);
    std::fflush(stdout);
    const bool passed = !measurement.residual || *measurement.residual < threshold;
    return session.finish(passed ? 0 : 1);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Other LU factorisations on the processor, timed and checked as glinpack's");
  app.set_version_flag("--version", std::string("glinpack ") + version + ", rivals with " + blas_version());
  define_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // under a launcher every process comes here: one of them prints
    if (launcher_rank() == 0) app.exit(error);
    return error.get_exit_code() == 0 ? 0 : 2;
  }
  try {
    return measure(argc, argv, arguments);
  } catch (const std::exception& error) {
    std::cerr << "rivals: " << error.what() << '\n';
    return 3;
  }
}
