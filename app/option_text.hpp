// Names of the choices that options offer, in both directions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/options.hpp"

namespace glinpack::app {

/// All backends, and "auto".
std::vector<std::string> backend_choices();
/// The matrices that are formulas: "hpl", "uniform", ...
/// The backends that "auto" may stand for, without and with "auto" itself.
std::vector<std::string> given_backend_choices();
std::vector<std::string> measured_backend_choices();
std::vector<std::string> matrix_choices();
/// "auto", "always", "never".
const std::vector<std::string>& when_choices();
/// The names of enumerators, in their order: of all_broadcasts, of all_row_swaps.
template <class Kinds>
std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto kind : kinds) names.emplace_back(name_of(kind));
  return names;
}

/// All of these throw InputError, naming the choices and the nearest one.
std::string parse_backend(const std::string& text);
/// A backend that "auto" may stand for, or "auto".
std::string parse_measured_backend(const std::string& text);
/// Without "auto".
std::string parse_given_backend(const std::string& text);
Precision parse_precision(const std::string& text);
/// Without "mixed".
Precision parse_single_or_double(const std::string& text);
Pivoting parse_pivoting(const std::string& text);
MatrixKind parse_matrix(const std::string& text);
BroadcastKind parse_broadcast(const std::string& text);
PanelPlace parse_panel_place(const std::string& text);
NodeTransport parse_node_transport(const std::string& text);
RowSwapKind parse_row_swap(const std::string& text);
When parse_when(const std::string& text);
/// "on", "off".
bool parse_switch(const std::string& text);
/// "streamed", "computed".
RasterCoordinates parse_raster_coordinates(const std::string& text);
std::string text_of(RasterCoordinates coordinates);

std::string text_of(When when);
std::string text_of(const GridShape& grid);  // "2x3"
/// The shortest decimal that reads back as the same number.
std::string text_of(double value);

}  // namespace glinpack::app
