#include "matrix/matrix_kind.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "matrix/matrix_formulas.hpp"
#include "matrix/spectrum.hpp"

namespace glinpack {

namespace {

constexpr std::string_view bases_with_spectrum[] = {"diag", "svd", "poev", "spd", "heev", "syev"};
constexpr double epsilon_share_of_dlatb4 = 0.1;  // BADC2 = 0.1 / eps, BADC1 = its square root

bool is_in(const auto& names, std::string_view name) { return std::ranges::find(names, name) != std::end(names); }

[[noreturn]] void refuse(const std::string& name, const std::string& reason) {
  throw std::invalid_argument("'" + name + "' is no matrix: " + reason);
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= name.size();) {
    const std::size_t end = std::min(name.find('_', first), name.size());
    parts.push_back(name.substr(first, end - first));
    first = end + 1;
  }
  return parts;
}

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

MatrixSpec dlatb4_type(const std::string& name, const std::string& number) {
  const auto type = number_in(number);
  if (!type || *type != std::floor(*type) || *type < 1 || *type > 11) refuse(name, "dlatb4's types are 1 to 11");
  MatrixSpec spec{.base = *type == 1   ? "diag"
                          : *type == 2 ? "upper"
                          : *type == 3 ? "lower"
                                       : "svd",
                  .spectrum = "geo",
                  .condition = 2};
  if (*type == 5) spec.zero_column = 0;
  if (*type == 6) {
    spec.zero_column = 1;
    spec.zero_column_is_share = true;
  }
  spec.zero_half = *type == 7;
  if (*type == 8 || *type == 9) {
    spec.condition.reset();
    spec.share_of_epsilon = epsilon_share_of_dlatb4;
    spec.root_of_condition = *type == 8;
  }
  if (*type == 10) spec.scale = MatrixSpec::Scale::ufl;
  if (*type == 11) spec.scale = MatrixSpec::Scale::ofl;
  return spec;
}

void read_zero_column(const std::string& name, std::string_view text, MatrixSpec& spec) {
  spec.zero_column = number_in(text);
  spec.zero_column_is_share = text.find('.') != std::string_view::npos;
  const double most = spec.zero_column_is_share ? 1 : 9e15;
  if (spec.zero_column && *spec.zero_column >= 0 && *spec.zero_column <= most &&
      (spec.zero_column_is_share || *spec.zero_column == std::floor(*spec.zero_column))) {
    return;
  }
  refuse(name, "after _zerocol a column, counted from 0, or a share of them from 0.0 to 1.0 is expected");
}

void read_modifier(const std::string& name, const std::string& part, MatrixSpec& spec) {
  const bool has_spectrum = is_in(bases_with_spectrum, spec.base);
  const MatrixBase* base = find_matrix_base(spec.base);
  if (is_in(all_spectra, part)) {
    if (!has_spectrum) refuse(name, "the base " + spec.base + " has no _" + part + "; diag, svd, poev and heev do");
    spec.spectrum = part;
  } else if (part.starts_with("cond")) {
    if (!has_spectrum) refuse(name, "the base " + spec.base + " has no _cond; diag, svd, poev and heev do");
    spec.condition = number_in(std::string_view(part).substr(4));
    if (!spec.condition || *spec.condition < 1) refuse(name, "after _cond a condition of at least 1 is expected");
  } else if (part == "ufl") {
    spec.scale = MatrixSpec::Scale::ufl;
  } else if (part == "ofl") {
    spec.scale = MatrixSpec::Scale::ofl;
  } else if (part == "small") {
    spec.scale = MatrixSpec::Scale::small;
  } else if (part == "large") {
    spec.scale = MatrixSpec::Scale::large;
  } else if (part == "dominant") {
    if (base == nullptr || !base->random) refuse(name, "_dominant is for random bases, such as rands");
    spec.dominant = true;
  } else if (part == "zerohalf") {
    spec.zero_half = true;
  } else if (part.starts_with("zerocol")) {
    read_zero_column(name, std::string_view(part).substr(7), spec);
  } else {
    refuse(name, "the modifier _" + part +
                     " is unknown; _geo and other spectra, _condX, _ufl, _ofl, _small, _large, _dominant, _zerocolN "
                     "and _zerohalf are known");
  }
}

}  // namespace

MatrixSpec spec_of(const std::string& name) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.front() == "dlatb4" && parts.size() == 2) return dlatb4_type(name, parts[1]);
  MatrixSpec spec{.base = parts.front()};
  const bool has_spectrum = is_in(bases_with_spectrum, spec.base);
  const bool is_known = has_spectrum || spec.base == "hpl" || find_matrix_base(spec.base) != nullptr;
  if (!is_known) refuse(name, "the base '" + spec.base + "' is unknown; `glinpack plu --help` lists all");
  if (spec.base == "hpl" && parts.size() > 1) refuse(name, "hpl has no modifiers; rands does");
  if (has_spectrum) spec.spectrum = "logrand";
  for (std::size_t i = 1; i < parts.size(); ++i) read_modifier(name, parts[i], spec);
  if (spec.zero_half && spec.zero_column) refuse(name, "_zerocol and _zerohalf are both given; leave one out");
  return spec;
}

std::optional<Index> MatrixSpec::first_zero_column(Index n) const {
  std::optional<Index> first;
  if (zero_half) first = n / 2;
  if (!zero_column) return first;
  const double column = zero_column_is_share ? std::floor(*zero_column * static_cast<double>(n - 1)) : *zero_column;
  if (column >= static_cast<double>(n)) {
    throw std::invalid_argument("there is no column " + std::to_string(static_cast<Index>(column)) +
                                " to be zero, counted from 0, in a matrix of order " + std::to_string(n));
  }
  const auto zero = static_cast<Index>(column);
  return first ? std::min(*first, zero) : zero;
}

MatrixKind MatrixKind::parse(const std::string& name) {
  constexpr std::size_t longest = 100;
  if (name.size() > longest) refuse(name.substr(0, longest) + "...", "the name is too long");
  if (name != file.name()) spec_of(name);
  static std::set<std::string> names;
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  return MatrixKind(*names.insert(name).first);
}

std::string description_of(const MatrixKind& kind) {
  if (kind == MatrixKind::hpl) return "HPL's own, randomly generated for each test.";
  if (kind == MatrixKind::file) return "read from a file; the right-hand side is A times ones.";
  if (const MatrixBase* base = find_matrix_base(kind.name())) return std::string(base->description);
  const MatrixSpec spec = spec_of(std::string(kind.name()));
  const MatrixBase* base = find_matrix_base(spec.base);
  return std::string(kind.name()) +
         (base != nullptr ? ": " + std::string(base->description) : ": with given singular values or eigenvalues.") +
         (base != nullptr && kind.name() != base->name ? " Modified as its name says." : "");
}

}  // namespace glinpack
