#include "app/option_text.hpp"

#include <array>
#include <charconv>

#include "app/input/nearest_name.hpp"
#include "app/input/values.hpp"
#include "backend/registry.hpp"

namespace glinpack::app {

namespace {

// The position of `text` among the choices.
std::size_t choose(const std::string& text, std::span<const std::string> choices) {
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == text) return i;
  }
  throw InputError(in_quotes(text) + " is not one of " + enumerate(choices) + did_you_mean(text, choices));
}

const std::vector<std::string> precision_choices{"single", "double", "mixed"};
const std::vector<std::string> panel_choices{"auto", "host", "device"};
const std::vector<std::string> pivoting_choices{"local", "partial", "tournament"};
const std::vector<std::string> transport_choices{"shared", "mpi"};
const std::vector<std::string> coordinates_choices{"streamed", "computed"};
const std::vector<std::string> switch_choices{"off", "on"};

}  // namespace

std::vector<std::string> backend_choices() {
  std::vector<std::string> choices = backend_names();
  choices.push_back("auto");
  return choices;
}

std::vector<std::string> given_backend_choices() {
  std::vector<std::string> names;
  for (const BackendRecord* record : registered_backends) {
    if (record->automatic) names.emplace_back(record->name);
  }
  return names;
}

std::vector<std::string> measured_backend_choices() {
  std::vector<std::string> choices = given_backend_choices();
  choices.push_back("auto");
  return choices;
}

std::string parse_backend(const std::string& text) {
  const std::vector<std::string> choices = backend_choices();
  return choices[choose(text, choices)];
}

std::string parse_measured_backend(const std::string& text) {
  const std::vector<std::string> choices = measured_backend_choices();
  return choices[choose(text, choices)];
}

std::string parse_given_backend(const std::string& text) {
  const std::vector<std::string> choices = given_backend_choices();
  return choices[choose(text, choices)];
}

std::vector<std::string> matrix_choices() {
  std::vector<std::string> choices;
  for (const MatrixKind kind : matrix_formulas) choices.emplace_back(name_of(kind));
  return choices;
}

Precision parse_precision(const std::string& text) {
  constexpr std::array precisions{Precision::single, Precision::double_, Precision::mixed};
  return precisions[choose(text, precision_choices)];
}

Precision parse_single_or_double(const std::string& text) {
  return choose(text, std::span(precision_choices).first(2)) == 0 ? Precision::single : Precision::double_;
}

Pivoting parse_pivoting(const std::string& text) {
  return all_pivotings[choose(text, pivoting_choices)];
}

MatrixKind parse_matrix(const std::string& text) { return matrix_formulas[choose(text, matrix_choices())]; }

BroadcastKind parse_broadcast(const std::string& text) {
  if (const std::optional<BroadcastKind> kind = broadcast_from_name(text)) return *kind;
  std::vector<std::string> names;
  for (const BroadcastKind kind : all_broadcasts) names.emplace_back(name_of(kind));
  throw InputError(in_quotes(text) + " is not one of " + enumerate(names) + ", nor one of HPL's digits 0 ... 5" +
                   did_you_mean(text, names));
}

PanelPlace parse_panel_place(const std::string& text) { return static_cast<PanelPlace>(choose(text, panel_choices)); }

NodeTransport parse_node_transport(const std::string& text) {
  return static_cast<NodeTransport>(choose(text, transport_choices));
}

RowSwapKind parse_row_swap(const std::string& text) {
  if (const std::optional<RowSwapKind> kind = row_swap_from_name(text)) return *kind;
  std::vector<std::string> names;
  for (const RowSwapKind kind : all_row_swaps) names.emplace_back(name_of(kind));
  throw InputError(in_quotes(text) + " is not one of " + enumerate(names) + ", nor one of HPL's digits 0 ... 2" +
                   did_you_mean(text, names));
}

RasterCoordinates parse_raster_coordinates(const std::string& text) {
  return static_cast<RasterCoordinates>(choose(text, coordinates_choices));
}

std::string text_of(RasterCoordinates coordinates) {
  return coordinates_choices[static_cast<std::size_t>(coordinates)];
}

const std::vector<std::string>& when_choices() {
  static const std::vector<std::string> choices{"auto", "always", "never"};
  return choices;
}

bool parse_switch(const std::string& text) { return choose(text, switch_choices) == 1; }

When parse_when(const std::string& text) { return static_cast<When>(choose(text, when_choices())); }

std::string text_of(When when) { return when_choices()[static_cast<std::size_t>(when)]; }

std::string text_of(const GridShape& grid) { return std::to_string(grid.rows) + "x" + std::to_string(grid.columns); }

std::string text_of(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

}  // namespace glinpack::app
