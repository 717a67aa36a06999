// The options of `glinpack report`.
#pragma once

#include <string>

#include "app/options/fields.hpp"

namespace glinpack::app {

struct ReportOptions {
  Texts files;  // at least one
  std::string output = "report.html";
  std::string title;  // empty: the default title
  bool force = false;
};

OptionTable report_table(ReportOptions& options);

/// `arguments` follow `glinpack report`. Throws InputError.
ReportOptions parse_report_options(const Texts& arguments);

}  // namespace glinpack::app
