// If any of a solver's shaders does not compile, the solver frees its GL objects.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "solvers/banded/banded.hpp"
#include "solvers/elimination/gauss_jordan.hpp"
#include "solvers/elimination/plu_packed.hpp"
#include "solvers/matmul/matmul.hpp"
#include "solvers/tridiagonal/tridiagonal.hpp"
#include "tests/local/backend_harness.hpp"
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
    return [variant](Device& device) { make_matrix_product<float>(device, {n, n, n}, {.variant = variant}); };
  };
  const auto banded = [](BandedVariant variant) {
    return [variant](Device& device) { make_banded_product(device, n, 2, variant); };
  };
  const auto tridiagonal = [](TridiagonalVariant variant, Share share) {
    return [variant, share](Device& device) {
      make_tridiagonal_solver<float>(device, n, n, {.variant = variant, .share = share});
    };
  };
  const auto gauss_jordan = [](EliminationVariant variant) {
    return [variant](Device& device) { GaussJordan(device, n, 1, {.variant = variant}); };
  };
  const auto plu = [](EliminationVariant variant) {
    return [variant](Device& device) { PluPacked(device, n, 1, {.variant = variant}); };
  };
  std::vector<Needed> needed{
      {"compute/reduce.comp", product(MatmulVariant::compute)},
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
    needed.push_back({"solvers/gauss_jordan.frag", gauss_jordan(variant)});
    needed.push_back({"solvers/plu_packed.frag", plu(variant)});
    needed.push_back({"solvers/pivot.frag", gauss_jordan(variant)});
    needed.push_back({"solvers/pivot.frag", plu(variant)});
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
    try {
      needed.make(device);
      ADD_FAILURE() << "the solver did not compile the shader";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(needed.shader));
    }
    EXPECT_EQ(test::count_gl_objects(*device.context()), before);
  }
}

}  // namespace
}  // namespace glinpack::solvers
