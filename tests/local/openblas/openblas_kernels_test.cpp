// The choice of OpenBLAS kernels, and host memory.
#include <gmock/gmock.h>

#include <cstdlib>

#include "host/host_memory.hpp"
#include "openblas/blas_library.hpp"

namespace glinpack::test {
namespace {

constexpr ProcessorFeatures old_processor{};
constexpr ProcessorFeatures avx2_processor{.avx2_fma = true, .avx512 = false};
constexpr ProcessorFeatures avx512_processor{.avx2_fma = true, .avx512 = true};

TEST(OpenblasKernels, a_processor_with_avx512_gets_the_skylakex_kernels) {
  for (const char* chosen : {"Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen"}) {
    EXPECT_EQ(better_kernels(chosen, avx512_processor), "SkylakeX") << chosen;
  }
}

TEST(OpenblasKernels, a_processor_with_avx2_gets_the_haswell_kernels) {
  for (const char* chosen : {"Prescott", "Core2", "Sandybridge", "Piledriver"}) {
    EXPECT_EQ(better_kernels(chosen, avx2_processor), "Haswell") << chosen;
  }
}

TEST(OpenblasKernels, an_arm_processor_that_openblas_does_not_know_gets_those_of_the_nearest_neoverse) {
  EXPECT_EQ(better_kernels("armv8", {.armv8_1 = true, .sve = true}), "NEOVERSEV1");
  EXPECT_EQ(better_kernels("armv8", {.armv8_1 = true}), "NEOVERSEN1");
  EXPECT_EQ(better_kernels("armv8", old_processor), std::nullopt);
  for (const char* chosen : {"neoversen1", "cortexa72"}) {
    EXPECT_EQ(better_kernels(chosen, {.armv8_1 = true, .sve = true}), std::nullopt) << chosen;
  }
}

TEST(OpenblasKernels, kernels_that_suit_the_processor_are_kept) {
  for (const char* chosen : {"SkylakeX", "Cooperlake", "SapphireRapids"}) {
    EXPECT_EQ(better_kernels(chosen, avx512_processor), std::nullopt) << chosen;
  }
  for (const char* chosen : {"Haswell", "Zen", "Excavator"}) {
    EXPECT_EQ(better_kernels(chosen, avx2_processor), std::nullopt) << chosen;
  }
  EXPECT_EQ(better_kernels("Nehalem", old_processor), std::nullopt);
}

TEST(OpenblasKernels, unknown_kernels_are_kept) {
  EXPECT_EQ(better_kernels("neoversen1", avx512_processor), std::nullopt);
  EXPECT_EQ(better_kernels("", avx512_processor), std::nullopt);
}

TEST(OpenblasKernels, the_user_s_choice_is_kept) {
  const char* const before = std::getenv("OPENBLAS_CORETYPE");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  EXPECT_EQ(better_kernels(), std::nullopt);
  ::unsetenv("OPENBLAS_CORETYPE");
  EXPECT_EQ(better_kernels(), better_kernels(blas_kernels(), processor_features()));
  if (before != nullptr) ::setenv("OPENBLAS_CORETYPE", saved.c_str(), 1);
}

TEST(BlasLibrary, reports_its_version) {
  EXPECT_THAT(blas_version(), testing::MatchesRegex("(OpenBLAS|BLIS|MKL|FlexiBLAS) [0-9.]+.*|BLAS"));
}

TEST(HostMemory, rows_are_aligned_and_not_a_page_apart) {
  for (const Index columns : {17, 100, 1024, 2048, 4095, 4096, 8192}) {
    const Index in_double = padded_leading_dimension<double>(columns);
    const Index in_single = padded_leading_dimension<float>(columns);
    EXPECT_GE(in_double, columns);
    EXPECT_GE(in_single, columns);
    EXPECT_LE(in_single, columns + 32);
    EXPECT_EQ(in_double % 16, 0);
    EXPECT_NE(in_double * 8 % 4096, 0) << columns;
    EXPECT_NE(in_single * 4 % 4096, 0) << columns;
  }
  EXPECT_EQ(padded_leading_dimension<double>(1), 1);
  EXPECT_EQ(padded_leading_dimension<double>(0), 1);
}

TEST(HostMemory, is_rejected_with_sizes_if_there_is_too_little) {
  ASSERT_GT(available_memory(), 0);
  EXPECT_THAT([] { allocate_zeroed<double>(Index{1} << 44, 1); },
              testing::ThrowsMessage<std::runtime_error>(
                  testing::AllOf(testing::HasSubstr("131072.000 GiB"), testing::HasSubstr("available"))));
}

}  // namespace
}  // namespace glinpack::test
