// A processor that computes wrongly or slowly. On the rank FAULTY_GEMM_RANK, a bit of an exponent flips in the large
// product of BLAS with the number FAULTY_GEMM_FIRST, or 5, and in every FAULTY_GEMM_EVERY-th after it if that is given.
// On the rank SLOW_GEMM_RANK, a product takes 20 ms more: far longer than one of a small matrix in any build.
#include <dlfcn.h>
#include <unistd.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

bool is_rank_of(const char* variable) {
  const char* const chosen = std::getenv(variable);
  const char* const rank = std::getenv("PMI_RANK");  // of MPICH's launcher
  return chosen != nullptr && rank != nullptr && std::string(chosen) == rank;
}

int number_of(const char* variable, int otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? otherwise : std::atoi(value);
}

}  // namespace

// C is row-major: m x n, a row every `ldc` elements.
extern "C" void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                            int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  static const auto gemm = reinterpret_cast<decltype(&cblas_dgemm)>(dlsym(RTLD_NEXT, "cblas_dgemm"));
  static const bool is_faulty = is_rank_of("FAULTY_GEMM_RANK"), is_slow = is_rank_of("SLOW_GEMM_RANK");
  static const int first = number_of("FAULTY_GEMM_FIRST", 5), every = number_of("FAULTY_GEMM_EVERY", 0);
  static int large_products = 0;
  gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (is_slow) usleep(20'000);
  constexpr int large = 64;
  constexpr std::uint64_t exponent_bit = std::uint64_t{1} << 55;
  if (!is_faulty || m < large || n < large || ++large_products < first) return;
  if (large_products > first && (every == 0 || (large_products - first) % every != 0)) return;
  double& element = c[m / 2 * ldc + n / 2];
  element = std::bit_cast<double>(std::bit_cast<std::uint64_t>(element) ^ exponent_bit);
}
