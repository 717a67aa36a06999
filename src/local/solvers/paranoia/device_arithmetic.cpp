#include "solvers/paranoia/device_arithmetic.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "solvers/device/device_array.hpp"
#include "solvers/device/texture_matrix.hpp"

namespace glinpack::solvers {
namespace {

using arithmetic::OperandSet;
using arithmetic::Operation;

constexpr Index side = 512;             // of textures
constexpr Index at_once = side * side;  // operands on the device at a time
constexpr Index group = 128;            // shaders/solvers/arithmetic.comp's
static_assert(at_once % group == 0);

const char* expression_of(Operation operation) {
  switch (operation) {
    case Operation::addition:
      return "a + b";
    case Operation::subtraction:
      return "a - b";
    case Operation::multiplication:
      return "a * b";
    case Operation::division:
      return "a / b";
    case Operation::fma:
      return "fma(a, b, c)";
    case Operation::reciprocal:
      return "1.0 / b";
  }
  return "a";
}

std::string preamble_of(const std::string& expression, bool is_double) {
  return std::string("#define DOUBLE ") + (is_double ? "1" : "0") + "\n#define EXPRESSION (" + expression + ")\n";
}

/// What both kinds have in common: pieces of the set, one after the other.
template <class Real>
class Piecewise : public DeviceArithmetic<Real> {
 public:
  void compute(Operation operation, const OperandSet<Real>& set, std::span<Real> results) override {
    run(preamble_of(expression_of(operation), !std::is_same_v<Real, float>), set, results);
  }
  void carry(const OperandSet<Real>& set, std::span<Real> results) override {
    run(preamble_of("a", !std::is_same_v<Real, float>), set, results);
  }

 private:
  virtual void begin(const std::string& preamble) = 0;
  virtual void compute_piece(std::span<const Real> a, std::span<const Real> b, std::span<const Real> c,
                             std::span<Real> results) = 0;

  void run(const std::string& preamble, const OperandSet<Real>& set, std::span<Real> results) {
    if (static_cast<Index>(results.size()) != set.size()) {
      throw std::invalid_argument("there are not as many results as operands");
    }
    begin(preamble);
    for (Index first = 0; first < set.size(); first += at_once) {
      const auto offset = static_cast<std::size_t>(first);
      const auto count = static_cast<std::size_t>(std::min(at_once, set.size() - first));
      const auto piece = [&](const std::vector<Real>& all) { return std::span(all).subspan(offset, count); };
      compute_piece(piece(set.a), piece(set.b), piece(set.c), results.subspan(offset, count));
    }
  }
};

template <class Real>
class ComputedArithmetic final : public Piecewise<Real> {
 public:
  explicit ComputedArithmetic(Device& device)
      : device_(device), a_(device, at_once), b_(device, at_once), c_(device, at_once), results_(device, at_once) {}

 private:
  void begin(const std::string& preamble) override {
    program_ = device_.compute_program("solvers/arithmetic.comp", preamble);
  }
  void compute_piece(std::span<const Real> a, std::span<const Real> b, std::span<const Real> c,
                     std::span<Real> results) override {
    a_.upload(a);
    b_.upload(b);
    c_.upload(c);
    device_.measure(Stage::compute, [&] {
      a_.bind(0);
      b_.bind(1);
      c_.bind(2);
      results_.bind(3);
      device_.dispatch(program_, (static_cast<Index>(a.size()) + group - 1) / group);
    });
    results_.download(results);
  }

  Device& device_;
  DeviceArray<Real> a_, b_, c_, results_;
  gl::Program program_;
};

class DrawnArithmetic final : public Piecewise<float> {
 public:
  explicit DrawnArithmetic(Device& device)
      : device_(device), a_(texture()), b_(texture()), c_(texture()), results_(texture()) {}

 private:
  TextureMatrix texture() { return {device_, side, side, Packing::p1x1}; }

  void begin(const std::string& preamble) override {
    program_ = device_.fragment_program("solvers/arithmetic.frag", preamble);
  }
  void compute_piece(std::span<const float> a, std::span<const float> b, std::span<const float> c,
                     std::span<float> results) override {
    const auto upload = [](TextureMatrix& to, std::span<const float> values) {
      to.upload_texels([&](float* texels) {
        std::copy(values.begin(), values.end(), texels);
        std::fill(texels + values.size(), texels + at_once, 1.0F);
      });
    };
    upload(a_, a);
    upload(b_, b);
    upload(c_, c);
    device_.measure(Stage::compute, [&] {
      const gl::Quad all = results_.quad();
      device_.draw(program_, results_.target(), {a_.texture(), b_.texture(), c_.texture()}, {&all, 1});
    });
    results_.download_texels([&](const float* texels) { std::copy_n(texels, results.size(), results.begin()); });
  }

  Device& device_;
  TextureMatrix a_, b_, c_, results_;
  gl::Program program_;
};

}  // namespace

template <class Real>
std::unique_ptr<DeviceArithmetic<Real>> make_device_arithmetic(Device& device, ShaderKind kind) {
  if (kind == ShaderKind::compute) return std::make_unique<ComputedArithmetic<Real>>(device);
  if constexpr (std::is_same_v<Real, float>) return std::make_unique<DrawnArithmetic>(device);
  throw std::invalid_argument("fragment shaders draw in single precision only");
}

template std::unique_ptr<DeviceArithmetic<float>> make_device_arithmetic(Device&, ShaderKind);
template std::unique_ptr<DeviceArithmetic<double>> make_device_arithmetic(Device&, ShaderKind);

}  // namespace glinpack::solvers
