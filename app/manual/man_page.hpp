// Man pages from what --help says.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

struct Manual {
  std::string name;     // of the page: "glinpack", "glinpack-plu"
  std::string summary;  // one line, for NAME
  std::string help;     // what --help prints
};

/// The program's manual, then one for each of its subcommands and standalone modes.
std::vector<Manual> all_manuals();

/// A page of section 1 in roff's man macros; `others`: names of the pages that it points to at its end.
std::string man_page(const Manual& manual, const std::vector<std::string>& others);

}  // namespace glinpack::app
