#include "app/slurm/slurm_script.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace glinpack::app {

namespace {

constexpr std::string_view directive_mark = "#SBATCH --";
// the first line of the template after its head
constexpr std::string_view body_mark = "\nset -euo pipefail\n";

struct Directive {
  std::string name;
  std::string value;  // empty: the directive has no value
};
using Directives = std::vector<Directive>;

Directives directives_of(std::string_view head) {
  Directives directives;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (!line.starts_with(directive_mark)) continue;
    const std::string_view directive = line.substr(directive_mark.size());
    const std::size_t sign = std::min(directive.find('='), directive.size());
    directives.push_back(
        {std::string(directive.substr(0, sign)), std::string(directive.substr(std::min(sign + 1, directive.size())))});
  }
  return directives;
}

// Replaces the directive or appends it; does nothing for an empty value.
void set(Directives& directives, const std::string& name, const std::string& value) {
  if (value.empty()) return;
  const auto found =
      std::find_if(directives.begin(), directives.end(), [&](const Directive& d) { return d.name == name; });
  if (found != directives.end()) {
    found->value = value;
  } else {
    directives.push_back({name, value});
  }
}

Directives asked_for(const SlurmOptions& o, Directives directives) {
  set(directives, "job-name", o.job_name);
  set(directives, "nodes", std::to_string(o.nodes));
  set(directives, "ntasks-per-node", std::to_string(o.ranks() / o.nodes));
  if (o.gpus_per_node > 0) set(directives, "gpus-per-node", o.gpus());
  if (o.cores_per_rank) set(directives, "cpus-per-task", std::to_string(*o.cores_per_rank));
  set(directives, "time", o.time);
  set(directives, "partition", o.partition);
  set(directives, "account", o.account);
  set(directives, "qos", o.qos);
  if (o.signal_lead == 0) {
    std::erase_if(directives, [](const Directive& d) { return d.name == "signal"; });
  } else {
    set(directives, "signal", "B:USR1@" + std::to_string(o.signal_lead));
  }
  return directives;
}

std::string shell_words(const std::vector<std::string>& texts) {
  std::string words;
  for (const std::string& text : texts) words += (words.empty() ? "" : " ") + shell_word(text);
  return words;
}

}  // namespace

std::string shell_word(const std::string& text) {
  const auto is_harmless = [](unsigned char c) {
    return (c < 0x80 && std::isalnum(c)) ||
           std::string_view("_./:,=@%+-").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_harmless)) return text;
  const bool is_printable =
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  std::string word = is_printable ? "'" : "$'";
  for (const char c : text) {
    if (is_printable) {
      word += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
    } else if (c == '\'' || c == '\\') {
      word += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      word += fmt::format("\\x{:02x}", c);
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string slurm_script(const SlurmOptions& o, const std::vector<std::string>& command_line,
                         const std::string& program) {
  const std::string_view whole = slurm_template();
  const std::size_t end_of_head = whole.find(body_mark);
  if (end_of_head == std::string_view::npos) throw std::logic_error("glinpack.sbatch has no head");

  std::string script = "#!/usr/bin/env bash\n# Written by: " + shell_words(command_line) +
                       "\n# Submit it with sbatch; arguments behind its name go to `glinpack plu`, too.\n";
  for (const Directive& directive : asked_for(o, directives_of(whole.substr(0, end_of_head)))) {
    script +=
        std::string(directive_mark) + directive.name + (directive.value.empty() ? "" : "=" + directive.value) + "\n";
  }
  script += "GLINPACK=${GLINPACK:-" + shell_word(program) + "}\n";
  script += std::string("GLINPACK_LAUNCHER=${GLINPACK_LAUNCHER:-") + (o.uses_hydra ? "hydra" : "srun") + "}\n";
  if (!o.plu_arguments.empty()) script += "set -- " + shell_words(o.plu_arguments) + " \"$@\"\n";
  return script += whole.substr(end_of_head);
}

}  // namespace glinpack::app
