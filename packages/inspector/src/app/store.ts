import { batch, computed, signal } from "@preact/signals";
import { firstEntries, type PositionView } from "../session/position-view.ts";
import { hasMark, type Mark } from "../session/marks.ts";
import type { RecordCheck } from "../session/record-check.ts";
import type { RecordRow } from "../session/session-history.ts";
import type { Span } from "../session/spans.ts";
import type { Lane } from "../session/work.ts";
import type { OpenedSession, WorkerEvent } from "../worker/protocol.ts";
import { Axis, type AxisKind, type AxisRange } from "./axis.ts";
import { pageText } from "./page-data.ts";
import { layOutLanes } from "./timeline-paint.ts";
import { startWorker, type WorkerClient } from "./worker-client.ts";

/** What is shown: nothing yet, a session that is being read, a session, or why there is none. */
export const phase = signal<"start" | "opening" | "open">("start");
export const problem = signal<string | undefined>(undefined);
export const session = signal<OpenedSession | undefined>(undefined);
/** Whether a session of the server is shown as a chat, without the inspector. */
export const isChat = signal(false);
/** The number of records that the file names. */
export const expected = signal(0);

/** Rows, spans and checks are added in place: 100,000 of them are not copied. A change of `count` or `checked` reports it. */
export const rows: RecordRow[] = [];
export const spans: Span[] = [];
export const checks: RecordCheck[] = [];
/** The lines that the spans of each lane need. */
const laneLines = signal<ReadonlyMap<Lane, number>>(new Map());
export const laneLayout = computed(() => layOutLanes(laneLines.value));
export const count = signal(0);
export const checked = signal(0);
export const firstDamage = signal<number | undefined>(undefined);
/** The marks that records have, as bits. */
const seenMarks = signal(0);

/** Whether a record has the mark. */
export const hasRecordWith = (mark: Mark): boolean =>
  mark === "damage" ? firstDamage.value !== undefined : hasMark(seenMarks.value, mark);

export const position = signal(0);
export const view = signal<PositionView | undefined>(undefined);
/** How many entries of the conversation are shown. */
export const entries = signal(firstEntries);

export const typed = signal("");
export const matches = signal<readonly number[] | undefined>(undefined);

const axisKind = signal<AxisKind>("seq");
/** The part of the timeline that is shown; undefined for the whole. */
export const range = signal<AxisRange | undefined>(undefined);
export const axis = computed(() => new Axis(axisKind.value, rows));

export const shownRange = computed((): AxisRange => {
  // A record that is added makes the axis longer.
  void count.value;
  return range.value ?? axis.value.whole;
});

export function setAxis(kind: AxisKind): void {
  batch(() => {
    axisKind.value = kind;
    range.value = undefined;
  });
}

/** Zooms the timeline around the position, or a value of its axis. */
export function zoom(factor: number, around: number = axis.value.valueOf(position.value)): void {
  range.value = axis.value.zoomed(shownRange.value, factor, around);
}

function onEvent(event: WorkerEvent): void {
  switch (event.event) {
    case "opening":
      rows.length = 0;
      spans.length = 0;
      checks.length = 0;
      batch(() => {
        count.value = 0;
        laneLines.value = new Map();
        checked.value = 0;
        firstDamage.value = undefined;
        seenMarks.value = 0;
        expected.value = event.total;
        range.value = undefined;
        matches.value = undefined;
        typed.value = "";
        position.value = 0;
        view.value = undefined;
      });
      return;
    case "rows":
      rows.push(...event.rows);
      batch(() => {
        for (const span of event.spans) {
          const { id, lane, line } = span;
          spans[id] = span;
          if ((laneLines.value.get(lane) ?? 0) > line) continue;
          laneLines.value = new Map(laneLines.value).set(lane, line + 1);
        }
        // Follow the end in the same batch, so that controls shown only for the newest record are not removed and added again.
        if (phase.value === "open" && position.value === count.value) position.value = rows.length;
        seenMarks.value = event.rows.reduce((seen, { marks }) => seen | marks, seenMarks.value);
        count.value = rows.length;
      });
      return;
    case "checked":
      // Records are checked again when they get digests.
      event.checks.forEach((check, index) => void (checks[event.from - 1 + index] = check));
      batch(() => {
        if (event.from === 1) firstDamage.value = undefined;
        checked.value += event.checks.length;
        const damage = event.checks.findIndex((check) => check === "damaged" || check === "differs");
        if (damage >= 0) firstDamage.value ??= event.from + damage;
      });
  }
}

