// The style of a page: for wide and narrow screens, print, light and dark mode.
#pragma once

#include "app/page/html.hpp"

namespace glinpack::app {

/// The element <style>.
Html style();

}  // namespace glinpack::app
