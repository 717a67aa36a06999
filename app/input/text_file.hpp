// Opens files, and reads whole text files, with a distinct error for each cause of failure.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace glinpack::app {

/// Opens a file. Throws InputError if it does not exist, is not a regular file or cannot be read. `what`: what is
/// expected, for the message.
std::ifstream open_file(const std::string& path, const std::string& what = "a file");
/// The contents of a file. Throws InputError like open_file(), and if it is larger than `largest_bytes`.
std::string read_file(const std::string& path, std::int64_t largest_bytes);

/// The text files of a command. Rank 0 reads them from disk, the other ranks get them by broadcast.
class TextFiles {
 public:
  TextFiles() = default;
  explicit TextFiles(std::map<std::string, std::string> contents) : contents_(std::move(contents)), received_(true) {}

  /// True if there is such a file or folder on rank 0. There, it must be read afterwards if it exists.
  bool exists(const std::string& path) const;

  /// Like read_file(), but reads each path once.
  const std::string& read(const std::string& path, std::int64_t largest_bytes);
  /// The contents of the files read, by path.
  const std::map<std::string, std::string>& contents() const { return contents_; }

 private:
  std::map<std::string, std::string> contents_;
  bool received_ = false;  // from rank 0: no file is looked for on disk
};

/// The lines of a text file without their ends. Accepts LF, CRLF, a missing final newline and a byte order mark. Throws
/// InputError with the line of the first byte that no text file has. `path`: for the message.
std::vector<std::string> lines_of(const std::string& path, std::string contents);

// TOML configuration files (toml.io): a flat list of keys and values. The option tables check them.

/// One key and its value.
struct Setting {
  std::string key;                    // with dashes, "_" having become "-"
  std::vector<std::string> values{};  // in the command line's form; one, or the elements of a list
  std::string text{};                 // the value as written in the file, for messages
  int line = 0;                       // 1-based
  bool is_boolean = false;
};

/// The settings in file order. Throws InputError ("FILE:LINE: ...") if the file is unreadable, is not TOML or has
/// tables. Values are strings, numbers, booleans, or lists of these.
std::vector<Setting> settings_of(const std::string& path, TextFiles& files);

}  // namespace glinpack::app
