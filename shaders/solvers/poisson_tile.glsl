// Tiles of p in shared memory, each with the cells around it (the ghost region of the paper's section 4.3). A tile has as
// many points a side as the paper's: 32 in double precision, 64 in single. Elements lie in buffers as in
// poisson_memory.glsl with MEMORY 0, and are read one by one.
#if DOUBLE
#define TILE 32
#else
#define TILE 64
#endif
#define SIDE (TILE + 2)

shared Real tile[SIDE * SIDE];

#define AT(row, column) (((row) + 1) * ROW_PITCH + (column))
#define TILES_ACROSS ((N + TILE - 1) / TILE)
// of these rows: a tile's number is that of its work group, plus a multiple of the count of work groups
#define TILES(rows) (TILES_ACROSS * (((rows) + TILE - 1) / TILE))
// 4 v - above - below - left - right at a cell
#define STENCIL(cell) \
  (4.0 * tile[cell] - tile[(cell)-SIDE] - tile[(cell) + SIDE] - tile[(cell)-1] - tile[(cell) + 1])
