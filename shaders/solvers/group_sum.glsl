shared double sums[256];

/// The sum over a work group of 256 invocations, for all of them.
double sum_of_group(double mine) {
  int id = int(gl_LocalInvocationIndex);
  barrier();
  sums[id] = mine;
  for (int half_size = 128; half_size > 0; half_size /= 2) {
    barrier();
    if (id < half_size) sums[id] += sums[id + half_size];
  }
  barrier();
  return sums[0];
}
