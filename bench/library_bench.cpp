// Products and solves by the C library, on each of several devices:
//   library_bench --device 0,openblas --threads 16 --n 10,1000,8192 [--benchmark_...]
// "computed": operands and the result stay on the device. "transfers": from the caller's memory to the device and
// back. A solve factorises anew each time.
#include <stdexcept>

#include "bench_support.hpp"
#include "glinpack.h"

namespace {

using namespace glinpack;
using namespace glinpack::bench;

void check(glinpack_status status) {
  if (status != GLINPACK_OK) throw std::runtime_error(glinpack_last_error());
}

struct Free {
  void operator()(glinpack_matrix* matrix) const { glinpack_matrix_free(matrix); }
  void operator()(glinpack_context* context) const { glinpack_context_free(context); }
};
using Matrix = std::unique_ptr<glinpack_matrix, Free>;
using Context = std::unique_ptr<glinpack_context, Free>;

template <class Function>
Matrix result_of(Function function) {
  glinpack_matrix* result = nullptr;
  check(function(&result));
  return Matrix(result);
}

/// Systems of one size on one device.
class Problem {
 public:
  Problem(std::shared_ptr<Context> context, glinpack_precision precision, Index n)
      : context_(std::move(context)),
        precision_(precision),
        n_(n),
        data_(static_cast<std::size_t>(n * n)),
        out_(data_.size()) {
    fill_uniform(data_.data(), n * n);
    for (Index i = 0; i < n; ++i) data_[static_cast<std::size_t>(i * n + i)] += static_cast<double>(n);
    a_ = upload();
    b_ = result_of([&](auto* b) { return glinpack_submatrix(a_.get(), 0, 0, n, 1, b); });
  }

  Matrix product(const Matrix& a) const {
    return result_of([&](auto* c) { return glinpack_gemm(0, 0, 1, a.get(), a.get(), 0, nullptr, c); });
  }
  // the context keeps the factors of the matrix that it factorised last: another handle is another matrix
  Matrix solution() const {
    const Matrix copy = result_of([&](auto* c) { return glinpack_scale(1, a_.get(), 0, c); });
    return solution_of(copy);
  }
  Matrix solution_of(const Matrix& a) const {
    return result_of([&](auto* x) { return glinpack_solve(a.get(), b_.get(), x); });
  }
  Matrix upload() const {
    return result_of([&](auto* a) {
      return glinpack_matrix_from_double(context_->get(), precision_, n_, n_, data_.data(), n_, 1, a);
    });
  }
  void download(const Matrix& a) {
    check(glinpack_matrix_read_double(a.get(), out_.data(), glinpack_matrix_columns(a.get()), 1));
  }
  const Matrix& a() const { return a_; }

 private:
  std::shared_ptr<Context> context_;
  glinpack_precision precision_;
  Index n_;
  std::vector<double> data_, out_;
  Matrix a_, b_;
};

void add_all(const std::shared_ptr<Context>& context, const std::string& device, const std::string& precision,
             Index n) {
  const auto kind = precision == "single" ? GLINPACK_SINGLE : GLINPACK_DOUBLE;
  // made when the first benchmark of this size runs
  const auto add = [=](const std::string& name, double flops, auto operation) {
    add_benchmark(name + "/" + device + "/" + precision + "/" + std::to_string(n), [=](benchmark::State& state) {
      Problem problem(context, kind, n);
      operation(problem);
      measure(state, {"FLOPS", flops}, nothing, [&] { operation(problem); });
    });
  };
  const double cube = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  const auto wait = [](const Matrix& matrix) { check(glinpack_wait(matrix.get(), -1)); };
  add("product/computed", 2 * cube, [=](Problem& p) { wait(p.product(p.a())); });
  add("product/transfers", 2 * cube, [](Problem& p) { p.download(p.product(p.upload())); });
  add("solve/computed", 2 * cube / 3, [=](Problem& p) { wait(p.solution()); });
  add("solve/transfers", 2 * cube / 3, [](Problem& p) { p.download(p.solution_of(p.upload())); });
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> devices{"auto"};
  int threads = 0;
  std::vector<Index> sizes{10, 1000};
  std::vector<std::string> precisions{"single", "double"};
  CLI::App app("Measures the C library, with and without transfers");
  app.add_option("--device", devices, "auto, openblas, software, or numbers as `glinpack devices` counts")
      ->delimiter(',');
  app.add_option("--threads", threads, "of OpenBLAS; 0: all")->check(CLI::Range(0, 4096))->capture_default_str();
  add_size_list(app, "--n", sizes, "rows and columns");
  add_precisions(app, precisions);
  return run_program(app, argc, argv, [&] {
    for (const std::string& device : devices) {
      glinpack_context* made = nullptr;
      check(glinpack_context_create(device.c_str(), threads, &made));
      const auto context = std::make_shared<Context>(made);
      benchmark::AddCustomContext("device " + device, glinpack_context_device(made));
      for (const std::string& precision : precisions) {
        for (const Index n : sizes) add_all(context, device, precision, n);
      }
    }
  });
}
