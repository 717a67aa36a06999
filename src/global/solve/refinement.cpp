#include "solve/refinement.hpp"

#include <algorithm>
#include <cmath>

#include "base/memory_count.hpp"

namespace glinpack {

namespace {

// HPL's threshold, for runs without a check.
constexpr double hpl_threshold = 16;
// An iteration that leaves more of the residual than this has stalled (Demmel et al., Error bounds from extra-precise
// iterative refinement, ACM TOMS 32, 2006).
constexpr double slowest_progress = 0.5;

}  // namespace

// The system for GMRES: A from its source, M from the factors.
template <class Real>
class Refiner<Real>::System final : public GmresSystem {
 public:
  explicit System(Refiner& refiner) : refiner_(refiner) {}

  void precondition(std::span<const double> v, std::span<double> z) override { refiner_.solve(v, 1, z); }

  void multiply(std::span<const double> z, std::span<double> w) override {
    const std::vector<double> negative = refiner_.residual_of(z, 0);
    std::transform(negative.begin(), negative.end(), w.begin(), [](double value) { return -value; });
  }

  // The ranks of a process row hold the same rows: those of the first process column count.
  void dot(const double* basis, std::span<const double> w, std::span<double> products) override {
    std::fill(products.begin(), products.end(), 0.0);
    if (refiner_.grid_.position().column == 0) {
      const auto scope = refiner_.timeline_.scope(Lane::cpu, Phase::refinement, 0,
                                                  2.0 * static_cast<double>(products.size() * w.size()));
      for (std::size_t i = 0; i < products.size(); ++i) {
        const double* const v = basis + i * w.size();
        for (std::size_t k = 0; k < w.size(); ++k) products[i] += v[k] * w[k];
      }
    }
    const auto scope =
        refiner_.timeline_.scope(Lane::net, Phase::refinement, static_cast<std::int64_t>(products.size_bytes()));
    refiner_.grid_.all().all_reduce(products, Reduction::sum);
  }

  bool enough(std::span<const double> residual, std::span<const double> x) override {
    const double scaled = refiner_.test_of(residual, x).scaled;
    refiner_.record(Refinement::Method::gmres, scaled);
    return refiner_.passes(scaled);
  }

