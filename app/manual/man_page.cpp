#include "app/manual/man_page.hpp"

#include <algorithm>
#include <cctype>

#include "app/commands.hpp"
#include "app/manual/help_page.hpp"
#include "version.hpp"

namespace glinpack::app {

namespace {

// Escapes text for roff, so that dashes and quotes can be copied and nothing is read as a macro.
std::string escaped(const std::string& text) {
  std::string result;
  if (text.starts_with('.') || text.starts_with('\'')) result = "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '`':
        result += "\\(ga";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }

// "single|double,..." may break after each choice
std::string type_text(const HelpEntry& option) {
  std::string type = escaped(option.type);
  const bool spelt_out = !choices_of(option).empty();
  for (std::size_t bar = type.find('|'); bar != std::string::npos; bar = type.find('|', bar + 4)) {
    type.insert(bar + 1, "\\:");
  }
  return spelt_out ? type : "\\fI" + type + "\\fR";
}

std::string tag_text(const HelpEntry& entry) {
  std::string text;
  for (const std::string& name : entry.names) text += (text.empty() ? "" : ", ") + bold(name);
  return entry.type.empty() ? text : text + " " + type_text(entry);
}

std::string entry_text(const HelpEntry& entry) {
  std::string text = escaped(entry.text);
  const auto add_sentence = [&text](const std::string& sentence) {
    if (!text.empty() && !text.ends_with('.')) text += '.';
    text += (text.empty() ? "" : " ") + sentence + ".";
  };
  if (!entry.default_text.empty()) add_sentence("Default: " + escaped(entry.default_text));
  for (const std::string& other : entry.excludes) add_sentence("Not together with " + bold(other));
  return ".TP\n" + tag_text(entry) + "\n" + text + "\n";
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

bool has_options(const HelpSection& section) {
  return !section.entries.empty() && section.entries.front().names.front().starts_with('-');
}

// All options are in one section with subsections; --help itself has no subsection.
std::string options_text(const HelpPage& page) {
  std::string text;
  for (const HelpSection& section : page.sections) {
    if (!has_options(section)) continue;
    text += text.empty() ? ".SH OPTIONS\n" : ".SS " + escaped(section.heading) + "\n";
    for (const HelpEntry& entry : section.entries) text += entry_text(entry);
  }
  return text;
}

std::string section_text(const HelpSection& section) {
  constexpr std::size_t longest_title = 30;  // longer headings are sentences and continue the previous section
  std::string text = section.heading.size() > longest_title ? ".SS " + escaped(section.heading) + "\n"
                                                            : ".SH " + escaped(in_capitals(section.heading)) + "\n";
  for (const HelpEntry& entry : section.entries) text += entry_text(entry);
  if (section.lines.empty()) return text;
  text += ".nf\n";
  for (const std::string& line : section.lines) text += escaped(line) + "\n";
  return text + ".fi\n";
}

// "0 all passed, 1 one failed": one line per code if the text has this form.
std::string exit_status_text(const std::string& codes) {
  std::string text;
  std::string rest = codes.substr(0, codes.ends_with('.') ? codes.size() - 1 : codes.size());
  while (!rest.empty()) {
    std::size_t end = rest.find(", ");
    while (end != std::string::npos &&
           !(rest.size() > end + 2 && std::isdigit(static_cast<unsigned char>(rest[end + 2]))))
      end = rest.find(", ", end + 1);
    const std::string part = rest.substr(0, end);
    rest = end == std::string::npos ? "" : rest.substr(end + 2);
    const std::size_t space = part.find(' ');
    if (space == std::string::npos || !std::isdigit(static_cast<unsigned char>(part[0]))) return escaped(codes) + "\n";
    text += ".TP\n" + bold(part.substr(0, space)) + "\n" + escaped(part.substr(space + 1)) + "\n";
  }
  return text;
}

}  // namespace

std::vector<Manual> all_manuals() {
  std::vector<Manual> manuals{
      {"glinpack", "an HPL-class LU benchmark for clusters of GPUs that speak OpenGL", program_help()}};
  for (const Command& command : commands()) {
    manuals.push_back({std::string("glinpack-") + command.name, command.summary, command.help()});
  }
  return manuals;
}

std::string man_page(const Manual& manual, const std::vector<std::string>& others) {
  const HelpPage page = parse_help(manual.help);
  std::string text = ".\\\" Written by glinpack man-pages from what --help says.\n.TH " +
                     escaped(in_capitals(manual.name)) + " 1 \"\" \"glinpack " + version + "\" \"User Commands\"\n";
  text += ".SH NAME\n" + escaped(manual.name) + " \\- " + escaped(manual.summary) + "\n";
  text += ".SH SYNOPSIS\n" + escaped(page.usage) + "\n";
  text += ".SH DESCRIPTION\n" + escaped(page.description) + "\n";
  text += options_text(page);
  for (const HelpSection& section : page.sections) {
    if (!has_options(section)) text += section_text(section);
  }
  if (!page.paragraphs.empty()) text += ".SH NOTES\n";
  for (const std::string& paragraph : page.paragraphs) text += ".PP\n" + escaped(paragraph) + "\n";
  if (!page.exit_codes.empty()) text += ".SH EXIT STATUS\n" + exit_status_text(page.exit_codes);
  text += ".SH SEE ALSO\n";
  for (const std::string& other : others) {
    text += bold(other) + "(1)" + (other == others.back() ? "" : ",") + "\n";
  }
  return text;
}

}  // namespace glinpack::app
