// Copies elements into, out of and between RasterMatrices, at any alignment.
//
// A single-channel texture stages the elements, one per texel. A draw extracts them from the four-wide texels or
// inserts them, so that host memory is never rearranged. Blocks that start and end on texels, as with block sizes
// divisible by four, are uploaded and downloaded as texels, without that step.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/scope_exit.hpp"
#include "device/shader_source.hpp"
#include "gl/raster/painter.hpp"
#include "gl/raster/raster_matrix.hpp"

namespace glinpack::gl {

/// Binds a pixel buffer as the destination (GL_PIXEL_PACK_BUFFER) or the source (GL_PIXEL_UNPACK_BUFFER) of pixels,
/// during the life of the returned object.
[[nodiscard]] inline auto bound_pixels(GLenum target, const HostBlock<float>& block, Index floats_per_pixel) {
  const GLenum row_length = target == GL_PIXEL_PACK_BUFFER ? GL_PACK_ROW_LENGTH : GL_UNPACK_ROW_LENGTH;
  glBindBuffer(target, mapped_buffer_of(block).id());
  glPixelStorei(row_length, static_cast<GLint>(block.leading_dimension / floats_per_pixel));
  return ScopeExit([target, row_length] {
    glPixelStorei(row_length, 0);
    glBindBuffer(target, 0);
  });
}

class Movement {
 public:
  Movement(const std::shared_ptr<Context>& context, Painter& painter, const ShaderSource& sources,
           const ProgramCache& cache)
      : painter_(painter),
        pack_(Program::drawing(context, sources, cache, "raster/quad.vert", "raster/pack.frag", {})),
        unpack_(Program::drawing(context, sources, cache, "raster/quad.vert", "raster/unpack.frag", {})),
        elements_(context) {}

  void upload(const HostBlock<float>& from, const DeviceBlock<float>& to) {
    if (is_aligned_to_texels(from, to)) {
      const RasterMatrix& matrix = raster_matrix_of(to);
      const auto binding = bound_pixels(GL_PIXEL_UNPACK_BUFFER, from, 4);
      for (const GLuint texture : {matrix.front(), matrix.back()}) {
        glTextureSubImage2D(texture, 0, static_cast<GLint>(RasterMatrix::texel_of(to.column)),
                            static_cast<GLint>(to.row), gl_size_of(to.columns / 4), gl_size_of(to.rows), GL_RGBA,
                            GL_FLOAT, offset_of(from));
      }
      return;
    }
    for_tiles(to.rows, to.columns, [&](Index i, Index j, Index rows, Index columns) {
      upload(from.block(i, j, rows, columns), elements_);
      pack(elements_, to.block(i, j, rows, columns), Direction::plain, std::vector<RowStrip>{{0, 0, rows}});
    });
  }

  void download(const DeviceBlock<float>& from, const HostBlock<float>& to) {
    if (is_aligned_to_texels(to, from)) {
      const auto binding = bound_pixels(GL_PIXEL_PACK_BUFFER, to, 4);
      glBindFramebuffer(GL_READ_FRAMEBUFFER, raster_matrix_of(from).draws_front());
      glReadPixels(static_cast<GLint>(RasterMatrix::texel_of(from.column)), static_cast<GLint>(from.row),
                   gl_size_of(from.columns / 4), gl_size_of(from.rows), GL_RGBA, GL_FLOAT, offset_of(to));
      return;
    }
    for_tiles(from.rows, from.columns, [&](Index i, Index j, Index rows, Index columns) {
      unpack(from.block(i, j, rows, columns), elements_);
      download_elements(to.block(i, j, rows, columns));
    });
  }

  void download_transposed(const DeviceBlock<float>& from, const HostBlock<float>& to) {
    for_tiles(from.rows, from.columns, [&](Index i, Index j, Index rows, Index columns) {
      unpack(from.block(i, j, rows, columns), elements_, Direction::transposed, std::vector<RowStrip>{{0, 0, rows}});
      download_elements(to.block(j, i, columns, rows));
    });
  }
  void copy(const DeviceBlock<float>& from, const DeviceBlock<float>& to) {
    for_tiles(from.rows, from.columns, [&](Index i, Index j, Index rows, Index columns) {
      unpack(from.block(i, j, rows, columns), elements_);
      pack(elements_, to.block(i, j, rows, columns), Direction::plain, std::vector<RowStrip>{{0, 0, rows}});
    });
  }
  void copy_transposed(const DeviceBlock<float>& from, const DeviceBlock<float>& to) {
    for_tiles(from.rows, from.columns, [&](Index i, Index j, Index rows, Index columns) {
      unpack(from.block(i, j, rows, columns), elements_);
      pack_transposed(elements_, to.block(j, i, columns, rows));
    });
  }

