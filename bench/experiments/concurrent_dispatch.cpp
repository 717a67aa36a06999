// Work groups that wait for each other inside one dispatch, alone and with a large dispatch behind them.
//
//   g++ -std=c++20 -O2 concurrent_dispatch.cpp -o concurrent_dispatch -lEGL -lGLEW -lOpenGL
//   ./concurrent_dispatch DEVICE
//
//   "resident"  work groups that run at the same time, found by Sorensen et al.'s occupancy discovery (OOPSLA 2016)
//   "barrier"   microseconds of one barrier across the work groups of a dispatch, by atomics on a coherent buffer
//   "update"    C -= A B as the stand-in of a trailing update
//   "overlap"   (time of the waiting kernel + time of the update - time of both) / the smaller time; no GL barrier
//               stands between the two dispatches
//   "panel"     partial pivoting of 32 columns that stay in registers, one row an invocation, 1024 rows a work group
// Every wait is limited; "gave up 1" means that the limit was reached and the time means nothing.
#include <cmath>

#include "experiment.hpp"

namespace {

using namespace experiment;

std::string number(std::int64_t value) { return std::to_string(value); }

/// A zeroed or sentinel-filled storage buffer.
class StorageBuffer {
 public:
  explicit StorageBuffer(std::int64_t bytes) : bytes_(bytes) {
    glCreateBuffers(1, &name_);
    glNamedBufferStorage(name_, bytes, nullptr, GL_DYNAMIC_STORAGE_BIT);
  }
  StorageBuffer(const StorageBuffer&) = delete;
  StorageBuffer& operator=(const StorageBuffer&) = delete;
  ~StorageBuffer() { glDeleteBuffers(1, &name_); }

  void clear(GLuint word) const {
    glClearNamedBufferData(name_, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, &word);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
  }
  void bind(GLuint index) const { glBindBufferBase(GL_SHADER_STORAGE_BUFFER, index, name_); }
  void write(const void* data) const { glNamedBufferSubData(name_, 0, bytes_, data); }
  template <class T>
  std::vector<T> read(std::size_t count) const {
    std::vector<T> values(count);
    glMemoryBarrier(GL_ALL_BARRIER_BITS);
    glGetNamedBufferSubData(name_, 0, static_cast<GLsizeiptr>(count * sizeof(T)), values.data());
    return values;
  }

