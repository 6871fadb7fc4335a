import { transcriptOf } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ContextEntry, ReActContext } from "../state.ts";

type WindowFields = Pick<ReActContext, "windowStart" | "windowCount" | "seen" | "widen">;

/** Whether an entry counts as a message of the window: user messages and turns do, notes and summaries do not. */
export const countsInWindow = (entry: ContextEntry | undefined): boolean =>
  (entry?.type === "message" || entry?.type === "turn") && entry.withheld !== true;

const isUserMessage = (entry: ContextEntry | undefined): boolean =>
  entry?.type === "message" && entry.withheld !== true;

/**
 * The window of the next request. It contains whole turns, and always the current loop. When it has more than
 * `contextWindowSize` messages, it is cut to half at a user message, so that its start changes rarely and the prompt
 * caches of providers stay valid.
 */
export function windowOnEntry(edit: StateEdit, fits: (start: number) => boolean = () => true): WindowFields {
  const { reActContext: context } = edit;
  const transcript = transcriptOf(edit);
  const seen = transcript.length;
  let count = context.windowCount;
  for (let index = context.seen; index < seen; index += 1)
    if (countsInWindow(transcript.at(index))) count += 1;
  const window = { windowStart: context.windowStart, windowCount: count, seen, widen: false };
  if (count > context.contextWindowSize) return cut(edit, window, Math.floor(context.contextWindowSize / 2));
  return context.widen ? widened(edit, window, fits) : window;
}

/** The window with half of its messages; undefined if it contains only the current loop. */
export function halvedWindow(edit: StateEdit): WindowFields | undefined {
  const { windowStart, windowCount, seen, widen, loopStart } = edit.reActContext;
  if (windowStart >= loopStart) return undefined;
  return cut(edit, { windowStart, windowCount, seen, widen }, Math.floor(windowCount / 2));
}

/** The window with the current loop alone. */
export function loopWindow(edit: StateEdit): WindowFields {
  const { windowStart, windowCount, seen, widen } = edit.reActContext;
  return cut(edit, { windowStart, windowCount, seen, widen }, -1);
}

function cut(edit: StateEdit, window: WindowFields, keep: number): WindowFields {
  const { loopStart } = edit.reActContext;
  const transcript = transcriptOf(edit);
  let { windowStart, windowCount } = window;
  while (windowStart < loopStart) {
    const entry = transcript.at(windowStart);
    if (windowCount <= keep && isUserMessage(entry)) break;
    if (countsInWindow(entry)) windowCount -= 1;
    windowStart += 1;
  }
  return { ...window, windowStart, windowCount };
}

/** The window with older messages, as long as they fit. */
function widened(edit: StateEdit, window: WindowFields, fits: (start: number) => boolean): WindowFields {
  const { contextWindowSize } = edit.reActContext;
  const transcript = transcriptOf(edit);
  let wider = window;
  let count = window.windowCount;
  for (let index = window.windowStart - 1; index >= 0 && count < contextWindowSize; index -= 1) {
    if (countsInWindow(transcript.at(index))) count += 1;
    if (!isUserMessage(transcript.at(index))) continue;
    if (!fits(index)) break;
    wider = { ...window, windowStart: index, windowCount: count };
  }
  return wider;
}

/** Leaves out everything before this loop, which may be the cause of a failure. */
export function leaveOutHistory(edit: StateEdit): void {
  const { windowStart, suspect } = edit.reActContext;
  edit.setContext({ ...loopWindow(edit), suspect: { windowStart, times: (suspect?.times ?? 0) + 1 } });
}

/** Restores the window: this loop alone fails as well. */
export function restoreHistory(edit: StateEdit): void {
  const { windowStart = null, times = 1 } = edit.reActContext.suspect ?? {};
  edit.setContext({ ...windowFrom(edit, windowStart), suspect: { windowStart: null, times: times - 1 } });
}

/**
 * Restores the window for the next loop after this one alone was answered for the first time: the provider may have recovered at that moment.
 * The second time in a row the history is the cause.
 */
export function tryHistoryAgain(edit: StateEdit): void {
  const { suspect, control } = edit.reActContext;
  if (suspect === undefined) return;
  const { windowStart, times } = suspect;
  if (windowStart === null && control.type === "Done" && times > 0)
    edit.setContext({ suspect: { windowStart, times: 0 } });
  if (windowStart !== null && times === 1)
    edit.setContext({ ...windowFrom(edit, windowStart), suspect: { windowStart: null, times } });
}

function windowFrom(edit: StateEdit, start: number | null): Partial<WindowFields> {
  if (start === null) return {};
  const transcript = transcriptOf(edit);
  let windowCount = 0;
  for (let index = start; index < edit.reActContext.seen; index += 1)
    if (countsInWindow(transcript.at(index))) windowCount += 1;
  return { windowStart: start, windowCount };
}
