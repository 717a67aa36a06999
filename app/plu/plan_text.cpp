#include "app/plu/plan_text.hpp"

#include <spdlog/fmt/fmt.h>

#include "app/options/option_text.hpp"
#include "app/program/memory.hpp"

namespace glinpack::app {

namespace {

std::string row_of(std::size_t number, const RunRecord& run, int world_size) {
  const NeededBytes need = largest_need(run);
  const std::string row = fmt::format(
      "{:>5}  {:>10} {:>6}  {:>7}  {:<10} {:<8} {:<8} {:<18}  {:>11} {:>11}  {:>10.3e}", number, run.parameters.n,
      run.parameters.nb, text_of(run.grid), run.backend, name_of(run.precision), name_of(run.parameters.pivoting),
      name_of(run.parameters.broadcast), memory_text(need.host), memory_text(need.device), hpl_flops(run.parameters.n));
  return row + (run.grid.size() > world_size ? fmt::format("  needs {} processes\n", run.grid.size()) : "\n");
}

}  // namespace

std::string plan_text(std::span<const RunRecord> planned, int world_size, std::span<const std::string> remarks,
                      bool prints_all) {
  constexpr std::size_t most_rows = 20, first_rows = 10, last_rows = 5;
  std::string text = fmt::format("Plan: {} run{} on {} process{}; nothing is run.\n", planned.size(),
                                 planned.size() == 1 ? "" : "s", world_size, world_size == 1 ? "" : "es");
  text += fmt::format("{:>5}  {:>10} {:>6}  {:>7}  {:<10} {:<8} {:<8} {:<18}  {:>11} {:>11}  {:>10}\n", "run", "N",
                      "NB", "grid", "backend", "precis.", "pivoting", "broadcast", "host/rank", "device/rank", "flops");
  const std::size_t hidden = prints_all || planned.size() <= most_rows ? 0 : planned.size() - first_rows - last_rows;
  double flops = 0;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    flops += hpl_flops(planned[i].parameters.n);
    if (i >= first_rows && i < first_rows + hidden) continue;
    if (hidden > 0 && i == first_rows + hidden) {
      text += fmt::format("  ...  {} more runs: --log-level debug prints all\n", hidden);
    }
    text += row_of(i + 1, planned[i], world_size);
  }
  text += fmt::format(
      "Altogether {:.3e} flops. Memory is the most of any rank; backends on the processor take both kinds"
      " from the host.\n",
      flops);
  for (const std::string& remark : remarks) text += remark + "\n";
  return text;
}

}  // namespace glinpack::app
