// The options of the studies: what reaches the configuration, and what is refused.

#include <sstream>

#include "app/manual/pages.hpp"
#include "app/papers/paranoia.hpp"
#include "app/papers/poisson.hpp"
#include "app/papers/studies.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

using nlohmann::json;
using solvers::PoissonKernel;
using solvers::PoissonMemory;

/// "--n 5 --fit" as arguments; `''` is an empty one.
Texts words(const std::string& line) {
  std::istringstream stream(line);
  Texts all;
  for (std::string word; stream >> word;) all.push_back(word == "''" ? "" : word);
  return all;
}

PoissonOptions poisson_options(const std::string& arguments) {
  TextFiles files;
  return parse_poisson_options(words(arguments), files);
}

/// The configuration that arguments give a study.
json configuration(const std::string& study, const std::string& arguments) {
  if (study == "matmul") return to_json(parse_matmul_options(words(arguments)), matmul_table);
  if (study == "banded") return to_json(parse_banded_options(words(arguments)), banded_table);
  if (study == "gauss-jordan") return to_json(parse_gauss_jordan_options(words(arguments)), gauss_jordan_table);
  if (study == "plu-packed") return to_json(parse_plu_packed_options(words(arguments)), plu_packed_table);
  if (study == "lu-methods") return to_json(parse_lu_methods_options(words(arguments)), lu_methods_table);
  if (study == "tridiagonal") return to_json(parse_tridiagonal_options(words(arguments)), tridiagonal_table);
  if (study == "background") return to_json(parse_background_options(words(arguments)), background_table);
  if (study == "paranoia") return to_json(parse_paranoia_options(words(arguments)), paranoia_table);
  return to_json(poisson_options(arguments), poisson_table);
}

