// Generations of checkpoints: Checkpoints and choose_checkpoint() in src/global/checkpoint/checkpoints.cpp. The job is
// killed at any moment and continues, a pass is written again, a disk is full, a user removes the newest generation.
// Checked: no deadlock; what choose_checkpoint() takes is whole and of one run; no committed pass is lost.
#define RANKS 2
#define PASSES 2
#define RUNS 3 // starts of the program
#define GENERATIONS (PASSES * RUNS)
#define GENERATION(pass, run) (((pass) - 1) * RUNS + (run)) // "pass-120-5f3a01c2"; ordered as Generation is
#define PASS(generation) ((generation) / RUNS + 1)
#define FILE(rank, generation) file[(generation) * RANKS + (rank)]
#define SET(rank, generation, state) \
  FILE(rank, generation) = state; by_run[(generation) * RANKS + (rank)] = (state == MISSING -> NONE : start)
#define NONE 255

#define MISSING 0
#define WRITING 1
#define WRITTEN 2 // on the disk
bool named[GENERATIONS]; // the folder has its name; "pass-120-5f3a01c2.part" until then
byte file[RANKS * GENERATIONS], by_run[RANKS * GENERATIONS];
byte start, ended;                          // the number of this run, its ranks that have ended
byte voted[2 * PASSES], failed[2 * PASSES]; // agree_or_throw()
byte last;                                  // Checkpoints::last()

inline agree(error) {
  atomic { failed[vote] = failed[vote] + error; voted[vote]++ }
  atomic { voted[vote] == RANKS -> refused = failed[vote] > 0; vote++ }
}

proctype Rank(byte me, mine, from) {
  byte pass = from, vote, other;
  bool error, refused;
  {
    do
    :: pass == PASSES -> break
    :: atomic { pass < PASSES -> pass++; SET(me, GENERATION(pass, mine), WRITING) } // begin(), add()
      if :: FILE(me, GENERATION(pass, mine)) = WRITTEN :: error = true fi; // the disk may be full
      agree(error); // commit()
      if
      :: !refused ->
        if :: named[GENERATION(pass, mine)] = true :: error = true fi;
        agree(error)
      :: else
      fi;
      if
      :: refused -> named[GENERATION(pass, mine)] = false; // remove_file()
        atomic { SET(me, GENERATION(pass, mine), MISSING); refused = false; error = false }
      :: else ->
        do // remove_file() of all others
        :: atomic {
            other < GENERATIONS && other != GENERATION(pass, mine) && named[other] -> named[other] = false
          }
        :: atomic {
            other < GENERATIONS && other != GENERATION(pass, mine) && !named[other] && FILE(me, other) != MISSING ->
            SET(me, other, MISSING)
          }
        :: atomic { other < GENERATIONS && (other == GENERATION(pass, mine) || FILE(me, other) == MISSING) -> other++ }
        :: atomic { other == GENERATIONS -> last = pass; other = 0; break }
        od
      fi
    od
  } unless { start != mine };
  atomic { if :: start == mine -> ended++ :: else fi }
}

inline choose_checkpoint() {
  chosen = NONE; older = NONE;
  for (g : 0 .. GENERATIONS - 1) {
    if :: named[g] -> older = chosen; chosen = g :: else fi
  }
  if
  :: older != NONE -> // the user removes the newest
    SET(0, chosen, MISSING); SET(1, chosen, MISSING); named[chosen] = false; chosen = older; last = PASS(older)
  :: chosen != NONE
  :: chosen == NONE -> // prepare_checkpoint_folder(), or the user
    for (g : 0 .. RANKS * GENERATIONS - 1) { file[g] = MISSING; by_run[g] = NONE }
    for (g : 0 .. GENERATIONS - 1) { named[g] = false }
  fi;
  if
  :: chosen != NONE -> assert(PASS(chosen) >= last); from = PASS(chosen);
    assert(FILE(0, chosen) == WRITTEN && FILE(1, chosen) == WRITTEN);
    assert(by_run[chosen * RANKS] == by_run[chosen * RANKS + 1])
  :: else -> assert(last == 0); from = 0
  fi
}

active proctype Launcher() {
  byte g, chosen, older, from, step;
  do
  :: atomic {
      _nr_pr == 1 -> // the processes of the run before have ended
      choose_checkpoint(); // collective, at the start of a run
      for (step : 0 .. 2 * PASSES - 1) { voted[step] = 0; failed[step] = 0 }
      ended = 0; g = 0; chosen = 0; older = 0; step = 0;
      run Rank(0, start, from); run Rank(1, start, from)
    }
    if
    :: ended == RANKS -> break
    :: atomic { start < RUNS - 1 -> start++ } // SIGKILL
    fi
  od
}
