#include "app/options/plu_options.hpp"

#include <filesystem>
#include <map>

#include "app/devices/devices_command.hpp"
#include "app/manual/pages.hpp"
#include "app/options/option_text.hpp"
#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

nlohmann::json json_of(const PluOptions& options) { return to_json(options, plu_table); }

PluOptions parsed_plu(const Arguments& arguments) { return parse_plu_options(arguments).options; }

void plu_refuses(const Arguments& arguments, const std::vector<std::string>& parts) {
  expect_input_error([&] { parsed_plu(arguments); }, parts);
}

class ConfigFile : public FolderTest {
 protected:
  ParsedOptions with_config(const std::string& contents, Arguments arguments = {}) const {
    arguments.insert(arguments.begin(), {"--config", write("c.toml", contents)});
    return parse_plu_options(arguments);
  }
  void expect_rejected(int line, const std::string& contents, std::vector<std::string> parts) const {
    parts.push_back("c.toml:" + std::to_string(line) + ": ");
    expect_input_error([&] { with_config(contents); }, parts);
  }
};

TEST(Options, DefaultsAreHplsDefaultsIfThereAreAny) {
  const PluOptions o = parsed_plu({});
  EXPECT_EQ(o.precision, Precision::double_);
  EXPECT_EQ(o.pivoting, Pivoting::partial);
  EXPECT_EQ(o.broadcast, BroadcastKind::ring);
  EXPECT_EQ(o.panel, PanelPlace::automatic);
  EXPECT_EQ(o.row_swap, (RowSwap{RowSwapKind::binary_exchange, 64, automatic}));
  EXPECT_EQ(o.matrix, MatrixKind::hpl);
  EXPECT_EQ(o.seed, 100U);
  EXPECT_EQ(o.threshold, 16.0);
  EXPECT_EQ(o.backend, "auto");
  EXPECT_THAT(o.grid, IsEmpty());
}

TEST(Options, EveryOptionIsParsed) {
  const PluOptions o = parsed_plu(arguments_of(
      "--n 10 20,30 --nb=4,8 --grid 2x3 --node-grid 2x1 --seed 7 --precision single --pivoting local "
      "--broadcast 4 --row-swap bin-exch --repeat 3 --threshold -1 --backend vk-compute --device 1 --threads "
      "2 --memory-fraction 0.9 --shader-dir s --output-dir o --json j --csv c --trace t --save-solution "
      "x.npy --force --watchdog 2.5 --breakdown roles --peak 61.5 --doctor off --dry-run --explain-pass 5 "
      "--input a.npy --hpl-dat h --compute-only"));
  expect_members(json_of(o), R"({"n": [10, 20, 30], "nb": [4, 8], "grid": ["2x3"], "node-grid": "2x1", "seed": 7,
    "precision": "single", "pivoting": "local", "broadcast": "long", "row-swap": "binary-exchange", "repeat": 3,
    "threshold": -1.0, "backend": "vk-compute", "device": 1, "threads": 2, "memory-fraction": 0.9, "shader-dir": "s",
    "output-dir": "o", "json": "j", "csv": "c", "trace": "t", "doctor": "off", "save-solution": "x.npy", "force": true,
    "watchdog": 2.5, "breakdown": "roles", "peak": "61.5", "dry-run": true, "explain-pass": 5, "input": "a.npy",
    "hpl-dat": "h", "compute-only": true})");
}

TEST(Options, EveryMatrixIsFoundByItsName) {
  for (const MatrixKind kind : matrix_formulas) {
    const PluOptions o = parsed_plu({"--matrix", std::string(name_of(kind))});
    EXPECT_EQ(o.matrix, kind);
    EXPECT_EQ(json_of(o).at("matrix"), name_of(kind));
  }
}

TEST(Options, UnknownMatricesAreRefusedWithTheKinds) {
  plu_refuses({"--matrix", "hilbert-reversed"}, {"--matrix", "'hilbert-reversed'", "hpl", "kahan", "singular"});
}

