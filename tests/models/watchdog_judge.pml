// The judgement of the two watchers of a job: WatchThread in src/global/watch/watchdog.cpp. In the periods of the
// watchdog, rank 2 is lost, and at most one watcher fails: it crashes at any moment, or its MPI_Abort hangs.
// Messages take at most one period, and the watchers notice a loss at most one period apart.
// Checked: no deadlock; a watcher judges only if no other one that still runs has judged; the job ends.
// Not modelled: a stopped watcher that is continued in the very period in which the other one judges.
#define FIRST 0
#define SECOND 1
#define HEAD_START 2 // head_start, in periods
#define TO_END 4     // most_seconds_to_end
#define LOST_AT 1
#define LAST 24
#define NEVER 255

byte now; // the period
bool stepped[2], gone[2]; // in this period; the process has ended
byte gone_at[2] = NEVER;
byte verdict_at[2] = NEVER; // send_to_all(Heartbeat::Kind::verdict)
byte failures; // of watchers
bool over;     // the job

inline fail() {
  failures++;
  gone[me] = true;
  gone_at[me] = now
}

// A verdict that was sent comes before the end of its process.
inline receive() {
  if
  :: !ends_job && verdict_at[other] != NEVER -> // record()
    if
    :: ends_job = true; ending = TO_END + 2
    :: verdict_at[other] == now // still on its way
    fi
  :: !ends_job && verdict_at[other] == NEVER && gone[other] ->
    if
    :: lost = true // Contact::lost
    :: gone_at[other] == now
    fi
  :: else
  fi;
  if // the process of rank 2
  :: now >= LOST_AT -> sees_loss = true
  :: now == LOST_AT
  :: now < LOST_AT
  fi
}

inline may_judge() {
  if
  :: me == FIRST || lost || ends_job -> judges = true
  :: else -> deferred++; judges = deferred > HEAD_START
  fi
}

proctype Watcher(byte me) {
  byte other = 1 - me, ending, deferred, end_job;
  bool ends_job, lost, sees_loss, judges;
  do
  :: over || gone[me] -> break
  :: atomic { !over && !gone[me] && failures == 0 -> fail() } // killed, or its host fails
  :: atomic {
      !over && !gone[me] && !stepped[me] && !judges -> // watch()
      receive();
      if // verdict_text()
      :: ending > 0 -> ending-- // another rank ends the job
      :: ending == 0 && (sees_loss || lost) -> may_judge()
      :: else -> deferred = 0
      fi;
      if :: judges -> assert(verdict_at[other] == NEVER || gone[other]); verdict_at[me] = now :: else fi;
      stepped[me] = true
    }
  :: atomic {
      !over && !gone[me] && !stepped[me] && judges -> // end_job()
      end_job++;
      if
      :: over = true // MPI_Abort has ended the job
      :: end_job < TO_END
      :: end_job == TO_END && failures == 0 -> fail() // MPI_Abort hangs: SIGKILL
      fi;
      stepped[me] = true
    }
  od
}

active proctype Clock() {
  do
  :: over -> break
  :: atomic {
      !over && (stepped[FIRST] || gone[FIRST]) && (stepped[SECOND] || gone[SECOND]) ->
      now++;
      assert(now < LAST); // the job ends
      stepped[FIRST] = false;
      stepped[SECOND] = false
    }
  od
}

init { atomic { run Watcher(FIRST); run Watcher(SECOND) } }
