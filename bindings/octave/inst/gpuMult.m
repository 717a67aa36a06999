function C = gpuMult(A, B)
  % -*- texinfo -*-
  % @deftypefn {} {@var{C} =} gpuMult (@var{A}, @var{B})
  % The product of two matrices, as in listing 3 of Brodtkorb, Matrix-matrix multiplication in Matlab using the GPU
  % (2006). It waits; a @code{gpuMatrix} does not.
  % @end deftypefn
  if size(A, 2) ~= size(B, 1)
    error('gpuMult:invalidInput', '%s', 'Matrix sizes do not agree');
  end
  C = gpuLAS(0, A, B);
end
