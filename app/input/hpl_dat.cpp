#include "app/input/hpl_dat.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

constexpr std::int64_t largest_hpl_dat = 1 << 20;
constexpr std::size_t lines_of_hpl = 31;
constexpr std::size_t lines_of_mxp = 14;
constexpr int values_of_hpl = 20;
constexpr int ibcast_digit = 6;  // in the HPLs of two vendors

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// A whole number: its name and range, and what HPL takes for a number out of range.
struct Expected {
  std::string_view what;
  Index minimum = 0;
  Index maximum = INT_MAX;
  std::optional<Index> otherwise = {};  // empty: HPL refuses the file
};

class HplDatReader {
 public:
  HplDatReader(const std::string& path, std::string contents, const HplDatUse& use) : path_(path), use_(use) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < lines_of_hpl && end < contents.size(); ++i) {
      end = std::min(contents.find('\n', end), contents.size() - 1) + 1;
    }
    contents.resize(end);
    lines_ = lines_of(path, std::move(contents));
    while (!lines_.empty() && words_of(lines_.back()).empty()) lines_.pop_back();
    if (lines_.empty()) {
      throw InputError(path + ":1: the file is empty; HPL.dat has 31 lines (netlib's HPL brings an example)");
    }
  }

  bool is_of_mxp() const { return use_.mxp && lines_.size() == lines_of_mxp; }
  int line() const { return line_; }

  void skip_line(std::string_view what) { read_line(what); }

  /// Skips the lines of an option that overrides them.
  bool skips(const std::string& option, int lines) {
    if (!use_.overridden || !use_.overridden(option)) return false;
    for (int i = 0; i < lines; ++i) next_word(option);
    return true;
  }

  /// The first word. As HPL reads: that of the last line after the end of the file; the word before if it is blank.
  std::string next_word(std::string_view what) {
    read_line(what);
    if (!words_.empty()) word_ = words_.front();
    return word_;
  }

  template <class Number = int>
  Number next_whole(const Expected& field) {
    const std::string word = next_word(field.what);
    if (words_.empty()) add_note(fmt::format("the line is blank; the value before it is read: {}", in_quotes(word)));
    return static_cast<Number>(whole(word, field, ""));
  }

  double next_real(std::string_view what) {
    const std::string word = next_word(what);
    const std::string_view digits = std::string_view(word).substr(word.starts_with('+') ? 1 : 0);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range || !std::isfinite(value)) {
      fail(fmt::format("{}: {} is not a finite real number; one such as 16.0 is expected", what, in_quotes(word)));
    }
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || words_.empty()) add_note(fmt::format("{}: {} is read as {}", what, in_quotes(word), value));
    return value;
  }

  /// A number of values, which no line before it can give.
  int next_count(std::string_view what) {
    read_line(what);
    if (ends_early() || words_.empty()) fail(fmt::format("the line is blank; expected: {}", what));
    word_ = words_.front();
    const int count = static_cast<int>(whole(word_, {what, 1, static_cast<Index>(longest_list)}, ""));
    if (count > values_of_hpl) add_note(fmt::format("{} is {}; HPL 2.3 reads up to {}", what, count, values_of_hpl));
    return count;
  }

  /// `count` values, announced on line `count_line`.
  template <class Number = int>
  std::vector<Number> next_values(int count, int count_line, const Expected& field) {
    read_line(field.what);
    const std::string announced = fmt::format(" (line {} announces {})", count_line, count);
    std::vector<Number> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      if (ends_early() || i >= words_.size())
        fail(fmt::format("{}: the line holds {}{}", field.what, counted(i, "value"), announced));
      word_ = words_[i];
      values.push_back(static_cast<Number>(whole(word_, field, fmt::format(", value {}{}", i + 1, announced))));
    }
    return values;
  }

  /// A count on one line, and that number of values on the next.
  template <class Number = int>
  std::vector<Number> next_list(std::string_view what_count, const Expected& field) {
    const int count = next_count(what_count);
    return next_values<Number>(count, line_, field);
  }

  /// A line has one note; after the end of the file there is another.
  void add_note(const std::string& text) {
    constexpr std::size_t longest = 300;
    if (ends_early()) return;
    const std::string where = fmt::format("{}:{}: ", path_, line_);
    if (notes_.empty() || !notes_.back().starts_with(where)) {
      notes_.push_back(where + text);
    } else if (notes_.back().size() < longest) {
      notes_.back() += "; " + text;
    }
  }

  std::vector<std::string> take_notes() {
    if (ends_early()) {
      notes_.push_back(fmt::format("{}:{}: the file ends here; lines {} to {} are read as line {} again, as by xhpl",
                                   path_, lines_.size() + 1, lines_.size() + 1, line_, lines_.size()));
    }
    return std::move(notes_);
  }

  [[noreturn]] void fail(const std::string& message) const {
    const std::size_t end = lines_.size() + 1;
    const bool may_be_of_mxp = !use_.mxp && lines_.size() == lines_of_mxp;
    const std::string hint = may_be_of_mxp ? "; HPL-MxP's file has 14 lines: use --matrix mxp" : "";
    const std::string missing = fmt::format("the file ends here; line {} of 31 is missing: {}", end, first_missing_);
    throw InputError(fmt::format("{}:{}: {}{}", path_, ends_early() ? end : static_cast<std::size_t>(line_),
                                 ends_early() ? missing : message, hint));
  }

 private:
  bool ends_early() const { return static_cast<std::size_t>(line_) > lines_.size(); }

  void read_line(std::string_view what) {
    ++line_;
    if (!ends_early()) {
      words_ = words_of(lines_[static_cast<std::size_t>(line_ - 1)]);
    } else if (first_missing_.empty()) {
      first_missing_ = what;
    }
  }

  // As C's atoi() reads it: the digits at the start; 0 without any.
  Index whole(const std::string& word, const Expected& field, const std::string& position) {
    const std::string_view digits = std::string_view(word).substr(word.starts_with('+') ? 1 : 0);
    Index value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool in_range = value >= field.minimum && value <= field.maximum;
    if (error == std::errc::result_out_of_range || (!in_range && !field.otherwise)) {
      fail(fmt::format("{}{}: {}", field.what, position, message_on(word, field)));
    }
    if (!in_range) value = *field.otherwise;
    if (!in_range || error != std::errc() || end != digits.data() + digits.size()) {
      add_note(fmt::format("{}: {} is read as {}", field.what, in_quotes(word), value));
    }
    return value;
  }

  static std::string message_on(const std::string& word, const Expected& field) {
    try {
      parse_whole(word, field.minimum, field.maximum);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }

  std::string path_;
  const HplDatUse& use_;
  std::vector<std::string> lines_;
  int line_ = 0;                    // 1-based, of the last line read
  std::vector<std::string> words_;  // of that line, or of the last one
  std::string word_;                // the last one read
  std::string first_missing_;       // what belongs on the first line after the end of the file
  std::vector<std::string> notes_;
};

