#include "solvers/lu_study/lu_orders.hpp"

#include <algorithm>
#include <memory>

#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {

void for_passes(LuOrder order, Index n, const std::function<void(const LuOrderPass&)>& use) {
  const auto pass = [&](const LuOrderPass& p) {
    if (p.drawn.texels() > 0 && (p.divides || p.end > p.begin)) use(p);
  };
  for (Index i = 0; i < n; ++i) {
    const Index left = n - i - 1;
    const LuRectangle below{i, i + 1, 1, left};
    switch (order) {
      case LuOrder::right_looking:
        pass({.drawn = below, .divides = true});
        pass({.drawn = {i + 1, i + 1, left, left}, .begin = i, .end = i + 1});
        break;
      case LuOrder::left_looking:
        for (Index row = 1; row <= i; ++row) pass({.drawn = {i, row, 1, 1}, .end = row});
        pass({.drawn = below, .end = i, .divides = true});
        break;
      case LuOrder::crout:
        pass({.drawn = {i, i, left + 1, 1}, .end = i});
        pass({.drawn = below, .end = i, .divides = true});
        break;
    }
  }
}

LuOrderCounts counts_of(LuOrder order, Index n) {
  LuOrderCounts counts;
  for_passes(order, n, [&](const LuOrderPass& pass) {
    ++counts.passes;
    counts.drawn += pass.drawn.texels();
    counts.reads += pass.reads();
    counts.largest_area = std::max(counts.largest_area, pass.area());
    counts.largest_fragment = std::max(counts.largest_fragment, pass.reads_of_fragment());
  });
  return counts;
}

namespace {

struct DrawnOrder {
  DrawnOrder(Device& on, const DenseSystem<float>& of, LuOrder in)
      : device(on),
        system(of),
        order(in),
        matrix(on, of.a.rows, of.a.rows, Packing::p1x1),
        program(on.fragment_program("solvers/lu_orders.frag", {})) {}

  void load() {
    const PaddedMatrix<float> checked = device.clock().measure(Stage::pack, [&] { return padded(system.a, {}, 1); });
    largest = static_cast<double>(checked.largest);
    matrix.upload(checked.view());
  }
  void compute() {
    device.measure(Stage::compute, [&] {
      for_passes(order, system.a.rows, [&](const LuOrderPass& pass) {
        const gl::Quad quad{pass.drawn.x, pass.drawn.y, pass.drawn.width, pass.drawn.height, {}};
        program.set(1, to_int(pass.begin), to_int(pass.end), pass.divides ? 1 : 0, 0);
        device.texture_barrier();
        device.draw(program, matrix.target(), {matrix.texture()}, {&quad, 1});
      });
    });
  }
  void store() {
    matrix.download(system.factors);
    check_pivots(system.factors, largest);
  }

  Device& device;
  const DenseSystem<float>& system;
  LuOrder order;
  double largest = 0;
  TextureMatrix matrix;
  gl::Program program;
};

void compute_pass(const LuOrderPass& pass, RowMajorView<float> a) {
  for (Index row = pass.drawn.y; row < pass.drawn.y + pass.drawn.height; ++row) {
    for (Index column = pass.drawn.x; column < pass.drawn.x + pass.drawn.width; ++column) {
      float value = a(row, column);
      for (Index k = pass.begin; k < pass.end; ++k) value -= a(row, k) * a(k, column);
      a(row, column) = pass.divides ? value / a(column, column) : value;
    }
  }
}

}  // namespace

Steps make_lu_order(Device& device, const DenseSystem<float>& system, LuOrder order) {
  check_extents(system);
  return steps_of(device.clock(), std::make_shared<DrawnOrder>(device, system, order));
}

Steps make_lu_order_on_host(const DenseSystem<float>& system, LuOrder order) {
  check_extents(system);
  const auto largest = std::make_shared<double>();
  return {.load =
              [&system, largest] {
                const PaddedMatrix<float> checked = padded(system.a, {}, 1);
                *largest = static_cast<double>(checked.largest);
                for (Index i = 0; i < system.a.rows; ++i) {
                  std::copy_n(checked.view().row(i), system.a.rows, system.factors.row(i));
                }
              },
          .compute =
              [&system, order] {
                for_passes(order, system.a.rows,
                           [&system](const LuOrderPass& pass) { compute_pass(pass, system.factors); });
              },
          .store = [&system, largest] { check_pivots(system.factors, *largest); }};
}

}  // namespace glinpack::solvers
