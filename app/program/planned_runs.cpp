#include "app/program/planned_runs.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "app/input/input_error.hpp"
#include "app/options/option_text.hpp"

namespace glinpack::app {

namespace {

// Mixed precision is single precision factors and a refined solution.
void set_precision(RunRecord& run, Precision precision) {
  run.precision = precision;
  run.parameters.refine = precision == Precision::mixed;
}

std::vector<GridShape> grids_of(const CommonOptions& options, int world_size) {
  if (!options.grid.empty()) return options.grid;
  const GridShape tile = options.node_grid.value_or(GridShape{1, 1});
  if (world_size % tile.size() != 0) {
    throw InputError("--node-grid " + text_of(tile) + ": the number of processes must be a multiple of " +
                     std::to_string(tile.size()) + ", and " + std::to_string(world_size) +
                     " were started: start as many, or name a --grid");
  }
  return {squarest_grid(world_size, tile)};
}

// The lists that span a sweep: those of HPL.dat, and of the options that override it.
HplDat lists_of(const ParsedOptions& parsed, const std::optional<HplDat>& hpl_dat, int world_size) {
  const PluOptions& options = parsed.options;
  HplDat lists = hpl_dat.value_or(HplDat{.row_swap = options.row_swap});
  lists.has_variant = hpl_dat && hpl_dat->has_variant;
  const std::vector<GridShape> grids = grids_of(options, world_size);
  const auto overrides = [&](const char* option) { return !hpl_dat || parsed.overrides_hpl_dat(option); };
  if (overrides("n")) lists.n = options.n;
  if (overrides("nb")) lists.nb = options.nb;
  if (overrides("grid")) lists.grids = grids;
  if (overrides("broadcast")) lists.broadcast = {options.broadcast};
  if (overrides("lookahead")) lists.depth = {options.lookahead};
  if (overrides("threshold")) lists.threshold = options.threshold;
  if (overrides("row-swap")) lists.row_swap.kind = options.row_swap.kind;
  lists.row_swap.pieces = options.row_swap.pieces;
  if (hpl_dat && run_count(lists) > max_runs) {
    throw InputError(fmt::format("{}: the lists ask for {} runs; at most {} are possible: shorten them",
                                 options.hpl_dat, run_count(lists), max_runs));
  }
  return lists;
}

void check_run_count(const HplDat& lists, int repeat) {
  if (run_count(lists) <= max_runs / repeat) return;
  throw InputError("the lists ask for more than " + std::to_string(max_runs) +
                   " runs; shorten them, or start glinpack several times");
}

void check_multiple(const std::optional<GridShape>& node_grid, GridShape grid) {
  if (!node_grid || grid == automatic_shape || is_multiple(grid, *node_grid)) return;
  throw InputError("--node-grid " + text_of(*node_grid) + ": the process grid " + text_of(grid) +
                   " is not a multiple of it; its rows must be a multiple of " + std::to_string(node_grid->rows) +
                   " and its columns of " + std::to_string(node_grid->columns) +
                   ": use another --grid or another node grid");
}

void check_panels(const PluOptions& options, const std::vector<GridShape>& grids) {
  if (options.panel != PanelPlace::device) return;
  for (const GridShape& grid : grids) {
    if (panels_may_be_on_device(options.pivoting, grid)) continue;
    throw InputError("--panel device: with " + std::string(name_of(options.pivoting)) +
                     " pivoting, hosts factorise the panels of the grid " + text_of(grid) +
                     "; use --pivoting partial or tournament, or leave --panel out");
  }
}

// The row-by-row algorithm has no look-ahead (row_by_row_lu.hpp): DEPTH is 0.
void set_row_by_row_lookahead(const ParsedOptions& parsed, std::vector<RunRecord>& runs) {
  for (RunRecord& run : runs) {
    if (run.parameters.lookahead == 0 || algorithm_of(run) != LuAlgorithm::row_by_row) continue;
    if (parsed.given("lookahead")) {
      throw InputError(
          fmt::format("--lookahead {}: {} with {} pivoting on the grid {} computes row by row, without "
                      "look-ahead; use --lookahead 0, or leave it out",
                      parsed.options.lookahead, run.backend, name_of(run.parameters.pivoting), text_of(run.grid)));
    }
    run.parameters.lookahead = 0;
  }
}

// Every combination; `run` has their common parameters.
std::vector<RunRecord> all_runs(const HplDat& lists, int repeat, RunRecord run) {
  const std::vector<HplCombination> inner = combinations(lists);
  std::vector<RunRecord> planned;
  run.order = lists.order;
  run.parameters.threshold = lists.threshold;
  run.parameters.row_swap = lists.row_swap;
  for (const GridShape& grid : lists.grids) {
    check_multiple(run.node_grid, grid);
    run.grid = grid;
    for (const Index n : lists.n) {
      run.parameters.n = n;
      for (const Index nb : lists.nb) {
        run.parameters.nb = nb;
        for (const HplCombination& combination : inner) {
          run.parameters.lookahead = combination.lookahead;
          run.parameters.broadcast = combination.broadcast;
          run.variant = combination.variant;
          for (run.repeat = 0; run.repeat < repeat; ++run.repeat) planned.push_back(run);
        }
      }
    }
  }
  return planned;
}

}  // namespace

std::optional<HplDat> hpl_dat_of(const ParsedOptions& parsed, TextFiles& files) {
  if (parsed.options.hpl_dat.empty()) return std::nullopt;
  return read_hpl_dat(parsed.options.hpl_dat, files,
                      {.overridden = [&parsed](const std::string& option) { return parsed.overrides_hpl_dat(option); },
                       .mxp = parsed.options.matrix == MatrixKind::mxp});
}

std::vector<RunRecord> plan_runs(const ParsedOptions& parsed, const std::optional<HplDat>& hpl_dat,
                                 std::optional<Index> file_order, int world_size) {
  const PluOptions& options = parsed.options;
  HplDat lists = lists_of(parsed, hpl_dat, world_size);
  if (file_order) {
    const std::vector<Index>& n = options.n;
    const bool agrees = n == std::vector<Index>{*file_order} || n == std::vector<Index>{automatic};
    if (parsed.on_command_line.contains("n") && !agrees) {
      throw InputError("--n is given, but the matrix of --input " + options.input + " has order " +
                       std::to_string(*file_order) + "; leave --n out");
    }
    lists.n = {*file_order};
  }
  check_run_count(lists, options.repeat);
  check_panels(options, lists.grids);

  RunRecord run;
  run.matrix = options.matrix;
  run.node_grid = options.node_grid;
  set_precision(run, options.precision);
  run.backend = options.backend;
  run.backend_values = values_for_backend(options);
  run.parameters.pivoting = options.pivoting;
  run.parameters.panel = options.panel;
  run.parameters.parts = options.compute_only ? RunParts::compute : RunParts::all;
  run.parameters.abft = options.abft.has_value();
  run.parameters.abft_every = options.abft.value_or(0);
  if (options.compute_only) lists.threshold = -1;
  std::vector<RunRecord> runs = all_runs(lists, options.repeat, run);
  set_row_by_row_lookahead(parsed, runs);
  return runs;
}

void use_gpu_defaults(const ParsedOptions& parsed, std::vector<RunRecord>& planned) {
  if (!parsed.options.hpl_dat.empty()) return;
  for (RunRecord& run : planned) {
    if (!parsed.given("nb")) run.parameters.nb = automatic;
    if (!parsed.given("grid")) run.grid = automatic_shape;
  }
}

std::vector<RunRecord> plan_network_runs(const CommonOptions& options, std::span<const BroadcastKind> broadcasts,
                                         int world_size) {
  HplDat lists{.n = options.n,
               .nb = options.nb,
               .grids = grids_of(options, world_size),
               .threshold = -1,
               .has_variant = false,
               .broadcast = {broadcasts.begin(), broadcasts.end()},
               .depth = {0},
               .row_swap = options.row_swap};
  if (lists.row_swap.pieces == automatic) lists.row_swap.pieces = 1;
  check_run_count(lists, options.repeat);
  RunRecord run;
  run.node_grid = options.node_grid;
  set_precision(run, options.precision);
  run.parameters.pivoting = options.pivoting;
  run.parameters.parts = RunParts::messages;
  return all_runs(lists, options.repeat, run);
}

void check_grids(std::span<const RunRecord> planned, int world_size, const std::string& where) {
  const auto largest = std::ranges::max_element(planned, {}, [](const RunRecord& run) { return run.grid.size(); });
  if (largest == planned.end() || largest->grid.size() <= world_size) return;
  const std::string needed = std::to_string(largest->grid.size());
  throw InputError(where + "the grid " + text_of(largest->grid) + " needs at least " + needed +
                   " processes, started with " + std::to_string(world_size) + ": start more (mpirun -np " + needed +
                   " ...) or use a smaller grid");
}

void check_hosts(GridShape node_grid, std::span<const int> nodes, std::span<const std::string> hosts) {
  const std::string processes = std::to_string(node_grid.size());
  for (const int node : nodes) {
    const auto there = std::ranges::count(nodes, node);
    if (there == node_grid.size()) continue;
    throw InputError("--node-grid " + text_of(node_grid) + " needs " + processes + " processes on every host, but " +
                     hosts[static_cast<std::size_t>(node)] + " has " + std::to_string(there) + ": start " + processes +
                     " on each (one host: mpirun -np " + processes + "; several: mpirun -ppn " + processes +
                     ") or use a node grid of " + std::to_string(there));
  }
}

}  // namespace glinpack::app