TEST(Options, TheMatrixOfHplMxpIsSolvedInMixedPrecisionUnlessAnotherIsGiven) {
  EXPECT_EQ(parsed_plu({"--matrix", "mxp"}).precision, Precision::mixed);
  EXPECT_EQ(parsed_plu({"--matrix", "mxp", "--precision", "double"}).precision, Precision::double_);
}

TEST(Options, EveryPrecisionIsFoundByItsName) {
  for (const Precision precision : {Precision::single, Precision::double_, Precision::mixed}) {
    const PluOptions o = parsed_plu({"--precision", std::string(name_of(precision))});
    EXPECT_EQ(o.precision, precision);
    EXPECT_EQ(json_of(o).at("precision"), name_of(precision));
  }
}

TEST(Options, PrecisionsHaveTheNamesOfOtherHpls) {
  EXPECT_EQ(parsed_plu({"--precision", "fp64"}).precision, Precision::double_);
  EXPECT_EQ(parsed_plu({"--precision", "fp32"}).precision, Precision::single);
  EXPECT_EQ(json_of(parsed_plu({"--precision", "fp32"})).at("precision"), "single");
}

TEST(Options, TheBreakdownKeepsItsOlderNames) {
  EXPECT_EQ(parsed_plu({}).breakdown, BreakdownTable::automatic);
  EXPECT_EQ(parsed_plu({"--breakdown", "auto"}).breakdown, BreakdownTable::automatic);
  EXPECT_EQ(parsed_plu({"--breakdown", "always"}).breakdown, BreakdownTable::phases);
  EXPECT_EQ(parsed_plu({"--breakdown", "never"}).breakdown, BreakdownTable::none);
}

