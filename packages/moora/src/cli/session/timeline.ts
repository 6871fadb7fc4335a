import {
  headerToState,
  inputDescriber,
  type AgentInput,
  type ControlMove,
  type SessionHeader,
} from "@moora/agent";
import { beginReplay } from "@moora/agent-core-state-machine";

/** One record of a session, and its effect on the control state. */
export interface TimelineRow {
  readonly seq: number;
  /** In milliseconds since 1970, by the clock of the process that wrote it. */
  readonly timestamp: number;
  /** The control state after it, `Canceled` in place of Error after a cancel, and the edges on the way. */
  readonly state: string;
  readonly moves: readonly ControlMove[];
  readonly text: string;
  readonly input: AgentInput;
}

/** Describes the records of a session, one after the other, from the first one on. */
export function timelineOf(
  header: Pick<SessionHeader, "config" | "tools" | "data">,
): (seq: number, input: AgentInput) => TimelineRow {
  const replay = beginReplay(headerToState(header));
  const describe = inputDescriber(header);
  let state = "Idle";
  return (seq, input) => {
    const moves = replay.apply(input)?.moves ?? [];
    const last = moves.at(-1);
    if (last !== undefined) state = last.to === "Error" && last.event === "Cancelled" ? "Canceled" : last.to;
    return { seq, timestamp: input.timestamp, state, moves, text: describe(input), input };
  };
}

/** A row as a line of text. Times are UTC. */
export const rowToText = ({ seq, timestamp, state, moves, text }: TimelineRow): string => {
  const path = moves.length === 0 ? "" : `  [${moves.map(({ event }) => event).join(", ")}]`;
  return `${String(seq).padStart(5)}  ${timeToText(timestamp)}  ${state.padEnd(15)}  ${text}${path}`;
};

/** The same for programs. */
export const rowToJson = ({ seq, timestamp, state, moves, input }: TimelineRow): object => ({
  seq,
  timestamp,
  state,
  moves,
  input,
});

export const timeToText = (timestamp: number): string => {
  const time = new Date(timestamp);
  return Number.isNaN(time.getTime()) ? String(timestamp) : time.toISOString().replace("T", " ");
};