TEST(StudyOptions, ReachTheConfiguration) {
  struct Row {
    const char* study;
    const char* arguments;
    const char* members;  // of the configuration
  };
  const Row rows[] = {
      {"matmul", "", R"({"n": [256], "variant": [], "precision": "single", "device": null})"},
      {"matmul",
       "--n 5,6 --seed 9 --output c.npy --repeat 7 --warm-up 0 --fit --device 2 --threads 3 --shader-dir s "
       "--output-dir "
       "d --json m.json --csv m.csv --force --variant multi-pass --packing 1x4,4x1 "
       "--pass-length 2,8 --tune",
       R"({"n": [5, 6], "seed": 9, "input": null, "output": "c.npy", "repeat": 7, "warm-up": 0, "fit": true,
           "device": 2, "threads": 3, "shader-dir": "s", "output-dir": "d", "json": "m.json", "csv": "m.csv",
           "force": true, "log-level": "info", "shape": [], "input-b": null,
           "variant": ["multi-pass"], "packing": ["1x4", "4x1"], "pass-length": [2, 8], "precision": "single",
           "tune": true, "tile": null})"},
      {"matmul", "--variant all",
       R"({"variant": ["single-pass", "many-quads", "multi-pass", "multi-pass-two-buffers", "larsen-mcallister",
                       "larsen-mcallister-bytes", "compute", "openblas"]})"},
      {"matmul", "--variant compute,openblas,compute", R"({"variant": ["compute", "openblas"]})"},
      {"matmul", "--shape 3x4x5,6X7X8", R"({"shape": ["3x4x5", "6x7x8"]})"},
      {"banded", "", R"({"n": [4096], "diagonals": [10]})"},
      {"banded", "--offsets 0,-3,4 --variant all",
       R"({"offsets": [0, -3, 4], "variant": ["diagonals", "diagonals-1d", "compute", "csr"]})"},
      {"banded", "--op all --variant diagonals-1d",
       R"({"op": ["none", "+", "-", "*", "/"], "variant": ["diagonals-1d"]})"},
      {"gauss-jordan", "",
       R"({"variant": ["double-rows"], "pivoting": ["partial"], "measure": ["magnitudes"], "rhs": 1,
           "inverse": false})"},
      {"gauss-jordan", "--input a.npy --input-b b.npy --variant all --measure signed --pivoting all",
       R"({"input-b": "b.npy", "variant": ["double-rows", "plain", "compute", "rref", "openblas"], "measure": ["signed"],
           "pivoting": ["partial", "full"]})"},
      {"gauss-jordan", "--inverse", R"({"inverse": true})"},
      {"gauss-jordan", "--precision double", R"({"precision": "double", "variant": ["compute"]})"},
      {"gauss-jordan", "--precision double --variant all", R"({"variant": ["compute", "rref", "openblas"]})"},
      {"plu-packed", "--precision double --variant all", R"({"variant": ["compute", "openblas"]})"},
      {"matmul", "--precision double --variant all", R"({"variant": ["compute", "openblas"]})"},
      {"tridiagonal", "--precision double --variant all", R"({"variant": ["compute", "cyclic-reduction", "lapack"]})"},
      {"plu-packed", "", R"({"rhs": 1})"},
      {"plu-packed", "--n 5,6 --rhs 0", R"({"n": [5, 6], "rhs": 0})"},
      {"lu-methods", "",
       R"({"n": [64, 128, 256], "methods": ["M1", "M2", "M3", "M4", "compute"], "strategy": ["copy", "switch"]})"},
      {"lu-methods", "--methods compute,M3 --strategy switch --n 4,5",
       R"({"methods": ["compute", "M3"], "strategy": ["switch"], "n": [4, 5]})"},
      {"tridiagonal", "",
       R"({"systems": [1024], "n": [256], "variant": ["compute"], "equations": "auto", "steps": "auto",
           "tile": null})"},
      {"tridiagonal", "--systems 3,4 --variant all --equations all --steps 5 --tile 64 --n 7",
       R"({"systems": [3, 4], "n": [7], "variant": ["raster", "compute", "cyclic-reduction", "lapack"],
           "equations": "all", "steps": 5, "tile": 64})"},
      {"tridiagonal", "--equations 16 --steps auto", R"({"equations": "16", "steps": "auto"})"},
      {"tridiagonal", "--input a.mtx", R"({"systems": []})"},
      {"tridiagonal", "--group all", R"({"group": ["32", "64", "128", "256"]})"},
      {"tridiagonal", "--tune", R"({"group": ["32", "64", "128", "256"], "variant": ["compute", "cyclic-reduction"]})"},
      {"gauss-jordan", "--variant compute --group all", R"({"group": ["32", "64", "128", "256"]})"},
      {"gauss-jordan", "--tune", R"({"group": ["32", "64", "128", "256"], "variant": ["compute"]})"},
      {"plu-packed", "--tune --variant all --precision double",
       R"({"group": ["32", "64", "128", "256"], "variant": ["compute", "openblas"]})"},
      {"background", "", R"({"systems": 30, "ratio": "auto", "operation": "plu-packed"})"},
      {"background", "--systems 7 --operation matmul --ratio 0.5 --variant raster",
       R"({"systems": 7, "operation": "matmul", "ratio": 0.5, "variant": "raster"})"},
      {"paranoia", "",
       R"({"part": ["arithmetic", "lu"], "variant": ["compute", "fragment", "cpu"], "precision": ["single", "double"],
           "n": [32, 64, 128, 256, 512]})"},
      {"paranoia", "--part lu --variant cpu,compute --precision double --samples 7 --matrix uniform --n 5,6 --seed 3",
       R"({"part": ["lu"], "variant": ["cpu", "compute"], "precision": ["double"], "samples": 7, "matrix": "uniform",
           "n": [5, 6], "seed": 3})"},
      {"poisson", "",
       R"({"n": [32, 64, 128, 256], "memory": ["global"], "host": ["serial", "threads"], "precision": "double"})"},
      {"poisson", "--n 5,6 --memory shared --host none --output u.npy",
       R"({"n": [5, 6], "memory": ["shared"], "host": [], "output": "u.npy"})"},
      {"poisson", "--memory all --precision single", R"({"memory": ["global", "texture1d", "texture2d", "shared"]})"},
      {"poisson", "--memory all --precision double", R"({"memory": ["global", "shared"]})"},
      {"poisson", "--kernel all --memory shared --tile 16 --tolerance 1e-4 --max-iterations 9 --first-guess u.npy",
       R"({"kernel": ["walk", "paper"], "tile": 16, "tolerance": 1e-4, "max-iterations": 9, "first-guess": "u.npy"})"},
      {"poisson", "--memory all --precision single --preconditioner multigrid", R"({"preconditioner": ["multigrid"]})"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.study) + " " + row.arguments);
    expect_members(configuration(row.study, row.arguments), row.members);
  }
  EXPECT_FALSE(configuration("poisson", "").contains("seed"));
  for (const char* name : {"repeat", "warm-up", "fit", "input", "output"}) {
    EXPECT_FALSE(configuration("paranoia", "").contains(name));
  }
}