std::vector<char> factorisation_letters(const std::vector<int>& digits) {
  std::vector<char> letters;
  for (const int digit : digits) letters.push_back("LCR"[digit]);
  return letters;
}

void read_grids(HplDatReader& reader, HplDat& result, bool mxp) {
  if (reader.skips("grid", mxp ? 2 : 3)) return;
  const int grids = mxp ? 1 : reader.next_count("number of process grids (P x Q)");
  const int grids_line = reader.line();
  const std::vector<int> ps = reader.next_values(grids, grids_line, {"P, rows of the grid", 1, largest_processes});
  const std::vector<int> qs = reader.next_values(grids, grids_line, {"Q, columns of the grid", 1, largest_processes});
  for (std::size_t i = 0; i < ps.size(); ++i) {
    if (static_cast<std::int64_t>(ps[i]) * qs[i] > largest_processes) {
      reader.fail(fmt::format("grid {} x {} needs more than {} processes", ps[i], qs[i], largest_processes));
    }
    result.grids.push_back({ps[i], qs[i]});
  }
}

void read_problem(HplDatReader& reader, HplDat& result, bool mxp) {
  reader.skip_line("free text");
  reader.skip_line("free text");
  result.output_file = reader.next_word("name of the output file");
  result.device = reader.next_whole({"device (6 stdout, 7 stderr, another number: the file of line 3)", INT_MIN});
  if (!result.to_stdout() && !result.to_stderr() && result.output_file.empty()) {
    reader.fail(
        "device " + std::to_string(result.device) +
        " sends the output to the file of line 3, but that line is blank; name a file there, or give 6 (stdout)");
  }
  if (!reader.skips("n", 2)) {
    result.n = reader.next_list<Index>("number of problem sizes (N)", {"problem size N", 1, largest_n});
  }
  if (!reader.skips("nb", 2)) {
    result.nb = reader.next_list<Index>("number of block sizes (NB)", {"block size NB", 1, largest_nb});
  }
  const int mapping = reader.next_whole({"PMAP (0 row-major, 1 column-major)", 0, 1, 0});
  result.order = mapping == 1 ? RankOrder::column_major : RankOrder::row_major;
  read_grids(reader, result, mxp);
  if (!reader.skips("threshold", 1)) {
    result.threshold = reader.next_real("threshold of the residual (0 or less: no check)");
  }
}

