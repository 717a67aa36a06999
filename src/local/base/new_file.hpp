// Files for writing. Symbolic links are never followed, and what exists is not truncated: another user may have put it
// into a shared folder.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <ext/stdio_filebuf.h>
#include <functional>
#include <iosfwd>
#include <string>

namespace glinpack {

/// Opens a file for writing; without O_EXCL in `flags`, one that exists, too. Returns the descriptor, or -1 with errno.
int create_file(const std::string& path, int flags = O_EXCL);

/// Creates a file with a random name, PATH.part0123456789abcdef, and puts the name into `temporary`. Returns the
/// descriptor, or -1 with errno.
int create_beside(const std::string& path, std::string& temporary);

/// The stream buffer of a descriptor, which it closes; not open if that is -1, and errno is kept then.
class FileBuffer : public __gnu_cxx::stdio_filebuf<char> {
 public:
  explicit FileBuffer(int descriptor) : FileBuffer(descriptor, errno) {}

 private:
  FileBuffer(int descriptor, int error) : stdio_filebuf(descriptor, std::ios::out | std::ios::binary) {
    if (descriptor < 0) errno = error;
  }
};

/// Writes a file as create_beside() and returns its name. Throws std::runtime_error that names `path` and the cause;
/// no file remains then.
std::string write_beside(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Gives the temporary file its name, at once. Replaces a file or link of that name only if `may_replace`. On failure,
/// returns false with errno, and the temporary file remains.
bool put_in_place(const std::string& temporary, const std::string& path, bool may_replace);

}  // namespace glinpack
