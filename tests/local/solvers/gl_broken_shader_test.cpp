// If any of a solver's shaders does not compile, the solver frees its GL objects.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "solvers/banded/banded.hpp"
#include "solvers/elimination/elimination.hpp"
#include "solvers/matmul/matmul.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/device_values.hpp"
#include "tests/local/gl_objects.hpp"

namespace glinpack::solvers {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr Index n = 8;

/// A solver and a shader that it needs.
struct Needed {
  const char* shader;
  std::function<void(Device&)> make;
};

std::vector<Needed> all_needed() {
  const auto product = [](MatmulVariant variant) {
    return [variant](Device& device) {
      test::Values<float> a(n, n);
      make_product<float>(device, {view(a), view(a), view(a)}, {.variant = variant});
    };
  };
  const auto banded = [](BandedVariant variant) {
    return [variant](Device& device) {
      std::vector<float> x(n);
      make_banded_product(device, {n, {}, x, x}, variant);
    };
  };
  const auto tridiagonal = [](TridiagonalVariant variant, Share share) {
    return [variant, share](Device& device) {
      TridiagonalSystems<float> systems(n, n);
      make_tridiagonal<float>(device, {&systems, systems.right}, {.variant = variant, .share = share});
    };
  };
  const auto elimination = [](const Elimination& method, EliminationVariant variant) {
    return [method, variant](Device& device) {
      test::Values<float> a(n, n);
      DenseSystem<float> system{.a = view(a), .b = view(a), .x = view(a)};
      method.make(device, system, {.variant = variant});
    };
  };
  std::vector<Needed> needed{
      {"compute/update.comp", product(MatmulVariant::compute)},
      {"solvers/banded.comp", banded(BandedVariant::compute)},
      {"solvers/banded.frag", banded(BandedVariant::diagonals)},
      {"solvers/tridiagonal.frag", tridiagonal(TridiagonalVariant::raster, Share::automatic)},
      {"solvers/tridiagonal_solution.frag", tridiagonal(TridiagonalVariant::raster, Share::automatic)},
      {"solvers/tridiagonal_whole.comp", tridiagonal(TridiagonalVariant::compute, Share::system)},
      {"solvers/tridiagonal_pieces.comp", tridiagonal(TridiagonalVariant::compute, Share::sixteen)},
      {"solvers/cyclic_reduction.comp", tridiagonal(TridiagonalVariant::cyclic_reduction, Share::automatic)}};
  for (const MatmulVariant variant : all_matmul_variants) {
    if (draws(variant)) needed.push_back({"solvers/matmul.frag", product(variant)});
  }
  for (const EliminationVariant variant : all_elimination_variants) {
    needed.push_back({"solvers/gauss_jordan.frag", elimination(gauss_jordan, variant)});
    needed.push_back({"solvers/plu_packed.frag", elimination(plu_packed, variant)});
    needed.push_back({"solvers/pivot.frag", elimination(gauss_jordan, variant)});
    needed.push_back({"solvers/pivot.frag", elimination(plu_packed, variant)});
  }
  return needed;
}

class GlBrokenShader : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  /// Returns a folder that contains only this shader, which does not compile.
  std::string broken(const fs::path& shader) const {
    fs::remove_all(folder_);
    fs::create_directories((folder_ / shader).parent_path());
    std::ofstream(folder_ / shader) << "#version 450 core\nvoid main() { broken; }\n";
    return folder_.string();
  }

  fs::path folder_ = fs::temp_directory_path() / ("glinpack_broken_shader_" + std::to_string(getpid()));
};

TEST_F(GlBrokenShader, IsNamedAndLeavesNoGlObjectsOfAnySolver) {
  for (const Needed& needed : all_needed()) {
    SCOPED_TRACE(needed.shader);
    Device device(test::any_gl_device(), broken(needed.shader));
    device.staging(1 << 12);
    const int before = test::count_gl_objects(*device.context());
    EXPECT_THAT([&] { needed.make(device); }, testing::ThrowsMessage<std::runtime_error>(HasSubstr(needed.shader)));
    EXPECT_EQ(test::count_gl_objects(*device.context()), before);
  }
}

}  // namespace
}  // namespace glinpack::solvers
