/* Solves A X = B in the background and prints the largest element of A X - B, which the device computes, too.

     cc -std=c89 -Wall -pedantic solve.c $(pkg-config --cflags --libs glinpack) -o solve
     ./solve [DEVICE [N]]     DEVICE: auto, openblas, software, or a number as `glinpack devices` counts

   The header needs <stdint.h>, which C89 lacks, but which GCC, Clang and the C library provide in C89 mode, too. C89's
   printf has no int64_t: convert it to long. */
#include <stdio.h>
#include <stdlib.h>

#include <glinpack.h>

static void check(glinpack_status status) {
  if (status == GLINPACK_OK) return;
  fprintf(stderr, "solve: %s: %s\n", glinpack_status_text(status), glinpack_last_error());
  exit(EXIT_FAILURE);
}

int main(int argc, char **argv) {
  const char *device = argc > 1 ? argv[1] : "auto";
  const int64_t n = argc > 2 ? atol(argv[2]) : 500, right_hand_sides = 2;
  double *elements, largest = 0;
  int64_t i;
  glinpack_context *context;
  glinpack_matrix *a, *b, *x, *residual, *norm;

  check(glinpack_context_create(device, 0, &context));
  printf("%s\n", glinpack_context_device(context));

  elements = malloc(sizeof(double) * (size_t)(n * n + 1));
  if (!elements) return EXIT_FAILURE;
  for (i = 0; i < n * n; ++i) elements[i] = (double)rand() / RAND_MAX - 0.5;

  /* column-major: the next row is 1 element away, the next column n */
  check(glinpack_matrix_from_double(context, GLINPACK_DOUBLE, n, n, elements, 1, n, &a));
  check(glinpack_matrix_constant(context, GLINPACK_DOUBLE, n, right_hand_sides, 1.0, &b));
  free(elements); /* the library has a copy */

  /* None of these waits; residual and norm depend on what is not computed yet. */
  check(glinpack_solve(a, b, &x));
  check(glinpack_gemm(0, 0, 1.0, a, x, -1.0, b, &residual));
  check(glinpack_norm(residual, GLINPACK_NORM_MAXIMUM, &norm));
  printf("%ld operations are not done\n", (long)glinpack_context_pending(context));

  /* This waits. It fails if A is singular. */
  check(glinpack_matrix_read_double(norm, &largest, 1, 1));
  printf("A is %ld x %ld, the largest element of A X - B is %.1e\n", (long)glinpack_matrix_rows(a),
         (long)glinpack_matrix_columns(a), largest);

  glinpack_matrix_free(a);
  glinpack_matrix_free(b);
  glinpack_matrix_free(x);
  glinpack_matrix_free(residual);
  glinpack_matrix_free(norm);
  glinpack_context_free(context);
  return largest < 1e-6 ? EXIT_SUCCESS : EXIT_FAILURE;
}
