#include "app/slurm/slurm_command.hpp"
#include "mpi/session.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

class SlurmFiles : public FolderTest {};

std::string script_of(const Arguments& arguments) {
  return slurm_script(parse_slurm_options(arguments), {"glinpack", "slurm"}, "/opt/glinpack");
}

TEST(SlurmOptions, ThereIsOneRankPerGpuByDefault) {
  EXPECT_EQ(parse_slurm_options({}).ranks(), 1);
  EXPECT_EQ(parse_slurm_options({"--nodes", "3"}).ranks(), 3);
  EXPECT_EQ(parse_slurm_options({"--nodes", "3", "--gpus-per-node", "4"}).ranks(), 12);
  EXPECT_EQ(parse_slurm_options({"--nodes", "3", "--gpus-per-node", "a100:4", "--ranks-per-node", "2"}).ranks(), 6);
}

TEST(SlurmOptions, RejectsWhatSlurmOrPluRejects) {
  const auto refused = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    expect_input_error([&] { parse_slurm_options(arguments); }, parts);
  };
  refused({"--nodes", "0"}, {"--nodes", "'0'"});
  refused({"--nodes", "four"}, {"--nodes", "'four'"});
  refused({"--time", "1 hour"}, {"--time", "'1 hour'", "not a name for Slurm"});
  refused({"--partition", "a b"}, {"--partition", "'a b'"});
  refused({"--constraint", "a b"}, {"--constraint", "'a b'", "& | !"});
  refused({"--nodelist", "a&b"}, {"--nodelist"});
  refused({"--account", "x\n#SBATCH --wrap=y"}, {"--account"});
  refused({"--gpus-per-node", "a100:"}, {"--gpus-per-node", "whole number"});
  refused({"--gpus-per-node", ":4"}, {"--gpus-per-node"});
  refused({"--launcher", "hydr"}, {"--launcher", "'hydr'", "did you mean hydra"});
  refused({"--nodes", "100000", "--ranks-per-node", "4096"}, {"--nodes 100000", "ranks"});
  refused({"--nodse", "4"}, {"'--nodse'", "--nodes"});
  refused({"--", "--backend", "openbals"}, {"--backend", "openblas"});
  refused({"--nodes", "2", "--", "--grid", "2x2"}, {"2x2", "4 ranks", "--nodes 2"});
  refused({"--", "--hpl-dat", "no/HPL.dat"}, {"no/HPL.dat"});
  refused({"--", "--output-dir", "mine"}, {"--output-dir mine", "leave"});
}

TEST_F(SlurmFiles, TheDefaultsOfAClusterMayBeInAFile) {
  const std::string file = write("cluster.toml", "partition = \"gpu\"\naccount = \"physics\"\nnodes = 2\n");
  const SlurmOptions o = parse_slurm_options({"--config", file, "--nodes", "4", "--", "--n", "100"});
  EXPECT_EQ(o.partition, "gpu");
  EXPECT_EQ(o.account, "physics");
  EXPECT_EQ(o.nodes, 4);
  EXPECT_EQ(o.plu_arguments, (Arguments{"--n", "100"}));
}

TEST(SlurmScript, RequestsTheGivenResources) {
  const std::string script = script_of(
      arguments_of("--nodes 4 --gpus-per-node a100:2 --ranks-per-node 6 --cores-per-rank 8 --time 1-12 --partition gpu "
                   "--account physics --qos high --constraint h100&ib --reservation maintenance --nodelist node[01-04] "
                   "--job-name big --signal-lead 300 --launcher hydra -- --n 1000,2000"));
  for (const char* line : {"#SBATCH --nodes=4\n",
                           "#SBATCH --ntasks-per-node=6\n",
                           "#SBATCH --gpus-per-node=a100:2\n",
                           "#SBATCH --cpus-per-task=8\n",
                           "#SBATCH --time=1-12\n",
                           "#SBATCH --partition=gpu\n",
                           "#SBATCH --account=physics\n",
                           "#SBATCH --qos=high\n",
                           "#SBATCH --constraint=h100&ib\n",
                           "#SBATCH --reservation=maintenance\n",
                           "#SBATCH --nodelist=node[01-04]\n",
                           "#SBATCH --exclusive\n",
                           "#SBATCH --mem=0\n",
                           "--gpu-bind=single:1",
                           "\n# Modules and exports: ",
                           "#SBATCH --job-name=big\n",
                           "#SBATCH --signal=B:USR1@300\n",
                           "#SBATCH --requeue\n",
                           "#SBATCH --open-mode=append\n",
                           "GLINPACK=${GLINPACK:-/opt/glinpack}\n",
                           "GLINPACK_LAUNCHER=${GLINPACK_LAUNCHER:-hydra}\n",
                           "set -- --n 1000,2000 \"$@\"\n"}) {
    EXPECT_THAT(script, HasSubstr(line));
  }
  EXPECT_EQ(script.find("--job-name="), script.rfind("--job-name="));
  const bool is_open_mpi = MpiSession::headers_version().starts_with("Open MPI");
  EXPECT_THAT(script, HasSubstr(is_open_mpi ? "\nGLINPACK_MPI=${GLINPACK_MPI:-pmix}\n"
                                            : "\nGLINPACK_MPI=${GLINPACK_MPI:-pmi2}\n"));
}

TEST(SlurmScript, OmitsResourcesThatWereNotGiven) {
  const std::string script = script_of({"--signal-lead", "0"});
  for (const char* part : {"#SBATCH --gpus", "#SBATCH --time", "#SBATCH --partition", "#SBATCH --account",
                           "#SBATCH --qos", "#SBATCH --cpus", "#SBATCH --constraint", "#SBATCH --reservation",
                           "#SBATCH --nodelist", "#SBATCH --signal", "set -- "}) {
    EXPECT_THAT(script, Not(HasSubstr(part)));
  }
}

TEST(SlurmScript, EqualsTheSubmittedScriptAfterItsHeader) {
  const std::string mark = "\nset -euo pipefail\n";
  const std::string script = script_of({"--", "--n", "100"});
  const std::string original(slurm_template());
  ASSERT_NE(original.find(mark), std::string::npos);
  EXPECT_EQ(script.substr(script.find(mark)), original.substr(original.find(mark)));
}

TEST(SlurmScript, QuotedArgumentsStayOnOneLine) {
  EXPECT_EQ(shell_word("--n=100,2x2"), "--n=100,2x2");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(x) `y` \"z\""), "'$(x) `y` \"z\"'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a\nb'\\"), "$'a\\x0ab\\'\\\\'");
}

TEST_F(SlurmFiles, AnExistingScriptIsNotOverwritten) {
  const std::string file = write("run.sbatch", "mine\n");
  SlurmOptions options = parse_slurm_options({"-o", file});
  std::ostringstream out;
  expect_input_error([&] { run_slurm_command(options, {"glinpack"}, out); }, {"--output", file, "--force"});
  options.force = true;
  run_slurm_command(options, {"glinpack"}, out);
  std::ifstream written(file);
  std::string first_line;
  std::getline(written, first_line);
  EXPECT_EQ(first_line, "#!/usr/bin/env bash");
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace glinpack::app
