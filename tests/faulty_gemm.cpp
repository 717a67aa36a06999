// A processor that computes wrongly: on the rank FAULTY_GEMM_RANK, a bit of an exponent flips in the fifth large
// product of BLAS.
#include <dlfcn.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

bool is_faulty_rank() {
  const char* const faulty = std::getenv("FAULTY_GEMM_RANK");
  const char* const rank = std::getenv("PMI_RANK");  // of MPICH's launcher
  return faulty != nullptr && rank != nullptr && std::string(faulty) == rank;
}

}  // namespace

// C is row-major: m x n, a row every `ldc` elements.
extern "C" void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                            int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  static const auto gemm = reinterpret_cast<decltype(&cblas_dgemm)>(dlsym(RTLD_NEXT, "cblas_dgemm"));
  static const bool is_faulty = is_faulty_rank();
  static int large_products = 0;
  gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  constexpr int large = 64;
  constexpr std::uint64_t exponent_bit = std::uint64_t{1} << 55;
  if (!is_faulty || m < large || n < large || ++large_products != 5) return;
  double& element = c[m / 2 * ldc + n / 2];
  element = std::bit_cast<double>(std::bit_cast<std::uint64_t>(element) ^ exponent_bit);
}