void read_broadcast(HplDatReader& reader, HplDat& result) {
  if (reader.skips("broadcast", 2)) return;
  const Expected broadcast{"BCAST (0 1rg, 1 1rM, 2 2rg, 3 2rM, 4 Lng, 5 LnM)", 0, ibcast_digit, 1};
  for (const int digit : reader.next_list("number of broadcasts (BCAST)", broadcast)) {
    if (digit == ibcast_digit) {
      reader.add_note("BCAST 6 is read as ibcast, as by the HPLs that have it; HPL 2.3 reads 1 (1rM)");
      result.broadcast.push_back(BroadcastKind::ibcast);
    } else {
      result.broadcast.push_back(*broadcast_from_name(std::to_string(digit)));
    }
  }
}

void read_algorithm(HplDatReader& reader, HplDat& result) {
  const Expected factorisation{"PFACT (0 left, 1 Crout, 2 right)", 0, 2, 2};
  const Expected recursive{"RFACT (0 left, 1 Crout, 2 right)", 0, 2, 2};
  result.pfact = factorisation_letters(reader.next_list("number of panel factorisations (PFACT)", factorisation));
  result.nbmin = reader.next_list("number of recursive stopping criteria (NBMIN)", {"NBMIN", 1});
  result.ndiv = reader.next_list("number of panels in recursion (NDIV)", {"NDIV", 2});
  result.rfact = factorisation_letters(reader.next_list("number of recursive factorisations (RFACT)", recursive));
  read_broadcast(reader, result);
  if (!reader.skips("lookahead", 2)) result.depth = reader.next_list("number of look-ahead depths (DEPTH)", {"DEPTH"});
  if (!reader.skips("row-swap", 1)) {
    const int swap = reader.next_whole({"SWAP (0 binary exchange, 1 long, 2 mix)", 0, 2, 1});
    result.row_swap.kind = *row_swap_from_name(std::to_string(swap));
  }
  result.row_swap.threshold = reader.next_whole({"swapping threshold", 0, INT_MAX, 0});
  reader.next_whole({"L1 (0 transposed, 1 not)", 0, 1, 0});
  reader.next_whole({"U (0 transposed, 1 not)", 0, 1, 0});
  reader.next_whole({"equilibration (0 no, 1 yes)", 0, 1, 1});
  reader.next_whole({"memory alignment in double (> 0)", 1, INT_MAX, 4});
}

std::vector<std::size_t> factorisation_digits(const std::vector<char>& letters) {
  std::vector<std::size_t> digits;
  for (const char letter : letters) digits.push_back(std::string_view("LCR").find(letter));
  return digits;
}

std::vector<int> broadcast_digits(const std::vector<BroadcastKind>& kinds) {
  std::vector<int> digits;
  for (const BroadcastKind kind : kinds) {
    if (kind == BroadcastKind::ring_pipelined) {
      throw InputError("HPL.dat has no number for --broadcast ring-pipelined; use another broadcast");
    }
    digits.push_back(hpl_digit(kind));
  }
  return digits;
}

int swap_digit(RowSwapKind kind) {
  if (kind != RowSwapKind::direct) return static_cast<int>(kind) - static_cast<int>(RowSwapKind::binary_exchange);
  throw InputError("HPL.dat has no number for --row-swap direct; use another row swap");
}

}  // namespace

