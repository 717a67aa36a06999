// Uniforms, set by location before a dispatch: an int, ivec2 or ivec4 each. In Vulkan they are push constants.
//   UNIFORMS
//   UNIFORM(0, ivec2) extents;
//   UNIFORM(1, int) depth;
//   END_UNIFORMS
#ifdef VULKAN
#define UNIFORMS layout(push_constant) uniform Uniforms {
#define UNIFORM(at, type) layout(offset = 16 * at) type
#define END_UNIFORMS };
#else
#define UNIFORMS
#define UNIFORM(at, type) layout(location = at) uniform type
#define END_UNIFORMS
#endif
