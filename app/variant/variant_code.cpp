#include "app/variant/variant_code.hpp"

#include <array>
#include <charconv>
#include <limits>

#include "app/input/input_error.hpp"
#include "app/input/values.hpp"
#include "mpi/broadcast.hpp"

namespace glinpack::app {

namespace {

constexpr std::int64_t largest = std::numeric_limits<int>::max();  // HPL's type of DEPTH, NDIV and NBMIN

/// Reads a code from left to right.
class CodeReader {
 public:
  explicit CodeReader(std::string_view text) : text_(text) {}

  char letter(std::string_view choices, const std::string& expected) {
    if (place_ < text_.size() && choices.find(text_[place_]) != std::string_view::npos) return text_[place_++];
    refuse(expected);
  }

  std::string_view digits(const std::string& expected) {
    const std::size_t begin = place_;
    while (place_ < text_.size() && text_[place_] >= '0' && text_[place_] <= '9') ++place_;
    if (place_ == begin) refuse(expected);
    return text_.substr(begin, place_ - begin);
  }

  std::int64_t number(std::string_view digits, std::int64_t least, const std::string& name) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc() && value >= least && value <= largest) return value;
    place_ = static_cast<std::size_t>(digits.data() - text_.data());
    refuse(name + ", a number from " + std::to_string(least) + " to " + std::to_string(largest));
  }

  void end() {
    if (place_ < text_.size()) refuse("the code's end");
  }

  [[noreturn]] void refuse_at(std::size_t place, const std::string& expected) {
    place_ = place;
    refuse(expected);
  }

  std::size_t place() const { return place_; }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    const std::string found = place_ < text_.size() ? in_quotes(text_.substr(place_, 1)) : "the code's end";
    throw InputError("variant " + in_quotes(text_) + ": at place " + std::to_string(place_ + 1) + " stands " + found +
                     ", expected is " + expected + "; a code is such as WR11C2R4");
  }

  std::string_view text_;
  std::size_t place_ = 0;
};

std::string factorisation(char letter) {
  return letter == 'L' ? "left-looking" : letter == 'C' ? "Crout" : "right-looking";
}

/// HPL_pdinfo.c's names and their meanings.
std::string broadcast_meaning(int digit) {
  static const std::array<const char*, 8> meanings{
      "1ring: increasing ring",
      "1ringM: increasing ring, modified: the root's neighbour receives first and does not forward",
      "2ring: increasing two rings",
      "2ringM: increasing two rings, modified",
      "Blong: long, bandwidth reducing: scatter, then roll",
      "BlongM: long, bandwidth reducing, modified",
      "MPI_Ibcast, glinpack's own code: HPL has none",
      "1ringP: increasing ring, its message in pieces, glinpack's own code: HPL has none"};
  return meanings[static_cast<std::size_t>(digit)];
}

std::string broadcast_option(int digit) {
  for (const BroadcastKind kind : all_broadcasts) {
    if (hpl_digit(kind) == digit) return "--broadcast " + std::string(name_of(kind));
  }
  return "";
}

std::string depth_meaning(std::int64_t depth) {
  if (depth == 0) return "no look-ahead";
  if (depth == 1) return "look-ahead of 1 panel";
  return "look-ahead of " + std::to_string(depth) + " panels; glinpack looks 1 panel ahead";
}

// The option of plu: it takes one digit.
std::string depth_option(std::int64_t depth) { return "--lookahead " + std::to_string(depth > 9 ? 1 : depth); }

}  // namespace

std::string text_of(const VariantCode& code) {
  return std::string("W") + (code.row_major ? 'R' : 'C') + std::to_string(code.depth) + std::to_string(code.broadcast) +
         code.rfact + std::to_string(code.ndiv) + code.pfact + std::to_string(code.nbmin);
}

VariantCode parse_variant_code(std::string_view text) {
  CodeReader reader(text);
  VariantCode code;
  reader.letter("W", "'W', wall time");
  code.row_major = reader.letter("RC", "PMAP, 'R' or 'C'") == 'R';
  const std::size_t first = reader.place();
  const std::string_view depth_and_broadcast = reader.digits("DEPTH, a number, and BCAST, a digit from 0 to 7");
  if (depth_and_broadcast.size() < 2) reader.refuse_at(first + 1, "BCAST, a digit from 0 to 7");
  const std::string_view depth = depth_and_broadcast.substr(0, depth_and_broadcast.size() - 1);
  code.depth = reader.number(depth, 0, "DEPTH");
  code.broadcast = depth_and_broadcast.back() - '0';
  const std::size_t after = first + depth_and_broadcast.size();
  if (code.broadcast > 7) reader.refuse_at(after - 1, "BCAST, a digit from 0 to 7");
  code.rfact = reader.letter("LCR", "RFACT, 'L', 'C' or 'R'");
  code.ndiv = reader.number(reader.digits("NDIV, a number"), 2, "NDIV");
  code.pfact = reader.letter("LCR", "PFACT, 'L', 'C' or 'R'");
  code.nbmin = reader.number(reader.digits("NBMIN, a number"), 1, "NBMIN");
  reader.end();
  return code;
}

std::vector<VariantPart> explain(const VariantCode& code) {
  const auto text = [](auto value) { return std::to_string(value); };
  return {
      {"W", "T", "wall time: the time of the row is measured by a clock on the wall", ""},
      {code.row_major ? "R" : "C", "PMAP",
       std::string("ranks fill the process grid ") + (code.row_major ? "row by row" : "column by column"),
       code.row_major ? "--row-major" : "--column-major"},
      {text(code.depth), "DEPTH", depth_meaning(code.depth), depth_option(code.depth)},
      {text(code.broadcast), "BCAST", broadcast_meaning(code.broadcast), broadcast_option(code.broadcast)},
      {{code.rfact}, "RFACT", "panels are split recursively, each part " + factorisation(code.rfact), ""},
      {text(code.ndiv), "NDIV", "each recursion splits a panel into " + text(code.ndiv) + " parts", ""},
      {{code.pfact}, "PFACT", "what is not split any more is factorised " + factorisation(code.pfact), ""},
      {text(code.nbmin), "NBMIN",
       "the recursion stops at " + text(code.nbmin) + (code.nbmin == 1 ? " column" : " columns"), ""},
  };
}

}  // namespace glinpack::app