 private:
  Refiner& refiner_;
};

int Refinement::iterations_of(Method method) const {
  return static_cast<int>(
      std::count_if(history.begin(), history.end(), [method](const Step& step) { return step.method == method; }));
}

template <class Real>
Refiner<Real>::Refiner(const RankContext<Real>& context, double threshold, BackwardSubstitution<Real>& backward)
    : distribution_(context.distribution),
      grid_(context.grid),
      timeline_(context.timeline()),
      backward_(backward),
      forward_(context, backward.blocks()),
      gmres_(distribution_.local_rows(grid_.position()), distribution_.local_columns_of_a(grid_.position()),
             max_refinements),
      threshold_(threshold > 0 ? threshold : hpl_threshold),
      r_rounded_(counted_vector<Real>(distribution_.local_rows(grid_.position()))) {}

template <class Real>
Refiner<Real>::~Refiner() = default;

// Scales r by a power of two to the magnitude of A. If A is within the range of single precision, so are r and A^-1 r.
template <class Real>
void Refiner<Real>::solve(std::span<const double> r, double norm, std::span<double> d) {
  const int exponent = std::ilogb(test_.norm_a_inf) - std::ilogb(norm);
  std::transform(r.begin(), r.end(), r_rounded_.begin(),
                 [exponent](double value) { return static_cast<Real>(std::scalbn(value, exponent)); });
  forward_.run(r_rounded_);
  const std::vector<Real> rounded = backward_.run_on_shares();
  std::transform(rounded.begin(), rounded.end(), d.begin(),
                 [exponent](Real value) { return std::scalbn(static_cast<double>(value), -exponent); });
}

template <class Real>
std::vector<double> Refiner<Real>::residual_of(std::span<const double> x, double beta) {
  std::vector<double> residual = matrix_->residual(x, beta);
  if (distribution_.shape.columns > 1) {
    const auto scope =
        timeline_.scope(Lane::net, Phase::refinement, static_cast<std::int64_t>(std::span(residual).size_bytes()));
    grid_.row().all_reduce(residual, Reduction::sum);
  }
  return residual;
}

template <class Real>
Residual Refiner<Real>::test_of(std::span<const double> r, std::span<const double> x) {
  const auto scope = timeline_.scope(Lane::net, Phase::refinement);
  return test_with_known_norms(test_, distribution_, grid_, r, x);
}

// The first test, with the norms of A and b.
template <class Real>
void Refiner<Real>::test_with_norms(const std::vector<double>& x) {
  LocalSums sums = matrix_->sums(x);
  const auto scope = timeline_.scope(Lane::net, Phase::refinement);
  test_ = combine_sums(sums, distribution_, grid_, Precision::double_, x);
  r_ = std::move(sums.residual);
}

// Tests the solution of the factors. If it is not finite, since b may exceed the range of their precision, starts from
// 0.
template <class Real>
void Refiner<Real>::start(std::vector<double>& x) {
  test_with_norms(x);
  record(Refinement::Method::factors, test_.scaled);
  if (std::isfinite(test_.scaled)) return;
  std::fill(x.begin(), x.end(), 0.0);
  test_with_norms(x);
}

template <class Real>
bool Refiner<Real>::needs_iteration() const {
  return !passes(test_.scaled) && std::isfinite(test_.scaled) && iterations_left() > 0;
}

// x <- x + U^-1 L^-1 P r until the test passes or the residual no longer falls by half.
template <class Real>
void Refiner<Real>::refine_classically(std::vector<double>& x) {
  std::vector<double> d(x.size());
  std::vector<double> improved(x.size());
  while (needs_iteration()) {
    solve(r_, test_.norm_residual_inf, d);
    std::transform(x.begin(), x.end(), d.begin(), improved.begin(), [](double a, double b) { return a + b; });
    std::vector<double> r = residual_of(improved, 1);
    const Residual test = test_of(r, improved);
    record(Refinement::Method::classical, test.scaled);
    const bool stalled = !(test.scaled <= slowest_progress * test_.scaled);
    if (test.scaled < test_.scaled) {
      x.swap(improved);
      r_.swap(r);
      test_ = test;
    }
    if (stalled) return;
  }
}

// Cycles of GMRES, each for the residual of the previous one.
template <class Real>
void Refiner<Real>::refine_by_gmres(std::vector<double>& x) {
  System system(*this);
  while (needs_iteration()) {
    const double before = test_.scaled;
    std::vector<double> improved = x;
    const int steps = gmres_.run(system, r_, improved, iterations_left());
    if (steps == 0) {
      record_.stopped = "the factors give no finite correction";
      return;
    }
    std::vector<double> r = residual_of(improved, 1);
    const Residual test = test_of(r, improved);
    record_.history.back().scaled_residual = test.scaled;
    if (test.scaled < test_.scaled) {
      x.swap(improved);
      r_.swap(r);
      test_ = test;
    }
    if (needs_iteration() && !(test_.scaled <= slowest_progress * before)) {
      record_.stopped = "GMRES stagnates, too";
      return;
    }
  }
}

template <class Real>
Refinement Refiner<Real>::run(const Interchanges& interchanges, OriginalMatrix& matrix, std::vector<double>& x) {
  record_ = {};
  matrix_ = &matrix;
  forward_.set_interchanges(interchanges);
  start(x);
  refine_classically(x);
  refine_by_gmres(x);
  record_.converged = passes(test_.scaled);
  if (!record_.converged && record_.stopped.empty()) {
    record_.stopped = std::isfinite(test_.scaled)
                          ? "no more than " + std::to_string(max_refinements) + " iterations are made"
                          : "the scaled residual is not finite";
  }
  return std::move(record_);
}

template class Refiner<float>;
template class Refiner<double>;

}  // namespace glinpack
