import { recordOf, transcriptOf } from "../collections/state-lists.ts";
import { loopFailure } from "../failure.ts";
import type { AgentState, TurnEntry } from "../state.ts";
import type { StateEdit } from "../state-edit.ts";
import type { FiredEvent } from "./enter.ts";

/** The number of turns in a row with the same calls and results after which a note informs the model. */
const notedTurns = 5;

/** Ends a loop whose model repeats the same calls, or adds a note about them. One of an earlier release has neither. */
export function limitRepeatedCalls(edit: StateEdit): FiredEvent<"Planning"> | undefined {
  const { maxRepeatedCalls } = edit.config.limits;
  if (maxRepeatedCalls === undefined) return undefined;
  const turns = repeatedTurns(edit, Math.max(maxRepeatedCalls, notedTurns + 1));
  if (maxRepeatedCalls > 0 && turns >= maxRepeatedCalls)
    return { event: "FatalError", failure: loopFailure("RepeatedCalls") };
  if (turns === notedTurns) edit.addNote(["repeatedCalls", notedTurns, maxRepeatedCalls]);
  return undefined;
}

/**
 * How many of the newest turns have made the same calls with the same results, up to `most`; 0 if the newest one is noted. The row
 * begins after a message of the user.
 */
function repeatedTurns(state: AgentState, most: number): number {
  const { loop, loopStart } = state.reActContext;
  const transcript = transcriptOf(state);
  let turns = 0;
  let newest: readonly Call[] | undefined;
  for (let index = transcript.length - 1; index >= loopStart && turns < most; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "message") return turns;
    if (entry?.type === "note" && turns === 0 && entry.says?.[0] === "repeatedCalls") return 0;
    if (entry?.type !== "turn") continue;
    const calls = callsIn(state, entry);
    newest ??= calls;
    if (entry.loop !== loop || calls.length === 0 || !isSame(calls, newest)) return turns;
    turns += 1;
  }
  return turns;
}

interface Call {
  readonly name: string;
  readonly parameters: string;
  readonly result: object | null;
}

const callsIn = (state: AgentState, { parts }: TurnEntry): readonly Call[] =>
  parts.flatMap((part): readonly Call[] => {
    if (part.type === "internal-call")
      return [{ name: part.name, parameters: part.arguments, result: part.answer }];
    const record = part.type === "call" ? recordOf(state, part.toolCallId) : undefined;
    return record === undefined ? [] : [record];
  });

const isSame = (a: readonly Call[], b: readonly Call[]): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every(({ name, parameters, result }, index) => {
      const other = b[index];
      return (
        name === other?.name &&
        parameters === other.parameters &&
        contentOf(result) === contentOf(other.result)
      );
    }));

/** A result without its time, as text. */
const contentOf = (result: object | null): string => JSON.stringify({ ...result, receivedAt: 0 });
