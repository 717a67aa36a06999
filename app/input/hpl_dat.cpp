#include "app/input/hpl_dat.hpp"

#include <spdlog/fmt/fmt.h>

#include <climits>
#include <sstream>

#include "app/input/input_error.hpp"
#include "app/input/text_file.hpp"
#include "app/input/values.hpp"

namespace glinpack::app {

namespace {

constexpr std::int64_t largest_hpl_dat = 1 << 20;

// A whole number that HPL.dat expects: its name and range.
struct Expected {
  const char* what;
  Index minimum;
  Index maximum;
};

class HplDatReader {
 public:
  HplDatReader(const std::string& path, const std::string& contents) : path_(path), lines_(lines_of(path, contents)) {
    if (lines_.empty()) {
      throw InputError(path + ":1: the file is empty; HPL.dat has 31 lines (netlib's HPL brings an example)");
    }
  }

  /// The white-space separated tokens of the next line, including comments.
  std::vector<std::string> next_line(const char* expected) {
    ++line_;
    if (static_cast<std::size_t>(line_) > lines_.size()) {
      fail(std::string("the file ends here; line ") + std::to_string(line_) + " of 31 is missing: " + expected);
    }
    std::istringstream line(lines_[static_cast<std::size_t>(line_ - 1)]);
    std::vector<std::string> tokens;
    for (std::string token; line >> token;) tokens.push_back(token);
    return tokens;
  }

  void skip_line(const char* expected) { next_line(expected); }

  std::string next_word(const char* expected) {
    const std::vector<std::string> tokens = next_line(expected);
    return tokens.empty() ? "" : tokens.front();
  }

  template <class Number = int>
  Number next_whole(const Expected& field) {
    const std::string word = next_word(field.what);
    if (word.empty()) fail(std::string("the line is blank; expected: ") + field.what);
    return static_cast<Number>(whole(word, field, ""));
  }

  double next_real(const char* what) {
    const std::string word = next_word(what);
    if (word.empty()) fail(std::string("the line is blank; expected: ") + what);
    try {
      return parse_real(word);
    } catch (const InputError& error) {
      fail(std::string(what) + ": " + error.what());
    }
  }

  int next_count(const char* what) { return next_whole(Expected{what, 1, HplDat::longest_list}); }

  /// `count` values, announced on line `count_line`.
  template <class Number = int>
  std::vector<Number> next_values(int count, int count_line, const Expected& field) {
    const std::vector<std::string> tokens = next_line(field.what);
    const std::string announced = " (line " + std::to_string(count_line) + " announces " + std::to_string(count) + ")";
    std::vector<Number> values;
    for (int i = 0; i < count; ++i) {
      if (static_cast<std::size_t>(i) >= tokens.size()) {
        fail(std::string(field.what) + ": the line holds " + std::to_string(i) + " values" + announced);
      }
      const std::string position = ", value " + std::to_string(i + 1) + announced;
      values.push_back(static_cast<Number>(whole(tokens[static_cast<std::size_t>(i)], field, position)));
    }
    return values;
  }

  /// A count on one line, and that number of values on the next.
  template <class Number = int>
  std::vector<Number> next_list(const char* what_count, const Expected& field) {
    const int count = next_count(what_count);
    return next_values<Number>(count, line_, field);
  }

  int line() const { return line_; }

  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(path_ + ":" + std::to_string(line_) + ": " + message);
  }

 private:
  Index whole(const std::string& word, const Expected& field, const std::string& position) const {
    try {
      return parse_whole(word, field.minimum, field.maximum);
    } catch (const InputError& error) {
      fail(field.what + position + ": " + error.what());
    }
  }

