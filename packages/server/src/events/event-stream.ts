import type { EventLog } from "@moora/event-log";
import { HttpProblem, unavailable } from "../problem.ts";
import { historyMark, incarnationOf } from "../sessions/history-mark.ts";
import type { ServerContext } from "../server-options.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { StreamHold } from "../routes/stream-hold.ts";
import { EventSource } from "./event-source.ts";
import { PacedStream } from "./paced-stream.ts";
import { retryText } from "./sse.ts";

/**
 * The record after which a stream begins: the header `Last-Event-ID` of a browser that connects again counts before `after` of
 * the address. Default: 0, the beginning. Throws `invalid-cursor`.
 */
export function cursorOf(request: Request): number {
  const text = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("after");
  if (text === null) return 0;
  const cursor = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(cursor)) return cursor;
  throw new HttpProblem("invalid-cursor", "A cursor must be the number of a record, an integer from 0.");
}

/** A record that a reader has, after which its stream begins. */
export interface Cursor {
  readonly after: number;
  /** The incarnation of the session that the reader knows; null if it does not say. */
  readonly incarnation: string | null;
  /** The digest of the record that the reader has; null if it does not say. */
  readonly digest: string | null;
}

/** The cursor of a request. Throws `invalid-cursor`. */
export function cursorOfRequest(request: Request): Cursor {
  const { searchParams } = new URL(request.url);
  return {
    after: cursorOf(request),
    incarnation: searchParams.get("incarnation"),
    digest: searchParams.get("digest"),
  };
}

/**
 * The response with the events of a session after a record. It releases the session when it ends. Throws `cursor-beyond-end` and
 * `history-changed`.
 */
export async function eventStream(
  { clock, limits, log, onError, loggerOf }: ServerContext,
  hold: StreamHold,
  cursor: Cursor,
): Promise<Response> {
  const { live, drop } = hold;
  const { after } = cursor;
  checkIncarnation(live, cursor);
  if (after > live.session.seq()) await checkCursor(log, live, after);
  await checkRecord(live, cursor);
  const source = new EventSource(live, {
    after,
    maxBuffered: limits.maxBufferedBytes,
    onBehind: () =>
      loggerOf(live.ref.id).log("stream-behind", {
        message:
          "A reader of a stream is behind; chunks were dropped, and records are read from the log again.",
      }),
    onAvailable: () => paced.available(),
  });
  const close = (): void => {
    stopListening();
    source.close();
    hold.release();
  };
  const next = async (): Promise<string | undefined> => {
    try {
      return (await source.next())?.text;
    } catch (error) {
      // The reader connects again, and resumes after what it has.
      if (!live.isEnded) onError(error);
      paced.end();
      return undefined;
    }
  };
  const paced = new PacedStream(
    {
      next,
      nextNow: () => source.nextNow()?.text,
      close,
      get isAvailable() {
        return source.isAvailable;
      },
      get isEnded() {
        return live.isEnded;
      },
    },
    { clock, keepAliveMs: limits.keepAliveMs, stallMs: limits.streamStallMs, head: retryText, drop },
  );
  const stopListening = live.onEnded(() => paced.end());
  hold.endsBy(() => paced.end());
  return streamResponse(paced.stream);
}

/** Throws `cursor-beyond-end` for a record that the log does not have, and `unavailable` for one that cannot be read now. */
async function checkCursor(log: EventLog, live: LiveSession, after: number): Promise<void> {
  await live.refresh();
  if (after <= live.session.seq()) return;
  const seq = (await (await log.open(live.ref.id))?.head()) ?? 0;
  if (after <= seq) throw unavailable("The session has not read its newest records yet. Retry.");
  const detail = `The session has no record ${after}; the last one is ${seq}.`;
  throw new HttpProblem("cursor-beyond-end", detail, { seq });
}

/** Throws `history-changed` for a reader of an earlier session with the same id. */
function checkIncarnation(live: LiveSession, { incarnation }: Cursor): void {
  if (incarnation === null || incarnation === incarnationOf(live.session)) return;
  throw new HttpProblem("history-changed", "The session was removed, and created again with the same id.");
}

/** Throws `history-changed` for a reader whose last record is not the one of the log. */
async function checkRecord(live: LiveSession, { after, digest }: Cursor): Promise<void> {
  if (digest === null || digest === (await historyMark(live.session, after))) return;
  throw new HttpProblem(
    "history-changed",
    `Record ${after} of the session is not the one that was sent before.`,
  );
}

/** A response of server-sent events. Proxies do not buffer it. */
export const streamResponse = (
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(stream, {
    headers: { "content-type": "text/event-stream", "x-accel-buffering": "no", ...headers },
  });
