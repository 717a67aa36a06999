#include "matrix/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>

namespace glinpack {

namespace {

constexpr std::uint64_t stream_of_values = 0x9fb21c651e98df25, stream_of_order = 0xd6e8feb86659fd93,
                        stream_of_signs = 0xa0761d6478bd642f;

// A random order of 0 ... n-1, by the hashes of the numbers.
std::vector<Index> random_order(Index n, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [seed](Index i) {
    return std::pair(splitmix64(seed ^ stream_of_order, static_cast<std::uint64_t>(i)), i);
  });
  return order;
}

// t_0 ... t_(n+1). In extended precision: errors of t would change small values of the spectrum.
std::vector<double> toeplitz_part(const std::vector<double>& lambda) {
  const std::size_t n = lambda.size(), period = 2 * (n + 1);
  std::vector<long double> cosine(period);
  for (std::size_t k = 0; k < period; ++k) {
    cosine[k] =
        std::cos(std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n + 1));
  }
  std::vector<double> t(n + 2);
  for (std::size_t m = 0; m < t.size(); ++m) {
    long double sum = 0;
    std::size_t phase = 0;
    for (const double value : lambda) {
      phase += m;
      if (phase >= period) phase -= period;
      sum += static_cast<long double>(value) * cosine[phase];
    }
    t[m] = static_cast<double>(sum / static_cast<long double>(n + 1));
  }
  return t;
}

}  // namespace

std::vector<double> spectrum_values(std::string_view distribution, Index n, double condition, std::uint64_t seed) {
  const bool reversed = distribution == "rarith" || distribution == "rgeo" || distribution.starts_with("rcluster");
  if (reversed) distribution.remove_prefix(1);
  const auto last = static_cast<double>(std::max<Index>(1, n - 1));
  const auto random = [seed](Index i) { return splitmix64(seed ^ stream_of_values, static_cast<std::uint64_t>(i)); };
  const auto unit = [&](Index i) { return static_cast<double>(random(i) >> 11U) * 0x1p-53 + 0x1p-54; };  // in (0, 1)
  const auto value = [&](Index i) -> double {
    const auto place = static_cast<double>(i) / last;
    if (distribution == "arith") return 1 - place * (1 - 1 / condition);
    if (distribution == "geo") return std::pow(condition, -place);
    if (distribution == "cluster0") return i == 0 ? 1 : 1 / condition;
    if (distribution == "cluster1") return i < n - 1 || n == 1 ? 1 : 1 / condition;
    if (distribution == "rand") return unit(i);
    if (distribution == "rands") return 2 * unit(i) - 1;
    if (distribution == "randn")
      return std::sqrt(-2 * std::log(unit(i))) * std::cos(2 * std::numbers::pi * unit(n + i));
    return i == 0 ? 1 : i == 1 ? 1 / condition : std::pow(condition, -unit(i));  // logrand
  };
  std::vector<double> values(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) values[static_cast<std::size_t>(reversed ? n - 1 - i : i)] = value(i);
  return values;
}

MatrixElement spectrum_matrix(SpectrumUse use, std::vector<double> values, std::uint64_t seed) {
  const auto n = static_cast<Index>(values.size());
  if (use == SpectrumUse::diag) {
    const auto diagonal = std::make_shared<const std::vector<double>>(std::move(values));
    return [diagonal](Index i, Index j) { return i == j ? (*diagonal)[static_cast<std::size_t>(i)] : 0; };
  }
  struct Tables {
    std::vector<double> t;
    std::vector<Index> row;
  };
  const std::vector<Index> order = random_order(n, seed);
  std::vector<double> lambda(values.size());
  for (Index k = 0; k < n; ++k) {
    const double value = values[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
    const bool negative = splitmix64(seed ^ stream_of_signs, static_cast<std::uint64_t>(k)) >> 63U;
    lambda[static_cast<std::size_t>(k)] = use != SpectrumUse::poev && negative ? -value : value;
  }
  auto tables = std::make_shared<Tables>();
  tables->t = toeplitz_part(lambda);
  tables->row = random_order(n, seed + 1);
  if (use != SpectrumUse::svd) std::iota(tables->row.begin(), tables->row.end(), Index{0});
  return [n, tables = std::shared_ptr<const Tables>(std::move(tables))](Index i, Index j) {
    const Index row = tables->row[static_cast<std::size_t>(i)];
    const Index sum = row + j + 2;
    const auto t = [&](Index m) { return tables->t[static_cast<std::size_t>(m)]; };
    return t(std::abs(row - j)) - t(std::min(sum, 2 * (n + 1) - sum));
  };
}

}  // namespace glinpack
