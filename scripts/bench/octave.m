% gpuMatrix against Octave's own operators, in pairs: medians of milliseconds, and the median of the pairs' ratios.
%   OPENBLAS_NUM_THREADS=2 octave-cli scripts/bench/octave.m [ROUNDS [N ...]]
% "computed": operands and the result stay on the device. "with transfers": from ordinary matrices to an ordinary one.
pkg load glinpack
given = cellfun (@str2double, argv ());
rounds = [given; 15](1);
sizes = [10, 100, 1000];
if (numel (given) > 1), sizes = given(2:end)'; end
printf ("Octave %s, %s; %d rounds\n", version (), gpuMatrix.device (), rounds);
printf ("%6s %-6s %12s %12s %7s %15s %7s\n", "n", "", "Octave ms", "computed ms", "ratio", "transfers ms", "ratio");

function t = seconds_of (f, repeats)
  tic;
  for k = 1:repeats, f (); end
  t = toc / repeats;
end

for n = sizes
  A = rand (n) + n * eye (n);  b = rand (n, 1);  g = gpuMatrix (A);  h = gpuMatrix (b);
  % in turns, since the context keeps the factors of the matrix that it factorised last
  others = {A + 1, gpuMatrix(A + 1)};
  repeats = max (1, round (100 / n));
  operations = {"A * A", 1, @() A * A, @() wait (g * g), @() double (gpuMatrix (A) * A);
                "A \\ b", 2, @() {A \ b, others{1} \ b}, @() {wait(g \ h), wait(others{2} \ h)}, ...
                @() {double(gpuMatrix (A) \ b), double(gpuMatrix (others{1}) \ b)}};
  for k = 1:rows (operations)
    [name, count, own, computed, transferred] = operations{k,:};
    own ();  computed ();  transferred ();
    t = zeros (rounds, 3);
    for turn = 1:rounds
      t(turn,:) = [seconds_of(own, repeats), seconds_of(computed, repeats), seconds_of(transferred, repeats)] / count;
    end
    printf ("%6d %-6s %12.3f %12.3f %7.3f %15.3f %7.3f\n", n, name, 1e3 * median (t(:,1:2)), median (t(:,2) ./ t(:,1)), ...
            1e3 * median (t(:,3)), median (t(:,3) ./ t(:,1)));
  end
end

% In the background: products on the device, singular values in Octave, each about as long as the other.
n = 1000;  A = rand (n);  g = gpuMatrix (A);  S = rand (700);
own = @() svd (S);
together = zeros (rounds, 1);  apart = zeros (rounds, 1);
wait (g * g);  own ();
products = max (1, round (seconds_of (own, 3) / seconds_of (@() wait (g * g), 3)));
for turn = 1:rounds
  tic;  for k = 1:products, p = g * g; end, wait (p);  own ();  apart(turn) = toc;
  tic;  for k = 1:products, p = g * g; end, own ();  wait (p);  together(turn) = toc;
end
printf ("together %.1f ms, one after the other %.1f ms, ratio %.2f\n", 1e3 * median (together), 1e3 * median (apart), ...
        median (together ./ apart));
