import { canonicalJson, headerToState, readSession } from "@moora/agent";
import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { beginReplay, controlName, type AgentState } from "@moora/agent-core-state-machine";
import { digestOf, type EventLog } from "@moora/event-log";

/** What a recorded session is after one of its records: what can be read of it, and digests of the rest. */
export interface GoldenPosition {
  readonly seq: number;
  /** The type of the record's input; "" before the first record. */
  readonly input: string;
  readonly control: string;
  /** The digests of the effects that the state wants, by key. */
  readonly effects: Readonly<Record<string, string>>;
  /** The digest of the next request to the model; null if the state wants none. */
  readonly request: string | null;
  readonly state: string;
}

/** The positions of a session, from the one before its first record on. */
export async function goldenPositions(log: EventLog, id: string): Promise<readonly GoldenPosition[]> {
  const { header, inputs } = await readSession(log, id);
  const replay = beginReplay(headerToState(header));
  const positions = [positionAt(replay.state(), 0, "")];
  for (const [index, input] of inputs.entries()) {
    replay.apply(input);
    positions.push(positionAt(replay.state(), index + 1, input.type));
  }
  return positions;
}

function positionAt(state: AgentState, seq: number, input: string): GoldenPosition {
  const request = llmRequestAt(state);
  return {
    seq,
    input,
    control: controlName(state.reActContext.control),
    effects: Object.fromEntries(
      Object.entries(effectsAt(state)).map(([key, effect]) => [key, digestOf(canonicalJson(effect))]),
    ),
    request: request === undefined ? null : digestOf(canonicalJson(request)),
    state: digestOf(canonicalJson(state)),
  };
}