  /// Row i of `to` <- row rows[i] of `from`, and the reverse.
  void gather_rows(const DeviceBlock<float>& from, std::span<const Index> rows, const HostBlock<float>& to) {
    const auto count = static_cast<Index>(rows.size());
    for_tiles(count, from.columns, [&](Index i, Index j, Index some, Index columns) {
      const auto strips = one_by_one(rows.subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(some)));
      unpack(from.block(0, j, from.rows, columns), elements_, Direction::plain, strips);
      download_elements(to.block(i, j, some, columns));
    });
  }
  void scatter_rows(const HostBlock<float>& from, std::span<const Index> rows, const DeviceBlock<float>& to) {
    const auto count = static_cast<Index>(rows.size());
    for_tiles(count, to.columns, [&](Index i, Index j, Index some, Index columns) {
      const auto strips = one_by_one(rows.subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(some)));
      upload(from.block(i, j, some, columns), elements_);
      pack(elements_, to.block(0, j, to.rows, columns), Direction::plain, strips);
    });
  }
  void move_rows(const DeviceBlock<float>& block, std::span<const RowMove> moves) {
    std::vector<Index> from, to;
    for (const RowMove& move : moves) {
      from.push_back(move.from);
      to.push_back(move.to);
    }
    for (Index j = 0; j < block.columns; j += tile) {
      const DeviceBlock<float> some = block.block(0, j, block.rows, std::min(tile, block.columns - j));
      unpack(some, elements_, Direction::plain, one_by_one(from));
      pack(elements_, some, Direction::plain, one_by_one(to));
    }
  }

  /// Room for move_rows.
  void reserve(Index rows, Index columns) { elements_.reserve(std::min(tile, columns), rows); }

  /// Element (i, j) of the block into texel (j, i) of the texture, which grows as needed.
  void unpack(const DeviceBlock<float>& from, ElementTexture& to) {
    unpack(from, to, Direction::plain, std::vector<RowStrip>{{0, 0, from.rows}});
  }
  /// Host memory into texels (0, 0) on, element (i, j) into texel (j, i); the texture grows as needed.
  void upload(const HostBlock<float>& from, ElementTexture& to) {
    to.reserve(from.columns, from.rows);
    const auto binding = bound_pixels(GL_PIXEL_UNPACK_BUFFER, from, 1);
    glTextureSubImage2D(to.id(), 0, 0, 0, gl_size_of(from.columns), gl_size_of(from.rows), GL_RED, GL_FLOAT,
                        offset_of(from));
  }
  /// Element (i, j) of the block <- texel (i, j): its columns are the rows of the texture.
  void pack_transposed(const ElementTexture& from, const DeviceBlock<float>& to) {
    pack(from, to, Direction::transposed, std::vector<RowStrip>{{0, 0, to.rows}});
  }

 private:
  enum class Direction { plain, transposed };
  /// `count` rows of a block, and their position in the texture: its rows, or, transposed, its columns.
  struct RowStrip {
    Index block_row = 0;
    Index texture_row = 0;
    Index count = 0;
  };
  static std::vector<RowStrip> one_by_one(std::span<const Index> rows) {
    std::vector<RowStrip> strips;
    for (const Index row : rows) strips.push_back({row, static_cast<Index>(strips.size()), 1});
    return strips;
  }

  void pack(const ElementTexture& from, const DeviceBlock<float>& to, Direction direction,
            std::span<const RowStrip> strips) {
    const RasterMatrix& matrix = raster_matrix_of(to);
    painter_.bind({from.id()});
    pack_.set(1, static_cast<GLint>(to.column % 4));
    pack_.set(2, direction == Direction::transposed ? 1 : 0);
    const Index first_texel = RasterMatrix::texel_of(to.column);
    for_masked_texels(to.column, to.column + to.columns, [&](Index texel, Index texels) {
      std::vector<Quad> quads;
      for (const RowStrip& strip : strips) {
        quads.push_back({texel,
                         to.row + strip.block_row,
                         texels,
                         strip.count,
                         {Coordinates::rectangle(texel - first_texel, strip.texture_row)}});
      }
      painter_.draw(pack_, {matrix.draws_both(), matrix.texels(), matrix.rows()}, quads);
    });
  }

  void unpack(const DeviceBlock<float>& from, ElementTexture& to, Direction direction,
              std::span<const RowStrip> strips) {
    Index rows = 0;
    for (const RowStrip& strip : strips) rows = std::max(rows, strip.texture_row + strip.count);
    const bool transposed = direction == Direction::transposed;
    to.reserve(transposed ? rows : from.columns, transposed ? from.columns : rows);
    std::vector<Quad> quads;
    for (const RowStrip& strip : strips) {
      const Index row = from.row + strip.block_row;
      if (transposed) {
        quads.push_back({strip.texture_row, 0, strip.count, from.columns, {Coordinates::transposed(from.column, row)}});
      } else {
        quads.push_back({0, strip.texture_row, from.columns, strip.count, {Coordinates::rectangle(from.column, row)}});
      }
    }
    painter_.bind({raster_matrix_of(from).front()});
    painter_.draw(unpack_, {to.framebuffer(), to.width(), to.height()}, quads);
  }

  void download_elements(const HostBlock<float>& to) {
    const auto binding = bound_pixels(GL_PIXEL_PACK_BUFFER, to, 1);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, elements_.framebuffer());
    glReadPixels(0, 0, gl_size_of(to.columns), gl_size_of(to.rows), GL_RED, GL_FLOAT, offset_of(to));
  }

  static constexpr Index tile = 2048;  // side of a transferred tile, in elements: 16 MiB

  // Calls body(first row, first column, rows, columns) for a block's tiles.
  template <class Body>
  static void for_tiles(Index rows, Index columns, Body body) {
    for (Index i = 0; i < rows; i += tile) {
      for (Index j = 0; j < columns; j += tile) body(i, j, std::min(tile, rows - i), std::min(tile, columns - j));
    }
  }

  static bool is_aligned_to_texels(const HostBlock<float>& host, const DeviceBlock<float>& device) {
    return host.offset % 4 == 0 && host.leading_dimension % 4 == 0 && device.column % 4 == 0 && device.columns % 4 == 0;
  }

  // The "pointer" of a pixel transfer with a buffer bound: bytes from its start.
  static void* offset_of(const HostBlock<float>& block) {
    return reinterpret_cast<void*>(block.offset * static_cast<Index>(sizeof(float)));
  }

  static GLsizei gl_size_of(Index extent) { return static_cast<GLsizei>(extent); }

  Painter& painter_;
  Program pack_;
  Program unpack_;
  ElementTexture elements_;
};

}  // namespace glinpack::gl
