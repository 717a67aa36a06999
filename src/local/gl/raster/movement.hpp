// Copies elements into, out of and between RasterMatrices, at any alignment.
//
// A single-channel texture stages the elements, one per texel. A draw extracts them from the four-wide texels or
// inserts them, so that host memory is never rearranged. Blocks that start and end on texels, as with block sizes
// divisible by four, are uploaded and downloaded as texels, without that step.
#pragma once

#include <span>
#include <vector>

#include "device/shader_source.hpp"
#include "gl/raster/painter.hpp"
#include "gl/raster/raster_matrix.hpp"

namespace glinpack::gl {

class Movement {
 public:
  Movement(const std::shared_ptr<Context>& context, Painter& painter, const ShaderSource& sources,
           const ProgramCache& cache);

  void upload(const HostBlock<float>& from, const DeviceBlock<float>& to);
  void download(const DeviceBlock<float>& from, const HostBlock<float>& to);
  void download_transposed(const DeviceBlock<float>& from, const HostBlock<float>& to);
  void copy(const DeviceBlock<float>& from, const DeviceBlock<float>& to);
  void copy_transposed(const DeviceBlock<float>& from, const DeviceBlock<float>& to);

  /// Row i of `to` <- row rows[i] of `from`, and the reverse.
  void gather_rows(const DeviceBlock<float>& from, std::span<const Index> rows, const HostBlock<float>& to);
  void scatter_rows(const HostBlock<float>& from, std::span<const Index> rows, const DeviceBlock<float>& to);
  void move_rows(const DeviceBlock<float>& block, std::span<const RowMove> moves);
  /// Room for move_rows.
  void reserve(Index rows, Index columns);

  /// Element (i, j) of the block into texel (j, i) of the texture, which grows as needed.
  void unpack(const DeviceBlock<float>& from, ElementTexture& to);
  /// Host memory into texels (0, 0) on, element (i, j) into texel (j, i); the texture grows as needed.
  void upload(const HostBlock<float>& from, ElementTexture& to);
  /// Element (i, j) of the block <- texel (i, j): its columns are the rows of the texture.
  void pack_transposed(const ElementTexture& from, const DeviceBlock<float>& to);

 private:
  enum class Direction { plain, transposed };
  /// `count` rows of a block, and their position in the texture: its rows, or, transposed, its columns.
  struct RowStrip {
    Index block_row = 0;
    Index texture_row = 0;
    Index count = 0;
  };
  static std::vector<RowStrip> one_by_one(std::span<const Index> rows);
  void pack(const ElementTexture& from, const DeviceBlock<float>& to, Direction direction,
            std::span<const RowStrip> strips);
  void unpack(const DeviceBlock<float>& from, ElementTexture& to, Direction direction,
              std::span<const RowStrip> strips);
  void download_elements(const HostBlock<float>& to);

  Painter& painter_;
  Program pack_;
  Program unpack_;
  ElementTexture elements_;
};

}  // namespace glinpack::gl