/** The worker, which folds the session. Started at the first use. */
export const worker: WorkerClient = {
  call: (name, ...args) => started().call(name, ...args),
};

let client: WorkerClient | undefined;
const started = (): WorkerClient => (client ??= startWorker(pageText("moora-worker") ?? "", onEvent));

/** Opens an exported session, and shows the position `at`; default: the last one. */
export async function openSession(text: string | Blob, at?: number): Promise<boolean> {
  phase.value = "opening";
  problem.value = undefined;
  try {
    const opened = await worker.call("open", text);
    batch(() => {
      session.value = opened;
      problem.value = opened.problem;
      phase.value = "open";
    });
    goTo(at ?? opened.records);
    return true;
  } catch (error) {
    problem.value = messageOf(error);
    phase.value = session.value === undefined ? "start" : "open";
    return false;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

let isLoading = false;

/** Goes to the position after record `seq`; the nearest one if there is none. */
export function goTo(seq: number): void {
  const next = Math.max(0, Math.min(Math.round(seq), rows.length));
  batch(() => {
    position.value = next;
    entries.value = firstEntries;
    if (range.value !== undefined) range.value = axis.value.showing(range.value, axis.value.valueOf(next));
  });
  void loadView();
}

/** Loads the newest position that is wished for; while one loads, those in between are skipped. */
export async function loadView(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  try {
    for (;;) {
      const [seq, shown] = [position.value, entries.value];
      const loaded = await worker.call("view", seq, shown);
      view.value = loaded;
      if (seq === position.value && shown === entries.value) return;
    }
  } catch (error) {
    problem.value = messageOf(error);
  } finally {
    isLoading = false;
  }
}

/** Shows more of the beginning of the conversation. */
export function showEarlier(): void {
  entries.value += 400;
  void loadView();
}

/** Searches for what a user typed. Only the newest search is shown. */
export async function find(text: string): Promise<void> {
  typed.value = text;
  const found = await worker.call("search", text);
  if (typed.value === text) matches.value = found;
}

/** Goes to the next match of the search, or to the one before. */
export function goToMatch(direction: 1 | -1): void {
  const found = matches.value ?? [];
  const next =
    direction === 1
      ? found.find((seq) => seq > position.value)
      : found.findLast((seq) => seq < position.value);
  const wrapped = next ?? (direction === 1 ? found[0] : found.at(-1));
  if (wrapped !== undefined) goTo(wrapped);
}

/** Goes to the next record with a mark, or to the one before, around the end of the session. Returns whether there is one. */
export function goToMark(mark: Mark, direction: 1 | -1): boolean {
  const { length } = rows;
  // Before the first record is also after the last one.
  const from = direction === -1 && position.value === 0 ? length + 1 : position.value;
  for (let steps = 1; steps <= length; steps += 1) {
    const seq = ((from - 1 + direction * steps + length) % length) + 1;
    if (!isMarked(seq, mark)) continue;
    goTo(seq);
    return true;
  }
  return false;
}

export const isDamaged = (seq: number): boolean => {
  const check = checks[seq - 1];
  return check === "damaged" || check === "differs";
};

const isMarked = (seq: number, mark: Mark): boolean =>
  mark === "damage" ? isDamaged(seq) : hasMark(rows[seq - 1]?.marks ?? 0, mark);
