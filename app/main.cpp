// glinpack: the subcommands of app/commands.cpp. The benchmark is `plu`: app/plu/plu_command.cpp, and its algorithm
// src/global/lu/factorize.cpp. CONTRIBUTING.md describes the folders.
#include "app/commands.hpp"

int main(int argc, char** argv) { return glinpack::app::run_program(glinpack::app::glinpack_program(), argc, argv); }
