#include "checkpoint/checkpoint_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/memory_count.hpp"
#include "base/new_file.hpp"
#include "base/threads.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace glinpack {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GridPosition, row, column)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CheckpointHeader, options, run, pass, seconds, at, rows, columns, piece_rows,
                                   element, pivots, state_bytes)

namespace {

constexpr std::array<char, 8> magic{'g', 'l', 'i', 'n', 'c', 'k', 'p', '3'};
constexpr std::uint64_t word = sizeof(std::uint64_t);  // of lengths, checksums and pivots
constexpr std::uint64_t largest_header = 1 << 20;
constexpr std::size_t alignment = 4096;                       // for O_DIRECT
constexpr Index bytes_per_thread = Index{1} << 20;            // of a copy
constexpr std::size_t bytes_of_block = std::size_t{4} << 20;  // which a disk writes at its full rate

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
  return std::as_bytes(std::span(&value, 1));
}

bool is_direct(const FileHandle& file) { return (fcntl(file.get(), F_GETFL) & O_DIRECT) != 0; }

std::string system_error(const std::string& path) { return path + ": " + std::strerror(errno); }

/// Bytes after the header; more than any file has if the header makes no sense.
std::uint64_t bytes_after_header(const CheckpointHeader& header) {
  constexpr Index max = Index{1} << 40;  // rows, columns, pivots or bytes: products stay below 2^64
  const auto is_extent = [](Index value) { return value >= 0 && value <= max; };
  const bool sensible = is_extent(header.rows) && is_extent(header.columns) && is_extent(header.pivots) &&
                        is_extent(header.state_bytes) && header.piece_rows >= 1 &&
                        (header.element == sizeof(float) || header.element == sizeof(double));
  constexpr auto impossible = std::numeric_limits<std::uint64_t>::max();
  if (!sensible) return impossible;
  const auto rows = static_cast<std::uint64_t>(header.rows), columns = static_cast<std::uint64_t>(header.columns);
  const std::uint64_t row = columns * static_cast<std::uint64_t>(header.element);
  if (row > 0 && rows > impossible / 4 / row) return impossible;
  const auto piece_rows = static_cast<std::uint64_t>(header.piece_rows);
  const std::uint64_t pieces = row == 0 ? 0 : rows / piece_rows + (rows % piece_rows != 0 ? 1 : 0);
  const std::uint64_t state = header.state_bytes == 0 ? 0 : static_cast<std::uint64_t>(header.state_bytes) + word;
  return (static_cast<std::uint64_t>(header.pivots) + 1) * word + rows * row + pieces * word + state;
}

}  // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

FileHandle::FileHandle(FileHandle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) close(descriptor_);
}

CheckpointWriter::CheckpointWriter(std::string path, const CheckpointHeader& header,
                                   std::span<const GlobalIndex> pivots)
    : path_(std::move(path)), block_(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes_of_block))) {
  if (!block_) throw std::bad_alloc();
  file_ = FileHandle(create_file(path_, O_TRUNC | O_DIRECT));
  if (file_.get() < 0 && errno == EINVAL) file_ = FileHandle(create_file(path_, O_TRUNC));
  if (file_.get() < 0) throw CheckpointError(system_error(path_));
  const std::string text = nlohmann::json(header).dump();
  std::string head(magic.begin(), magic.end());
  const std::uint64_t length = text.size();
  head.append(reinterpret_cast<const char*>(&length), sizeof length);
  head += text;
  add(std::as_bytes(std::span(head)));
  add(std::as_bytes(pivots));
}

void CheckpointWriter::add(std::span<const std::byte> piece) {
  append(piece);
  append(bytes_of(checksum_of(piece)));
}

void CheckpointWriter::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), bytes_of_block - filled_);
    std::memcpy(block_.get() + filled_, bytes.data(), count);
    filled_ += count;
    bytes = bytes.subspan(count);
    if (filled_ == bytes_of_block) write_block();
  }
}

void CheckpointWriter::write_block() {
  for (std::size_t done = 0; done < filled_;) {
    const ssize_t written = ::write(file_.get(), block_.get() + done, filled_ - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EINVAL && is_direct(file_)) {  // another alignment, or the rest of a short write
      use_page_cache();
      continue;
    }
    if (written < 0) throw CheckpointError(system_error(path_));
    done += static_cast<std::size_t>(written);
  }
  filled_ = 0;
}

void CheckpointWriter::use_page_cache() {
  const int flags = fcntl(file_.get(), F_GETFL);
  if (fcntl(file_.get(), F_SETFL, flags & ~O_DIRECT) != 0) throw CheckpointError(system_error(path_));
}

void CheckpointWriter::finish() {
  if (is_direct(file_)) use_page_cache();  // for a part of a block
  write_block();
  block_.reset();
  if (fsync(file_.get()) != 0) throw CheckpointError(system_error(path_));
}

