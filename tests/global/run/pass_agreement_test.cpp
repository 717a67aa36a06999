#include "run/pass_agreement.hpp"

#include <gtest/gtest.h>

namespace glinpack {
namespace {

TEST(StopQuestions, AreAskedTwiceASecondIfPassesAreShorter) {
  EXPECT_EQ(passes_between_questions(0, 500), 1000);
  EXPECT_EQ(passes_between_questions(1e-9, 501), 1000);
  EXPECT_EQ(passes_between_questions(0.01, 25), 50);
  EXPECT_EQ(passes_between_questions(0.3, 1), 1);
  EXPECT_EQ(passes_between_questions(0.6, 100), 0);
  EXPECT_EQ(passes_between_questions(1e9, 1), 0);
}

TEST(StopQuestions, AreAskedAgainSoonAfterFewPassesWhichMayHaveBeenShort) {
  EXPECT_EQ(passes_between_questions(1e-9, 1), 2);
  EXPECT_EQ(passes_between_questions(1e-9, 3), 6);
  EXPECT_EQ(passes_between_questions(0.1, 1), 2);
}

}  // namespace
}  // namespace glinpack
