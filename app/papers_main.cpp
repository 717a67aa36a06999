// glinpack-papers: the subcommands of app/papers_commands.cpp.
#include "app/commands.hpp"

int main(int argc, char** argv) { return glinpack::app::run_program(glinpack::app::papers_program(), argc, argv); }
