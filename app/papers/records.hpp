// What a standalone mode measured: one record per variant and size; fits of their times; and their reports as text,
// CSV and JSON (docs/solver.schema.json).
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/record/json.hpp"
#include "base/measuring.hpp"
#include "base/precision.hpp"
#include "solvers/device/device.hpp"

namespace glinpack::app {

using solvers::NoResult;
using solvers::Steps;

/// The host and, if a variant needs one, the device.
struct ModeMachine {
  std::unique_ptr<solvers::Device> device;  // null: only the host
  std::string host_name;
  std::string processor;
  std::string blas;     // "OpenBLAS 0.3.21"
  std::string kernels;  // "SkylakeX"
  int threads = 1;      // also of OpenBLAS
  std::vector<std::string> notes;
};

/// Seconds over the repetitions.
struct MeasuredStages {
  Measured compute;                                         // without packing and transfer, as in the papers
  Measured with_transfer;                                   // including upload and download
  Measured with_all;                                        // including packing and unpacking
  std::array<Measured, solvers::all_stages.size()> stages;  // each separately
  double first = 0;                                         // with all, of the first run, warm-up included

  const Measured& of(solvers::Stage stage) const { return stages[static_cast<std::size_t>(stage)]; }
};

/// The check of a result.
struct ModeCheck {
  std::string against;                                      // "OpenBLAS gemm"
  double error = std::numeric_limits<double>::quiet_NaN();  // in the unit of `tolerance`
  double tolerance = 0;

  bool passed() const { return error <= tolerance; }  // false for NaN
};

struct ModeRecord {
  std::string variant;        // "multi-pass"
  std::string settings = {};  // what distinguishes it further, as printed: "2x2, pass 1"; may be empty
  std::string size;           // as printed: "257", "33x21x18"
  Index n = 0;                // the abscissa of fits and plots
  Precision precision = Precision::single;
  nlohmann::json parameters = nlohmann::json::object();  // of the mode: packing, pass length, extents ...
  bool is_rival = false;  // computed by the host, as reference for records of the same size
  MeasuredStages times = {};
  double flops = 0;  // 0: unknown
  std::optional<ModeCheck> check = {};
  std::string failure = {};  // why there is no result (a singular matrix ...); then the check is skipped

  // set by ModeRun: the rival's seconds divided by this record's
  std::optional<double> speedup = {};           // without packing and transfer
  std::optional<double> speedup_with_all = {};  // with packing and transfer

  bool passed() const { return failure.empty() && (!check || check->passed()); }
  /// True if times were measured.
  bool timed() const { return failure.empty() && times.compute.repetitions > 0; }
  double gflops() const { return flops > 0 && times.compute.median > 0 ? flops / times.compute.median * 1e-9 : 0; }
  /// The series of the record: the same for all sizes.
  std::string series() const { return settings.empty() ? variant : variant + " " + settings; }
  std::string label() const { return series() + ", " + size; }
};

// Fits of times over sizes. The papers compare devices by their coefficients, not by the best point (Brodtkorb 2008,
// section 5).

struct FitPoint {
  double n = 0;
  double seconds = 0;  // greater than 0
};

/// t(n) = a + b n + c n^2 + ... up to a given degree.
struct PolynomialFit {
  std::vector<double> coefficients;   // a, b, c, ...: seconds per n^k
  double mean_relative_error = 0;     // root mean square of (t(n) - t) / t
  double largest_relative_error = 0;  // of |t(n) - t| / t

  double dominant() const { return coefficients.back(); }
  double at(double n) const;
};

/// Weighted least squares: minimises the sum of ((t(n_i) - t_i) / t_i)^2, so that small and large sizes count alike.
/// The paper does not give its weights. Uses LAPACK's dgelsd. Needs more points than the degree; throws
/// std::invalid_argument.
PolynomialFit fit_polynomial(std::span<const FitPoint> points, int degree);

/// The first n in [from, to] where one fit overtakes the other; empty if none does.
std::optional<double> crossing(const PolynomialFit& one, const PolynomialFit& other, double from, double to);

/// The fit of a series of records, for the computation without transfers.
struct SeriesFit {
  std::string series;
  std::string settings;
  bool is_rival = false;
  PolynomialFit fit;
  /// The rival's dominant coefficient divided by this one's; empty unless both are positive.
  std::optional<double> speedup = {};
};
/// The series' times by one coefficient each, c n and c log2 n, as the paper of 2006 has them beside its figures; and
/// the sizes where the polynomials of `fits` overtake the processor's. Empty without fits.
std::string one_coefficient_text(std::span<const ModeRecord> records, std::span<const SeriesFit> fits);

/// One fit for every series with enough sizes. The rival has the same settings, or else is the first rival.
std::vector<SeriesFit> fit_series(std::span<const ModeRecord> records, int degree);

/// Throws InputError if --fit is given with too few distinct sizes. There must be more sizes than coefficients, else
/// the residual is zero.
void check_fit(bool fit, const std::vector<Index>& sizes, int degree);

// Reports.

/// Device, host and notes.
std::string mode_head(const std::string& mode, const ModeMachine& machine);
/// The head of the table of times, and one row; a failed record's row has the reason.
std::string mode_table_head();
std::string mode_line(const ModeRecord& record);
/// A line of a table, without trailing blanks.
std::string table_line(std::string line);
/// A column of a study's own table: title, width in characters (negative: left-aligned), and the text of a record.
struct Column {
  std::string title;
  int width;
  std::function<std::string(const ModeRecord&)> cell;
};
/// The parameter at a JSON pointer, a number times `scale`; `unknown` if it is missing or null.
std::function<std::string(const ModeRecord&)> parameter(const std::string& pointer, const std::string& format = "{}",
                                                        double scale = 1, const std::string& unknown = "-");
/// The head and a row for every record that did not fail and has the parameter `key`; empty without one.
std::string records_table(std::span<const ModeRecord> records, const std::string& key,
                          const std::vector<Column>& columns);
/// That of residuals, of the parameter `key`, the difference from an exact result, and of `more`. `size`: the column of
/// sizes.
std::string errors_table(std::span<const ModeRecord> records, const std::string& key, const std::string& unknown,
                         int series_width, const std::string& size, int size_width,
                         const std::vector<Column>& more = {});
/// A table of coefficients, errors and speed-ups; empty without fits.
std::string fits_text(std::span<const SeriesFit> fits);

/// A line per record.
std::string mode_csv(const std::string& mode, std::span<const ModeRecord> records);
/// The JSON document without context.
nlohmann::json mode_json(const std::string& mode, const ModeMachine& machine, std::span<const ModeRecord> records,
                         std::span<const SeriesFit> fits);

/// Shortest decimal of a finite number, for CSV; empty for others.
std::string csv_number(double value);
/// Null if the number is unknown or not finite.
nlohmann::json number_or_null(const std::optional<double>& value);

}  // namespace glinpack::app
