import { traceOf, type ControlMove, type Trace } from "@moora/agent-core-state-machine";

/** The minimum number of moves that a session keeps; its log has the older ones. */
const minKept = 10_000;

/** The newest control moves of a session, as traces. */
export interface RecentMoves {
  add(move: ControlMove): void;
  /** All kept moves. The same object until the next move. */
  all(): Trace;
  /** The moves of the newest loop. */
  ofLoop(): Trace;
}

export function recentMoves(): RecentMoves {
  let moves: ControlMove[] = [];
  let loopBegin = 0;
  let trace: Trace | undefined;
  return {
    add(move) {
      trace = undefined;
      if (moves.length >= 2 * minKept) {
        moves = moves.slice(-minKept);
        loopBegin = Math.max(0, loopBegin - minKept);
      }
      if (move.event === "Start") loopBegin = moves.length;
      moves.push(move);
    },
    all: () => (trace ??= traceOf(moves.slice())),
    ofLoop: () => traceOf(moves.slice(loopBegin)),
  };
}
