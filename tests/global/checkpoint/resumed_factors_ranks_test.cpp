// A factorisation that is saved after a pass, or continues from there, has the factors of one that is not, bit for bit.

#include <cstring>
#include <functional>

#include "tests/global/factors.hpp"
#include "tests/global/world.hpp"

namespace glinpack {
namespace {

struct Case {
  const char* backend;
  Pivoting pivoting;
  int lookahead;
  PanelPlace panel = PanelPlace::automatic;
};

void PrintTo(const Case& test, std::ostream* out) {
  *out << test.backend << ", " << name_of(test.pivoting) << ", look-ahead " << test.lookahead << ", panels "
       << name_of(test.panel);
}

/// This rank's matrix and the interchanges, after all passes or after those that were saved.
template <class Real>
struct State {
  test::Values<Real> a;
  Interchanges interchanges;
};

/// Saves the state after `passes` passes, and ends there or continues.
template <class Real>
class Saver final : public PassObserver {
 public:
  Saver(Index passes, bool ends, std::function<test::Values<Real>()> matrix)
      : passes_(passes), ends_(ends), matrix_(std::move(matrix)) {}
  NextPass before(const PassPlan& pass) override {
    return pass.pass + 1 == passes_ ? NextPass::run_and_save : NextPass::run;
  }
  void after(const PassPlan&) override {}
  bool save(const PassPlan&, const Interchanges& so_far) override {
    state = {matrix_(), so_far};
    return !ends_;
  }
  State<Real> state;

 private:
  Index passes_;
  bool ends_;
  std::function<test::Values<Real>()> matrix_;
};

/// Factorisations of HPL's matrix on this rank of a grid.
template <class Real>
class Factorizer {
 public:
  Factorizer(const Case& test, Index n, Index nb, const ProcessGrid& grid)
      : parameters_(test::parameters_of({n, nb}, test.pivoting)),
        grid_(grid),
        distribution_(distribution_of(parameters_, grid.shape())),
        cached_(test::cached_backend<Real>(test.backend)) {
    parameters_.lookahead = test.lookahead;
    parameters_.panel = test.panel;
    parameters_.row_swap.pieces = 3;
  }

  State<Real> original() const {
    return {test::local_part<Real>(*make_hpl_source(parameters_.n), distribution_, grid_.position()), {}};
  }

  /// Passes `first` ... `end` - 1. Saves after `saved` passes into *between, and ends there if `ends`.
  State<Real> run(Index first, const State<Real>& from, Index saved = 0, bool ends = false,
                  State<Real>* between = nullptr) {
    Backend<Real>& backend = *cached_.backend;
    const auto a = test::on_device(backend, from.a);
    const auto matrix = [&] { return test::from_device(backend, *a); };
    MpiTransport<Real> transport(grid_, parameters_.broadcast, cached_.timeline);
    Saver<Real> saver(saved, ends, matrix);
    const auto lu = make_lu<Real>({parameters_, distribution_, grid_, backend, transport}, *a);
    const Factorization factors = lu->run(saver, {first, distribution_.passes()}, from.interchanges);
    EXPECT_EQ(factors.ended_before, ends ? std::optional(saved) : std::nullopt);
    if (between != nullptr) *between = saver.state;
    return {matrix(), factors.interchanges};
  }
  Index passes() const { return distribution_.passes(); }

 private:
  RunParameters parameters_;
  const ProcessGrid& grid_;
  Distribution distribution_;
  test::CachedBackend<Real>& cached_;
};

template <class Real>
void expect_same_bits(const State<Real>& state, const State<Real>& expected) {
  ASSERT_EQ(state.a.elements.size(), expected.a.elements.size());
  EXPECT_EQ(std::memcmp(state.a.elements.data(), expected.a.elements.data(), state.a.elements.size() * sizeof(Real)),
            0);
  EXPECT_EQ(state.interchanges.pivots, expected.interchanges.pivots);
}

template <class Real>
void expect_same_factors(const Case& test) {
  test::on_every_grid([&](const ProcessGrid& grid) {
    Factorizer<Real> factorizer(test, 69, 8, grid);  // a ragged last block
    const State<Real> original = factorizer.original();
    const State<Real> expected = factorizer.run(0, original);
    const Index last = factorizer.passes();
    const bool is_fast = test.backend == std::string("openblas");
    for (const Index passes : is_fast ? std::vector<Index>{1, 4, last - 1, last} : std::vector<Index>{4}) {
      SCOPED_TRACE(testing::Message() << "saved after " << passes << " passes");
      State<Real> saved;
      expect_same_bits(factorizer.run(0, original, passes, false, &saved), expected);
      State<Real> ended;
      factorizer.run(0, original, passes, true, &ended);
      expect_same_bits(ended, saved);
      expect_same_bits(factorizer.run(passes, saved), expected);
    }
  });
}

class SavedFactorization : public testing::TestWithParam<Case> {};

TEST_P(SavedFactorization, HasTheBitsOfOneWithoutInterruption) {
  if (GetParam().backend == std::string("openblas")) {
    expect_same_factors<double>(GetParam());
  } else {
    expect_same_factors<float>(GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Backends, SavedFactorization,
    testing::Values(Case{"openblas", Pivoting::partial, 0}, Case{"openblas", Pivoting::partial, 1},
                    Case{"openblas", Pivoting::local, 0}, Case{"openblas", Pivoting::local, 1},
                    Case{"openblas", Pivoting::tournament, 0}, Case{"openblas", Pivoting::tournament, 1},
                    Case{test::queued_backend, Pivoting::partial, 1},
                    Case{test::queued_vulkan, Pivoting::partial, 1, PanelPlace::device},
                    Case{test::queued_backend, Pivoting::tournament, 0, PanelPlace::device},
                    Case{test::queued_vulkan, Pivoting::tournament, 1, PanelPlace::device},
                    Case{"gl-raster", Pivoting::local, 1}, Case{"gl-raster", Pivoting::tournament, 1}),
    [](const auto& info) {
      return test::identifier(info.param.backend + std::string("_") + std::string(name_of(info.param.pivoting)) + "_" +
                              std::to_string(info.param.lookahead) + "_" + std::string(name_of(info.param.panel)));
    });

}  // namespace
}  // namespace glinpack