 private:
  GLuint name_ = 0;
  GLsizeiptr bytes_;
};

// ---------------------------------------------------------------------------------------------------------------------
// The update

/// C -= A B; A is k-major, B and C are row-major. Tile 64x128, 8 deep, 128 invocations with 8x8 results each.
std::string update_source() {
  constexpr int rows = 64, columns = 128, depth = 8, across = 16, down = 8, threads = across * down;
  constexpr int a_quads = depth * rows / 4, b_quads = depth * columns / 4;
  constexpr int a_loads = a_quads / threads, b_loads = b_quads / threads;
  std::string s = "#version 450\nlayout(local_size_x=" + number(threads) +
                  ") in;\n"
                  "layout(std430,binding=0) readonly restrict buffer AA { vec4 A[]; };\n"
                  "layout(std430,binding=1) readonly restrict buffer BB { vec4 B[]; };\n"
                  "layout(std430,binding=2) restrict buffer CC { vec4 C[]; };\n"
                  "layout(location=0) uniform int K; layout(location=1) uniform int ld;\n"
                  "shared vec4 As[" +
                  number(2 * a_quads) + "]; shared vec4 Bs[" + number(2 * b_quads) +
                  "];\n"
                  "void main(){ int t = int(gl_LocalInvocationIndex), tx = t % 16, ty = t / 16;\n"
                  "int gx = int(gl_NumWorkGroups.x), gy = int(gl_NumWorkGroups.y);\n"
                  "int id = int(gl_WorkGroupID.y) * gx + int(gl_WorkGroupID.x);\n"
                  // Bands of tile rows keep the parts of A and B in use in cache.
                  "const int G = 8; int first = (id / (G * gx)) * G, high = min(gy - first, G);\n"
                  "int row0 = (first + (id % (G * gx)) % high) * 64, col0 = ((id % (G * gx)) / high) * 128;\n"
                  "int as = 2 * ld, bs = 2 * ld;\n";
  for (int i = 0; i < 8; ++i) s += "vec4 c" + number(i) + "_0 = vec4(0), c" + number(i) + "_1 = vec4(0);\n";
  const auto slots = [&](const std::string& m, int loads, int quads, const char* origin) {
    for (int q = 0; q < loads; ++q) {
      const std::string e = "e" + m + number(q);
      s += "vec4 r" + m + number(q) + "; int " + e + " = t + " + number(q * threads) + "; int g" + m + number(q) +
           " = ((" + e + " / " + number(quads) + ") * ld + " + origin + ") / 4 + " + e + " % " + number(quads) + ";\n";
    }
  };
  slots("a", a_loads, rows / 4, "row0");
  slots("b", b_loads, columns / 4, "col0");
  const auto fetch = [&] {
    std::string r;
    for (int q = 0; q < a_loads; ++q) r += "ra" + number(q) + " = A[ga" + number(q) + "]; ga" + number(q) + " += as;";
    for (int q = 0; q < b_loads; ++q) r += "rb" + number(q) + " = B[gb" + number(q) + "]; gb" + number(q) + " += bs;";
    return r + "\n";
  };
  const auto store = [&](int half) {
    std::string r;
    for (int q = 0; q < a_loads; ++q)
      r += "As[" + number(half * a_quads) + " + ea" + number(q) + "] = ra" + number(q) + ";";
    for (int q = 0; q < b_loads; ++q)
      r += "Bs[" + number(half * b_quads) + " + eb" + number(q) + "] = rb" + number(q) + ";";
    return r + "\n";
  };
  const auto stage = [&](int half) {
    std::string r;
    for (int k = 0; k < depth; ++k) {
      r += "{";
      for (int i = 0; i < 2; ++i) {
        r += "vec4 a" + number(i) + " = As[ty + " + number(half * a_quads + k * rows / 4 + i * down) + "];";
        r += "vec4 b" + number(i) + " = Bs[tx + " + number(half * b_quads + k * columns / 4 + i * across) + "];";
      }
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 2; ++j) {
          const std::string c = "c" + number(i) + "_" + number(j);
          r += c + " = fma(vec4(a" + number(i / 4) + "." + "xyzw"[i % 4] + "), b" + number(j) + ", " + c + ");";
        }
      }
      r += "}\n";
    }
    return r;
  };
  s += fetch() + store(0) + "barrier();\nfor (int k0 = 0; k0 < K; k0 += 16) { bool more = k0 + 16 < K;\n" + fetch() +
       stage(0) + store(1) + "barrier();\nif (more) {" + fetch() + "}\n" + stage(1) + "if (more) {" + store(0) +
       "}\nbarrier(); }\n";
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 2; ++j) {
      s += "C[((row0 + " + number((i / 4) * 32 + i % 4) + " + ty * 4) * ld + col0) / 4 + tx + " + number(j * across) +
           "] -= c" + number(i) + "_" + number(j) + ";\n";
    }
  }
  return s + "}\n";
}

class Update {
 public:
  Update(int n, int k)
      : n_(n),
        k_(k),
        a_(std::int64_t{4} * n * k),
        b_(std::int64_t{4} * n * k),
        c_(std::int64_t{4} * n * n),
        program_(build_program(update_source(), "update")) {
    if (!program_) fail("the update does not build");
    a_.write(random_floats(static_cast<std::size_t>(n) * k, 1).data());
    b_.write(random_floats(static_cast<std::size_t>(n) * k, 2).data());
    c_.clear(0);
  }
  void dispatch() const {
    glUseProgram(program_);
    glUniform1i(0, k_);
    glUniform1i(1, n_);
    a_.bind(0);
    b_.bind(1);
    c_.bind(2);
    glDispatchCompute(static_cast<GLuint>(n_ / 128), static_cast<GLuint>(n_ / 64), 1);
  }
  double operations() const { return 2.0 * n_ * n_ * k_; }

