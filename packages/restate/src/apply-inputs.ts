import {
  recordInputs,
  releaseInputs,
  type Agent,
  type AgentInput,
  type FoldedSession,
  type IgnoredReason,
  type RecordedInputs,
} from "@moora/agent";
import { ignoredReason } from "@moora/agent/internal";
import { digestOf, type LogRecord } from "@moora/event-log";
import * as restate from "@restatedev/restate-sdk";
import { isTooLong, longestMessageBytes } from "./message-limits.ts";
import { ReleaseRefusal } from "./release-refusal.ts";
import { startAndStop } from "./running-effects.ts";
import type { SessionCache } from "./session-cache.ts";
import type { Posted, PostedResult, Report } from "./session-messages.ts";
import { openSession, storeRecords, type Context, type OpenedSession } from "./stored-session.ts";

/** What the handlers of the object need besides their context. */
export interface SessionParts {
  readonly agent: Agent<unknown>;
  readonly cache: SessionCache;
}

/** What a caller posts, or an effect or a timer reports. */
type Applied = Posted & Partial<Report>;

/** Applies inputs to the session, stores the records, and starts and stops effects. */
export async function apply(parts: SessionParts, ctx: Context, report: Applied): Promise<PostedResult> {
  const { agent, cache } = parts;
  const { inputs, after, from } = report;
  // Asked for at the same time as the head: one wait less.
  const clock = ctx.date.now();
  const opened = await openSession(agent, ctx, cache);
  const now = await clock;
  if (isOfRemoved(opened, report)) return { applied: 0, ignored: [...inputs.keys()] };
  const { session: before } = opened;
  if (after !== undefined && after !== before.head.seq) return {};
  const released = recordInputs(before, inputsOfRelease(parts, opened, now));
  if (after !== undefined && released.records.length > 0) {
    // The inputs were computed for the state before: they are computed again, for data that the release may have converted.
    await store(parts, ctx, { opened, made: released, from });
    return {};
  }
  const { records, ignored, reasons, ...session } = recordEach(released, inputs);
  const all = [...released.records, ...records];
  if (opened.head !== undefined && all.length === 0) return { applied: 0, ignored, reasons };
  await store(parts, ctx, { opened, made: { ...session, records: all }, from });
  return { applied: records.length, ignored, reasons };
}

/** Whether an effect reports to a session that was removed: its id has no session, or another one. */
const isOfRemoved = (opened: OpenedSession, { header }: Applied): boolean =>
  header !== undefined && (opened.head === undefined || header !== digestOf(opened.header));

/** The inputs that bring a session to the release of this process. Throws `ReleaseRefusal` if it cannot continue the session. */
export function inputsOfRelease(
  { agent }: SessionParts,
  { head, session: { state } }: OpenedSession,
  now: number,
): readonly AgentInput[] {
  if ((head?.release ?? agent.version) === agent.version && state.dataStatus !== null) return [];
  try {
    return releaseInputs(agent, state, now);
  } catch (error) {
    throw new ReleaseRefusal(error);
  }
}

interface Made {
  readonly opened: OpenedSession;
  readonly made: RecordedInputs;
  /** The key of the effect that reports them. */
  readonly from?: string | undefined;
}

/** Stores records, and starts and stops effects. */
export async function store(
  { agent, cache }: SessionParts,
  ctx: Context,
  { opened, made, from }: Made,
): Promise<void> {
  const { records, ...session } = made;
  if (records.some(isTooLong)) {
    const message = `An input is longer than ${longestMessageBytes} bytes as a record.`;
    throw new restate.TerminalError(message, { errorCode: 413 });
  }
  const { header, session: before } = opened;
  const { snapshot, tailBytes } = storeRecords(ctx, opened, { records, release: agent.version });
  cache.keep(ctx.key, { header, session }, snapshot.bytes + tailBytes);
  await startAndStop(agent, ctx, {
    header: digestOf(header),
    before: before.state,
    after: session.state,
    from,
  });
}

interface RecordedEach extends RecordedInputs {
  /** The indexes of the inputs that changed nothing. */
  readonly ignored: readonly number[];
  readonly reasons: readonly IgnoredReason[];
}

function recordEach(session: FoldedSession, inputs: readonly AgentInput[]): RecordedEach {
  let current = session;
  const records: LogRecord[] = [];
  const [ignored, reasons]: [number[], IgnoredReason[]] = [[], []];
  for (const [index, input] of inputs.entries()) {
    const { records: added, ...next } = recordInputs(current, [input]);
    if (added.length === 0) {
      ignored.push(index);
      reasons.push(ignoredReason(input)(current.state) ?? "nothing-new");
    }
    records.push(...added);
    current = next;
  }
  return { ...current, records, ignored, reasons };
}
