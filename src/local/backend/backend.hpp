// What a rank computes with: the memory of its device, the arithmetic on it, and panels. Implementations: reference/
// (naive loops, the oracle), openblas/, compute/, gl/raster/. A function takes the smallest of the interfaces that it
// needs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/arithmetic.hpp"
#include "backend/device_memory.hpp"
#include "backend/panels.hpp"
#include "base/matrix_product.hpp"
#include "base/precision.hpp"
#include "base/timeline.hpp"

namespace glinpack {

/// The compute device of a backend, for reports.
struct BackendInfo {
  std::string backend = {};        // "openblas", "gl-compute", ...
  std::string device = {};         // processor or device
  std::string driver = {};         // version of the driver, or the BLAS library
  std::string blas = {};           // BLAS of the host arithmetic ("OpenBLAS 0.3.21"), empty if there is none
  std::string kernels = {};        // its kernels ("SkylakeX"), empty if there is none
  int threads = 1;                 // host threads for arithmetic
  bool asynchronous = false;       // update() returns before it is done: the host can factorise a panel meanwhile
  bool software_device = false;    // the processor computes for a driver without a GPU
  std::string products = "plain";  // of the update, as --products names them
  int moduli = 0;                  // of double-precision products that residues of 8 bits emulate; 0: they are plain
  double product_error = 0;        // of these: bound for an element of L U, over the 2-norms of its row and column
  int device_index = -1;           // as `glinpack devices` counts; -1: the processor
  std::string device_uuid = {};    // of the device; empty if unknown
  std::int64_t free_bytes = 0;     // memory available for matrices when the backend started; 0 unknown
  Index largest_rows = 0;          // of a local matrix; 0: memory alone limits it
  Index largest_columns = 0;
};

template <class Real>
class RowByRowAlgorithm;

/// When a device takes over work that the host can do: only if it is faster (a software device is not), or always.
enum class DeviceUse { if_faster, always };

template <class Real>
class Backend : public DeviceMemory<Real>, public Arithmetic<Real> {
 public:
  /// `panel`: arithmetic for panels in host memory.
  Backend(Timeline& timeline, BackendInfo info, std::shared_ptr<PanelArithmetic<Real>> panel)
      : info_(std::move(info)), timeline_(timeline), panel_(std::move(panel)) {}

  /// Where it records its operations.
  Timeline& timeline() const { return timeline_; }
  const BackendInfo& info() const { return info_; }
  PanelArithmetic<Real>& panel() const { return *panel_; }
  /// The white paper's local algorithm (row_by_row.hpp); null if the backend does not implement it.
  virtual RowByRowAlgorithm<Real>* row_by_row() { return nullptr; }

  /// Products with a matrix whose elements the device makes, if it can; otherwise null. The elements are rounded to
  /// single precision if that is given. The backend must outlive it. Throws as allocate does.
  virtual std::unique_ptr<MatrixProduct> make_matrix_product(const MatrixElements&, Precision, DeviceUse) {
    return nullptr;
  }
  /// Panels of up to rows x columns factorised on the device, by tournament or by partial pivoting, if it can;
  /// otherwise null. The backend must outlive it. Throws as allocate does.
  virtual std::unique_ptr<DeviceTournamentPanel<Real>> make_tournament_panel(Index /*rows*/, Index /*columns*/,
                                                                             DeviceUse) {
    return nullptr;
  }
  /// By partial pivoting, update() may run at the same time. No fence may be taken between the two.
  virtual std::unique_ptr<DevicePanel<Real>> make_partial_panel(Index /*rows*/, Index /*columns*/, DeviceUse) {
    return nullptr;
  }

  /// Adds device intervals that are measured but not yet on the timeline. Call after wait_all().
  virtual void collect_timings() {}

 protected:
  BackendInfo info_;

 private:
  Timeline& timeline_;
  std::shared_ptr<PanelArithmetic<Real>> panel_;
};

}  // namespace glinpack
