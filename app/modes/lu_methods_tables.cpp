#include "app/modes/lu_methods_tables.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace glinpack::app {

namespace {

using solvers::LuCounts;
using solvers::LuMethod;
using solvers::LuStrategy;
using Table1 = std::optional<LuCounts>;

nlohmann::json number(const std::optional<double>& value) { return value ? nlohmann::json(*value) : nlohmann::json(); }

std::string series_of(const LuFigures& f) {
  return fmt::format("{} {}", name_of(f.settings.method), name_of(f.settings.strategy));
}

std::string or_dash(const Table1& table, Index LuCounts::*member) {
  return table ? fmt::format("{}", (*table).*member) : std::string("-");
}

/// The texels that a pass draws, relative to those that M1 or M2 draw. Table 1 calls this the weight.
double weight_of(const LuFigures& f) {
  Index one_row_a_texel = 0;
  for (Index i = 0; i < f.n; ++i) one_row_a_texel += (f.n - i - 1) * (f.n - i);
  return one_row_a_texel > 0 ? static_cast<double>(f.counts.drawn_texels) / static_cast<double>(one_row_a_texel) : 0;
}

std::string table1(const std::vector<LuFigures>& figures) {
  constexpr const char* columns = "{:<12}{:>6}{:>10}{:>10}{:>12}{:>9}{:>9}{:>10}{:>10}{:>16}{:>16}\n";
  std::string text =
      "\nPasses and copies as they were called for, beside the paper's Table 1 (whose formula for M3 and M4 is that of "
      "multiples of 4).\nweight: texels drawn, over those of M1 and M2\n" +
      fmt::format(columns, "method", "n", "passes", "Table 1", "with texels", "weight", "Table 1", "copies", "Table 1",
                  "bytes copied", "Table 1");
  for (const LuFigures& f : figures) {
    const Table1 paper = solvers::lu_table1(f.settings, f.n);
    text += fmt::format(
        columns, series_of(f), f.n, f.counts.passes, or_dash(paper, &LuCounts::passes), f.counts.passes_with_texels,
        fmt::format("{:.3f}", weight_of(f)), solvers::lu_table1_weight(f.settings.method), f.counts.copies,
        or_dash(paper, &LuCounts::copies), f.counts.copied_bytes, or_dash(paper, &LuCounts::copied_bytes));
  }
  return text;
}

std::string table3(const std::vector<LuFigures>& figures, LuClock clock) {
  constexpr const char* columns = "{:<12}{:>6}{:>12}{:>12}{:>12}{:>12}\n";
  const auto milliseconds = [](double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); };
  std::string text =
      "\nBreakdown as the paper's Table 3, milliseconds, the least of the repetitions: A all, G the device computes, C "
      "the\nprocessor gives commands, T copies; ";
  text += clock == LuClock::timer_queries
              ? "G and T are between timestamps of the device, C = A - G - T\n"
              : "by differences, since the device's timer queries tell nothing: C is a run of\nnothing but commands, T "
                "what a run without copies takes less, G = A - C - T; what is less than runs vary by may be\nbelow 0\n";
  text += fmt::format(columns, "method", "n", "A", "G", "C", "T");
  for (const LuFigures& f : figures) {
    const LuBreakdown& b = f.breakdown;
    text += fmt::format(columns, series_of(f), f.n, milliseconds(b.whole), milliseconds(b.device), milliseconds(b.host),
                        b.copying ? milliseconds(*b.copying) : "-");
  }
  return text;
}

std::string access_table(const std::vector<LuFigures>& figures, double fetch_rate) {
  constexpr const char* columns = "{:<12}{:>6}{:>12}{:>12}{:>12}{:>12}\n";
  std::string text = fmt::format(
      "\nAccesses alone, without arithmetic and copies: 16 bytes a texel that a fragment fetches, and the share of "
      "what "
      "the device\nfetches at most from a texture in cache, {:.1f} GB/s\n",
      1e-9 * fetch_rate);
  text += fmt::format(columns, "method", "n", "GB", "ms", "GB/s", "share");
  for (const LuFigures& f : figures) {
    const LuAccess& a = f.access;
    text += fmt::format(columns, series_of(f), f.n, fmt::format("{:.4f}", 1e-9 * a.bytes),
                        fmt::format("{:.2f}", 1e3 * a.seconds),
                        a.bytes_per_second ? fmt::format("{:.2f}", 1e-9 * *a.bytes_per_second) : "-",
                        a.share ? fmt::format("{:.0f}%", 100 * *a.share) : "-");
  }
  return text;
}

}  // namespace

std::string_view name_of(LuClock clock) { return clock == LuClock::timer_queries ? "timer queries" : "differences"; }

nlohmann::json to_json(const LuFigures& f, LuClock clock) {
  const Table1 paper = solvers::lu_table1(f.settings, f.n);
  const auto of_paper = [&](Index LuCounts::*member) {
    return paper ? nlohmann::json((*paper).*member) : nlohmann::json();
  };
  return {{"method", name_of(f.settings.method)},
          {"strategy", name_of(f.settings.strategy)},
          {"passes", f.counts.passes},
          {"passes_of_table_1", of_paper(&LuCounts::passes)},
          {"passes_with_texels", f.counts.passes_with_texels},
          {"weight", weight_of(f)},
          {"weight_of_table_1", solvers::lu_table1_weight(f.settings.method)},
          {"copies", f.counts.copies},
          {"copies_of_table_1", of_paper(&LuCounts::copies)},
          {"copied_bytes", f.counts.copied_bytes},
          {"copied_bytes_of_table_1", of_paper(&LuCounts::copied_bytes)},
          {"drawn_texels", f.counts.drawn_texels},
          {"breakdown",
           {{"source", name_of(clock)},
            {"whole_seconds", f.breakdown.whole},
            {"device_seconds", f.breakdown.device},
            {"host_seconds", f.breakdown.host},
            {"copy_seconds", number(f.breakdown.copying)}}},
          {"access",
           {{"bytes", f.access.bytes},
            {"seconds", f.access.seconds},
            {"bytes_per_second", number(f.access.bytes_per_second)},
            {"share", number(f.access.share)}}}};
}

std::string lu_tables(const std::vector<LuFigures>& figures, LuClock clock, double fetch_rate) {
  if (figures.empty()) return {};
  return table1(figures) + table3(figures, clock) + access_table(figures, fetch_rate);
}

std::string lu_errors_table(const std::vector<ModeRecord>& records) {
  std::string rows;
  for (const ModeRecord& record : records) {
    if (!record.parameters.contains("difference")) continue;
    const nlohmann::json& difference = record.parameters["difference"];
    rows += fmt::format("{:<24}{:>10}{:>14}{:>14}\n", record.series(), record.size,
                        record.check ? fmt::format("{:.2e}", record.check->error) : std::string("-"),
                        difference.is_null() ? std::string("-") : fmt::format("{:.2e}", difference.get<double>()));
  }
  if (rows.empty()) return {};
  return fmt::format(
             "\nErrors: the residual, the largest element of |A - L U| over that of eps n |L| |U|, which is judged, "
             "eps = "
             "2^-24;\nand the largest difference from the factors of plain loops in double precision, over the largest "
             "element of these\n"
             "{:<24}{:>10}{:>14}{:>14}\n",
             "variant", "n", "residual", "difference") +
         rows;
}

}  // namespace glinpack::app
