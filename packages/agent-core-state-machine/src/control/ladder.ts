import { recordOf, messageOf, transcriptOf } from "../collections/state-lists.ts";
import type { LlmCallFailedInput } from "../input.ts";
import { modelFor } from "../model-for.ts";
import type { AgentState, ContextEntry, Ladder, TurnEntry } from "../state.ts";
import type { StateEdit } from "../state-edit.ts";
import { callIdsOfEntry } from "./context-sizes.ts";
import { hiddenRanges, isVisible } from "./visible-entries.ts";

export type { Ladder } from "../state.ts";

/** What requests to the model of the next plan leave out; undefined if its provider has refused none. */
export function ladderAt({ config, ladders }: Pick<AgentState, "config" | "ladders">): Ladder | undefined {
  if (ladders === undefined) return undefined;
  const model = modelFor(config, config.taskType);
  return ladders.find((ladder) => ladder.model === model);
}

/** Whether requests contain the names of the files of an entry in place of the files. */
export const hasFilesLeftOut = ({ files }: Ladder, index: number): boolean =>
  files !== undefined && index >= files.since && (files.until === null || index < files.until);

/** What is left out, for people; undefined if nothing is. */
export function rungText({ origin, raw, files }: Ladder): string | undefined {
  const turns = raw === "earlier" ? " of the turns before the newest" : "";
  const parts = [
    ...(raw === undefined ? [] : [`reasoning and other parts of its own${turns}`]),
    ...(files === undefined ? [] : [files.until === null ? "files" : "files that it has refused"]),
  ];
  return parts.length === 0
    ? undefined
    : `${origin} refused the request with them: left out are ${parts.join(", and ")}.`;
}

/** The index of the newest turn in the window of the request; -1 without one. */
export function newestTurnIn(state: AgentState): number {
  const { windowStart, seen } = state.reActContext;
  const transcript = transcriptOf(state);
  for (let index = seen - 1; index >= windowStart; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.type === "turn" && entry.withheld !== true) return index;
  }
  return -1;
}

/**
 * Climbs to the next rung that changes the request: without what only its origin can read, then without files. `isHigher`: whether there
 * was one.
 */
export function climb(
  edit: StateEdit,
  { refusedBy = "", blamesFiles }: LlmCallFailedInput["failure"],
): { readonly isHigher: boolean; readonly ladder: Ladder } {
  const { config } = edit;
  const current = ladderAt(edit) ?? { model: modelFor(config, config.taskType), origin: refusedBy };
  const raw = (): Partial<Ladder> | undefined => withoutRaw(edit, current, refusedBy);
  const files = (): Partial<Ladder> | undefined => withoutFiles(edit, current);
  const next = blamesFiles === true ? (files() ?? raw()) : (raw() ?? files());
  const ladder = { ...current, origin: refusedBy, ...next };
  putLadder(edit, ladder);
  return { isHigher: next !== undefined, ladder };
}

function putLadder(edit: StateEdit, ladder: Ladder): void {
  const others = edit.ladders?.filter(({ model }) => model !== ladder.model) ?? [];
  edit.set({ ladders: [...others, ladder] });
}

/** Keeps the rung that an answer has accepted. One of another origin is given up. */
export function keepRung(edit: StateEdit, origin: string): void {
  const ladder = ladderAt(edit);
  if (ladder === undefined || origin === "") return;
  if (ladder.origin !== origin)
    edit.set({ ladders: edit.ladders?.filter((other) => other !== ladder) ?? [] });
}

/** Whether a loop before the current one was withheld, and no model has answered since. */
export function hasWithheldBefore(state: AgentState): boolean {
  const { windowStart, loopStart } = state.reActContext;
  const transcript = transcriptOf(state);
  for (let index = loopStart - 1; index >= windowStart; index -= 1) {
    const entry = transcript.at(index);
    if (entry?.withheld === true) return true;
    if (entry?.type === "turn") return false;
  }
  return false;
}

/** Whether this loop has no turn, and the loop before, which is in the window, has no answer, or only one that was asked for alone. */
export function isUnansweredBefore(state: AgentState): boolean {
  const { windowStart, loopStart, suspect } = state.reActContext;
  const transcript = transcriptOf(state);
  const turn = newestTurnIn(state);
  if (windowStart >= loopStart || turn >= loopStart) return false;
  if (suspect !== undefined && suspect.times > 0) return true;
  const entry = turn < 0 ? undefined : transcript.at(turn);
  if (entry?.type === "turn" && callIdsOfEntry(entry).length > 0) return true;
  for (let index = loopStart - 1; index > turn && index >= windowStart; index -= 1)
    if (transcript.at(index)?.type === "message") return true;
  return false;
}

function withoutRaw(edit: StateEdit, { raw }: Ladder, origin: string): Partial<Ladder> | undefined {
  if (raw === "all") return undefined;
  const newest = newestTurnIn(edit);
  const carriers = visibleIn(edit, (entry) => entry.type === "turn" && hasRaw(entry, origin));
  if (raw === undefined && carriers.some((index) => index < newest)) return { raw: "earlier" };
  return carriers.includes(newest) ? { raw: "all" } : undefined;
}

const hasRaw = ({ origin, parts }: TurnEntry, of: string): boolean =>
  origin === of && parts.some((part) => "raw" in part && part.raw !== null);

/**
 * First the files of the newest entries, then all in the request, are left out. A provider that refuses the files of a later request as
 * well gets none.
 */
function withoutFiles(edit: StateEdit, ladder: Ladder): Partial<Ladder> | undefined {
  const { seen, loopStart } = edit.reActContext;
  const carriers = visibleIn(
    edit,
    (entry, index) => hasFiles(edit, entry) && !hasFilesLeftOut(ladder, index),
  );
  if (carriers.length === 0) return undefined;
  const since = Math.max(loopStart, newestTurnIn(edit));
  if (ladder.files === undefined)
    return { files: { since: carriers.some((index) => index >= since) ? since : 0, until: seen } };
  return { files: { since: 0, until: ladder.files.until === seen ? seen : null } };
}

function hasFiles(state: AgentState, entry: ContextEntry): boolean {
  if (entry.type === "message") return (messageOf(state, entry.messageId)?.attachments?.length ?? 0) > 0;
  if (entry.type === "turn" && entry.parts.some(({ type }) => type === "file")) return true;
  return callIdsOfEntry(entry).some((id) => {
    const result = recordOf(state, id)?.result;
    return result?.isSuccess === true && (result.files?.length ?? 0) > 0;
  });
}

/** The indices of the entries that the request contains. */
function visibleIn(
  state: AgentState,
  matches: (entry: ContextEntry, index: number) => boolean,
): readonly number[] {
  const { windowStart, seen } = state.reActContext;
  const hidden = hiddenRanges(state, windowStart, seen);
  return transcriptOf(state)
    .slice(windowStart, seen)
    .flatMap((entry, offset) => {
      const index = windowStart + offset;
      return isVisible(entry, index, hidden) && matches(entry, index) ? [index] : [];
    });
}