HplDat read_hpl_dat(const std::string& path, TextFiles& files, const HplDatUse& use) {
  HplDatReader reader(path, files.read(path, largest_hpl_dat), use);
  HplDat result;
  const bool mxp = reader.is_of_mxp();
  read_problem(reader, result, mxp);
  if (mxp) {
    result.has_variant = false;
    read_broadcast(reader, result);
  } else {
    read_algorithm(reader, result);
  }
  result.notes = reader.take_notes();
  return result;
}

std::vector<HplCombination> combinations(const HplDat& hpl_dat) {
  std::vector<HplCombination> all;
  for (const int depth : hpl_dat.depth) {
    for (const BroadcastKind broadcast : hpl_dat.broadcast) {
      for (const char rfact : hpl_dat.rfact) {
        for (const char pfact : hpl_dat.pfact) {
          for (const int nbmin : hpl_dat.nbmin) {
            for (const int ndiv : hpl_dat.ndiv) {
              all.push_back(
                  {depth,
                   broadcast,
                   {.given = hpl_dat.has_variant, .nbmin = nbmin, .ndiv = ndiv, .pfact = pfact, .rfact = rfact}});
            }
          }
        }
      }
    }
  }
  return all;
}

std::int64_t run_count(const HplDat& hpl_dat) {
  std::int64_t count = 1;
  for (const std::size_t size :
       {hpl_dat.grids.size(), hpl_dat.n.size(), hpl_dat.nb.size(), hpl_dat.depth.size(), hpl_dat.broadcast.size(),
        hpl_dat.rfact.size(), hpl_dat.pfact.size(), hpl_dat.nbmin.size(), hpl_dat.ndiv.size()}) {
    if (__builtin_mul_overflow(count, static_cast<std::int64_t>(size), &count)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return count;
}

std::string text_of(const HplDat& hpl_dat) {
  std::string rows, columns;
  for (const GridShape& grid : hpl_dat.grids) {
    rows += fmt::format("{} ", grid.rows);
    columns += fmt::format("{} ", grid.columns);
  }
  const auto line = [](const auto& value, const char* meaning) { return fmt::format("{:<12} {}\n", value, meaning); };
  std::string text = "HPLinpack benchmark input file\nwritten by glinpack plu --write-hpl-dat\n";
  text += line("HPL.out", "output file") + line(hpl_dat.device, "6: stdout, 7: stderr, else the file");
  text += line(hpl_dat.n.size(), "number of N") + line(fmt::format("{}", fmt::join(hpl_dat.n, " ")), "N");
  text += line(hpl_dat.nb.size(), "number of NB") + line(fmt::format("{}", fmt::join(hpl_dat.nb, " ")), "NB");
  text += line(hpl_dat.order == RankOrder::row_major ? 0 : 1, "PMAP (0: row-major, 1: column-major)");
  text += line(hpl_dat.grids.size(), "number of process grids") + line(rows, "P") + line(columns, "Q");
  text += line(hpl_dat.threshold, "threshold");
  const auto list = [&line](const auto& values, const char* meaning) {
    return line(values.size(), "number of values") + line(fmt::format("{}", fmt::join(values, " ")), meaning);
  };
  text += list(factorisation_digits(hpl_dat.pfact), "PFACT (0: left, 1: Crout, 2: right)");
  text += list(hpl_dat.nbmin, "NBMIN") + list(hpl_dat.ndiv, "NDIV");
  text += list(factorisation_digits(hpl_dat.rfact), "RFACT (0: left, 1: Crout, 2: right)");
  text += list(broadcast_digits(hpl_dat.broadcast), "BCAST (0: 1ring ... 5: LonM)") + list(hpl_dat.depth, "DEPTH");
  text += line(swap_digit(hpl_dat.row_swap.kind), "SWAP (0: binary-exchange, 1: long, 2: mix)");
  text += line(hpl_dat.row_swap.threshold, "threshold of mix");
  text += line(0, "L1 (0: transposed, 1: not)") + line(0, "U (0: transposed, 1: not)");
  return text + line(1, "equilibration (0: no, 1: yes)") + line(8, "alignment in doubles");
}

std::string unused_parameters_note(const std::string& path) {
  return path + ": L1, U, equilibration and alignment are accepted; glinpack has no use for them";
}

}  // namespace glinpack::app
