// How a page looks: on a desk, on a telephone, on paper, by day and by night.
#pragma once

#include "app/page/html.hpp"

namespace glinpack::app {

/// The element <style>.
Html style();

}  // namespace glinpack::app