  std::string path_;
  std::vector<std::string> lines_;
  int line_ = 0;  // 1-based, of the last line read
};

std::vector<char> factorisation_letters(const std::vector<int>& digits) {
  std::vector<char> letters;
  for (const int digit : digits) letters.push_back("LCR"[digit]);
  return letters;
}

void read_problem(HplDatReader& reader, HplDat& result) {
  reader.skip_line("free text");
  reader.skip_line("free text");
  result.output_file = reader.next_word("name of the output file");
  result.device = reader.next_whole({"device (6 stdout, 7 stderr, another number: the file of line 3)", 0, INT_MAX});
  if (!result.to_stdout() && !result.to_stderr() && result.output_file.empty()) {
    reader.fail(
        "device " + std::to_string(result.device) +
        " sends the output to the file of line 3, but that line is blank; name a file there, or give 6 (stdout)");
  }
  result.n = reader.next_list<Index>("number of problem sizes (N)", {"problem size N", 1, largest_n});
  result.nb = reader.next_list<Index>("number of block sizes (NB)", {"block size NB", 1, largest_nb});
  const int mapping = reader.next_whole({"PMAP (0 row-major, 1 column-major)", 0, 1});
  result.order = mapping == 1 ? RankOrder::column_major : RankOrder::row_major;

  const int grids = reader.next_count("number of process grids (P x Q)");
  const int grids_line = reader.line();
  const std::vector<int> ps = reader.next_values(grids, grids_line, {"P, rows of the grid", 1, largest_processes});
  const std::vector<int> qs = reader.next_values(grids, grids_line, {"Q, columns of the grid", 1, largest_processes});
  for (std::size_t i = 0; i < ps.size(); ++i) {
    if (static_cast<std::int64_t>(ps[i]) * qs[i] > largest_processes) {
      reader.fail("grid " + std::to_string(ps[i]) + " x " + std::to_string(qs[i]) + " needs more than " +
                  std::to_string(largest_processes) + " processes");
    }
    result.grids.push_back({ps[i], qs[i]});
  }
  result.threshold = reader.next_real("threshold of the residual (negative: no check)");
}

void read_algorithm(HplDatReader& reader, HplDat& result) {
  const Expected factorisation{"PFACT (0 left, 1 Crout, 2 right)", 0, 2};
  const Expected recursive{"RFACT (0 left, 1 Crout, 2 right)", 0, 2};
  result.pfact = factorisation_letters(reader.next_list("number of panel factorisations (PFACT)", factorisation));
  result.nbmin = reader.next_list("number of recursive stopping criteria (NBMIN)", {"NBMIN", 1, INT_MAX});
  result.ndiv = reader.next_list("number of panels in recursion (NDIV)", {"NDIV", 2, INT_MAX});
  result.rfact = factorisation_letters(reader.next_list("number of recursive factorisations (RFACT)", recursive));
  const Expected broadcast{"BCAST (0 1rg, 1 1rM, 2 2rg, 3 2rM, 4 Lng, 5 LnM)", 0, 5};
  for (const int digit : reader.next_list("number of broadcasts (BCAST)", broadcast)) {
    result.broadcast.push_back(*broadcast_from_name(std::to_string(digit)));
  }
  result.depth = reader.next_list("number of look-ahead depths (DEPTH)", {"DEPTH", 0, INT_MAX});
  const int swap = reader.next_whole({"SWAP (0 binary exchange, 1 long, 2 mix)", 0, 2});
  result.row_swap.kind = *row_swap_from_name(std::to_string(swap));
  result.row_swap.threshold = reader.next_whole({"swapping threshold", 0, INT_MAX});
  result.l1_form = reader.next_whole({"L1 (0 transposed, 1 not)", 0, 1});
  result.u_form = reader.next_whole({"U (0 transposed, 1 not)", 0, 1});
  result.equilibration = reader.next_whole({"equilibration (0 no, 1 yes)", 0, 1});
  result.alignment = reader.next_whole({"memory alignment in double (> 0)", 1, INT_MAX});
}

}  // namespace

HplDat read_hpl_dat(const std::string& path, TextFiles& files) {
  HplDatReader reader(path, files.read(path, largest_hpl_dat));
  HplDat result;
  read_problem(reader, result);
  read_algorithm(reader, result);
  return result;
}

std::string text_of(const HplDat& hpl_dat, const std::string& title, const std::string& comment) {
  std::string text = title + '\n' + comment + '\n';
  const auto line = [&](const auto& value, std::string_view what) { text += fmt::format("{:<12} {}\n", value, what); };
  const auto values = [&](const auto& list, std::string_view what) {
    line(fmt::format("{}", fmt::join(list, " ")), what);
  };
  const auto digits = [](const std::vector<char>& letters) {
    std::vector<std::size_t> result;
    for (const char letter : letters) result.push_back(std::string_view("LCR").find(letter));
    return result;
  };
  const auto list = [&](const auto& all, std::string_view count, std::string_view what) {
    line(all.size(), count);
    values(all, what);
  };
  std::vector<int> ps, qs, broadcasts;
  for (const GridShape& grid : hpl_dat.grids) {
    ps.push_back(grid.rows);
    qs.push_back(grid.columns);
  }
  for (const BroadcastKind kind : hpl_dat.broadcast) broadcasts.push_back(hpl_digit(kind));
  line(hpl_dat.output_file, "output file name (if any)");
  line(hpl_dat.device, "device out (6=stdout,7=stderr,file)");
  list(hpl_dat.n, "# of problems sizes (N)", "Ns");
  list(hpl_dat.nb, "# of NBs", "NBs");
  line(hpl_dat.order == RankOrder::column_major ? 1 : 0, "PMAP process mapping (0=Row-,1=Column-major)");
  list(ps, "# of process grids (P x Q)", "Ps");
  values(qs, "Qs");
  line(hpl_dat.threshold, "threshold");
  list(digits(hpl_dat.pfact), "# of panel fact", "PFACTs (0=left, 1=Crout, 2=Right)");
  list(hpl_dat.nbmin, "# of recursive stopping criterium", "NBMINs (>= 1)");
  list(hpl_dat.ndiv, "# of panels in recursion", "NDIVs");
  list(digits(hpl_dat.rfact), "# of recursive panel fact.", "RFACTs (0=left, 1=Crout, 2=Right)");
  list(broadcasts, "# of broadcast", "BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)");
  list(hpl_dat.depth, "# of lookahead depth", "DEPTHs (>=0)");
  const bool roll = hpl_dat.row_swap.kind == RowSwapKind::spread_roll;
  line(hpl_dat.row_swap.kind == RowSwapKind::binary_exchange ? 0 : roll ? 1 : 2, "SWAP (0=bin-exch,1=long,2=mix)");
  line(hpl_dat.row_swap.threshold, "swapping threshold");
  line(hpl_dat.l1_form, "L1 in (0=transposed,1=no-transposed) form");
  line(hpl_dat.u_form, "U  in (0=transposed,1=no-transposed) form");
  line(hpl_dat.equilibration, "Equilibration (0=no,1=yes)");
  line(hpl_dat.alignment, "memory alignment in double (> 0)");
  return text;
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
                  {depth, broadcast, {.given = true, .nbmin = nbmin, .ndiv = ndiv, .pfact = pfact, .rfact = rfact}});
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
    count *= static_cast<std::int64_t>(size);  // 20^9 at most
  }
  return count;
}

std::string unused_parameters_note(const std::string& path) {
  return path + ": L1, U, equilibration and alignment are accepted; glinpack has no use for them";
}

}  // namespace glinpack::app
