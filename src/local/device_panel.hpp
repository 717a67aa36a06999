// Panels factorised where the matrix lies, for backends whose devices are good enough at it.
#pragma once

#include <optional>
#include <span>

#include "local/matrix_view.hpp"

namespace glinpack {

template <class Real>
struct DeviceBlock;
struct Fence;

/// What a device needs to factorise panels, between one and the next.
template <class Real>
class DevicePanel {
 public:
  DevicePanel() = default;
  DevicePanel(const DevicePanel&) = delete;
  DevicePanel& operator=(const DevicePanel&) = delete;
  virtual ~DevicePanel() = default;

  /// P A = L U of the panel A (rows x columns, rows >= columns) in place, given as A^T, columns x rows; L has a unit
  /// diagonal that is not stored. Tournament pivoting (CALU: Grigori, Demmel, Xiang, SIAM J. Matrix Anal. Appl. 32,
  /// 2011), the tree over parts of the rows that the device's work groups hold. Asynchronous, as the operations of
  /// Backend are; outcome() tells the rest after the fence, and before the next panel.
  virtual Fence factorize(DeviceBlock<Real> a_transposed) = 0;

  /// pivots[j] <- the 0-based row that was exchanged with row j of the last panel. Returns the first column whose pivot
  /// is exactly zero, if one is; the columns after it are then unspecified.
  virtual std::optional<Index> outcome(std::span<Index> pivots) const = 0;

  /// L21 <- A21 U11^-1, then A22 <- A22 - L21 U12: what others have decided, in the rows that are here. `a_transposed`
  /// is [L11 \ U11; A21]^T, columns x (columns + rows); u12 columns x right; a22 rows x right, where right may be 0.
  /// Three different matrices, rows > 0. Asynchronous, too.
  virtual void eliminate(DeviceBlock<Real> a_transposed, DeviceBlock<Real> u12, DeviceBlock<Real> a22) = 0;
};

}  // namespace glinpack
