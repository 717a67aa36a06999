#include "local/gl/compute/reduce_tile.hpp"

#include <array>
#include <stdexcept>

namespace glinpack::gl {
namespace {

// The first is about the fastest of an H200 (results/h200/tune.txt); what never came near it is left out.
constexpr std::array<ReduceTile, 7> single_tiles{{{16, 8, 8, false},
                                                  {16, 8, 16, false},
                                                  {16, 8, 8, true},
                                                  {8, 16, 8, false},
                                                  {16, 16, 8, false},
                                                  {8, 8, 8, false},
                                                  {16, 8, 8, false, 2, 8, true}}};
constexpr std::array<ReduceTile, 8> double_tiles{{{16, 16, 8, false},
                                                  {16, 8, 16, false},
                                                  {16, 8, 8, false},
                                                  {16, 8, 8, true},
                                                  {8, 8, 8, false},
                                                  {16, 8, 8, false, 2, 8, true},
                                                  {16, 8, 8, false, 3, 8, true},
                                                  {8, 8, 8, false, 4, 4}}};

}  // namespace

std::span<const ReduceTile> reduce_tiles(Precision precision) {
  if (precision == Precision::double_) return double_tiles;
  return single_tiles;
}

std::string name_of(const ReduceTile& tile, Precision precision) {
  const Index vector_width = precision == Precision::double_ ? 2 : 4;
  std::string name = std::to_string(tile.rows()) + "x" + std::to_string(tile.vectors() * vector_width);
  if (tile.vectors_each != ReduceTile{}.vectors_each) name += "-8x" + std::to_string(tile.vectors_each * vector_width);
  if (tile.band != ReduceTile{}.band) name += "-band" + std::to_string(tile.band);
  if (tile.stage_depth != ReduceTile{}.stage_depth) name += "-deep" + std::to_string(tile.stage_depth);
  if (tile.prefetch) name += "-prefetch";
  if (tile.together) name += "-together";
  return name;
}

ReduceTile reduce_tile(std::string_view name, Precision precision) {
  std::string names;
  for (const ReduceTile& tile : reduce_tiles(precision)) {
    if (name_of(tile, precision) == name) return tile;
    names += (names.empty() ? "" : ", ") + name_of(tile, precision);
  }
  throw std::runtime_error("there is no tile '" + std::string(name) + "' in " +
                           std::string(name_of(precision == Precision::double_ ? precision : Precision::single)) +
                           " precision; there are " + names);
}

}  // namespace glinpack::gl