TEST(StudyOptions, RefusalsNameTheOptionAndTheRemedy) {
  struct Row {
    const char* study;
    const char* arguments;
    std::vector<std::string> parts;  // of the message
  };
  const Row rows[] = {
      {"matmul", "--variant multipass", {"--variant", "'multipass'", "multi-pass"}},
      {"matmul", "--variant all,compute", {"--variant", "'all'", "alone"}},
      {"matmul", "--packing 3x3", {"--packing", "'3x3'", "2x2"}},
      {"matmul", "--pass-length 0", {"--pass-length", "'0'"}},
      {"matmul", "--n 0", {"--n", "'0'"}},
      {"matmul", "--n ''", {"--n", "empty"}},
      {"matmul", "--shape 3x0x4", {"--shape", "'3x0x4'", "'0'"}},
      {"matmul", "--shape 3x3x4 --n 3", {"--shape", "--n", "leave one"}},
      {"matmul", "--precision mixed", {"--precision", "'mixed'", "single"}},
      {"matmul", "--precision double --variant single-pass", {"double", "single-pass", "compute"}},
      {"matmul", "--precision double --tune", {"--tune", "compute"}},
      {"matmul", "--variant openblas --tune", {"--tune", "openblas"}},
      {"matmul", "--tile 7x7", {"--tile", "'7x7'", "64x128"}},
      {"matmul", "--repeat 0", {"--repeat", "'0'"}},
      {"banded", "--variant crs", {"--variant", "'crs'", "did you mean csr"}},
      {"banded", "--offsets 1,1", {"--offsets", "'1'", "twice"}},
      {"banded", "--offsets 1 --diagonals 1", {"--offsets", "--diagonals", "leave one"}},
      {"banded", "--input a.mtx --diagonals 3", {"--diagonals", "--input", "leave one"}},
      {"gauss-jordan", "--measure harmonic", {"--measure", "'harmonic'", "magnitudes"}},
      {"gauss-jordan", "--inverse --rhs 2", {"--inverse", "--rhs", "leave one"}},
      {"gauss-jordan", "--inverse --input a.npy --input-b b.npy", {"--inverse", "--input-b b.npy", "leave one"}},
      {"gauss-jordan", "--input-b b.npy", {"--input-b b.npy", "--input"}},
      {"gauss-jordan", "--input a.npy --n 5", {"--n", "--input a.npy", "leave one"}},
      {"gauss-jordan", "--input a.npy --input-b b.npy --rhs 2", {"--rhs", "--input-b b.npy", "leave one"}},
      {"gauss-jordan", "--rhs 0", {"--rhs", "'0'"}},
      {"gauss-jordan", "--variant dobule-rows", {"--variant", "'dobule-rows'", "did you mean double-rows"}},
      {"gauss-jordan", "--pivoting complete", {"--pivoting", "'complete'", "partial or full"}},
      {"plu-packed", "--pivoting full", {"'--pivoting'"}},
      {"plu-packed", "--precision double --variant plain,compute", {"--precision double", "plain", "compute"}},
      {"plu-packed", "--rhs -1", {"--rhs", "'-1'"}},
      {"lu-methods", "--methods M5", {"--methods", "'M5'", "M1"}},
      {"lu-methods", "--methods all,M1", {"--methods", "'all'", "alone"}},
      {"lu-methods", "--variant M1", {"'--variant'"}},
      {"lu-methods", "--n 0", {"--n", "'0'"}},
      {"lu-methods", "--strategy swich", {"--strategy", "'swich'", "did you mean switch"}},
      {"lu-methods", "--input a.npy --n 5", {"--n", "--input a.npy", "leave one"}},
      {"tridiagonal", "--variant rastr", {"--variant", "'rastr'", "did you mean raster"}},
      {"tridiagonal", "--equations 8", {"--equations", "'8'", "16"}},
      {"tridiagonal", "--steps -1", {"--steps", "'-1'"}},
      {"tridiagonal", "--tile 0", {"--tile", "'0'"}},
      {"tridiagonal", "--systems 0", {"--systems", "'0'"}},
      {"tridiagonal", "--precision mixed", {"--precision", "'mixed'"}},
      {"tridiagonal", "--precision double --variant compute,raster", {"--precision double", "raster", "compute"}},
      {"tridiagonal", "--group 64 --variant raster", {"--group", "compute"}},
      {"gauss-jordan", "--group 32", {"--group", "compute"}},
      {"plu-packed", "--group 48 --variant compute", {"--group", "'48'", "64"}},
      {"plu-packed", "--tune --group 64", {"--tune", "--group", "leave one"}},
      {"gauss-jordan", "--tune --variant plain", {"--tune", "--variant compute"}},
      {"tridiagonal", "--input-b b.npy", {"--input-b b.npy", "--input"}},
      {"tridiagonal", "--input a.mtx --input-b b.npy --systems 3", {"--systems", "--input-b b.npy", "leave one"}},
      {"tridiagonal", "--input a.mtx --n 3", {"--n", "--input a.mtx", "leave one"}},
      {"tridiagonal", "--fit --systems 1,2", {"--fit", "--systems", "2"}},
      {"background", "--ratio -1", {"--ratio", "auto"}},
      {"background", "--ratio x", {"--ratio", "auto"}},
      {"background", "--ratio nan", {"--ratio", "auto"}},
      {"background", "--ratio inf", {"--ratio", "auto"}},
      {"background", "--ratio ''", {"--ratio", "auto"}},
      {"background", "--systems 0", {"--systems", "'0'"}},
      {"background", "--operation matmull", {"--operation", "'matmull'", "did you mean matmul"}},
      {"background", "--operation plu", {"--operation", "'plu'", "plu-packed"}},
      {"background", "--input a.mtx", {"'--input'"}},
      {"paranoia", "--part lr", {"--part", "'lr'", "arithmetic or lu"}},
      {"paranoia", "--variant fragmnt", {"--variant", "'fragmnt'", "did you mean fragment"}},
      {"paranoia", "--variant all,cpu", {"--variant", "'all'", "alone"}},
      {"paranoia", "--precision mixed", {"--precision", "'mixed'", "single, fp32, double or fp64"}},
      {"paranoia", "--samples -1", {"--samples", "'-1'"}},
      {"paranoia", "--samples 100000000", {"--samples", "'100000000'", "10000000"}},
      {"paranoia", "--matrix hilbret", {"--matrix", "'hilbret'", "hilbert"}},
      {"paranoia", "--variant fragment --precision double", {"--variant fragment", "single precision only"}},
      {"paranoia", "--variant fragment --part lu", {"--variant fragment", "--part lu"}},
      {"paranoia", "--repeat 3", {"--repeat"}},
      {"poisson", "--preconditioner ilu", {"--preconditioner", "'ilu'", "multigrid"}},
      {"poisson", "--memory texture2d", {"--memory texture2d", "single precision", "--precision single"}},
      {"poisson", "--memory textur", {"--memory", "'textur'", "texture1d"}},
      {"poisson", "--memory none --host none", {"nothing to compute"}},
      {"poisson", "--precision mixed", {"'mixed'", "single"}},
      {"poisson", "--n 0", {"--n", "'0'"}},
      {"poisson", "--input one.mtx", {"'--input'"}},
      {"poisson", "--n many", {"--n", "'many'"}},
      {"poisson", "--seed 3", {"'--seed'"}},
      {"poisson",
       "--precision single --memory global,texture1d --preconditioner multigrid",
       {"--preconditioner multigrid", "--memory texture1d", "global,shared"}},
      {"poisson", "--kernel paper --preconditioner multigrid", {"multigrid", "--kernel paper", "--kernel walk"}},
      {"poisson", "--tile 16", {"--tile", "--kernel paper", "--memory shared"}},
      {"poisson", "--tolerance 1", {"--tolerance", "'1'", "below 1"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.study) + " " + row.arguments);
    expect_input_error([&] { configuration(row.study, row.arguments); }, row.parts);
  }
  for (const char* text : {"3", "3x4", "3x4x5x6", "x4x5", "3x4x", "3xfourx5", "3x-4x5"}) {
    expect_input_error([&] { configuration("matmul", std::string("--shape ") + text); }, {"--shape", "MxKxN", text});
  }
}

