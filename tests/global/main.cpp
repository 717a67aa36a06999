// Every rank runs every test; a test fails if it fails on any rank.

#include <cstdio>
#include <string>

#include "mpi/communication.hpp"
#include "mpi/session.hpp"
#include "tests/global/cached_backend.hpp"
#include "vulkan/functions.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  glinpack::MpiSession session(argc, argv);
  if (session.rank() != 0) {
    // the other ranks print only their failing assertions, to standard error
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    struct FailuresOnly final : testing::EmptyTestEventListener {
      void OnTestPartResult(const testing::TestPartResult& result) override {
        if (!result.failed()) return;
        const char* file = result.file_name() == nullptr ? "" : result.file_name();
        std::fprintf(stderr, "%s:%d: %s\n", file, result.line_number(), result.summary());
      }
    };
    listeners.Append(new FailuresOnly);
  }
  bool passed = RUN_ALL_TESTS() == 0;
  glinpack::test::destroy_cached_backends();
  if (const std::string message = glinpack::vulkan::take_validation_message(); !message.empty()) {
    std::fprintf(stderr, "Vulkan reports: %s\n", message.c_str());
    passed = false;
  }
  return session.finish(glinpack::all_agree(glinpack::world(), passed) ? 0 : 1);
}
