#include "app/compare/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace glinpack::app {

namespace {

constexpr std::int64_t most_exact_pairs = 2500;
constexpr double rounding = 1e-9;

/// The probabilities of U = 0, 1, ... a b: the coefficients of the Gaussian binomial, divided by their sum. Computed
/// factor by factor, (1 - x^(b+i)) / (1 - x^i). As probabilities, the factors stay below 1.
std::vector<double> distribution(std::int64_t a, std::int64_t b) {
  const std::size_t size = static_cast<std::size_t>(a * b) + 1;
  std::vector<double> p(size, 0.0);
  p[0] = 1;
  for (std::int64_t i = 1; i <= a; ++i) {
    const auto up = static_cast<std::size_t>(b + i), down = static_cast<std::size_t>(i);
    for (std::size_t u = size; u-- > up;) p[u] -= p[u - up];
    for (std::size_t u = down; u < size; ++u) p[u] += p[u - down];
    const double weight = static_cast<double>(i) / static_cast<double>(b + i);
    for (double& value : p) value *= weight;
  }
  return p;
}

/// The largest k for which the interval from the k-th smallest to the k-th largest ratio has the confidence; -1 if
/// there is none.
std::int64_t cut_of(std::int64_t a, std::int64_t b, double confidence) {
  std::int64_t cut = -1;
  while (cut + 1 < (a * b + 1) / 2 && 1 - 2 * mann_whitney_at_most(cut + 1, a, b) >= confidence - rounding) ++cut;
  return cut;
}

double median_of(const std::vector<double>& ordered) {
  const std::size_t half = ordered.size() / 2;
  return ordered.size() % 2 == 1 ? ordered[half] : (ordered[half - 1] + ordered[half]) / 2;
}

double confidence_of(std::int64_t cut, std::int64_t a, std::int64_t b) {
  return std::max(0.0, 1 - 2 * mann_whitney_at_most(cut, a, b));
}

}  // namespace

double mann_whitney_at_most(std::int64_t u, std::int64_t a, std::int64_t b) {
  if (u < 0) return 0;
  if (u >= a * b) return 1;
  if (a * b <= most_exact_pairs) {
    const std::vector<double> p = distribution(a, b);
    double sum = 0;
    for (std::int64_t i = 0; i <= u; ++i) sum += p[static_cast<std::size_t>(i)];
    return sum;
  }
  const double pairs = static_cast<double>(a) * static_cast<double>(b);
  const double deviation = std::sqrt(pairs * static_cast<double>(a + b + 1) / 12);
  return 0.5 * std::erfc((pairs / 2 - static_cast<double>(u) - 0.5) / deviation / std::sqrt(2.0));
}

bool RatioSpread::reaches(double wanted) const { return confidence >= wanted - rounding; }

RatioSpread ratio_spread(std::span<const double> a, std::span<const double> b, double confidence) {
  std::vector<double> ratios;
  ratios.reserve(a.size() * b.size());
  for (const double of_b : b) {
    for (const double of_a : a) ratios.push_back(of_b / of_a);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto count_a = static_cast<std::int64_t>(a.size()), count_b = static_cast<std::int64_t>(b.size());
  const std::int64_t cut = std::max<std::int64_t>(0, cut_of(count_a, count_b, confidence));
  const auto place = static_cast<std::size_t>(cut);
  return {median_of(ratios), ratios[place], ratios[ratios.size() - 1 - place], confidence_of(cut, count_a, count_b)};
}

RatioSpread ratio_spread(const Measured& a, const Measured& b) {
  return {b.median / a.median, b.least / a.most, b.most / a.least, confidence_of(0, a.repetitions, b.repetitions)};
}

}  // namespace glinpack::app
