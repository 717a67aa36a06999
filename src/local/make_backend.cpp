#include "local/make_backend.hpp"

#include <stdexcept>
#include <type_traits>

#include "local/gl/compute/compute_backend.hpp"
#include "local/gl/raster/raster_backend.hpp"
#include "local/openblas/openblas_backend.hpp"
#include "local/reference/reference_backend.hpp"

namespace glinpack {

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names{"reference", "openblas", "gl-compute", "gl-raster"};
  return names;
}

int copies_on_device(std::string_view name) { return name == "gl-raster" ? 2 : 1; }

Index columns_on_device(std::string_view name, Index columns) {
  constexpr Index width = gl::default_stripe_width;
  if (name != "gl-compute" || columns <= width) return columns;
  return (columns + width - 1) / width * width;
}

template <class Real>
std::unique_ptr<Backend<Real>> make_backend(std::string_view name, const BackendOptions& options, Timeline& timeline) {
  if (name == "reference") return make_reference_backend<Real>(options, timeline);
  if (name == "openblas") return make_openblas_backend<Real>(options, timeline);
  if (name == "gl-compute") return make_compute_backend<Real>(options, timeline);
  if (name == "gl-raster") {
    if constexpr (std::is_same_v<Real, float>) return make_raster_backend(options, timeline);
    throw std::runtime_error("the backend gl-raster computes in single precision only: use --precision single");
  }
  std::string message = "unknown backend '" + std::string(name) + "'; there are:";
  for (const std::string& known : backend_names()) message += " " + known;
  throw std::runtime_error(message);
}

template std::unique_ptr<Backend<float>> make_backend(std::string_view, const BackendOptions&, Timeline&);
template std::unique_ptr<Backend<double>> make_backend(std::string_view, const BackendOptions&, Timeline&);

}  // namespace glinpack
