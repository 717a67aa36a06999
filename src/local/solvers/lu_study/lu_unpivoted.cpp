#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "device/shader_source.hpp"
#include "gl/gl_compute.hpp"
#include "solvers/lu_study/lu_methods.hpp"

namespace glinpack::solvers {
namespace {

/// The folder, unless it has only fragment shaders, which the backend would refuse.
std::string folder_with_compute_shaders(const std::string& directory) {
  try {
    const ShaderSource sources(directory, "compute/");
    return directory;
  } catch (const ShaderFolderError&) {
    return {};
  }
}

BackendOptions backend_options(int device, int threads, const std::string& shader_directory) {
  BackendOptions options;
  options.device = device;
  options.threads = threads;
  options.values = {{"shader-dir", folder_with_compute_shaders(shader_directory)}};
  return options;
}

class LuUnpivoted {
 public:
  LuUnpivoted(int device, int threads, const std::string& shader_directory, const DenseSystem<float>& system,
              LuDivision division)
      : system_(system),
        division_(division),
        n_(system.a.rows),
        backend_(make_gl_compute_backend<float>(backend_options(device, threads, shader_directory), timeline_)),
        matrix_(backend_->allocate(n_, n_)),
        panel_(backend_->allocate(unpivoted_block, n_)),
        host_panel_(backend_->allocate_host(unpivoted_block * n_)),
        host_matrix_(backend_->allocate_host(n_ * n_)) {}

  StageClock& clock() { return clock_; }

  void factorize() {
    backend_->collect_timings();
    timeline_.restart();  // or it would grow with every call
    const HostBlock<float> host{host_matrix_.get(), 0, n_, n_, n_};
    const RowMajorView<float> staged = host.view();
    clock_.measure(Stage::pack, [&] {
      const PaddedMatrix<float> checked = padded(system_.a, {}, 1);
      largest_ = static_cast<double>(checked.largest);
      std::copy(checked.elements.begin(), checked.elements.end(), staged.data);
    });
    clock_.measure(Stage::upload, [&] { backend_->wait(backend_->upload(host, whole(*matrix_))); });
    clock_.measure(Stage::compute, [&] {
      for (Index k = 0; k < n_; k += unpivoted_block) step(k);
      backend_->wait_all();
    });
    clock_.measure(Stage::download, [&] { backend_->wait(backend_->download(whole(*matrix_), host)); });
    clock_.measure(Stage::unpack, [&] {
      for (Index i = 0; i < n_; ++i) std::copy_n(staged.row(i), n_, system_.factors.row(i));
    });
  }

 private:
  void step(Index k) {
    const Index width = std::min(unpivoted_block, n_ - k), height = n_ - k, right = n_ - k - width;
    const DeviceBlock<float> matrix = whole(*matrix_), column = matrix.block(k, k, height, width);
    const HostBlock<float> host{host_panel_.get(), 0, width, height, height};
    const DeviceBlock<float> transposed = whole(*panel_).block(0, 0, width, height);
    backend_->wait(backend_->download_transposed(column, host));
    factorize_panel({host_panel_->data(), height, width, height}, k);
    // the next step downloads into the same memory and waits: it is ordered after this upload
    backend_->upload(host, transposed);
    backend_->copy_transposed(transposed, column);
    if (right == 0) return;
    const DeviceBlock<float> u12 = matrix.block(k, k + width, width, right);
    backend_->solve_unit_lower(transposed.block(0, 0, width, width), u12);
    backend_->update(transposed.block(0, width, width, right), u12, matrix.block(k + width, k + width, right, right));
  }

  void factorize_panel(ColumnMajorView<float> panel, Index k) {
    const Index width = panel.columns;
    const bool reciprocal = division_ == LuDivision::reciprocal;
    for (Index j = 0; j < width; ++j) {
      const float pivot = panel(j, j);
      check_pivot(k + j, n_, pivot, largest_);
      const Index left = width - j - 1;
      if (left == 0) break;
      const std::span<float> l{&panel(j + 1, j), static_cast<std::size_t>(left)};
      if (reciprocal) {
        for (float& multiplier : l) multiplier *= 1 / pivot;
      }
      backend_->panel().eliminate_column(reciprocal ? 1 : pivot, l, &panel(j, j + 1), panel.leading_dimension,
                                         panel.block(j + 1, j + 1, left, left));
    }
    if (panel.rows == width) return;
    const ColumnMajorView<float> u11 = panel.block(0, 0, width, width),
                                 l21 = panel.block(width, 0, panel.rows - width, width);
    if (!reciprocal) return backend_->panel().solve_l21(u11, l21);
    // L21 = Y D^-1, D the diagonal of U11, Y (D^-1 U11) = A21: solve_l21 divides by 1
    std::vector<float> scaled;
    for (Index j = 0; j < width; ++j) {
      for (Index i = 0; i < width; ++i) scaled.push_back(i == j ? 1 : u11(i, j) * (1 / u11(i, i)));
    }
    backend_->panel().solve_l21({scaled.data(), width, width, width}, l21);
    for (Index j = 0; j < width; ++j) {
      for (Index i = 0; i < l21.rows; ++i) l21(i, j) *= 1 / u11(j, j);
    }
  }

  const DenseSystem<float>& system_;
  LuDivision division_;
  Index n_;
  Timeline timeline_;
  StageClock clock_;
  std::unique_ptr<Backend<float>> backend_;
  std::unique_ptr<DeviceMatrix<float>> matrix_;
  std::unique_ptr<DeviceMatrix<float>> panel_;  // transposed: unpivoted_block x n
  std::unique_ptr<HostBuffer<float>> host_panel_;
  std::unique_ptr<HostBuffer<float>> host_matrix_;
  double largest_ = 0;  // magnitude in A
};

}  // namespace

Steps make_unpivoted_lu(int device, int threads, const std::string& shader_directory, const DenseSystem<float>& system,
                        LuDivision division) {
  check_extents(system);
  const auto lu = std::make_shared<LuUnpivoted>(device, threads, shader_directory, system, division);
  return {.compute = [lu] { lu->factorize(); }, .clock = &lu->clock()};
}

}  // namespace glinpack::solvers