class StudyConfigFile : public FolderTest {};

TEST_F(StudyConfigFile, GivesOtherRanksTheSameOptionsWithoutTheDisk) {
  const Texts arguments{"--config", write("poisson.toml", "n = [5, 6]\nmemory = \"all\"\nfit = true\n"), "--host",
                        "none"};
  TextFiles files;
  const PoissonOptions of_root = parse_poisson_options(arguments, files);
  write("poisson.toml", "n = 7\n");
  TextFiles of_other_rank(files.contents());
  const PoissonOptions options = parse_poisson_options(arguments, of_other_rank);
  EXPECT_THAT(options.n, ElementsAre(5, 6));
  EXPECT_TRUE(options.all_memories);
  EXPECT_EQ(to_json(options, poisson_table), to_json(of_root, poisson_table));
}

TEST(StudyOptions, MeasuresMultiplyOnlyVariantsThatSupportThem) {
  const auto settings = settings_of(parse_gauss_jordan_options(words("--variant all --measure all --pivoting full")));
  ASSERT_EQ(settings.size(), 5U);
  EXPECT_EQ(settings[1].measure, solvers::PivotMeasure::as_signed);
  EXPECT_EQ(settings[2].variant, solvers::EliminationVariant::plain);
  for (const auto& each : settings) EXPECT_EQ(each.pivoting, solvers::EliminationPivoting::full);
  EXPECT_TRUE(settings_of(parse_gauss_jordan_options(words("--variant openblas"))).empty());
}

