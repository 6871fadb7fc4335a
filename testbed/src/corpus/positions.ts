import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { beginReplay, type AgentState } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { headerToState, recordToInput, textToHeader } from "../agent-internals.ts";
import { canonicalJson, parsePortable } from "@moora/agent";

/** What a session is at one of its positions, as text: its state, what it wants done, and what the model would be sent. */
export interface Shown {
  readonly state: string;
  readonly effects: string;
  readonly request: string;
}

export const shownOf = (state: AgentState): Shown => ({
  state: canonicalJson(state),
  effects: JSON.stringify(effectsAt(state)),
  request: JSON.stringify(llmRequestAt(state) ?? null),
});

/** The states of a portable session, from the one before its first record on. */
export function* statesOf(text: string): Generator<AgentState> {
  const { header, records } = parsePortable(text);
  const replay = beginReplay(headerToState(textToHeader(header)));
  yield replay.state();
  for (const record of records) {
    replay.apply(recordToInput(record));
    yield replay.state();
  }
}

/** A line of digests for each position of a portable session: of its state, its effects and its request. */
export const positionsOf = (text: string): readonly string[] => [...statesOf(text)].map(digestsOf);

export function digestsOf(state: AgentState): string {
  const { state: stateText, effects, request } = shownOf(state);
  return [stateText, effects, request].map((shown) => digestOf(shown)).join(" ");
}

/**
 * The part of a line that the rules decide, and that is golden: the digests of the state and the effects. A request is made of the
 * state by the release that sends it, which may correct its sentences.
 */
export const foldedOf = (line: string): string => line.split(" ").slice(0, 2).join(" ");

/** A session at one position, in full. */
export function shownAt(text: string, seq: number): Shown {
  let position = 0;
  for (const state of statesOf(text)) {
    if (position === seq) return shownOf(state);
    position += 1;
  }
  throw new RangeError(`There is no position ${seq} in this session.`);
}
