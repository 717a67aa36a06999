#include "abft/checksums.hpp"

namespace glinpack {

template class Checksums<float>;
template class Checksums<double>;

}  // namespace glinpack
