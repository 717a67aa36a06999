// The options of `glinpack doctor`.
#pragma once

#include <optional>
#include <string>

#include "app/options/fields.hpp"

namespace glinpack::app::doctor {

struct DoctorOptions {
  bool quick = false;            // skips network, gemm and clocks
  double network_seconds = 10;   // time limit, after which the remaining pairs are skipped
  double gemm_seconds = 0.5;     // for all repetitions of a product
  std::string backend = "auto";  // this and the next two: as in `glinpack plu`
  std::optional<int> device;
  std::optional<int> threads;
  std::string json;  // empty: not written
  bool force = false;
  std::string config;
};

OptionTable doctor_table(DoctorOptions& options);

}  // namespace glinpack::app::doctor