TEST(StudyOptions, StrategiesMultiplyOnlyThePapersMethods) {
  const LuMethodsOptions all = parse_lu_methods_options({});
  EXPECT_TRUE(all.blocked());
  EXPECT_EQ(all.drawn().size(), 8U);
  const auto drawn = parse_lu_methods_options(words("--methods compute,M3 --strategy switch")).drawn();
  ASSERT_EQ(drawn.size(), 1U);
  EXPECT_EQ(drawn[0].method, solvers::LuMethod::m3);
  EXPECT_EQ(drawn[0].strategy, solvers::LuStrategy::switching);
  EXPECT_FALSE(parse_lu_methods_options(words("--methods M1")).blocked());
}

TEST(StudyOptions, TridiagonalVariantsHaveTheirSettings) {
  const auto settings = parse_tridiagonal_options(words("--equations all --steps 5 --tile 64"))
                            .settings_of(solvers::TridiagonalVariant::raster);
  EXPECT_EQ(settings.variant, solvers::TridiagonalVariant::raster);
  EXPECT_EQ(settings.share, solvers::Share::system);
  EXPECT_EQ(settings.steps, 5);
  EXPECT_EQ(settings.tile, 64);
}

TEST(StudyOptions, DiagonalsAreCentredOnTheMainOne) {
  EXPECT_THAT(offsets_around_main(1), ElementsAre(0));
  EXPECT_THAT(offsets_around_main(4), ElementsAre(0, 1, -1, 2));
}

