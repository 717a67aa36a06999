// A folder of all ranks.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "mpi/communication.hpp"
#include "tests/global/world.hpp"

namespace glinpack::test {

/// An empty folder for all ranks of the world, in its lifetime.
class SharedFolder {
 public:
  SharedFolder() {
    std::string name = testing::TempDir() + "checkpoints-XXXXXX";
    if (world_rank() == 0 && mkdtemp(name.data()) == nullptr) name.clear();
    world().broadcast(0, name);
    path = name;
  }
  ~SharedFolder() {
    world().barrier();
    if (world_rank() == 0) std::filesystem::remove_all(path);
  }
  std::string path;
};

}  // namespace glinpack::test
