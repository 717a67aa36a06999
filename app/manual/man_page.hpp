// Generates man pages from --help.
#pragma once

#include <string>
#include <vector>

namespace glinpack::app {

struct Manual {
  std::string name;     // of the page: "glinpack", "glinpack-plu"
  std::string summary;  // one line, for NAME
  std::string help;     // the output of --help
};

/// The program's manual, then one for each of its subcommands and standalone modes.
std::vector<Manual> all_manuals();

/// A page of section 1 in roff's man macros. `others`: pages for SEE ALSO.
std::string man_page(const Manual& manual, const std::vector<std::string>& others);

}  // namespace glinpack::app
