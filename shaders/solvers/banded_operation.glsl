// y = product op z: BandedOperation of src/local/solvers/banded/banded.hpp.
float applied(float product, float z) {
#if OPERATION == 1
  return product + z;
#elif OPERATION == 2
  return product - z;
#elif OPERATION == 3
  return product * z;
#elif OPERATION == 4
  return product / z;
#else
  return product;
#endif
}
