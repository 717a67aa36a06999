// Message tags, all in one place so that no two kinds of message under way on a communicator can meet.
#pragma once

namespace glinpack::tags {

inline constexpr int gather = 1;
inline constexpr int panel_row = 2;     // P, L11, L21 along process rows
inline constexpr int u11_column = 3;    // U11 down the pivot's process column (local pivoting)
inline constexpr int u12_column = 4;    // U12 down process columns
inline constexpr int row_exchange = 5;  // within process columns
inline constexpr int solution = 6;      // blocks of x down process columns
inline constexpr int scatter = 7;       // a matrix read from a file
inline constexpr int ping_pong = 8;
inline constexpr int tournament = 9;   // candidates up the tree (tournament pivoting)
inline constexpr int winners = 10;     // its outcome down the pivot's process column
inline constexpr int ghost_rows = 11;  // between neighbouring strips of the elliptic test problem

}  // namespace glinpack::tags
