// Records of standalone modes: fits of their times, and their output.
#include "app/papers/records.hpp"

#include <cmath>

#include "tests/app/expect.hpp"

namespace glinpack::app {
namespace {

Measured seconds(double value) { return {value, value / 2, value * 2, 3}; }

ModeRecord record(const std::string& variant, Index n, double time, bool is_rival = false) {
  ModeRecord r{.variant = variant, .size = std::to_string(n), .n = n};
  r.is_rival = is_rival;
  r.times.compute = seconds(time);
  r.times.with_transfer = seconds(2 * time);
  r.times.with_all = seconds(3 * time);
  r.flops = 1e9;
  r.check = ModeCheck{"OpenBLAS gemm", 1e-7, 1e-6};
  return r;
}

double cubic(double n) { return 2e-3 + 3e-5 * n + 5e-7 * n * n + 7e-10 * n * n * n; }

TEST(Fit, RecoversThePolynomialOfTheTimes) {
  std::vector<FitPoint> points;
  for (const double n : {64.0, 100.0, 257.0, 512.0, 1000.0, 3000.0}) points.push_back({n, cubic(n)});
  const PolynomialFit fit = fit_polynomial(points, 3);
  const double expected[] = {2e-3, 3e-5, 5e-7, 7e-10};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(fit.coefficients[k] / expected[k], 1, 1e-6) << k;
  EXPECT_LT(fit.largest_relative_error, 1e-9);
  EXPECT_NEAR(fit.at(700) / cubic(700), 1, 1e-9);
}

TEST(Fit, SmallTimesWeighAsMuchAsLargeOnes) {
  // a constant through 1 and 100: least squares of the relative error give sum(1/t) / sum(1/t^2), not the mean
  const std::vector<FitPoint> points{{1, 1}, {2, 100}};
  EXPECT_NEAR(fit_polynomial(points, 0).coefficients[0], 1.01 / 1.0001, 1e-12);
}

TEST(Fit, ErrorsAreRelative) {
  const std::vector<FitPoint> points{{1, 1}, {2, 1}, {3, 2}};
  const PolynomialFit fit = fit_polynomial(points, 0);
  const double c = fit.coefficients[0];
  EXPECT_NEAR(fit.largest_relative_error, std::max(std::abs(c - 1), std::abs(c - 2) / 2), 1e-12);
  EXPECT_NEAR(fit.mean_relative_error, std::sqrt((2 * (c - 1) * (c - 1) + (c - 2) * (c - 2) / 4) / 3), 1e-12);
}

TEST(Fit, ComparesDominantCoefficientsAndOmitsFailedRuns) {
  std::vector<ModeRecord> records;
  for (const Index n : {100, 200, 300, 400, 500, 600}) {
    const auto size = static_cast<double>(n);
    records.push_back(record("openblas", n, 10 * cubic(size), true));
    records.push_back(record("compute", n, cubic(size)));
    records.push_back(record("wrong", n, cubic(size)));
    records.back().check->error = 1;
  }
  const std::vector<SeriesFit> fits = fit_series(records, 3);
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_FALSE(fits[0].speedup);
  EXPECT_NEAR(fits[1].speedup.value(), 10, 1e-4);
  EXPECT_THAT(fits_text(fits), HasSubstr("a + b n + c n^2 + d n^3"));
  EXPECT_EQ(fits_text({}), "");
}

TEST(Fit, OneCoefficientAndTheCrossingAreThoseOfTheTimes) {
  std::vector<ModeRecord> records;
  for (const Index n : {100, 200, 300, 400, 500, 600}) {
    const auto size = static_cast<double>(n);
    records.push_back(record("openblas", n, 1e-3 * size, true));
    records.push_back(record("compute", n, 0.2 + 0.5e-3 * size));
  }
  const std::vector<SeriesFit> fits = fit_series(records, 3);
  const std::string text = one_coefficient_text(records, fits);
  EXPECT_THAT(text, ::testing::ContainsRegex("openblas +1.000e-03 +0.0% "));
  EXPECT_THAT(text, ::testing::ContainsRegex("compute .* +400\n"));
  EXPECT_EQ(one_coefficient_text(records, {}), "");
}

TEST(Fit, NeedsTwoSizesMoreThanTheDegree) {
  check_fit(false, {1}, 3);
  check_fit(true, {1, 2, 3, 4, 5}, 3);
  expect_input_error([] { check_fit(true, {1, 2, 3, 4, 4}, 3); }, {"--fit", "4 sizes are too few", "5 or more"});
}

TEST(ModeReport, ALineHasTimesRatioErrorAndVerdict) {
  ModeRecord r = record("multi-pass", 257, 0.25);
  r.settings = "2x2, pass 1";
  r.speedup = 12.345;
  const std::string line = mode_line(r);
  for (const char* part :
       {"multi-pass", "2x2, pass 1", "257", "0.25", "0.5", "0.75", "4.00", "12.3", "1.00e-07", "passed"}) {
    EXPECT_THAT(line, HasSubstr(part));
  }
  r.flops *= 1e-3;
  EXPECT_THAT(mode_line(r), HasSubstr(" 0.004 "));
  r.check->error = std::nan("");
  EXPECT_THAT(mode_line(r), HasSubstr("FAILED: differs too much from OpenBLAS gemm"));
  EXPECT_FALSE(r.passed());
  r.failure = "zero pivot in step 3";
  EXPECT_THAT(mode_line(r), HasSubstr("FAILED: zero pivot in step 3"));
}

TEST(ModeReport, JsonHasNullForUnknownValues) {
  ModeMachine machine;
  ModeRecord failed = record("multi-pass", 257, 0.25);
  failed.failure = "zero pivot";
  failed.check.reset();
  ModeRecord wrong = record("compute", 257, 0.25);
  wrong.check->error = std::numeric_limits<double>::infinity();
  const nlohmann::json document = mode_json("matmul", machine, std::vector<ModeRecord>{failed, wrong}, {});
  EXPECT_TRUE(document["device"].is_null());
  EXPECT_TRUE(document["results"][0]["times"].is_null());
  EXPECT_TRUE(document["results"][0]["check"].is_null());
  EXPECT_EQ(document["results"][0]["failure"], "zero pivot");
  EXPECT_TRUE(document["results"][1]["check"]["error"].is_null());
  EXPECT_EQ(document["results"][1]["check"]["passed"], false);
  EXPECT_EQ(document["results"][1]["gflops"], 4.0);
}

TEST(ModeReport, CsvHasAFieldForEveryColumn) {
  ModeRecord failed = record("multi-pass", 257, 0.25);
  failed.settings = "2x2, pass 1";
  failed.failure = "zero pivot";
  const std::string csv = mode_csv("matmul", std::vector<ModeRecord>{record("compute", 8, 0.5), failed});
  const std::string head = csv.substr(0, csv.find('\n'));
  const std::string line = csv.substr(head.size() + 1, csv.find('\n', head.size() + 1) - head.size() - 1);
  EXPECT_EQ(std::count(head.begin(), head.end(), ','), std::count(line.begin(), line.end(), ','));
  EXPECT_THAT(csv, HasSubstr("matmul,multi-pass,\"2x2, pass 1\",257,257,single,,,"));
  EXPECT_THAT(csv, HasSubstr("false,zero pivot\n"));
}

}  // namespace
}  // namespace glinpack::app
