#include <EGL/egl.h>

#include "gl/context.hpp"
#include "gl/devices.hpp"
#include "gl/gl_compute.hpp"
#include "gl/raster/drawing_rates.hpp"
#include "tests/local/backend_harness.hpp"
#include "tests/local/changed_shader.hpp"

namespace glinpack::gl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(GlVisibleDevices, AreSelectedAndOrdered) {
  EXPECT_THAT(selected_devices("2,0", 3), ElementsAre(2, 0));
  EXPECT_THAT(selected_devices(" 1 , 2", 3), ElementsAre(1, 2));
}

TEST(GlVisibleDevices, EndAtTheFirstUnknownDevice) {
  EXPECT_THAT(selected_devices("1,7,0", 3), ElementsAre(1));
  EXPECT_THAT(selected_devices("none", 3), IsEmpty());
  EXPECT_THAT(selected_devices("-1", 3), IsEmpty());
  EXPECT_THAT(selected_devices("", 3), IsEmpty());
}

TEST(GlVisibleDevices, CountOnceIfRepeated) { EXPECT_THAT(selected_devices("1,1,0", 2), ElementsAre(1, 0)); }

TEST(GlListDevices, DescribesEveryDevice) {
  const std::vector<DeviceDescription> devices = list_devices();
  ASSERT_FALSE(devices.empty()) << "no EGL device: install libegl-mesa0 and libgl1-mesa-dri";
  bool any_usable = false;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(devices[i].index, static_cast<int>(i));
    EXPECT_NE(devices[i].usable, devices[i].why_unusable.empty() == false);
    if (!devices[i].usable) continue;
    any_usable = true;
    EXPECT_FALSE(devices[i].renderer.empty());
    EXPECT_GE(devices[i].storage_block, 1 << 24);  // what GL 4.5 guarantees
    EXPECT_GE(devices[i].shared_memory, 32 * 1024);
    EXPECT_GE(devices[i].invocations, 1024);
  }
  EXPECT_TRUE(any_usable);
}

TEST(GlListDevices, KeepsTheCurrentContext) {
  const auto context = Context::create(0);
  const EGLContext before = eglGetCurrentContext();
  ASSERT_NE(before, EGL_NO_CONTEXT);
  list_devices();
  EXPECT_EQ(eglGetCurrentContext(), before);
}

TEST(GlListDevices, KeepsNoContextCurrent) {
  ASSERT_EQ(eglGetCurrentContext(), EGL_NO_CONTEXT);
  list_devices();
  EXPECT_EQ(eglGetCurrentContext(), EGL_NO_CONTEXT);
}

TEST(GlContextCreation, ReportsAnUnknownDevice) {
  EXPECT_THAT([] { Context::create(99); },
              testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                  HasSubstr("no EGL device 99: there are devices 0 to"), HasSubstr("glinpack devices"))));
}

constexpr MeasuringOptions brief_drawing{.repeat = 2, .seconds = 0};

TEST(GlDrawingRates, AreMeasuredWithTheCeilings) {
  const DeviceCeilings ceilings = device_catalog.measure_ceilings({.device = test::any_gl_device()}, brief_drawing);
  EXPECT_GT(ceilings.copy.rate.min, 0);
  for (const Measured& rate : {ceilings.fetches, ceilings.fill, ceilings.vertices}) {
    EXPECT_GT(rate.min, 0);
    EXPECT_EQ(rate.repetitions, 2);
  }
}

TEST(GlDrawingRates, AreRejectedIfFragmentsFetchOtherTexels) {
  const test::ChangedShader changed("raster/fetch_rate.frag", "least = min(", "least = max(");
  const auto measure = [&] {
    texel_fetch_rate(Context::create(test::any_gl_device()), ShaderSource(changed.folder()), brief_drawing);
  };
  EXPECT_THAT(measure, testing::ThrowsMessage<std::runtime_error>(HasSubstr("fetched texels wrongly")));
}

}  // namespace
}  // namespace glinpack::gl