 private:
  int n_, k_;
  StorageBuffer a_, b_, c_;
  GLuint program_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Work groups that wait for each other

/// Keeps `count` single-precision numbers of an invocation alive across the wait.
struct HeldRegisters {
  std::string before, after;
  explicit HeldRegisters(int count) {
    for (int i = 0; i < count; ++i)
      before += "float h" + number(i) + " = held[" + number(i) + "u * 64u + gl_LocalInvocationIndex % 64u];\n";
    for (int i = 0; i < count; ++i)
      after += "held[" + number(i) + "u * 64u + gl_LocalInvocationIndex % 64u] = h" + number(i) + " + 1.0;\n";
  }
};

std::string occupancy_source(int threads, int shared_bytes, int registers) {
  const HeldRegisters held(registers);
  return "#version 450\nlayout(local_size_x=" + number(threads) +
         ") in;\nlayout(std430,binding=3) coherent volatile buffer State { uint arrived; uint closed; uint resident; "
         "uint late; };\n"
         "layout(std430,binding=4) buffer Held { float held[]; };\nlayout(location=0) uniform uint limit;\n" +
         (shared_bytes ? "shared uint block[" + number(shared_bytes / 4) + "];\n" : std::string()) + "void main(){\n" +
         (shared_bytes ? "block[gl_LocalInvocationIndex] = limit;\n" : "") + held.before +
         // The poll is open until one group has waited for the limit; all that arrived until then are resident.
         "if (gl_LocalInvocationIndex == 0u) {\n"
         "  if (closed != 0u) { atomicAdd(late, 1u); }\n"
         "  else {\n"
         "    atomicAdd(arrived, 1u);\n"
         "    uint spins = 0u;\n"
         "    while (closed == 0u && spins < limit) ++spins;\n"
         "    if (atomicCompSwap(closed, 0u, 1u) == 0u) resident = arrived;\n"
         "  }\n"
         "}\nbarrier();\n" +
         held.after +
         (shared_bytes ? "if (block[(gl_LocalInvocationIndex + 1u) % " + number(threads) + "u] == 0u) late = 1u;\n"
                       : "") +
         "}\n";
}

void measure_occupancy(const StorageBuffer& state, const StorageBuffer& held, bool software) {
  for (const int threads : {128, 256, 512, 1024}) {
    struct Variant {
      int shared_bytes, registers;
    };
    for (const Variant& variant : {Variant{0, 0}, Variant{16384, 0}, Variant{32768, 0}, Variant{49152, 0},
                                   Variant{0, 32}, Variant{0, 48}, Variant{0, 96}}) {
      if (software && (variant.shared_bytes > 32768 || threads > 256)) continue;
      if (threads == 1024 && variant.registers > 48) continue;
      const GLuint program =
          build_program(occupancy_source(threads, variant.shared_bytes, variant.registers), "occupancy");
      if (!program) continue;
      glUseProgram(program);
      glUniform1ui(0, software ? 100 : 4000);
      state.bind(3);
      held.bind(4);
      int least = 1 << 30, most = 0;
      double seconds = 0;
      for (int run = 0; run < 4; ++run) {
        state.clear(0);
        seconds = wall_seconds([&] { glDispatchCompute(software ? 64 : 8192, 1, 1); });
        const int resident = static_cast<int>(state.read<GLuint>(4)[2]);
        if (run == 0) continue;
        least = std::min(least, resident);
        most = std::max(most, resident);
      }
      std::printf("resident: groups of %4d, shared %5d bytes, %2d numbers held: %d to %d groups (%.2f ms)\n", threads,
                  variant.shared_bytes, variant.registers, least, most, seconds * 1e3);
      glDeleteProgram(program);
    }
  }
}

/// `rounds` barriers across all work groups. Polls by volatile loads or by atomics.
std::string barrier_source(int threads, bool polls_by_atomics) {
  const std::string load = polls_by_atomics ? "atomicOr(arrived, 0u)" : "arrived";
  return "#version 450\nlayout(local_size_x=" + number(threads) +
         ") in;\nlayout(std430,binding=3) coherent volatile buffer State { uint arrived; uint gave_up; uint longest; "
         "};\n"
         "layout(location=0) uniform uint rounds; layout(location=1) uniform uint limit;\nshared uint stop;\n"
         "void main(){\nif (gl_LocalInvocationIndex == 0u) stop = gave_up;\nbarrier();\n"
         "for (uint r = 1u; r <= rounds; ++r) {\n"
         "  memoryBarrierBuffer(); barrier();\n"
         "  if (gl_LocalInvocationIndex == 0u && stop == 0u) {\n"
         "    atomicAdd(arrived, 1u);\n"
         "    uint goal = r * gl_NumWorkGroups.x, spins = 0u;\n"
         "    while (" +
         load +
         " < goal && spins < limit) ++spins;\n"
         "    if (spins >= limit) { atomicOr(gave_up, 1u); stop = 1u; }\n"
         "    else if (spins > 100u) { atomicMax(longest, spins); if (gave_up != 0u) stop = 1u; }\n"
         "    memoryBarrierBuffer();\n"
         "  }\n"
         "  barrier();\n"
         "  if (stop != 0u) return;\n"
         "}\n}\n";
}

struct Times {
  double waiting = 0, update = 0, both = 0, reversed = 0;
};

/// Times of a waiting kernel and the update, each alone, then without a GL barrier between, in both orders.
template <class Reset, class Waiting>
Times measure_overlap(const Update& update, int repeats, const Reset& reset, const Waiting& waiting) {
  const auto median = [&](const auto& work) {
    raise_clocks(0.25);
    std::vector<double> seconds;
    for (int i = 0; i <= repeats; ++i) {
      reset();
      seconds.push_back(wall_seconds(work));
    }
    seconds.erase(seconds.begin());
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  };
  Times times;
  times.waiting = median(waiting);
  times.update = median([&] { update.dispatch(); });
  times.both = median([&] {
    waiting();
    update.dispatch();
  });
  times.reversed = median([&] {
    update.dispatch();
    waiting();
  });
  return times;
}

void print_overlap(const std::string& what, const Times& t, unsigned gave_up) {
  const double smaller = std::min(t.waiting, t.update);
  std::printf(
      "overlap %s: alone %.3f ms, update alone %.3f ms, both %.3f ms, overlap %.0f %%, update slowed by %.3f "
      "ms; update first %.3f ms, overlap %.0f %%; gave up %u\n",
      what.c_str(), t.waiting * 1e3, t.update * 1e3, t.both * 1e3, 100 * (t.waiting + t.update - t.both) / smaller,
      (t.both - t.update) * 1e3, t.reversed * 1e3, 100 * (t.waiting + t.update - t.reversed) / smaller, gave_up);
}

void measure_barriers(const Update& update, const StorageBuffer& state, bool software) {
  const GLuint limit = software ? 2000 : 1U << 20;
  for (const int threads : {128, 1024}) {
    for (const bool atomics : {false, true}) {
      const GLuint program = build_program(barrier_source(threads, atomics), "barrier");
      if (!program) continue;
      state.bind(3);
      const auto dispatch = [&](int groups, int rounds) {
        glUseProgram(program);
        glUniform1ui(0, static_cast<GLuint>(rounds));
        glUniform1ui(1, limit);
        glDispatchCompute(static_cast<GLuint>(groups), 1, 1);
      };
      for (const int groups : {1, 8, 16, 24, 32, 64, 132}) {
        if (software && groups > 1) break;
        const auto timed = [&](int rounds) {
          double best = 1e9;
          for (int run = 0; run < 5; ++run) {
            state.clear(0);
            best = std::min(best, wall_seconds([&] { dispatch(groups, rounds); }));
          }
          return best;
        };
        raise_clocks(0.1);
        const double few = timed(software ? 1 : 100), many = timed(software ? 11 : 2100);
        const std::vector<GLuint> words = state.read<GLuint>(3);
        std::printf("barrier: %3d groups of %4d, polls by %s: %.3f us; longest wait %u polls, gave up %u\n", groups,
                    threads, atomics ? "atomics" : "loads", (many - few) / (software ? 10 : 2000) * 1e6, words[2],
                    words[1]);
      }
      if (atomics) continue;
      for (const int groups : {8, 16, 24, 32}) {
        if (software && groups > 8) break;
        const int rounds = software ? 2 : 2000;
        const Times times = measure_overlap(
            update, software ? 1 : 7, [&] { state.clear(0); }, [&] { dispatch(software ? 1 : groups, rounds); });
        print_overlap("of " + number(groups) + " groups of " + number(threads) + ", " + number(rounds) + " barriers",
                      times, state.read<GLuint>(3)[1]);
      }
      glDeleteProgram(program);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// A panel in registers

constexpr int panel_columns = 32;

/// Partial pivoting of 32 columns in one dispatch, `panels` times over. One row an invocation, its 32 numbers in
/// registers. Per column each group offers its largest row: it writes the row's 32 words to its slot. Slots start with
/// a word that no finite number has, so a word that differs is the data and no flag or memory barrier is needed.
/// Subgroup g reads group g's row. Rows are not exchanged; a chosen row only stops taking part.
std::string panel_source(int threads, int groups, bool subgroups) {
  const int rows_read = threads / panel_columns;  // one row of 32 words each 32 invocations at a time
  std::string s = "#version 450\n";
  if (subgroups) {
    s += "#extension GL_KHR_shader_subgroup_basic : require\n#extension GL_KHR_shader_subgroup_arithmetic : require\n"
         "#extension GL_KHR_shader_subgroup_ballot : require\n";
  }
  s += "layout(local_size_x=" + number(threads) +
       ") in;\nlayout(std430,binding=3) coherent volatile buffer State { uint gave_up; uint longest; };\n"
       "layout(std430,binding=4) coherent volatile buffer Slots { uint slots[]; };\n"
       "layout(std430,binding=5) readonly buffer Matrix { float matrix[]; };\n"
       "layout(std430,binding=6) writeonly buffer Pivots { int pivots[]; };\n"
       "layout(std430,binding=7) writeonly buffer Factors { float factors[]; };\n"
       "layout(location=0) uniform uint panels; layout(location=1) uniform uint limit;\n"
       "const uint empty = 0xffffffffu; const uint groups = " +
       number(groups) +
       "u;\n"
       "shared uint keys[" +
       number(threads) + "]; shared uint owners[" + number(threads) +
       "];\n"
       "shared float rows[" +
       number(groups * panel_columns) + "]; shared uint row_ids[" + number(groups) +
       "]; shared uint stop; shared uint best_key; shared uint best_owner;\n"
       // The row id follows the row's 32 words in a slot.
       "const uint slot_words = 64u;\n"
       "void main(){\nuint t = gl_LocalInvocationIndex, g = gl_WorkGroupID.x, row = g * " +
       number(threads) + "u + t, height = groups * " + number(threads) +
       "u;\n"
       "if (t == 0u) stop = gave_up;\nbarrier();\nif (stop != 0u) return;\n"
       "for (uint panel = 0u; panel < panels; ++panel) {\n";
  for (int c = 0; c < panel_columns; ++c)
    s += "float r" + number(c) + " = matrix[" + number(c) + "u * height + row];\n";
  s += "bool unused = true;\nuint spins = 0u;\n";
  for (int c = 0; c < panel_columns; ++c) {
    const std::string column = number(c);
    s += "{\nuint at = (panel * 32u + " + column + "u) * groups * slot_words;\n";
    s += "uint key = unused ? (floatBitsToUint(abs(r" + column + ")) + 1u) : 0u;\nuint owner;\n";
    if (subgroups) {
      // Every subgroup reduces the subgroups' results again, which saves a barrier.
      s += "{ uint top = subgroupMax(key); uint lane = subgroupBallotFindLSB(subgroupBallot(key == top));\n"
           "if (gl_SubgroupInvocationID == lane) { keys[gl_SubgroupID] = top; owners[gl_SubgroupID] = t; } }\n"
           "barrier();\n"
           "{ uint k = gl_SubgroupInvocationID < gl_NumSubgroups ? keys[gl_SubgroupInvocationID] : 0u;\n"
           "uint top = subgroupMax(k); uint lane = subgroupBallotFindLSB(subgroupBallot(k == top)); owner = "
           "owners[lane]; }\n";
    } else {
      s += "keys[t] = key; owners[t] = t; barrier();\n"
           "for (uint half_count = " +
           number(threads / 2) +
           "u; half_count > 0u; half_count /= 2u) {\n"
           "  if (t < half_count && keys[t + half_count] > keys[t]) { keys[t] = keys[t + half_count]; owners[t] = "
           "owners[t + half_count]; }\n"
           "  barrier();\n}\nowner = owners[0];\n";
    }
    s += "if (t == owner) {\nuint to = at + g * slot_words;\n";
    for (int k = 0; k < panel_columns; ++k)
      s += "slots[to + " + number(k) + "u] = floatBitsToUint(r" + number(k) + ");\n";
    s += "slots[to + 32u] = unused ? row : 0x7fffffffu;\n}\n";
    // llvmpipe runs the invocations of a group one after the other between barriers.
    if (!subgroups) s += "barrier();\n";
    // Each invocation waits for its own word; its data is its flag.
    s += "for (uint first = 0u; first < groups; first += " + number(rows_read) +
         "u) {\n  uint from = first + t / 32u, lane = t % 32u;\n"
         "  if (from < groups) {\n"
         "    uint word = slots[at + from * slot_words + lane], n = 0u;\n"
         "    while (word == empty && n < limit) { word = slots[at + from * slot_words + lane]; ++n; }\n"
         "    rows[from * 32u + lane] = uintBitsToFloat(word);\n"
         "    if (lane == 0u) {\n"
         "      uint id = slots[at + from * slot_words + 32u];\n"
         "      while (id == empty && n < limit) { id = slots[at + from * slot_words + 32u]; ++n; }\n"
         "      row_ids[from] = id;\n"
         "    }\n"
         "    spins = max(spins, n);\n"
         "    if (n >= limit) { stop = 1u; gave_up = 1u; }\n"
         "  }\n}\nbarrier();\nif (stop != 0u) return;\n";
    s += "uint winner = 0u; float top = -1.0;\n";
    if (subgroups && groups <= 32) {
      s += "{ float candidate = gl_SubgroupInvocationID < groups && row_ids[gl_SubgroupInvocationID] != 0x7fffffffu ? "
           "abs(rows[gl_SubgroupInvocationID * 32u + " +
           column +
           "u]) : -1.0;\n"
           "top = subgroupMax(candidate); winner = subgroupBallotFindLSB(subgroupBallot(candidate == top)); }\n";
    } else {
      s += "for (uint i = 0u; i < groups; ++i) { float candidate = row_ids[i] != 0x7fffffffu ? abs(rows[i * 32u + " +
           column + "u]) : -1.0; if (candidate > top) { top = candidate; winner = i; } }\n";
    }
    s += "uint pivot_row = row_ids[winner];\n"
         "if (row == pivot_row) { unused = false; pivots[panel * 32u + " +
         column +
         "u] = int(row); }\n"
         "if (unused) {\nr" +
         column + " /= rows[winner * 32u + " + column + "u];\n";
    for (int k = c + 1; k < panel_columns; ++k) {
      s += "r" + number(k) + " = fma(-r" + column + ", rows[winner * 32u + " + number(k) + "u], r" + number(k) + ");\n";
    }
    // The next column's rows must not overwrite this column's; its first barrier stands before they are written, and
    // that barrier comes after these reads.
    s += "}\n}\n";
  }
  for (int c = 0; c < panel_columns; ++c) s += "factors[" + number(c) + "u * height + row] = r" + number(c) + ";\n";
  return s + "if (spins > 0u) atomicMax(longest, spins);\n}\n}\n";
}

/// The same on the CPU. Returns the pivot rows.
std::vector<int> cpu_pivots(std::vector<float> matrix, int height) {
  std::vector<int> pivots;
  std::vector<bool> active(static_cast<std::size_t>(height), true);
  const auto at = [&](int row, int column) -> float& {
    return matrix[static_cast<std::size_t>(column) * height + row];
  };
  for (int c = 0; c < panel_columns; ++c) {
    int pivot = -1;
    for (int i = 0; i < height; ++i) {
      if (active[i] && (pivot < 0 || std::fabs(at(i, c)) > std::fabs(at(pivot, c)))) pivot = i;
    }
    pivots.push_back(pivot);
    active[pivot] = false;
    for (int i = 0; i < height; ++i) {
      if (!active[i]) continue;
      at(i, c) /= at(pivot, c);
      for (int k = c + 1; k < panel_columns; ++k) at(i, k) = std::fma(-at(i, c), at(pivot, k), at(i, k));
    }
  }
  return pivots;
}

void measure_panels(const Update& update, const StorageBuffer& state, bool software) {
  const bool subgroups = has_subgroup_arithmetic();
  const GLuint limit = software ? 1000 : 1U << 19;
  const int panels = software ? 2 : 20;
  for (const int threads : software ? std::vector<int>{64} : std::vector<int>{1024, 512}) {
    for (const int groups : {1, 4, 8, 16, 32, 64}) {
      if (software && groups > 1) break;
      if (threads * groups > 32768) break;
      const GLuint program = build_program(panel_source(threads, groups, subgroups), "panel");
      if (!program) continue;
      const int height = threads * groups;
      const std::size_t numbers = static_cast<std::size_t>(height) * panel_columns;
      StorageBuffer slots(std::int64_t{4} * panels * panel_columns * groups * 64), matrix(4 * numbers);
      StorageBuffer pivots(std::int64_t{4} * panels * panel_columns), factors(4 * numbers);
      const std::vector<float> values = random_floats(numbers, 5);
      matrix.write(values.data());
      const auto reset = [&] {
        state.clear(0);
        slots.clear(0xffffffffU);
      };
      const auto dispatch_count = [&](int count) {
        glUseProgram(program);
        glUniform1ui(0, static_cast<GLuint>(count));
        glUniform1ui(1, limit);
        state.bind(3);
        slots.bind(4);
        matrix.bind(5);
        pivots.bind(6);
        factors.bind(7);
        glDispatchCompute(static_cast<GLuint>(groups), 1, 1);
      };
      const auto dispatch = [&] { dispatch_count(panels); };
      const Times times = measure_overlap(update, software ? 1 : 7, reset, dispatch);
      raise_clocks(0.25);
      double one = 1e9;
      for (int run = 0; run < 5; ++run) {
        reset();
        one = std::min(one, wall_seconds([&] { dispatch_count(1); }));
      }
      reset();
      dispatch();
      const std::vector<GLuint> words = state.read<GLuint>(2);
      const std::vector<int> found = pivots.read<int>(static_cast<std::size_t>(panels) * panel_columns);
      const std::vector<int> expected = cpu_pivots(values, height);
      int equal = 0;
      for (std::size_t i = 0; i < found.size(); ++i) equal += found[i] == expected[i % panel_columns];
      const double columns = static_cast<double>(panels) * panel_columns;
      std::printf(
          "panel: %2d groups of %4d rows, %s: %.3f us a column alone (%.3f from one panel to %d), one dispatch of 32 "
          "columns %.1f us; pivots equal to the CPU's %d of %zu; longest wait %u polls, gave up %u\n",
          groups, threads, subgroups ? "subgroups" : "shared memory", times.waiting / columns * 1e6,
          (times.waiting - one) / (columns - panel_columns) * 1e6, panels, one * 1e6, equal, found.size(), words[1],
          words[0]);
      print_overlap(
          "of a panel of " + number(groups) + " groups of " + number(threads) + " rows, " + number(panels) + " times",
          times, words[0]);
      glDeleteProgram(program);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) fail("usage: concurrent_dispatch DEVICE");
  open_context(std::atoi(argv[1]));
  const bool software = is_software_renderer();
  const StorageBuffer state(64), held(std::int64_t{4} * 64 * 128);
  held.clear(0);
  measure_occupancy(state, held, software);
  const Update update(software ? 256 : 16384, software ? 16 : 768);
  raise_clocks();
  const double seconds = median_seconds(software ? 1 : 9, [&] { update.dispatch(); });
  std::printf("update: %.3f ms, %.2f TFLOPS\n", seconds * 1e3, update.operations() / seconds * 1e-12);
  measure_barriers(update, state, software);
  measure_panels(update, state, software);
  if (const GLenum error = glGetError(); error != GL_NO_ERROR) std::printf("OpenGL error 0x%x\n", error);
  std::printf("done\n");
  return 0;
}
