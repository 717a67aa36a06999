// A processor that computes wrongly: on the rank FAULTY_GEMM_RANK, a bit of an exponent flips in the large product of
// BLAS with the number FAULTY_GEMM_FIRST, or 5, and in all later ones if there is FAULTY_GEMM_LASTS.
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

int first_faulty_product() {
  const char* const first = std::getenv("FAULTY_GEMM_FIRST");
  return first == nullptr ? 5 : std::atoi(first);
}

}  // namespace

// C is row-major: m x n, a row every `ldc` elements.
extern "C" void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                            int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  static const auto gemm = reinterpret_cast<decltype(&cblas_dgemm)>(dlsym(RTLD_NEXT, "cblas_dgemm"));
  static const bool is_faulty = is_faulty_rank();
  static const int first = first_faulty_product();
  static const bool lasts = std::getenv("FAULTY_GEMM_LASTS") != nullptr;
  static int large_products = 0;
  gemm(order, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  constexpr int large = 64;
  constexpr std::uint64_t exponent_bit = std::uint64_t{1} << 55;
  if (!is_faulty || m < large || n < large || ++large_products < first) return;
  if (large_products > first && !lasts) return;
  double& element = c[m / 2 * ldc + n / 2];
  element = std::bit_cast<double>(std::bit_cast<std::uint64_t>(element) ^ exponent_bit);
}
