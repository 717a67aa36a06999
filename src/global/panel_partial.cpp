#include <algorithm>
#include <cmath>
#include <cstring>

#include "global/communication.hpp"
#include "global/panel.hpp"

namespace glinpack {

namespace {

// Columns are eliminated one by one up to this width; above it the work is in BLAS-3.
constexpr Index narrow_width = 16;

// A candidate for a pivot as it travels: this header, the candidate's row, then the current row, which only the rank
// that holds it fills in.
struct CandidateHeader {
  double magnitude = -1;  // -1: no row here
  std::int64_t row = -1;  // global
  std::int64_t has_current_row = 0;
};

// Larger magnitude first, then the upper row, as in a sequential search; a NaN wins, so that it is not hidden.
bool better(const CandidateHeader& a, const CandidateHeader& b) {
  if (a.row < 0 || b.row < 0) return b.row < 0;
  const bool a_nan = std::isnan(a.magnitude);
  const bool b_nan = std::isnan(b.magnitude);
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.magnitude != b.magnitude) return a.magnitude > b.magnitude;
  return a.row < b.row;
}

// MPI_User_function: the better candidate, and the current row from whoever has it.
void combine_candidates(void* in, void* in_out, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);
  const std::size_t row_bytes = (static_cast<std::size_t>(size) - sizeof(CandidateHeader)) / 2;
  for (int i = 0; i < *count; ++i) {
    char* from = static_cast<char*>(in) + static_cast<std::ptrdiff_t>(i) * size;
    char* to = static_cast<char*>(in_out) + static_cast<std::ptrdiff_t>(i) * size;
    CandidateHeader theirs;
    CandidateHeader ours;
    std::memcpy(&theirs, from, sizeof theirs);
    std::memcpy(&ours, to, sizeof ours);
    char* const current_row = to + sizeof ours + row_bytes;
    if (theirs.has_current_row != 0) std::memcpy(current_row, from + sizeof theirs + row_bytes, row_bytes);
    if (better(theirs, ours)) std::memcpy(to + sizeof ours, from + sizeof theirs, row_bytes);
    CandidateHeader result = better(theirs, ours) ? theirs : ours;
    result.has_current_row = theirs.has_current_row | ours.has_current_row;
    std::memcpy(to, &result, sizeof result);
  }
}

// The all-reduce over candidates with rows of `width` elements; owns MPI's type and operation.
template <class Real>
class CandidateReduction {
 public:
  explicit CandidateReduction(Index width)
      : width_(static_cast<std::size_t>(width)), bytes_(sizeof(CandidateHeader) + 2 * width_ * sizeof(Real)) {
    GLINPACK_MPI(MPI_Type_contiguous(static_cast<int>(bytes_.size()), MPI_BYTE, &type_));
    GLINPACK_MPI(MPI_Type_commit(&type_));
    GLINPACK_MPI(MPI_Op_create(combine_candidates, 1, &operation_));
  }
  CandidateReduction(const CandidateReduction&) = delete;
  CandidateReduction& operator=(const CandidateReduction&) = delete;
  ~CandidateReduction() {
    MPI_Op_free(&operation_);
    MPI_Type_free(&type_);
  }

  void set_header(const CandidateHeader& header) { std::memcpy(bytes_.data(), &header, sizeof header); }
  CandidateHeader header() const {
    CandidateHeader header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    return header;
  }
  Real* candidate_row() { return reinterpret_cast<Real*>(bytes_.data() + sizeof(CandidateHeader)); }
  Real* current_row() { return candidate_row() + width_; }
  std::int64_t message_bytes() const { return static_cast<std::int64_t>(bytes_.size()); }
  void run(MPI_Comm column) { all_reduce(column, bytes_.data(), 1, type_, operation_); }

 private:
  std::size_t width_;
  std::vector<char> bytes_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op operation_ = MPI_OP_NULL;
};

// The panel's top block, L11 \ U11, is built up row by row on every rank of the process column, so that each can
// eliminate its own rows without another message.
template <class Real>
class PartialPivotingPanel {
 public:
  PartialPivotingPanel(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel)
      : context_(context),
        plan_(plan),
        panel_(panel),
        a_(panel.view()),
        first_row_(context.distribution.rows.first(BlockIndex(plan.pass))),
        top_elements_(static_cast<std::size_t>(plan.width * plan.width)),
        top_{top_elements_.data(), plan.width, plan.width, plan.width},
        reduction_(plan.width) {}

  void run() {
    factor(0, plan_.width);
    if (panel_.zero_pivot || !plan_.in_pivot_row) return;
    for (Index j = 0; j < plan_.width; ++j) std::copy_n(top_.column(j), plan_.width, a_.column(j));
  }

