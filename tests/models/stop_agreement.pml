// The agreement of all ranks to end a factorisation before the same pass: PassAgreement in
// src/global/watch/stop_request.cpp. A signal reaches any rank at any moment, and a rank may be passes ahead of another.
// Checked: no deadlock; all ranks end before the same pass; they ask in the same passes; none ends without a signal.
#define RANKS 3
#define PASSES 5
#define NONE 255

bool stop_signal[RANKS]; // stop_signal()
bool signalled;          // of any rank
byte zero_pivot = NONE;  // all ranks end after this pass, if any

// The n-th MPI_Iallreduce of most_. A pass takes ranks different times; the slowest decides how soon they ask again.
byte contributed[PASSES];
bool most_signal[PASSES];
byte passes_between[PASSES];
byte asked_before[PASSES];

byte ended_before = NONE; // the decision

inline ask() {
  if // passes_between_questions() of this rank's seconds per pass
  :: pace = 0
  :: pace = 1
  :: pace = 2
  fi;
  if
  :: contributed[asked] == 0 -> asked_before[asked] = pass; passes_between[asked] = pace
  :: else ->
    assert(asked_before[asked] == pass);
    if
    :: pace < passes_between[asked] -> passes_between[asked] = pace
    :: else
    fi
  fi;
  most_signal[asked] = most_signal[asked] || stop_signal[me];
  contributed[asked]++;
  asked++;
  pending = true
}

proctype Rank(byte me) {
  byte pass, next_question = 1, asked, pace;
  bool pending; // request_
  do
  :: pass == PASSES -> break
  :: atomic {
      pass < PASSES && (!pending || contributed[asked - 1] == RANKS) -> // before(pass): answer() waits
      if
      :: pending ->
        pending = false;
        next_question = pass + passes_between[asked - 1];
        if
        :: most_signal[asked - 1] -> assert(signalled); break
        :: else
        fi
      :: else ->
        if
        :: pass >= next_question && pass + 1 < PASSES -> ask()
        :: else
        fi
      fi;
      if // the pass
      :: pass == zero_pivot -> pass++; break
      :: else -> pass++
      fi
    }
  od;
  if // finish()
  :: pending -> contributed[asked - 1] == RANKS
  :: else
  fi;
  atomic {
    if
    :: ended_before == NONE -> ended_before = pass
    :: else -> assert(ended_before == pass)
    fi
  }
}

active proctype Signals() {
  byte rank;
  do
  :: atomic { rank < RANKS -> signalled = true; stop_signal[rank] = true; rank++ }
  :: rank < RANKS -> rank++
  :: rank == RANKS -> break
  od
}

init {
  atomic {
    if
    :: zero_pivot = NONE
    :: zero_pivot = 1
    :: zero_pivot = 2
    fi;
    run Rank(0); run Rank(1); run Rank(2)
  }
}
