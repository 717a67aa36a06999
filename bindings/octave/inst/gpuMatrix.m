classdef gpuMatrix < handle
  % -*- texinfo -*-
  % @deftypefn  {} {@var{g} =} gpuMatrix (@var{x})
  % @deftypefnx {} {@var{g} =} gpuMatrix (@var{x}, "single")
  % @deftypefnx {} {@var{g} =} gpuMatrix.zeros (@var{m}, @var{n}, @var{class})
  % A matrix on the GPU, or on the processor through OpenBLAS, that operators compute in the background.
  %
  % An operation returns at once. Its result can be an operand before it is computed. Only @code{double (g)},
  % @code{single (g)}, @code{gather (g)}, comparisons and @code{wait (g)} wait. @code{isready (g)} does not.
  %
  % @var{x} is a real matrix, single or double; other classes become double. Static functions: @code{gpuMatrix.zeros},
  % @code{ones}, @code{eye}, @code{rand}, @code{randn}, @code{gpuMatrix.device}, @code{gpuMatrix.info},
  % @code{gpuMatrix.loadobj}.
  %
  % @example
  % A = gpuMatrix (rand (500));  b = rand (500, 1);
  % x = A \ b;                   % returns at once
  % norm (double (A * x) - b)    % waits
  % @end example
  % @end deftypefn

  properties (Access = private)
    handle = [];  % uint64: id, rows, columns, is single
  end

  % The language is the common part of Octave and MATLAB. Only methods can read g.handle; elsewhere it is subsref's.
  methods
    function g = gpuMatrix(x, class_of)
      if nargin < 1
        x = [];
      end
      if nargin < 2
        class_of = '';
      end
      if islogical(class_of)  % x is the handle of a result
        g.handle = x;
      elseif isa(x, 'gpuMatrix')
        if isempty(class_of)
          class_of = classUnderlying(x);
        end
        g.handle = glinpack_gateway('convert', x.handle, class_of);
      else
        if isinteger(x)
          x = double(x);
        end
        g.handle = glinpack_gateway('upload', x, class_of);
      end
      while g.handle(4) > 1  % much is pending; Ctrl-C is handled in between
        g.handle(4) = glinpack_gateway('limit', g.handle);
      end
    end

    function delete(g)
      try
        glinpack_gateway('free', g.handle);
      catch  % `clear functions` has freed it, and the class of this object
      end
    end

    % ---- values ----------------------------------------------------------------------------------------------------

    function x = gather(g)
      x = read(g, '');
    end

    function x = double(g)
      x = read(g, 'double');
    end

    function x = single(g)
      x = read(g, 'single');
    end

    function done = wait(g, seconds)
      % Steps, so that Ctrl-C is handled in between.
      if nargin < 2
        seconds = Inf;
      end
      start = tic;
      while true
        left = seconds - toc(start);
        ready = glinpack_gateway('wait', g.handle, max(0, min(0.1, left)));
        if ready || left <= 0
          break
        end
      end
      if nargout > 0
        done = ready;
      end
    end

    function yes = isready(g)
      yes = glinpack_gateway('ready', g.handle);
    end

    function disp(g)
      fprintf('  %dx%d %s gpuMatrix on %s: %s\n', g.handle(2), g.handle(3), classUnderlying(g), ...
              glinpack_gateway('device'), glinpack_gateway('state', g.handle));
    end

    function display(g)
      name = inputname(1);
      if isempty(name)
        name = 'ans';
      end
      fprintf('%s =\n\n', name);
      disp(g);
      fprintf('\n');
    end

    function s = saveobj(g)
      s = struct('gpuMatrix', gather(g));
    end

    % ---- shape -----------------------------------------------------------------------------------------------------

    function varargout = size(g, varargin)
      sizes = double(g.handle(2:3));
      if nargin > 1
        dimensions = [varargin{:}];
        sizes(3:max(dimensions)) = 1;
        sizes = sizes(dimensions);
      end
      if nargout < 2
        varargout{1} = sizes;
      else
        sizes(numel(sizes) + 1:nargout) = 1;
        varargout = num2cell(sizes);
      end
    end

    function n = numel(g, varargin)
      n = 1;
      if nargin == 1
        n = double(g.handle(2) * g.handle(3));
      end
    end

    function n = end(g, k, count)
      if count == 1
        n = double(g.handle(2) * g.handle(3));
      elseif k <= 2
        n = double(g.handle(k + 1));
      else
        n = 1;
      end
    end

    function yes = size_equal(varargin)
      sizes = cellfun(@size, varargin, 'UniformOutput', false);
      yes = isequal(sizes{1}, sizes{:});
    end

    function n = ndims(g)
      n = 2;
    end

    function n = length(g)
      n = max(size(g)) * ~isempty(g);
    end

    function yes = isempty(g)
      yes = any(g.handle(2:3) == 0);
    end

    function name = classUnderlying(g)
      name = 'double';
      if g.handle(4)
        name = 'single';
      end
    end

    function yes = isreal(g)
      yes = true;
    end

    function yes = isfloat(g)
      yes = true;
    end

    function yes = isnumeric(g)
      yes = true;
    end

    % ---- parts -----------------------------------------------------------------------------------------------------

    function r = subsref(g, s)
      if ~strcmp(s(1).type, '()')
        hint = '';
        if isequal(s(1).subs, 'handle')  % of a method: the object is of another copy of the class
          hint = ['; or a handle @gpuMatrix had Octave load the class twice: ' ...
                  'begin a new session, and write @(x) gpuMatrix (x)'];
        end
        error('glinpack:index', 'a gpuMatrix is indexed by (), not by %s%s', s(1).type(1), hint);
      end
      [place, found] = block(g, s(1).subs);
      if found
        r = gpuMatrix(glinpack_gateway('submatrix', g.handle, place(1), place(2), place(3), place(4)), true);
      else
        x = gather(g);
        r = gpuMatrix(x(s(1).subs{:}));
      end
      if numel(s) > 1
        r = subsref(r, s(2:end));
      end
    end

    function r = subsasgn(g, s, v)
      if ~strcmp(s(1).type, '()') || numel(s) > 1
        error('glinpack:index', 'elements of a gpuMatrix are assigned by ()');
      end
      if ~isa(g, 'gpuMatrix')
        error('glinpack:type', 'elements of an ordinary matrix are assigned from double(g) or single(g)');
      end
      if isinteger(v)
        gpuMatrix.refuse(v);
      end
      [place, found] = block(g, s(1).subs);
      if found && prod(size(v)) == 1 && any(place(3:4) ~= 1)
        v = gpuMatrix.ones(place(3:4), classUnderlying(g)) * v;
      end
      if found && gpuMatrix.same(size(v), place(3:4))
        r = gpuMatrix.binary('replace', g, v, place(1), place(2));
        return
      end
      x = gather(g);
      if isa(v, 'double') && gpuMatrix.same(size(v), [0, 0])
        x(s(1).subs{:}) = [];
      else
        x(s(1).subs{:}) = gpuMatrix.value(v);
      end
      r = gpuMatrix(x, classUnderlying(g));
    end

    function r = horzcat(varargin), r = gpuMatrix.joined('horzcat', varargin); end
    function r = vertcat(varargin), r = gpuMatrix.joined('vertcat', varargin); end

    function r = cat(dimension, varargin)
      names = {'vertcat', 'horzcat'};
      if dimension ~= 1 && dimension ~= 2
        error('glinpack:size', 'a gpuMatrix has two dimensions: cat along %g', dimension);
      end
      r = gpuMatrix.joined(names{dimension}, varargin);
    end

    function r = diag(g, varargin), r = gpuMatrix(diag(gather(g), varargin{:})); end
    function r = triu(g, varargin), r = gpuMatrix(triu(gather(g), varargin{:})); end
    function r = tril(g, varargin), r = gpuMatrix(tril(gather(g), varargin{:})); end

    % ---- operators -------------------------------------------------------------------------------------------------

    function r = plus(a, b), r = gpuMatrix.binary('plus', a, b); end
    function r = minus(a, b), r = gpuMatrix.binary('minus', a, b); end
    function r = times(a, b), r = gpuMatrix.binary('times', a, b); end
    function r = rdivide(a, b), r = gpuMatrix.binary('rdivide', a, b); end
    function r = ldivide(a, b), r = gpuMatrix.binary('rdivide', b, a); end
    function r = mtimes(a, b), r = gpuMatrix.binary('mtimes', a, b); end

    function r = mldivide(a, b)
      if issparse(a) && size(a, 1) == size(a, 2) && size(a, 1) > 1 && size(b, 1) == size(a, 1)
        [below, above] = bandwidth(a);
        lower = [0; full(diag(a, -1))];
        main = full(diag(a));
        upper = [full(diag(a, 1)); 0];
        each = ones(1, size(b, 2));
        if max(below, above) <= 1 && all(abs(main) >= abs(lower) + abs(upper))  % no pivoting is needed
          r = tridiagonal(lower * each, main * each, upper * each, b);
          return
        end
        if below + above < max(size(a, 1) / 4, 3)
          diagonals = full(spdiags(a.', below:-1:-above));  % a(i, i + offset) in row i
          r = gpuMatrix(glinpack_gateway('banded', diagonals, -below:above, b.handle), true);
          return
        end
      end
      r = gpuMatrix.binary('mldivide', a, b);
    end

    function r = mrdivide(a, b), r = gpuMatrix.binary('mrdivide', a, b); end
    function r = uplus(g), r = g; end
    function r = uminus(g), r = gpuMatrix.binary('times', -1, g); end
    function r = transpose(g), r = gpuMatrix(glinpack_gateway('transpose', g.handle), true); end
    function r = ctranspose(g), r = transpose(g); end

    function r = power(a, b)
      if isa(b, 'double') && numel(b) == 1 && b == 2
        r = a .* a;
      else
        r = gpuMatrix(gpuMatrix.number(a) .^ gpuMatrix.number(b));
      end
    end

    function r = mpower(a, p)
      p = gpuMatrix.number(p);
      sizes = size(a);
      if ~isa(a, 'gpuMatrix') || sizes(1) ~= sizes(2) || ~isa(p, 'double') || numel(p) ~= 1 || ~isreal(p) || ...
         p ~= fix(p) || abs(p) > 1024
        r = gpuMatrix(gpuMatrix.number(a) ^ p);
      elseif p == 0
        r = gpuMatrix.eye(sizes, classUnderlying(a));
      else
        if p < 0
          a = inv(a);
        end
        r = a;
        bits = dec2bin(abs(p));
        for bit = bits(2:end)
          r = r * r;
          if bit == '1'
            r = r * a;
          end
        end
      end
    end

    function r = eq(a, b), r = gpuMatrix.value(a) == gpuMatrix.value(b); end
    function r = ne(a, b), r = gpuMatrix.value(a) ~= gpuMatrix.value(b); end
    function r = lt(a, b), r = gpuMatrix.value(a) < gpuMatrix.value(b); end
    function r = le(a, b), r = gpuMatrix.value(a) <= gpuMatrix.value(b); end
    function r = gt(a, b), r = gpuMatrix.value(a) > gpuMatrix.value(b); end
    function r = ge(a, b), r = gpuMatrix.value(a) >= gpuMatrix.value(b); end
    function r = any(g, varargin), r = any(gather(g), varargin{:}); end
    function r = all(g, varargin), r = all(gather(g), varargin{:}); end

    function r = colon(a, b, c)
      if nargin < 3
        r = gpuMatrix.value(a):gpuMatrix.value(b);
      else
        r = gpuMatrix.value(a):gpuMatrix.value(b):gpuMatrix.value(c);
      end
    end

    function yes = isequal(a, varargin)
      values = [{a}, varargin];
      for k = 1:numel(values)
        values{k} = gpuMatrix.value(values{k});
      end
      yes = isequal(values{:});
    end

    % ---- functions -------------------------------------------------------------------------------------------------

    function r = sum(g, dimension)
      if nargin < 2
        dimension = 1 + (g.handle(2) == 1);
        if all(g.handle(2:3) == 0)
          dimension = 2;
          g = gpuMatrix.zeros(1, 0, classUnderlying(g));
        end
      end
      if numel(dimension) ~= 1 || dimension < 1 || dimension ~= fix(dimension)
        error('glinpack:argument', 'sum: invalid dimension DIM = %g', dimension);
      elseif dimension == 1  % a product, which is in the background
        r = gpuMatrix.binary('mtimes', ones(1, g.handle(2), classUnderlying(g)), g);
      elseif dimension == 2
        r = gpuMatrix.binary('mtimes', g, ones(g.handle(3), 1, classUnderlying(g)));
      else
        r = g;
      end
    end

    function r = abs(g), r = gpuMatrix(abs(gather(g))); end
    function yes = isnan(g), yes = isnan(gather(g)); end
    function r = reshape(g, varargin), r = gpuMatrix(reshape(gather(g), varargin{:})); end

    function [r, place] = max(a, varargin)
      [r, place] = gpuMatrix.extreme(@max, a, varargin, nargout);
    end

    function [r, place] = min(a, varargin)
      [r, place] = gpuMatrix.extreme(@min, a, varargin, nargout);
    end

    function r = dot(a, b, varargin)
      if any(size(a) == 1) && any(size(b) == 1)  % vectors
        if size(a, 1) ~= 1
          a = a';
        end
        if size(b, 2) ~= 1
          b = b';
        end
        r = a * b;
      else
        r = sum(a .* b, varargin{:});
      end
    end

    function [r, columns] = rref(g, varargin)
      if nargout > 1 || nargin > 1
        [r, columns] = rref(gather(g), varargin{:});
        r = gpuMatrix(r);
      else
        r = gpuMatrix(glinpack_gateway('rref', g.handle), true);
      end
    end

    function r = tridiagonal(lower, diagonal, upper, right)
      % Many tridiagonal systems, one in each column of four matrices of equal size. The first element of a column of
      % lower and the last one of upper are not read.
      parts = {lower, diagonal, upper, right};
      for k = 1:4
        if isa(parts{k}, 'gpuMatrix')
          parts{k} = parts{k}.handle;
        end
      end
      r = gpuMatrix(glinpack_gateway('tridiagonal', parts{:}), true);
    end

    function r = trace(g), r = gpuMatrix(trace(gather(g))); end

    function r = norm(g, p)
      if nargin < 2
        p = 2;
      end
      name = lower(num2str(p, 17));
      vector = any(g.handle(2:3) == 1);
      kind = '';
      if strcmp(name, 'fro') || vector && strcmp(name, '2')
        kind = 'Frobenius';
      elseif strcmp(name, 'inf')
        kind = 'infinity';
        if vector
          kind = 'maximum';
        end
      elseif strcmp(name, '1')
        kind = 'one';
        if g.handle(2) == 1  % a vector's elements are summed
          kind = 'infinity';
        end
      end
      if isempty(kind) || isempty(g)  % the 2-norm of a matrix
        r = gpuMatrix(norm(gather(g), p));
      else
        r = gpuMatrix(glinpack_gateway('norm', g.handle, kind), true);
      end
    end

    function r = det(g), r = gpuMatrix(glinpack_gateway('det', g.handle), true); end
    function r = rcond(g), r = gpuMatrix(glinpack_gateway('rcond', g.handle), true); end

    function [r, condition] = inv(g)
      r = gpuMatrix(glinpack_gateway('inv', g.handle, nargout < 2), true);  % warns if the condition is not asked for
      if nargout > 1
        condition = rcond(g);
      end
    end

    function [l, u, p] = lu(g, varargin)
      if g.handle(2) ~= g.handle(3) || ~isempty(varargin)
        [parts{1:max(1, nargout)}] = lu(gather(g), varargin{:});
        parts = cellfun(@(x) gpuMatrix(full(x)), parts, 'UniformOutput', false);
        parts(end + 1:3) = {[]};
        [l, u, p] = deal(parts{:});
        return
      end
      if nargout < 2
        [l, u] = glinpack_gateway('lu', g.handle);
      else
        [l, u, p] = glinpack_gateway('lu', g.handle);
        p = gpuMatrix(p, true);
      end
      l = gpuMatrix(l, true);
      u = gpuMatrix(u, true);
      if nargout == 2
        l = p' * l;
      elseif nargout < 2  % in this order: the diagonal of l - eye is 0
        l = l - gpuMatrix.eye(size(g), classUnderlying(g)) + u;
      end
    end

    function [r, failed] = chol(g, varargin)
      if nargout > 1
        [r, failed] = chol(gather(g), varargin{:});
      else
        r = chol(gather(g), varargin{:});
      end
      r = gpuMatrix(r);
    end
  end

  methods (Access = private)
    function x = read(g, class_of)
      done = false;
      while ~done  % Ctrl-C is handled in between
        [x, done] = glinpack_gateway('fetch', g.handle, class_of);
      end
    end

    % [row, column, rows, columns] from 0, if the subscripts are ranges within the matrix, or the number of an element.
    function [p, found] = block(g, subs)
      p = zeros(1, 4);
      extents = double(g.handle(2:3));
      if numel(subs) == 1
        k = subs{1};
        if extents(2) == 1
          subs = {k, 1};
        elseif extents(1) == 1 && ~ischar(k)
          subs = {1, k};
        elseif isnumeric(k) && numel(k) == 1 && k >= 1 && k <= prod(extents) && k == fix(k)
          k = double(k) - 1;
          subs = {mod(k, extents(1)) + 1, floor(k / extents(1)) + 1};
        end
      end
      found = numel(subs) == 2;
      for k = 1:2 * found
        range = subs{k};
        if ischar(range) && strcmp(range, ':')
          p(k + 2) = extents(k);
        elseif isnumeric(range) && isreal(range) && ~isempty(range) && numel(range) == max(size(range)) && ...
               range(1) >= 1 && range(1) == fix(range(1)) && range(end) <= extents(k) && all(diff(range) == 1)
          p(k) = double(range(1)) - 1;
          p(k + 2) = numel(range);
        else
          found = false;
          return
        end
      end
    end
  end

  methods (Static)
    function g = zeros(varargin)
      g = gpuMatrix.filled(0, varargin{:});
    end

    function g = ones(varargin)
      g = gpuMatrix.filled(1, varargin{:});
    end

    function g = eye(varargin)
      [m, n, class_of] = gpuMatrix.extents(varargin);
      g = gpuMatrix(glinpack_gateway('eye', m, n, class_of), true);
    end

    function g = rand(varargin)  % numbers of rand's own generator
      [m, n, class_of] = gpuMatrix.extents(varargin);
      g = gpuMatrix(rand(m, n, class_of));
    end

    function g = randn(varargin)
      [m, n, class_of] = gpuMatrix.extents(varargin);
      g = gpuMatrix(randn(m, n, class_of));
    end

    function g = loadobj(s)
      g = gpuMatrix(s.gpuMatrix);
    end

    function text = device(name, varargin)
      % The name of the device; or chooses "auto", "openblas", "software" or a device's number, then the number of
      % threads, then "2x2": matrices are textures of this packing, and single.
      if nargin == 0
        text = glinpack_gateway('device');
      else
        text = glinpack_gateway('device', num2str(name), varargin{:});
      end
    end

    function s = info()
      counts = glinpack_gateway('count');
      s = struct('device', glinpack_gateway('device'), 'matrices', counts(1), 'pending', counts(2));
    end
  end

  methods (Static, Hidden)  % not private: see the hint of subsref
    % Of two matrices, one of them a gpuMatrix. The gateway returns [] for what only Octave computes.
    function r = binary(name, a, b, varargin)
      x = a;
      y = b;
      if isa(a, 'gpuMatrix')
        x = a.handle;
      end
      if isa(b, 'gpuMatrix')
        y = b.handle;
      end
      handle = glinpack_gateway(name, x, y, varargin{:});
      if isempty(handle)
        r = gpuMatrix(feval(name, gpuMatrix.value(a), gpuMatrix.value(b)));
      else
        r = gpuMatrix(handle, true);
      end
    end

    function [r, place] = extreme(function_of, a, arguments, outputs)
      values = cellfun(@gpuMatrix.value, [{a}, arguments], 'UniformOutput', false);
      place = [];
      if outputs > 1
        [r, place] = function_of(values{:});
      else
        r = function_of(values{:});
      end
      r = gpuMatrix(r);
    end

    function x = value(x)
      if isa(x, 'gpuMatrix')
        x = gather(x);
      end
    end

    % As value(x), of an operand of what Octave computes: of integers, it would round the result.
    function x = number(x)
      if isinteger(x)
        gpuMatrix.refuse(x);
      end
      x = gpuMatrix.value(x);
    end

    function refuse(x)
      error('glinpack:type', 'a matrix of class %s cannot be an operand of a gpuMatrix: convert it to double', class(x));
    end

    function yes = same(sa, sb)  % isequal is slow
      yes = numel(sa) == numel(sb) && all(sa == sb);
    end

    function r = joined(name, parts)
      r = [];
      first = true;
      narrow = false;  % a part without elements makes the result single, too
      common = 1 + strcmp(name, 'vertcat');  % the dimension in which the parts are equal
      for k = 1:numel(parts)
        part = parts{k};
        extents = sum(size(part));
        fits = ~first && size(r, common) == size(part, common);
        narrow = narrow || extents < 2 && gpuMatrix.is_single(part);
        if extents > 0 && (first || ~fits && sum(size(r)) == 1)  % as in Octave, 1 x 0 and 0 x 1 fit all
          r = part;
          first = false;
        elseif extents > 0 && fits || extents > 1
          r = gpuMatrix.binary(name, r, part);
        end
      end
      if narrow
        r = gpuMatrix(r, 'single');
      elseif ~isa(r, 'gpuMatrix')
        r = gpuMatrix(r);
      end
    end

    function yes = is_single(x)
      yes = isa(x, 'single') || isa(x, 'gpuMatrix') && x.handle(4);
    end

    function g = filled(value, varargin)
      [m, n, class_of] = gpuMatrix.extents(varargin);
      g = gpuMatrix(glinpack_gateway('constant', m, n, value, class_of), true);
    end

    % Of (), (n), (m, n), ([m, n]), with a class after them.
    function [m, n, class_of] = extents(arguments)
      class_of = 'double';
      if ~isempty(arguments) && ischar(arguments{end})
        class_of = arguments{end};
        arguments(end) = [];
      end
      sizes = [arguments{:}, ones(1, 2 * isempty(arguments))];
      if numel(sizes) == 1
        sizes = [sizes, sizes];
      end
      if numel(sizes) ~= 2
        error('glinpack:size', 'a gpuMatrix has two dimensions, not %d', numel(sizes));
      end
      if any(sizes ~= fix(sizes) | isinf(sizes))
        error('glinpack:size', 'the extents of a gpuMatrix are integers, not %g x %g', sizes(1), sizes(2));
      end
      m = max(0, sizes(1));
      n = max(0, sizes(2));
    end
  end
end

% The experiment of figure 5 in Brodtkorb, The Graphics Processor as a Mathematical Coprocessor in MATLAB (2008).

%!demo
%! ## LU of 30 systems: by Octave, by the device, and by both at once. The ratio of the
%! ## two times says how many systems each of them gets.
%! n = 300;  systems = 30;
%! for k = 1:systems, A{k} = rand (n); end
%! [l, u, p] = lu (gpuMatrix (A{1}));  wait (p);  # shaders are compiled once
%!
%! tic;
%! for k = 1:systems, [l, u, p] = lu (A{k}); end
%! cpu = toc;
%!
%! tic;
%! for k = 1:systems
%!   [l, u, p] = lu (gpuMatrix (A{k}));
%!   L{k} = double (l);  U{k} = double (u);  P{k} = double (p);
%! end
%! gpu = toc;
%!
%! clear l u p
%! share = max (1, round (systems * cpu / (cpu + gpu)));  # of the device
%! tic;
%! for k = 1:share, [l{k}, u{k}, p{k}] = lu (gpuMatrix (A{k})); end  # at once
%! for k = share + 1:systems, [L{k}, U{k}, P{k}] = lu (A{k}); end
%! both = toc;
%! for k = 1:share
%!   L{k} = double (l{k});  U{k} = double (u{k});  P{k} = double (p{k});
%! end
%! total = toc;
%!
%! printf ("device: %s\n", gpuMatrix.device ());
%! printf ("time per %dx%d system: Octave %.2f ms, device %.2f ms, both %.2f ms\n", ...
%!         n, n, 1e3 * [cpu, gpu, total] / systems);
%! printf ("%d systems on the device, %d by Octave; then Octave waited %.2f ms\n", ...
%!         share, systems - share, 1e3 * (total - both));
%! printf ("speed-up over Octave alone: %.2f\n", cpu / total);

% Values are compared with Octave's own, within c n epsilon and the condition of the matrix.

%!shared sizes, near, well
%! sizes = [1, 2, 3, 5, 37, 64, 257];
%! if (strncmp (gpuMatrix.device (), "OpenBLAS", 8))
%!   sizes = [sizes, 1000];  # software OpenGL is slow
%! endif
%! near = @(x, y, terms, type) assert (double (x), double (y), 8 * max (1, terms) * eps (type) * max ([1; abs(double(y)(:))]));
%! well = @(n, type) cast (rand (n) + 2 * sqrt (n) * eye (n), type);

%!test  # gpuMatrix, double, single, gather, size, numel, ndims, isempty, classUnderlying, length
%! for type = {"single", "double"}
%!   for shape = [0, 0, 3, 1, 2, 5, 70; 0, 3, 0, 1, 3, 1, 65]
%!     x = cast (rand (shape'), type{1});
%!     g = gpuMatrix (x);
%!     assert (gather (g), x);
%!     assert (single (g), single (x));
%!     assert (double (g), double (x));
%!     assert (size (g), size (x));
%!     assert (numel (g), numel (x));
%!     assert (length (g), length (x));
%!     assert (isempty (g), isempty (x));
%!     assert (classUnderlying (g), type{1});
%!     assert (class (gather (gpuMatrix (g))), type{1});
%!   endfor
%! endfor
%! [m, n, k] = size (gpuMatrix (ones (2, 3)));
%! assert ([m, n, k], [2, 3, 1]);
%! assert (size (gpuMatrix (ones (2, 3)), 2), 3);
%! assert (size (gpuMatrix (ones (2, 3)), [3, 1]), [1, 2]);
%! [m, n] = size (gpuMatrix (ones (2, 3)), 2, 1);
%! assert ([m, n], [3, 2]);
%! assert (ndims (gpuMatrix ()), 2);
%! g = gpuMatrix (ones (2, 3));
%! assert (size_equal (g) && size_equal (g, ones (2, 3)) && size_equal (zeros (2, 3), g, g));
%! assert (! size_equal (g, gpuMatrix (ones (3, 2))) && ! size_equal (g, g, 1));
%! assert (cellfun (@isempty, {g, gpuMatrix([])}), [false, true]);
%! assert (columns (gpuMatrix (ones (2, 3))), 3);
%! assert (gather (gpuMatrix (pi, "single")), single (pi));
%! assert (gather (gpuMatrix (gpuMatrix (pi), "single")), single (pi));
%! assert (gather (gpuMatrix (int8 ([1, 2]))), [1, 2]);
%! assert (gather (gpuMatrix ([true, false])), [1, 0]);
%! assert (gather (gpuMatrix (speye (2))), eye (2));
%! assert (gather (gpuMatrix ([NaN, Inf, -Inf])), [NaN, Inf, -Inf]);
%! assert (isreal (g) && isfloat (g) && isnumeric (g) && isobject (g) && isa (g, "gpuMatrix"));

%!test  # zeros, ones, eye, rand, randn
%! assert (gather (gpuMatrix.zeros (2, 3)), zeros (2, 3));
%! assert (gather (gpuMatrix.ones ([3, 1], "single")), ones (3, 1, "single"));
%! assert (gather (gpuMatrix.eye (3)), eye (3));
%! assert (gather (gpuMatrix.eye (2, 3, "single")), single (full (eye (2, 3))));
%! assert (gather (gpuMatrix.zeros ()), 0);
%! assert (size (gpuMatrix.rand (0, 3)), [0, 3]);
%! rand ("seed", 1);  x = rand (4);
%! rand ("seed", 1);
%! assert (gather (gpuMatrix.rand (4)), x);
%! assert (classUnderlying (gpuMatrix.randn (2, 2, "single")), "single");
%!error <two dimensions, not 3> gpuMatrix.zeros (1, 2, 3)
%!error <are integers, not 1.5 x 1.5> gpuMatrix.zeros (1.5)
%!error <are integers, not NaN x 2> gpuMatrix.ones (NaN, 2)
%!error <are integers, not Inf x Inf> gpuMatrix.eye (Inf)

%!test  # plus, minus, times, rdivide, ldivide, uminus, uplus: matrices, numbers, rows and columns
%! operations = {@plus, @minus, @times, @rdivide, @ldivide};
%! for type = {"single", "double"}
%!   a = cast (rand (5, 7) + 1, type{1});
%!   for other = {cast(rand (5, 7) + 1, type{1}), 3, a(2), a(1, :), a(:, 1), single(2.5)}
%!     b = other{1};
%!     for k = 1:numel (operations)
%!       f = operations{k};
%!       c = f (a, b);
%!       for r = {f(gpuMatrix (a), gpuMatrix (b)), f(gpuMatrix (a), b), f(a, gpuMatrix (b))}
%!         assert (classUnderlying (r{1}), class (c));
%!         near (r{1}, c, 1, class (c));
%!         near (f (b, gpuMatrix (a)), f (b, a), 1, class (c));
%!       endfor
%!     endfor
%!   endfor
%! endfor
%! g = gpuMatrix ([1, -2]);
%! assert (double (-g), [-1, 2]);
%! assert (double (+g), [1, -2]);
%! assert (double (gpuMatrix (49) / 49), 1);
%! assert (double (gpuMatrix ([3, 4]) + true), [4, 5]);
%! assert (double (gpuMatrix ([3, 4]) * sparse (2)), [6, 8]);
%! assert (double (gpuMatrix ([3, 4]) * sparse (0)), [0, 0]);
%! assert (double (gpuMatrix ([0, 1]) ./ 0), [NaN, Inf]);
%! assert (size (gpuMatrix (zeros (0, 3)) + 1), [0, 3]);
%! assert (double (gpuMatrix ([1; 2]) + gpuMatrix ([10, 20])), [11, 21; 12, 22]);
%!error <operator \+: nonconformant arguments \(op1 is 2x2, op2 is 3x3\)> gpuMatrix (ones (2)) + ones (3)
%!error <product: nonconformant arguments> ones (2) .* gpuMatrix (ones (3))
%!error id=glinpack:size gpuMatrix (ones (2, 3)) - ones (3, 2)
%!error id=glinpack:type gpuMatrix (1) + int8 (1)
%!error id=glinpack:type gpuMatrix (ones (2)) + int8 (1)
%!error id=glinpack:type gpuMatrix (1i)
%!error id=glinpack:type gpuMatrix (ones (2)) * 1i
%!error id=glinpack:size gpuMatrix (ones (2, 2, 2))

%!test  # mtimes
%! for type = {"single", "double"}
%!   for n = sizes
%!     a = cast (rand (n) - 0.5, type{1});
%!     b = cast (rand (n, 2) - 0.5, type{1});
%!     near (gpuMatrix (a) * gpuMatrix (b), a * b, n, type{1});
%!     near (a * gpuMatrix (a), a * a, n, type{1});
%!   endfor
%! endfor
%! assert (classUnderlying (gpuMatrix (ones (2)) * ones (2, "single")), "single");
%! assert (double (gpuMatrix (ones (3, 0)) * ones (0, 2)), zeros (3, 2));
%! assert (size (gpuMatrix (ones (0, 3)) * ones (3, 2)), [0, 2]);
%! assert (double (gpuMatrix (2) * [1, 2]), [2, 4]);
%! assert (double ([1, 2] * gpuMatrix (2)), [2, 4]);
%!error <operator \*: nonconformant arguments \(op1 is 2x2, op2 is 3x3\)> gpuMatrix (ones (2)) * ones (3)

%!test  # mldivide, mrdivide
%! for type = {"single", "double"}
%!   for n = sizes
%!     a = well (n, type{1});
%!     b = cast (rand (n, 3), type{1});
%!     x = gpuMatrix (a) \ b;
%!     near (x, a \ b, n, type{1});
%!     near (a * x, b, n, type{1});
%!     near (gpuMatrix (b') / a, b' / a, n, type{1});
%!   endfor
%! endfor
%! for a = {hilb(8), single(hilb (4))}  # ill-conditioned: the residual is small
%!   n = rows (a{1});
%!   x = gather (gpuMatrix (a{1}) \ ones (n, 1));
%!   assert (norm (a{1} * x - 1, Inf) <= 8 * n * eps (class (x)) * norm (a{1}, Inf) * norm (x, Inf));
%! endfor
%! assert (double (gpuMatrix (2) \ [2, 4]), [1, 2]);
%! assert (double ([2, 4] / gpuMatrix (2)), [1, 2]);
%! assert (size (gpuMatrix (zeros (0)) \ zeros (0, 2)), [0, 2]);
%! assert (size (gpuMatrix (eye (2)) \ zeros (2, 0)), [2, 0]);
%! a = rand (7, 4);  b = rand (7, 2);
%! near (gpuMatrix (a) \ b, a \ b, 100, "double");  # least squares
%! near (b' / gpuMatrix (a'), b' / a', 100, "double");
%!error <operator \\: nonconformant arguments \(op1 is 2x2, op2 is 3x3\)> gpuMatrix (ones (2)) \ ones (3)
%!error <operator /: nonconformant arguments \(op1 is 2x2, op2 is 3x3\)> ones (2) / gpuMatrix (ones (3))
%!error id=glinpack:size gpuMatrix (ones (2)) \ ones (3, 1)

%!warning <matrix singular to machine precision> double (gpuMatrix ([1, 2; 2, 4]) \ [1; 2]);
%!warning id=glinpack:singular double (inv (gpuMatrix (zeros (3))));
%!warning id=glinpack:nearlySingular double (gpuMatrix ([1, 2; 2, 4 + 2e-15]) \ [1; 0]);
%!warning <rcond = > double (inv (gpuMatrix ([1, 2; 2, 4 + 2e-15])));
%!warning id=glinpack:singular wait (gpuMatrix (zeros (2, "single")) \ [1; 2]);
%!warning id=glinpack:singular double ([1, 2] / gpuMatrix (zeros (2)));
%!warning <precision$> double (gpuMatrix ([1, NaN; 2, 3]) \ [1; 2]);

%!test  # the values of singular matrices are Inf, as inv's, and so is what is computed from them
%! warning ("off", "glinpack:singular", "local");
%! z = gpuMatrix ([1, 2; 2, 4]);
%! assert (double (inv (z)), Inf (2));
%! x = z \ [1; 2];
%! assert (gather (x), Inf (2, 1));
%! assert (single (2 * x), single (Inf (2, 1)));
%! assert (double (det (z)), 0);
%! assert (double (rcond (z)), 0);
%! assert (double (z), [1, 2; 2, 4]);

%!test  # a warning for each system that is solved; none without
%! lastwarn ("");
%! a = gpuMatrix ([2, 1; 1, 3]);
%! double (a \ [1; 2]);
%! assert (isempty (lastwarn ()));
%! [r, c] = inv (gpuMatrix ([1, 2; 2, 4]));
%! assert (double (c), 0);
%! assert (double (r), Inf (2));
%! double (inv (gpuMatrix (0)));
%! assert (isempty (lastwarn ()));  # as Octave's own

%!test  # mpower, power
%! a = well (5, "double");
%! g = gpuMatrix (a);
%! for p = [0, 1, 2, 3, 7, -1, -2]
%!   r = a ^ p;
%!   assert (double (g ^ p), r, 1e-12 * max (abs (r(:))));
%! endfor
%! s = a * a';
%! assert (double (gpuMatrix (s) ^ 0.5), s ^ 0.5, 1e-10);
%! assert (double (g .^ 2), a .^ 2, 1e-12);
%! assert (double (g .^ 0.5), a .^ 0.5, 1e-12);
%! assert (double (2 .^ g), 2 .^ a, 1e-12 * max (2 .^ a(:)));
%! for p = {single(2), single(0.5)}
%!   assert (classUnderlying (gpuMatrix (s) ^ p{1}), "single");
%!   assert (classUnderlying (gpuMatrix (s) .^ p{1}), "single");
%! endfor
%! assert (double (gpuMatrix (3) ^ gpuMatrix (2)), 9);
%!error gpuMatrix (ones (2, 3)) ^ 2
%!error id=glinpack:type gpuMatrix (300) .^ int8 (1)
%!error id=glinpack:type gpuMatrix (ones (2)) ^ int8 (1)
%!error id=glinpack:type gpuMatrix (ones (2)) ^ 1i

%!test  # transpose, ctranspose
%! for shape = [0, 1, 3, 65; 3, 1, 2, 70]
%!   x = rand (shape');
%!   assert (double (gpuMatrix (x)'), x');
%!   assert (double (gpuMatrix (x).'), x.');
%! endfor

%!test  # eq, ne, lt, le, gt, ge, isequal: ordinary logicals
%! x = [1, 2; 3, 4];
%! y = [1, 3; 2, 4];
%! g = gpuMatrix (x);
%! assert (g == gpuMatrix (y), x == y);
%! assert (g ~= y, x ~= y);
%! assert (y < g, y < x);
%! assert (g <= y, x <= y);
%! assert (g > 2, x > 2);
%! assert (g >= 2, x >= 2);
%! assert (isequal (g, x) && isequal (x, g, g) && ! isequal (g, y));
%! assert (norm (g) < 10);

%!test  # any, all: ordinary logicals; colon
%! x = [1, 0; 3, 0];
%! g = gpuMatrix (x);
%! assert (any (g), any (x));
%! assert (any (g, 2), any (x, 2));
%! assert (all (g), all (x));
%! assert (all (all (g (:, 1))));
%! assert (1:gpuMatrix (3), 1:3);
%! assert (gpuMatrix (5):-2:1, 5:-2:1);

%!test  # subsref, end: ranges, and others as Octave
%! x = reshape (1:35, 5, 7);
%! g = gpuMatrix (x);
%! assert (double (g(2:4, 3:end)), x(2:4, 3:end));
%! assert (double (g(:, 2)), x(:, 2));
%! assert (double (g(end, end)), 35);
%! assert (double (g(:, :)), x);
%! assert (double (g(8)), 8);
%! assert (double (g(end)), 35);
%! assert (double (g(:)), x(:));
%! assert (double (g([5, 1], [true, false, true])), x([5, 1], [1, 3]));
%! assert (double (g(5:-1:1, 1)), x(5:-1:1, 1));
%! assert (double (g([1, 2; 3, 4])), x([1, 2; 3, 4]));
%! assert (double (g(x > 30)), x(x > 30));
%! assert (size (g([], 1)), size (x([], 1)));
%! assert (double (g(2:4, :)(2, 1:2)), x(3, 1:2));
%! r = gpuMatrix (1:4);
%! assert (double (r(2:3)), [2, 3]);
%! assert (double (r(:)), (1:4)');
%! assert (double (r'(2:3)), [2; 3]);
%! assert (double (r([4, 1])), [4, 1]);
%! assert (double (r(end)), 4);
%! for k = 1:4, assert (double (r(k)), k); endfor
%!error <out of bound> gpuMatrix (ones (3))(4, 1)
%!error <out of bound> gpuMatrix (ones (3))(10)
%!error id=glinpack:index gpuMatrix (ones (3)){1}
%!error id=glinpack:index gpuMatrix (ones (3)).handle

%!test  # subsasgn: value semantics
%! x = reshape (1:35, 5, 7);
%! g = gpuMatrix (x);
%! h = g;
%! g(2:3, 4:5) = [1, 2; 3, 4];
%! y = x;  y(2:3, 4:5) = [1, 2; 3, 4];
%! assert (double (g), y);
%! assert (double (h), x);
%! g(:, 1) = 7;  y(:, 1) = 7;
%! g(5) = -1;    y(5) = -1;
%! g(2, :) = gpuMatrix (1:7);  y(2, :) = 1:7;
%! g([1, 3], 2) = [8; 9];  y([1, 3], 2) = [8; 9];
%! g(6, 8) = 1;  y(6, 8) = 1;
%! g(1, :) = [];  y(1, :) = [];
%! g(y > 30) = 0;  y(y > 30) = 0;
%! assert (double (g), y);
%! s.g = gpuMatrix (single ([1, 2]));
%! s.g(2) = 5;
%! assert (gather (s.g), single ([1, 5]));
%! g = gpuMatrix (1:3);  g(2) += 1;  g += 1;
%! assert (double (g), [2, 4, 4]);
%!error <nonconformant> x = gpuMatrix (ones (2)); x(1:2, 1) = [1, 2, 3];
%!error id=glinpack:type x = gpuMatrix ([1.5, 2.5]); x([2, 1]) = int8 (3);
%!error id=glinpack:type x = gpuMatrix ([1.5, 2.5]); x(1) = int8 (3);

%!test  # horzcat, vertcat, cat
%! x = rand (2, 3);
%! g = gpuMatrix (x);
%! assert (double ([g, g; g, x]), [x, x; x, x]);
%! assert (double ([g; [1, 2, 3]]), [x; 1, 2, 3]);
%! assert (double ([[], g]), x);
%! assert (double ([zeros(0, 3); g]), x);
%! assert (double ([x, g, ones(2, 1)]), [x, x, ones(2, 1)]);
%! assert (double ([zeros(1, 0); g; zeros(1, 0)]), x);
%! assert (double ([zeros(0, 1), g, []]), x);
%! assert (size ([gpuMatrix(zeros (1, 0)), []]), [1, 0]);
%! assert (size ([gpuMatrix(zeros (1, 0)); zeros(1, 0)]), [2, 0]);
%! assert (double (cat (1, g, x, g)), [x; x; x]);
%! assert (double (cat (2, g, x)), [x, x]);
%! assert (classUnderlying ([g, single(x)]), "single");
%! for empty = {single([]), gpuMatrix(single ([])), single(zeros (1, 0))}
%!   assert (classUnderlying ([empty{1}, g]), "single");
%!   assert (classUnderlying ([g; empty{1}]), "single");
%! endfor
%!error <horizontal dimensions mismatch \(2x2 vs 3x3\)> horzcat (gpuMatrix (ones (2)), ones (3))
%!error <horzcat> [gpuMatrix(ones (2)), ones(3)]  # Octave 7 hides the message
%!error <two dimensions> cat (3, gpuMatrix (1), 2)
%!error <vertical dimensions mismatch \(2x2 vs 3x3\)> vertcat (ones (2), gpuMatrix (ones (3)))

%!test  # sum, trace, norm, diag, triu, tril
%! for shape = [0, 0, 3, 1, 4, 4, 5; 0, 3, 0, 5, 1, 4, 7]
%!   x = rand (shape') - 0.5;
%!   g = gpuMatrix (x);
%!   near (sum (g), sum (x), 10, "double");
%!   if (! isequal (shape, [0; 0]))  # where Octave gives 0
%!     near (sum (g, 1), sum (x, 1), 10, "double");
%!   endif
%!   near (sum (g, 2), sum (x, 2), 10, "double");
%!   for p = {1, 2, Inf, "fro", "inf"}
%!     near (norm (g, p{1}), norm (x, p{1}), 10, "double");
%!   endfor
%!   near (norm (g), norm (x), 10, "double");
%!   assert (double (triu (g)), triu (x));
%!   assert (double (tril (g, -1)), tril (x, -1));
%! endfor
%! x = rand (4);
%! near (trace (gpuMatrix (x)), trace (x), 4, "double");
%! assert (double (diag (gpuMatrix (x))), diag (x));
%! assert (double (diag (gpuMatrix ([1; 2]), 1)), diag ([1; 2], 1));
%! assert (classUnderlying (norm (gpuMatrix (single ([1, 2])))), "single");
%! near (norm (gpuMatrix ([1, 2, 3]), 1.00001), norm ([1, 2, 3], 1.00001), 10, "double");
%! assert (double (norm (gpuMatrix ([1, NaN]), Inf)), norm ([1, NaN], Inf));
%!error <invalid dimension DIM = 0> sum (gpuMatrix (ones (2)), 0)

%!test  # abs, isnan, max, min, dot, reshape
%! x = [1, -5, 3; NaN, 2, -4];
%! g = gpuMatrix (x);
%! assert (double (abs (g)), abs (x));
%! assert (isnan (g), isnan (x));
%! assert (double (max (g)), max (x));
%! assert (double (min (g, [], 2)), min (x, [], 2));
%! [m, k] = max (g, [], 2);
%! assert (k, [3; 2]);
%! assert (double (max (g, 0)), max (x, 0));
%! assert (double (reshape (g, 3, [])), reshape (x, 3, []));
%! near (dot (gpuMatrix (1:3), [4; 5; 6]), 32, 3, "double");
%! near (dot (gpuMatrix (ones (2, 3)), 2 * ones (2, 3)), [4, 4, 4], 3, "double");
%! assert (classUnderlying (abs (gpuMatrix (single (-1)))), "single");

%!test  # rref
%! for type = {"single", "double"}
%!   a = well (5, type{1});  b = cast (rand (5, 2), type{1});
%!   near (rref (gpuMatrix ([a, b])), [eye(5), a \ b], 5, type{1});
%!   near (rref (gpuMatrix (cast ([1, 2, 1; 2, 4, 0; 3, 6, 1], type{1}))), [1, 2, 0; 0, 0, 1; 0, 0, 0], 3, type{1});
%! endfor
%! [r, k] = rref (gpuMatrix ([1, 2, 1; 2, 4, 0]));
%! assert (k, [1, 3]);

%!test  # \ with a tridiagonal or banded sparse matrix
%! n = 37;  b = rand (n, 3);
%! a = spdiags ([rand(n, 1), 3 + rand(n, 1), rand(n, 1)], -1:1, n, n);
%! near (a \ gpuMatrix (b), a \ b, n, "double");
%! near (sparse ([0, 1; 1, 0]) \ gpuMatrix ([1; 2]), [2; 1], 2, "double");  # only with pivoting
%! for offsets = {-1:1, [-5, -1, 0, 2], [0, 3, 4]}  # banded, also only with pivoting
%!   a = spdiags (randn (n, numel (offsets{1})), offsets{1}, n, n);
%!   for type = {"single", "double"}
%!     x = gather (a \ gpuMatrix (cast (b, type{1})));
%!     assert (class (x), type{1});
%!     assert (norm (a * double (x) - b, Inf) <= 8 * n * eps (type{1}) * (norm (a, Inf) * norm (x, Inf) + 1));
%!   endfor
%! endfor
%!warning id=glinpack:singular double (spdiags (ones (20, 1), 2, 20, 20) \ gpuMatrix (ones (20, 1)));
%!warning id=glinpack:nearlySingular double (spdiags ([1e-17, ones(1, 19); 1:20]', [0, 3], 20, 20) \ gpuMatrix (ones (20, 1)));

%!test  # many tridiagonal systems
%! n = 37;  b = rand (n, 3);
%! l = rand (n, 3);  d = 3 + rand (n, 3);  u = rand (n, 3);
%! x = double (tridiagonal (gpuMatrix (l), d, u, b));
%! for k = 1:3
%!   a = diag (d(:, k)) + diag (l(2:end, k), -1) + diag (u(1:end - 1, k), 1);
%!   near (a * x(:, k), b(:, k), n, "double");
%! endfor
%!error id=glinpack:size tridiagonal (gpuMatrix (ones (2)), 1, 1, 1)

%!test  # gpuMult and gpuLAS of Brodtkorb 2006
%! a = rand (3, 4);  b = rand (4, 2);
%! near (gpuMult (a, b), a * b, 4, "single");
%!error id=gpuMult:invalidInput gpuMult (ones (2, 3), ones (2, 3))
%!error id=gpuLAS:invalidInput gpuLAS (1, 1, 1)

%!test  # det, inv, rcond
%! for type = {"single", "double"}
%!   for n = sizes(sizes < 300)
%!     a = well (n, type{1});
%!     g = gpuMatrix (a);
%!     [x, c] = inv (g);
%!     near (x, inv (a), n, type{1});
%!     near (x * g, eye (n), n, type{1});
%!     assert (double (c), double (rcond (a)), 100 * n * eps (type{1}));
%!   endfor
%!   a = well (5, type{1});
%!   near (det (gpuMatrix (a)), det (a), 5, type{1});
%! endfor
%! assert (double (det (gpuMatrix (zeros (0)))), 1);
%! assert (size (inv (gpuMatrix (zeros (0)))), [0, 0]);
%! assert (double (rcond (gpuMatrix (zeros (0)))), Inf);
%!error <inverse: A must be a square matrix> inv (gpuMatrix (ones (2, 3)))
%!error id=glinpack:size det (gpuMatrix (ones (2, 3)))

%!test  # lu: P * A = L * U
%! for type = {"single", "double"}
%!   for n = sizes
%!     a = cast (rand (n), type{1});
%!     g = gpuMatrix (a);
%!     [l, u, p] = lu (g);
%!     near (l * u, p * a, n, type{1});
%!     near (triu (l, 1), zeros (n), 1, type{1});
%!     near (tril (u, -1), zeros (n), 1, type{1});
%!     [m, v] = lu (g);
%!     near (m * v, a, n, type{1});
%!     near (lu (g), l + u - eye (n), n, type{1});
%!   endfor
%! endfor
%! a = rand (6, 4);
%! [l, u, p] = lu (gpuMatrix (a));
%! near (l * u, p * a, 10, "double");
%! [l, u] = lu (gpuMatrix (a));
%! near (l * u, a, 10, "double");
%! near (lu (gpuMatrix (a)), lu (a), 10, "double");
%! assert (double (lu (gpuMatrix ([1, 0; 0, 1e-20]))), [1, 0; 0, 1e-20]);

%!test  # chol
%! a = well (5, "double");
%! a = a * a';
%! near (chol (gpuMatrix (a)), chol (a), 10, "double");
%! [r, failed] = chol (gpuMatrix (-a));
%! assert (failed, 1);
%!error <positive definite> chol (gpuMatrix (-eye (2)))

%!test  # properties of random shapes
%! for k = 1:10
%!   n = randi (40);  m = randi (40);
%!   a = gpuMatrix (well (n, "double"));
%!   x = gpuMatrix (rand (n, m));
%!   near (a \ (a * x), x, n, "double");
%!   near ((x' * a')', a * x, n, "double");
%!   near (inv (a) * a, eye (n), n, "double");
%! endfor

%!test  # background: an operation on what is not computed; wait, isready
%! a = gpuMatrix (well (200, "double"));
%! x = a;
%! for k = 1:5, x = a \ (x * a); endfor
%! wait (x);
%! assert (isready (x));
%! assert (wait (x, 0));
%! assert (gpuMatrix.info ().pending, 0);
%! near (x, a, 200, "double");

%!test  # a value is read while later operations are pending
%! a = gpuMatrix (well (100, "double"));
%! first = a * a;
%! for k = 1:20, later{k} = inv (a); endfor
%! near (first, double (a) * double (a), 100, "double");
%! near (later{20} * a, eye (100), 100, "double");

%!test  # disp, display
%! g = gpuMatrix (ones (2, 3));
%! wait (g);
%! assert (regexprep (evalc ("disp (g)"), " on .*:", ""), "  2x3 double gpuMatrix computed\n");
%! assert (regexp (evalc ("g"), "^g =\n\n  2x3 double"), 1);
%! assert (regexp (evalc ("display (g + 1)"), "^ans =\n\n  2x3 double"), 1);

%!test  # saveobj, loadobj, save, load
%! g = gpuMatrix (single ([1, 2; 3, 4]));
%! s = saveobj (g);
%! name = [tempname(), ".mat"];
%! unwind_protect
%!   save ("-binary", name, "s");
%!   t = load (name);
%! unwind_protect_cleanup
%!   unlink (name);
%! end_unwind_protect
%! h = gpuMatrix.loadobj (t.s);
%! assert (gather (h), gather (g));

%!test  # delete; temporaries are freed
%! before = gpuMatrix.info ().matrices;
%! g = gpuMatrix (1);
%! delete (g);
%! assert (gpuMatrix.info ().matrices, before);
%! g = gpuMatrix (ones (10));
%! for k = 1:100, h = (g + g) * g - g; endfor
%! assert (gpuMatrix.info ().matrices, before + 2);
%! clear g h
%! assert (gpuMatrix.info ().matrices, before);
%!error <was freed> g = gpuMatrix (1); delete (g); g + 1

%!test  # device, info
%! assert (! isempty (gpuMatrix.device ()));
%! assert (gpuMatrix.info ().device, gpuMatrix.device ());
%!error id=glinpack:device g = gpuMatrix (1); gpuMatrix.device ("openblas");
%!error <threads is 1e\+10, not 0 to 4096> gpuMatrix.device ("openblas", 1e10)
%!error <threads is -1, not 0 to 4096> gpuMatrix.device ("openblas", -1)
