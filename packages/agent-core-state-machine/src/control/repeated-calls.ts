import { recordOf, transcriptOf } from "../collections/state-lists.ts";
import { loopFailure } from "../failure.ts";
import { isSameJson } from "../json-copy.ts";
import type { AgentState, ToolCallResult, TurnEntry, TurnPart } from "../state.ts";
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
  let newest: TurnEntry | undefined;
  for (let index = transcript.length - 1; index >= loopStart && turns < most; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "message") return turns;
    if (entry?.type === "note" && turns === 0 && entry.says?.[0] === "repeatedCalls") return 0;
    if (entry?.type !== "turn") continue;
    newest ??= entry;
    if (entry.loop !== loop || !repeats(state, newest, entry)) return turns;
    turns += 1;
  }
  return turns;
}

/** Whether a turn has made the same calls with the same results as another one, and at least one. */
function repeats(state: AgentState, { parts: newest }: TurnEntry, { parts }: TurnEntry): boolean {
  let calls = 0;
  let at = 0;
  for (const part of newest) {
    if (!isCall(part)) continue;
    while (at < parts.length && !isCall(parts[at])) at += 1;
    if (!isSameCall(state, part, parts[at])) return false;
    at += 1;
    calls += 1;
  }
  return calls > 0 && !parts.slice(at).some(isCall);
}

type CallPart = Extract<TurnPart, { type: "call" | "internal-call" }>;

const isCall = (part: TurnPart | undefined): part is CallPart =>
  part?.type === "call" || part?.type === "internal-call";

function isSameCall(state: AgentState, a: CallPart, b: TurnPart | undefined): boolean {
  if (a.type === "internal-call") {
    return (
      b?.type === "internal-call" &&
      a.name === b.name &&
      a.arguments === b.arguments &&
      isSameJson(a.answer, b.answer)
    );
  }
  if (b?.type !== "call") return false;
  const one = recordOf(state, a.toolCallId);
  const other = recordOf(state, b.toolCallId);
  return (
    one?.name === other?.name &&
    one?.parameters === other?.parameters &&
    isSameResult(one?.result ?? null, other?.result ?? null)
  );
}

/** Whether two results are equal but for their times. */
function isSameResult(a: ToolCallResult | null, b: ToolCallResult | null): boolean {
  if (a === null || b === null) return a === b;
  return a.isSuccess
    ? b.isSuccess && a.content === b.content && isSameJson(a.files, b.files)
    : !b.isSuccess && a.error === b.error && a.code === b.code && isSameJson(a.says, b.says);
}