CheckpointReader::CheckpointReader(std::string path)
    : path_(std::move(path)),
      file_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {  // a FIFO would wait for a writer
  struct stat status {};
  if (file_.get() < 0 || fstat(file_.get(), &status) != 0) throw CheckpointError(system_error(path_));
  if (!S_ISREG(status.st_mode)) refuse("is no regular file");
  const auto size = static_cast<std::uint64_t>(status.st_size);

  std::string head(magic.size() + word, '\0');
  if (size < head.size()) refuse("is cut: it has " + std::to_string(size) + " bytes");
  read_exactly(std::as_writable_bytes(std::span(head)));
  if (!std::equal(magic.begin(), magic.end(), head.begin())) refuse("is no checkpoint of this version of glinpack");
  std::uint64_t length = 0;
  std::memcpy(&length, head.data() + magic.size(), sizeof length);
  if (length > largest_header) refuse("is altered: its header is said to have " + std::to_string(length) + " bytes");
  const std::uint64_t header_end = head.size() + length + word;
  if (size < header_end) refuse("is cut: it has " + std::to_string(size) + " bytes, and its header alone more");

  head.resize(head.size() + length);
  const auto text = std::span(head).subspan(magic.size() + word);
  read_exactly(std::as_writable_bytes(text));
  std::uint64_t checksum = 0;
  read_exactly(std::as_writable_bytes(std::span(&checksum, 1)));
  if (checksum != checksum_of(std::as_bytes(std::span(head)))) refuse("is altered: its header has another checksum");
  try {
    header_ = nlohmann::json::parse(text.begin(), text.end()).get<CheckpointHeader>();
  } catch (const nlohmann::json::exception& error) {
    refuse(std::string("has an unreadable header: ") + error.what());
  }
  const std::uint64_t expected = bytes_after_header(header_);
  if (size - header_end != expected) {
    refuse(std::string(size - header_end < expected ? "is cut" : "has surplus bytes") + ": " +
           std::to_string(size - header_end) + " bytes follow the header, which announces " + std::to_string(expected));
  }
}

std::vector<GlobalIndex> CheckpointReader::read_pivots() {
  std::vector<GlobalIndex> pivots(static_cast<std::size_t>(header_.pivots));
  read_checked(std::as_writable_bytes(std::span(pivots)), "its pivots have");
  return pivots;
}

void CheckpointReader::read(std::span<std::byte> piece) { read_checked(piece, "its matrix or its checks have"); }

void CheckpointReader::read_checked(std::span<std::byte> to, const char* what) {
  read_exactly(to);
  std::uint64_t checksum = 0;
  read_exactly(std::as_writable_bytes(std::span(&checksum, 1)));
  if (checksum != checksum_of(to)) refuse(std::string("is altered: ") + what + " another checksum");
}

void CheckpointReader::read_exactly(std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t got = ::read(file_.get(), to.data(), to.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw CheckpointError(system_error(path_));
    if (got == 0) refuse("is cut");
    to = to.subspan(static_cast<std::size_t>(got));
  }
}

void CheckpointReader::refuse(const std::string& why) const { throw CheckpointError(path_ + " " + why); }

std::vector<GlobalIndex> verify_checkpoint_file(const std::string& path) {
  CheckpointReader reader(path);
  const CheckpointHeader& header = reader.header();
  std::vector<GlobalIndex> pivots = reader.read_pivots();
  const Index max = header.bytes_of_row() == 0 ? 0 : std::min(header.piece_rows, header.rows);
  std::vector<std::byte> piece(static_cast<std::size_t>(max) * header.bytes_of_row());
  for (Index first = 0; max > 0 && first < header.rows; first += max) {
    const Index rows = std::min(max, header.rows - first);
    reader.read(std::span(piece).first(static_cast<std::size_t>(rows) * header.bytes_of_row()));
  }
  if (header.state_bytes == 0) return pivots;
  piece.resize(static_cast<std::size_t>(header.state_bytes));
  reader.read(piece);
  return pivots;
}

// Memory that is touched for the first time costs several times as much as a copy.
CheckpointCopy::CheckpointCopy(std::size_t bytes, int threads) : bytes_(bytes), threads_(threads) {
  MemoryCount::add_host(static_cast<std::int64_t>(bytes));
  if (MemoryCount::only_counts()) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
  parallel_for(threads_, static_cast<Index>(bytes_), bytes_per_thread, [this](Index begin, Index end) {
    std::memset(memory_.get() + begin, 0, static_cast<std::size_t>(end - begin));
  });
}

void CheckpointCopy::clear() {
  used_ = 0;
  beyond_.clear();
  pieces_.clear();
}

void CheckpointCopy::add(std::span<const std::byte> piece) {
  if (piece.size() > bytes_ - used_) {
    pieces_.emplace_back(beyond_.emplace_back(piece.begin(), piece.end()));
    return;
  }
  std::byte* const to = memory_.get() + used_;
  parallel_for(threads_, static_cast<Index>(piece.size()), bytes_per_thread, [&](Index begin, Index end) {
    std::memcpy(to + begin, piece.data() + begin, static_cast<std::size_t>(end - begin));
  });
  pieces_.emplace_back(to, piece.size());
  used_ += piece.size();
}

}  // namespace glinpack