TEST(Options, SizesMayHaveUnitsAndExponents) {
  EXPECT_THAT(parsed_plu({"--n", "8k,1e4", "2Ki"}).n, ElementsAre(8000, 10'000, 2048));
  EXPECT_THAT(parsed_plu({"--nb", "0.5Ki"}).nb, ElementsAre(512));
  EXPECT_EQ(parsed_plu({"--repeat", "1e3"}).repeat, 1000);
}

// As the other ranks have them.
TextFiles received(std::map<std::string, std::string> contents) { return TextFiles(std::move(contents)); }

std::string hpl_dat_read(const Arguments& arguments, const TextFiles& files) {
  ParsedOptions parsed = parse_plu_options(arguments);
  choose_default_hpl_dat(parsed, files);
  return parsed.options.hpl_dat;
}

TEST(Options, HplDatIsReadIfNoOptionNamesAnotherSourceOfN) {
  const TextFiles files = received({{"HPL.dat", "text"}});
  for (const Arguments& arguments :
       {Arguments{}, Arguments{"--backend", "openblas", "--precision", "single"}, Arguments{"--dry-run"},
        Arguments{"--repeat", "3", "--json", "j"}, Arguments{"--nb", "8", "--grid", "1x1"}}) {
    EXPECT_EQ(hpl_dat_read(arguments, files), "HPL.dat");
    EXPECT_EQ(hpl_dat_read(arguments, received({})), "");
  }
  for (const Arguments& arguments : {Arguments{"--n", "100"}, Arguments{"--input", "a.npy"}}) {
    EXPECT_EQ(hpl_dat_read(arguments, files), "") << arguments.front();
  }
  EXPECT_EQ(hpl_dat_read({"--hpl-dat", "other"}, files), "other");
}

class CurrentFolder : public FolderTest {
 protected:
  void SetUp() override {
    FolderTest::SetUp();
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(path(""));
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    FolderTest::TearDown();
  }
  std::string note(const Arguments& arguments) const {
    TextFiles files;
    ParsedOptions parsed = parse_plu_options(arguments);
    choose_default_hpl_dat(parsed, files);
    return default_order_note(parsed);
  }

 private:
  std::filesystem::path before_;
};

TEST_F(CurrentFolder, WithoutHplDatIsNamedInANote) {
  const std::string folder = std::filesystem::current_path().string();
  EXPECT_EQ(note({"--nb", "8"}), "no HPL.dat in " + folder + "; N 2000 is the default");
  for (const Arguments& arguments : {Arguments{"--n", "100"}, Arguments{"--input", "a.npy"},
                                     Arguments{"--hpl-dat", "h"}, Arguments{"--resume", "d"}}) {
    EXPECT_EQ(note(arguments), "") << arguments.front();
  }
  write("hpl.dat", "text");
  EXPECT_EQ(note({}), "no HPL.dat in " + folder + ", and hpl.dat is read only with --hpl-dat; N 2000 is the default");
  std::filesystem::create_symlink("nowhere", path("HPL.dat"));
  EXPECT_EQ(note({}), "HPL.dat in " + folder + " is a link to nothing; N 2000 is the default");
  write("nowhere", "text");
  EXPECT_EQ(note({}), "");
}

TEST(Options, ThoseOfOtherHplsAreRejectedWithTheRightName) {
  for (const auto& [arguments, option] : std::map<std::string, std::string>{
           {"-N", "--n N"}, {"--NB", "--nb NB"}, {"-P -Q -p -q", "--grid PxQ"}, {"-f HPL.dat", "--hpl-dat FILE"}}) {
    for (const std::string& argument : arguments_of(arguments)) {
      plu_refuses({argument, "4"}, {"'" + argument + "'", "use " + option});
    }
  }
  expect_input_error([] { parse<DevicesOptions>({"-N", "4"}, devices_table); }, {"unknown option '-N'"});
}

TEST(Options, ASeedThatDoesNotFitIsRejected) { plu_refuses({"--seed", "1e19"}, {"--seed", "'1e19'", "out of range"}); }

TEST_F(ConfigFile, IsInsteadOfAnHplDatInTheCurrentFolder) {
  ParsedOptions parsed = with_config("repeat = 2\n");
  choose_default_hpl_dat(parsed, received({{"HPL.dat", "text"}}));
  EXPECT_EQ(parsed.options.hpl_dat, "");
  EXPECT_EQ(parsed.hpl_dat_note, "HPL.dat in the current folder is not read: --config is given");
}

TEST_F(FolderTest, TextFilesExistOnDiskOrAsRankZeroHasReadThem) {
  const std::string file = write("a", "text"), other = write("b", "text");
  EXPECT_TRUE(TextFiles().exists(file));
  EXPECT_FALSE(TextFiles().exists(path("c")));
  const TextFiles files = received({{file, "text"}});
  EXPECT_TRUE(files.exists(file));
  EXPECT_FALSE(files.exists(other));
}

TEST(Options, TheWhitePapersBackendHasSinglePrecisionFactors) {
  EXPECT_EQ(parsed_plu({"--backend", "gl-raster"}).precision, Precision::single);
  EXPECT_EQ(parsed_plu({"--backend", "gl-raster", "--precision", "single"}).precision, Precision::single);
  EXPECT_EQ(parsed_plu({"--backend", "gl-raster", "--precision", "mixed"}).precision, Precision::mixed);
  plu_refuses({"--backend", "gl-raster", "--precision", "double"}, {"gl-raster", "mixed"});
}

TEST(Options, AReportSaysWhatABackendHasChosen) {
  const auto note = [](const Arguments& more) {
    Arguments arguments{"--backend", "gl-raster"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_plu_options(arguments).backend_note;
  };
  EXPECT_EQ(note({}), "--backend gl-raster chooses --precision single and --pivoting local");
  EXPECT_EQ(note({"--precision", "mixed"}), "--backend gl-raster chooses --pivoting local");
  EXPECT_EQ(note({"--precision", "single", "--pivoting", "local"}), "");
  EXPECT_EQ(parse_plu_options({"--backend", "openblas"}).backend_note, "");
  EXPECT_EQ(parse_plu_options({"--products", "auto", "--precision", "single"}).backend_note,
            "--products auto takes plain products with --precision single");
  EXPECT_EQ(parse_plu_options({"--products", "auto", "--abft", "auto"}).backend_note,
            "--products auto takes plain products with --abft");
}

TEST(Options, AutomaticProductsAreThoseForThePrecisionAndTheMatrixAndTheDefaultOfMixed) {
  const auto products = [](const Arguments& arguments) {
    return values_for_backend(parsed_plu(arguments)).at("products");
  };
  EXPECT_EQ(products({"--products", "auto"}), "auto:int8");
  EXPECT_EQ(parsed_plu({"--matrix", "mxp"}).backend_values.at("products"), "auto");
  EXPECT_EQ(products({"--products", "auto", "--precision", "mixed"}), "auto:split");
  EXPECT_EQ(products({"--precision", "mixed"}), "auto:split");
  EXPECT_EQ(products({"--precision", "mixed", "--backend", "vk-compute"}), "auto:split");
  EXPECT_EQ(products({"--matrix", "mxp"}), "auto:half");
  EXPECT_EQ(products({"--precision", "mixed", "--products", "plain"}), "plain");
  for (const Arguments& plain : std::vector<Arguments>{{},
                                                       {"--precision", "single"},
                                                       {"--precision", "mixed", "--abft", "auto"},
                                                       {"--precision", "mixed", "--backend", "openblas"}}) {
    EXPECT_EQ(products(plain), "");
  }
}

TEST(Options, ThatTheBackendDoesNotUseAreRefusedUnlessTheyHaveTheirDefaultValues) {
  EXPECT_NO_THROW(parsed_plu({"--backend", "openblas", "--products", "plain", "--peer", "auto"}));
  const std::vector<std::vector<std::string>> cases{{"--products", "int8"}, {"--products", "auto"},
                                                    {"--peer", "none"},     {"--tile", "64x64"},
                                                    {"--device", "0"},      {"--panel", "device"}};
  for (Arguments arguments : cases) {
    const std::string given = arguments[0] + " " + arguments[1] + ": ";
    const PluOptions automatic = parsed_plu(arguments);
    if (arguments[1] == "none" || arguments[1] == "auto") {
      EXPECT_NO_THROW(check_options_of_backend(automatic, "openblas")) << given;
    } else {
      expect_input_error([&] { check_options_of_backend(automatic, "openblas"); },
                         {given, "--backend auto takes openblas here, which", "leave it out", "vk-compute"});
    }
    arguments.insert(arguments.end(), {"--backend", "openblas"});
    plu_refuses(arguments, {given, "the backend openblas", "leave it out", "vk-compute"});
  }
}

TEST(Options, ChecksumsNeedMessagesBlocksAndPlainProducts) {
  plu_refuses({"--abft", "auto", "--compute-only"}, {"--abft", "--compute-only"});
  plu_refuses({"--abft", "auto", "--backend", "gl-raster"}, {"--abft", "row by row"});
  plu_refuses(arguments_of("--abft auto --backend gl-compute --precision mixed --products half"),
              {"--abft", "--products half"});
}

TEST(Options, ProductsForAnotherPrecisionAreRefusedWithThePrecision) {
  plu_refuses({"--matrix", "mxp", "--precision", "double", "--products", "half"},
              {"--products", "half", "use --precision mixed"});
}

TEST(Options, AnInputFileSetsTheMatrix) {
  const PluOptions o = parsed_plu({"--input", "a.npy"});
  EXPECT_EQ(o.matrix, MatrixKind::file);
  EXPECT_EQ(json_of(o).at("matrix"), nullptr);
  EXPECT_EQ(json_of(o).at("input"), "a.npy");
  plu_refuses({"--matrix", "file"}, {"--matrix", "'file'"});
  for (const std::string kind : {"hpl", "uniform"}) {
    plu_refuses({"--input", "a.npy", "--matrix", kind}, {"--matrix " + kind, "--input a.npy", "leave one of them out"});
  }
}

TEST(Options, HaveTheirNamesAndValuesInJson) {
  const nlohmann::json json =
      json_of(parsed_plu({"--n", "10,20", "--grid", "2x3,1x1", "--abft", "auto", "--threshold", "0.1", "--trace", "a,b",
                          "--device", "0", "--force", "--seed", "9223372036854775807"}));
  expect_members(json, R"({"n": [10, 20], "grid": ["2x3", "1x1"], "abft": "auto", "threshold": 0.1, "trace": "a,b",
    "device": 0, "threads": null, "force": true, "seed": 9223372036854775807, "watchdog": null})");
  EXPECT_FALSE(json.contains("config"));
}

TEST(Options, SizesAndGridsMayBeAuto) {
  const PluOptions o = parsed_plu({"--n", "auto", "--nb", "auto", "--grid", "auto"});
  EXPECT_THAT(o.n, ElementsAre(automatic));
  EXPECT_THAT(o.nb, ElementsAre(automatic));
  EXPECT_THAT(o.grid, ElementsAre(automatic_shape));
  for (const char* key : {"n", "nb", "grid"}) EXPECT_EQ(json_of(o).at(key), "auto");
  EXPECT_EQ(parsed_plu({}).memory_fraction, 0.8);
}

TEST(Options, AnOptionIsNotTakenForAFile) {
  plu_refuses({"--json", "--dry-run"}, {"--json", "'--dry-run'", "looks like an option"});
}

TEST(Options, AutoCannotBeCombinedWithOtherValues) {
  for (const std::string option : {"--n", "--nb", "--grid"}) {
    const std::string value = option == "--grid" ? "1x1" : "100";
    for (const std::string& list : {"auto," + value, value + ",auto", std::string("auto,auto")}) {
      plu_refuses({option, list}, {option, "'auto'", "alone"});
    }
  }
}

TEST(Options, BroadcastsAreFoundByNameAndByHplsDigitsAndNames) {
  EXPECT_EQ(parse_broadcast("ring-modified"), BroadcastKind::ring_modified);
  EXPECT_EQ(parse_broadcast("5"), BroadcastKind::long_modified);
  EXPECT_EQ(parse_broadcast("2rM"), BroadcastKind::two_rings_modified);
  EXPECT_EQ(parse_broadcast("ibcast"), BroadcastKind::ibcast);
}

TEST(Options, MisspeltNamesAreRejectedWithTheNearest) {
  plu_refuses({"--bakend", "openblas"}, {"'--bakend'", "did you mean --backend?"});
  plu_refuses({"--bakend=openblas"}, {"'--bakend'", "did you mean --backend?"});
  plu_refuses({"--nn", "3"}, {"did you mean --n?"});
  plu_refuses({"--backend", "opnblas"}, {"--backend", "'opnblas'", "did you mean openblas?"});
  plu_refuses({"--pivoting", "parcial"}, {"--pivoting", "did you mean partial?"});
  plu_refuses({"--broadcast", "rign"}, {"--broadcast", "did you mean ring?"});
  plu_refuses({"--matrix", "wilkenson"}, {"--matrix", "did you mean wilkinson?"});
  plu_refuses({"--precision", "duoble"}, {"did you mean double?"});
}

TEST(Options, TheWatchdogIsOffOrHasALimitOfAtLeastASecond) {
  EXPECT_FALSE(parsed_plu({}).watchdog);
  EXPECT_FALSE(parsed_plu({"--watchdog", "off"}).watchdog);
  EXPECT_EQ(parsed_plu({"--watchdog", "1"}).watchdog, 1.0);
  EXPECT_EQ(parsed_plu({"--watchdog", "1e6"}).watchdog, 1e6);
  for (const std::string value : {"0", "-1", "0.99", "1000001", "nan", "inf", "1s", "on"}) {
    plu_refuses({"--watchdog", value}, {"--watchdog", "'" + value + "'", "off"});
  }
}

TEST(Options, InvalidValuesAreRejectedWithOptionAndValue) {
  const Arguments given = arguments_of(
      "--n 0 --n -5 --n ten --n 1.5 --n 1.2345k --n 12.5 --n 10,,20 --n 99999999999999999999 --nb 0 --nb many "
      "--grid 2x --grid 2by1 --grid 0x2 --peak 0 --peak fast --precision fp46 --broadcast 6 --panel devise "
      "--doctor maybe --matrix file --abft 0 --abft often --threshold nan --seed -1 --repeat 0 --threads 0 "
      "--device -1 --explain-pass -1 --time 0 --n most --memory-fraction 0 --memory-fraction -0.5 "
      "--memory-fraction 1.01 --memory-fraction nan --memory-fraction inf --memory-fraction 80%");
  for (std::size_t i = 0; i < given.size(); i += 2) {
    plu_refuses({given[i], given[i + 1]}, {given[i], "'" + given[i + 1] + "'"});
  }
  plu_refuses({"--memory-fraction", ""}, {"--memory-fraction", "''"});
  for (const std::string option : {"--n", "--nb", "--grid"}) {
    plu_refuses({option, "abc"}, {option, "'abc'", "auto is accepted, too"});
  }
  plu_refuses({"--n", ""}, {"--n", "empty"});
  plu_refuses({"--json", ""}, {"--json", "empty"});
  for (const std::string option : {"--n", "--backend"}) {
    plu_refuses({option}, {option + ": a value is missing"});
  }
  plu_refuses({"--backend", "openblas", "--backend=reference"}, {"--backend is given 2 times", "give it once"});
  plu_refuses({"stray"}, {"'stray'"});
  plu_refuses({"--time", "10"}, {"--time", "--n auto"});
  plu_refuses({"--n", "auto", "--time", "10", "--peak", "none"}, {"--time", "--peak none"});
}

TEST(Options, HelpShowsEveryOptionWithDefaultsAndExamples) {
  const std::string help = help_of(plu_table);
  const nlohmann::json configuration = json_of(PluOptions{});
  for (const auto& [key, value] : configuration.items()) {
    EXPECT_NE(help.find("--" + key + " "), std::string::npos) << key;
  }
  for (const char* part :
       {"--config", "Examples:", "[default: 2000]", "[default: 16.0]", "seconds", "GFLOPS", "Exit code"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part;
  }
}

TEST(Options, DevicesHasOneOption) {
  EXPECT_TRUE(parse({"--json"}, devices_table).options.json);
  EXPECT_FALSE(parse({}, devices_table).options.json);
  expect_input_error([] { parse({"--jsn"}, devices_table); }, {"'--jsn'", "did you mean --json?"});
}

TEST_F(ConfigFile, KeysAreTheOptions) {
  const PluOptions o =
      with_config(
          "# comment\nn = [100, 200]\nnb = 32\ngrid = ['1x2', \"2x1\"]\nbackend = 'reference'\nabft = 3\n"
          "threshold = -1.5\nforce = false\nbroadcast = 3\nsave-solution = 'a,b.npy'\n")
          .options;
  EXPECT_THAT(o.n, ElementsAre(100, 200));
  EXPECT_THAT(o.nb, ElementsAre(32));
  EXPECT_THAT(o.grid, ElementsAre(GridShape{1, 2}, GridShape{2, 1}));
  EXPECT_EQ(o.backend, "reference");
  EXPECT_EQ(o.abft, 3);
  EXPECT_EQ(o.threshold, -1.5);
  EXPECT_FALSE(o.force);
  EXPECT_EQ(o.broadcast, BroadcastKind::two_rings_modified);
  EXPECT_EQ(o.save_solution, "a,b.npy");
}

TEST_F(ConfigFile, SizesAndGridsMayBeAuto) {
  const PluOptions o = with_config("n = 'auto'\nnb = ['auto']\ngrid = \"auto\"\nmemory-fraction = 0.5\n").options;
  EXPECT_THAT(o.n, ElementsAre(automatic));
  EXPECT_THAT(o.nb, ElementsAre(automatic));
  EXPECT_THAT(o.grid, ElementsAre(automatic_shape));
  EXPECT_EQ(o.memory_fraction, 0.5);
  EXPECT_THAT(with_config("n = 'auto'\n", {"--n", "50"}).options.n, ElementsAre(50));
  expect_rejected(2, "nb = 32\nn = [100, 'auto']\n", {"n = [ 100, 'auto' ]", "alone"});
  expect_rejected(1, "memory-fraction = 2\n", {"memory-fraction = 2", "at most 1"});
  expect_rejected(1, "memory-fraction = nan\n", {"memory-fraction = nan"});
}

TEST_F(ConfigFile, UnderscoresMayReplaceDashes) {
  EXPECT_EQ(with_config("save_solution = 'x.npy'\n").options.save_solution, "x.npy");
}

TEST_F(ConfigFile, CommandLineOverridesFileOverridesDefault) {
  const PluOptions o = with_config("n = [1, 2, 3]\nnb = 16\n", {"--n", "50"}).options;
  EXPECT_THAT(o.n, ElementsAre(50));
  EXPECT_THAT(o.nb, ElementsAre(16));
  EXPECT_EQ(o.repeat, 1);
}

TEST_F(ConfigFile, HplDatIsOverriddenByConfigFileAndCommandLine) {
  const ParsedOptions with_n = with_config("hpl-dat = 'H'\nnb = 16\n", {"--n", "50"});
  EXPECT_TRUE(with_n.overrides_hpl_dat("n"));
  EXPECT_TRUE(with_n.overrides_hpl_dat("nb"));
  EXPECT_FALSE(with_n.overrides_hpl_dat("grid"));
  const ParsedOptions above = with_config("nb = 16\n", {"--hpl-dat", "H", "--n", "50"});
  EXPECT_TRUE(above.overrides_hpl_dat("n"));
  EXPECT_FALSE(above.overrides_hpl_dat("nb"));
}

TEST_F(ConfigFile, MatrixAndInputExcludeEachOtherAnywhere) {
  EXPECT_EQ(with_config("matrix = 'dominant'\n").options.matrix, MatrixKind::dominant);
  const std::vector<std::string> parts{"c.toml: ", "--matrix uniform", "--input a.npy"};
  expect_input_error([&] { with_config("matrix = 'uniform'\ninput = 'a.npy'\n"); }, parts);
  expect_input_error([&] { with_config("matrix = 'uniform'\n", {"--input", "a.npy"}); }, parts);
  expect_input_error([&] { with_config("input = 'a.npy'\n", {"--matrix", "uniform"}); }, parts);
}

TEST_F(ConfigFile, ErrorsNameFileLineKeyAndValue) {
  expect_rejected(2, "nb = 32\nn = 0\n", {"n = 0", "out of range"});
  expect_rejected(1, "n = -3\n", {"n = -3"});
  expect_rejected(1, "n = 10.5\n", {"n = 10.5", "not a whole number"});
  expect_rejected(1, "n = 'ten'\n", {"'ten'"});
  expect_rejected(3, "\n\nn = []\n", {"n", "empty"});
  expect_rejected(1, "n = [10, 0]\n", {"'0'"});
  expect_rejected(1, "n = true\n", {"n = true", "a value is expected"});
  expect_rejected(1, "force = 1\n", {"force = 1", "true or false"});
  expect_rejected(1, "backend = ['openblas', 'auto']\n", {"backend", "one value"});
  expect_rejected(1, "backend = 'opnblas'\n", {"backend", "did you mean openblas?"});
  expect_rejected(1, "json = ''\n", {"json", "empty"});
  expect_rejected(2, "n = 10\nmatrix = 'hilbret'\n", {"matrix", "did you mean hilbert?"});
  expect_rejected(1, "n = 1979-05-27\n", {"n = 1979-05-27"});
  expect_rejected(1, "n = [[1]]\n", {"n"});
}

TEST_F(ConfigFile, UnknownKeysAreRejectedWithTheNearest) {
  expect_rejected(2, "n = 10\nbakend = 'openblas'\n", {"'bakend'", "did you mean backend?"});
  expect_rejected(1, "config = 'other.toml'\n", {"'config'"});
  expect_rejected(1, "help = true\n", {"'help'"});
  expect_rejected(1, "[plu]\nn = 10\n", {"[plu]"});
}

TEST_F(ConfigFile, InvalidTomlIsRejectedWithTheLine) {
  expect_rejected(2, "n = 10\nnb == 3\n", {"not TOML"});
  expect_rejected(1, "n = [1, 2\n", {"not TOML"});
  expect_rejected(2, "n = 1\nn = 2\n", {"not TOML"});
  expect_rejected(1, std::string("n = \0\x01", 6), {"not text"});
  plu_refuses({"--config", path("missing.toml")}, {"missing.toml", "no such file"});
  plu_refuses({"--config", path("")}, {"is a directory"});
}

}  // namespace
}  // namespace glinpack::app
