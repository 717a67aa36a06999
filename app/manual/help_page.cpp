#include "app/manual/help_page.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <stdexcept>

namespace glinpack::app {

namespace {

constexpr const char* usage_mark = "Usage: ";
constexpr const char* exit_mark = "Exit code: ";
constexpr const char* excludes_mark = "Excludes:";
constexpr const char* list_mark = "...";

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream words(text);
  std::vector<std::string> result;
  for (std::string word; words >> word;) result.push_back(word);
  return result;
}

std::string joined(const std::vector<std::string>& words, std::size_t first = 0) {
  return fmt::format("{}", fmt::join(std::span(words).subspan(first), " "));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::size_t indentation(const std::string& line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool is_blank(const std::string& line) { return indentation(line) == line.size(); }

// True for "Examples:", alone on its line and not indented.
bool is_heading(const std::string& line) { return indentation(line) == 0 && line.ends_with(':'); }

// "... [default]": moves the text in trailing brackets to the default.
void take_default(HelpEntry& entry) {
  const std::size_t bracket = entry.text.rfind('[');
  if (!entry.text.ends_with(']') || bracket == std::string::npos) return;
  entry.default_text = entry.text.substr(bracket + 1, entry.text.size() - bracket - 2);
  entry.text.resize(bracket);
  while (entry.text.ends_with(' ')) entry.text.pop_back();
}

// Parses names, type, excluded options, and the text on the same line; `line` keeps its indentation. Two spaces
// separate names and text, but only one if names and type fill their column.
HelpEntry begin_entry(const std::string& line) {
  const std::string content = line.substr(indentation(line));
  const std::size_t gap = content.find("  ");
  const std::vector<std::string> words = words_of(content.substr(0, gap));
  HelpEntry entry;
  std::size_t next = 1;
  if (!words.front().starts_with('-')) {  // not an option: the whole text is the name
    entry.names = {joined(words)};
    next = words.size();
  } else {
    entry.names = split(words.front(), ',');
    if (next < words.size() && words[next] != excludes_mark) entry.type = words[next++];
    if (next < words.size() && words[next] == list_mark) ++next;
    if (next < words.size() && words[next] == excludes_mark) {
      while (++next < words.size() && words[next].starts_with('-')) entry.excludes.push_back(words[next]);
    }
  }
  entry.text = joined(words, next);
  if (gap != std::string::npos) entry.text += (entry.text.empty() ? "" : " ") + joined(words_of(content.substr(gap)));
  return entry;
}

// Entries are indented by two spaces, their continuation lines by more.
std::vector<HelpEntry> entries_of(const std::vector<std::string>& lines) {
  constexpr std::size_t entry_indentation = 2;
  std::vector<HelpEntry> entries;
  for (const std::string& line : lines) {
    if (indentation(line) == entry_indentation) {
      entries.push_back(begin_entry(line));
    } else if (entries.empty()) {
      throw std::runtime_error("help: '" + line + "' belongs to no entry");
    } else {
      HelpEntry& entry = entries.back();
      entry.text += (entry.text.empty() ? "" : " ") + joined(words_of(line));
    }
  }
  for (HelpEntry& entry : entries) take_default(entry);
  return entries;
}

// True if the lines are options, or names with text after two spaces or on the next line.
bool are_entries(const std::string& heading, const std::vector<std::string>& lines) {
  if (heading.starts_with("Example")) return false;
  return std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    const std::size_t start = indentation(line);
    return start > 2 || line.substr(start).starts_with('-') || line.find("  ", start) != std::string::npos;
  });
}

HelpSection section_of(const std::string& heading, const std::vector<std::string>& lines) {
  HelpSection section{.heading = heading.substr(0, heading.size() - 1), .entries = {}, .lines = {}};
  if (are_entries(section.heading, lines)) {
    section.entries = entries_of(lines);
  } else {
    for (const std::string& line : lines) {
      section.lines.push_back(line.substr(std::min<std::size_t>(2, indentation(line))));
    }
  }
  return section;
}

void add_paragraph(HelpPage& page, std::string paragraph) {
  if (const std::size_t mark = paragraph.find(exit_mark); mark != std::string::npos) {
    page.exit_codes = paragraph.substr(mark + std::string(exit_mark).size());
    paragraph.resize(mark);
    while (paragraph.ends_with(' ')) paragraph.pop_back();
  }
  if (!paragraph.empty()) page.paragraphs.push_back(paragraph);
}

}  // namespace

HelpPage parse_help(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);

  HelpPage page;
  std::size_t at = 0;
  std::vector<std::string> description;
  for (; at < lines.size() && !lines[at].starts_with(usage_mark); ++at) description.push_back(lines[at]);
  if (at == lines.size()) throw std::runtime_error("help: there is no line that begins with 'Usage: '");
  page.description = joined(words_of(joined(description)));
  page.usage = lines[at++].substr(std::string(usage_mark).size());
  while (at < lines.size()) {
    if (is_blank(lines[at])) {
      ++at;
    } else if (is_heading(lines[at])) {
      const std::string heading = lines[at++];
      std::vector<std::string> body;
      while (at < lines.size() && indentation(lines[at]) > 0 && !is_blank(lines[at])) body.push_back(lines[at++]);
      page.sections.push_back(section_of(heading, body));
    } else {
      std::vector<std::string> paragraph;
      while (at < lines.size() && !is_blank(lines[at])) paragraph.push_back(lines[at++]);
      add_paragraph(page, joined(words_of(joined(paragraph))));
    }
  }
  return page;
}

std::vector<std::string> choices_of(const HelpEntry& option) {
  const std::string type = option.type.substr(0, option.type.find(",..."));
  if (type.find('|') == std::string::npos) return {};
  std::vector<std::string> choices = split(type, '|');
  std::erase_if(choices, [](const std::string& word) {  // removes placeholders: COUNT, FILE
    return std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  });
  return choices;
}

bool is_list(const HelpEntry& option) { return option.type.ends_with(",..."); }

}  // namespace glinpack::app