 private:
  // The first of this rank's rows that is still to be eliminated when `done` rows of the top block are.
  Index live(Index done) const { return plan_.in_pivot_row ? done : 0; }
  // Row i of the panel, all columns.
  void copy_row(Index i, Real* to) const {
    for (Index j = 0; j < plan_.width; ++j) to[j] = a_(i, j);
  }
  void set_row(ColumnMajorView<Real> a, Index i, const Real* from) const {
    for (Index j = 0; j < plan_.width; ++j) a(i, j) = from[j];
  }

  // Columns [first, first + width), all of the panel's rows; recursive, right-looking.
  void factor(Index first, Index width) {
    if (width <= narrow_width) {
      for (Index j = first; j < first + width && !panel_.zero_pivot; ++j) column(j, first + width);
      return;
    }
    const Index left = (width / 2 + narrow_width - 1) / narrow_width * narrow_width;
    const Index right = width - left;
    factor(first, left);
    if (panel_.zero_pivot) return;
    {
      const Index rows = a_.rows - live(first + left);
      const double flops = static_cast<double>(left * right) * static_cast<double>(left + 2 * rows);
      const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
      // U12 <- L11^-1 A12, then A22 <- A22 - L21 U12
      const auto u12 = top_.block(first, first + left, left, right);
      context_.arithmetic.normalize(top_.block(first, first, left, left), u12);
      context_.arithmetic.reduce(a_.block(live(first + left), first, rows, left), u12,
                                 a_.block(live(first + left), first + left, rows, right));
    }
    factor(first + left, right);
  }

  // Finds the pivot of column j, exchanges its row with row j, and eliminates in columns up to `end`.
  void column(Index j, Index end) {
    offer_candidate(j);
    {
      const auto scope = context_.timeline.scope(Lane::net, Phase::panel, reduction_.message_bytes());
      reduction_.run(context_.column);
    }
    const CandidateHeader chosen = reduction_.header();
    panel_.pivots[static_cast<std::size_t>(j)] = GlobalIndex(chosen.row);
    if (chosen.magnitude == 0) {
      panel_.zero_pivot = first_row_ + j;
      return;
    }
    const Index rows = a_.rows - live(j + 1);
    const double flops = static_cast<double>(rows) * static_cast<double>(1 + 2 * (end - j - 1));
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel, 0, flops);
    exchange_rows(j, GlobalIndex(chosen.row));
    const std::span<Real> l(a_.column(j) + live(j + 1), static_cast<std::size_t>(rows));
    const Real* u = j + 1 < plan_.width ? &top_(j, j + 1) : nullptr;
    context_.arithmetic.eliminate_column(top_(j, j), l, u, top_.leading_dimension,
                                         a_.block(live(j + 1), j + 1, rows, end - j - 1));
  }

  void offer_candidate(Index j) {
    const auto scope = context_.timeline.scope(Lane::cpu, Phase::panel);
    const std::span<const Real> below(a_.column(j) + live(j), static_cast<std::size_t>(a_.rows - live(j)));
    const Index largest = context_.arithmetic.index_of_largest(below);
    CandidateHeader mine;
    if (largest >= 0) {
      const Index i = live(j) + largest;
      mine.magnitude = std::fabs(static_cast<double>(a_(i, j)));
      mine.row = context_.distribution.rows.global(plan_.panel_row + i, context_.position.row).value;
      copy_row(i, reduction_.candidate_row());
    }
    if (plan_.in_pivot_row) {
      mine.has_current_row = 1;
      copy_row(j, reduction_.current_row());
    }
    reduction_.set_header(mine);
  }

  void exchange_rows(Index j, GlobalIndex pivot) {
    set_row(top_, j, reduction_.candidate_row());
    if (plan_.in_pivot_row) set_row(a_, j, reduction_.candidate_row());
    const bool here = context_.distribution.rows.owner(pivot) == context_.position.row;
    if (here && pivot != first_row_ + j) {
      set_row(a_, context_.distribution.rows.local(pivot) - plan_.panel_row, reduction_.current_row());
    }
  }

  const PanelContext<Real>& context_;
  const PassPlan& plan_;
  Panel<Real>& panel_;
  ColumnMajorView<Real> a_;
  GlobalIndex first_row_;
  std::vector<Real> top_elements_;
  ColumnMajorView<Real> top_;
  CandidateReduction<Real> reduction_;
};

}  // namespace

template <class Real>
void factorize_panel_partial(const PanelContext<Real>& context, const PassPlan& plan, Panel<Real>& panel) {
  // one process row: all candidates are here, and no row travels
  if (context.distribution.shape.rows == 1) {
    factorize_panel_local(context, plan, panel);
  } else {
    PartialPivotingPanel<Real>(context, plan, panel).run();
  }
}

template void factorize_panel_partial(const PanelContext<float>&, const PassPlan&, Panel<float>&);
template void factorize_panel_partial(const PanelContext<double>&, const PassPlan&, Panel<double>&);

}  // namespace glinpack