TEST(PoissonRanks, EachNeedsARow) {
  PoissonOptions o = poisson_options("--n 8,3");
  EXPECT_THAT(adapt_to_ranks(o, 1), IsEmpty());
  EXPECT_THAT(adapt_to_ranks(o, 3), ElementsAre(HasSubstr("3 ranks")));
  expect_input_error([&] { adapt_to_ranks(o, 4); }, {"--n 3", "4 processes", "start 3 at most", "larger N"});
}

TEST(PoissonRanks, SeveralExcludeTwoDimensionalTextures) {
  PoissonOptions all = poisson_options("--precision single --memory all"),
                 named = poisson_options("--precision single --memory global,texture2d");
  EXPECT_THAT(adapt_to_ranks(named, 1), IsEmpty());
  EXPECT_THAT(adapt_to_ranks(all, 2), ElementsAre(HasSubstr("2 ranks"), HasSubstr("2D textures")));
  EXPECT_THAT(all.memory, ElementsAre(PoissonMemory::global, PoissonMemory::texture1d, PoissonMemory::shared));
  expect_input_error([&] { adapt_to_ranks(named, 2); },
                     {"--memory texture2d", "whole square", "global,texture1d,shared"});
}

TEST(PoissonRanks, SeveralExcludeMultigrid) {
  PoissonOptions all = poisson_options("--precision single --memory global --preconditioner all"),
                 named = poisson_options("--precision single --memory global --preconditioner none,multigrid");
  EXPECT_THAT(adapt_to_ranks(named, 1), IsEmpty());
  expect_input_error([&] { adapt_to_ranks(named, 2); },
                     {"--preconditioner multigrid", "2 were started", "--preconditioner none"});
  EXPECT_THAT(adapt_to_ranks(all, 2), ElementsAre(HasSubstr("2 ranks"), HasSubstr("multigrid is for one process")));
  EXPECT_THAT(all.preconditioner, ElementsAre(PoissonPreconditioner::none));
}

TEST(PoissonRanks, SeveralExcludeThePapersKernels) {
  PoissonOptions all = poisson_options("--kernel all"), named = poisson_options("--kernel paper");
  EXPECT_THAT(adapt_to_ranks(all, 2), ElementsAre(HasSubstr("2 ranks"), HasSubstr("--kernel all")));
  EXPECT_THAT(all.kernel, ElementsAre(PoissonKernel::walk));
  expect_input_error([&] { adapt_to_ranks(named, 2); }, {"--kernel paper", "2 were started", "--kernel walk"});
}

TEST(PoissonOptions, MultigridNeedsStorageBuffersAndTheKernelWalk) {
  constexpr auto walk = PoissonKernel::walk, paper = PoissonKernel::paper;
  EXPECT_FALSE(allowed(walk, PoissonMemory::texture2d, PoissonPreconditioner::multigrid));
  EXPECT_FALSE(allowed(paper, PoissonMemory::shared, PoissonPreconditioner::multigrid));
  EXPECT_TRUE(allowed(paper, PoissonMemory::texture2d, PoissonPreconditioner::none));
  EXPECT_TRUE(allowed(walk, PoissonMemory::shared, PoissonPreconditioner::multigrid));
}

}  // namespace
}  // namespace glinpack::app
