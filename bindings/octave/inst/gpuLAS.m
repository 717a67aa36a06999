function C = gpuLAS(number, A, B)
  % -*- texinfo -*-
  % @deftypefn {} {@var{C} =} gpuLAS (0, @var{A}, @var{B})
  % Function @var{number} of the device, as in listing 3 of Brodtkorb 2006, which has one: 0 is the product.
  % @end deftypefn
  if number ~= 0
    error('gpuLAS:invalidInput', '%s', sprintf('there is no function %g', number));
  end
  C = gather(gpuMatrix(A) * B);
end
