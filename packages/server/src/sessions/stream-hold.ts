import type { SessionRef } from "../access/authorization.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import type { RouteCall } from "./route.ts";

/** A session that is kept open for one stream, which counts among those of its user. */
export interface StreamHold {
  readonly live: LiveSession;
  /** Reports a reader that takes nothing, and ends its connection. */
  readonly drop: () => void;
  /** Registers how the stream is ended from outside: when its client leaves, or when the server is closed. */
  endsBy(end: () => void): void;
  /** Called when the stream has ended, or could not begin. Can be called more than once. */
  release(): void;
}

interface StreamOptions {
  /** Whether the stream only reads a session that exists. Default: false. */
  readonly isRead?: boolean;
}

/** Opens a session for a stream. Throws `too-many-streams`, and what `SessionPool.hold` throws. */
export async function holdForStream(
  { parts, access, connection, request }: RouteCall,
  ref: SessionRef,
  options: StreamOptions = {},
): Promise<StreamHold> {
  const uncount = parts.streams.add(access.user);
  const hold = await parts.pool.hold(ref, options).catch((error: unknown) => {
    uncount();
    throw error;
  });
  const leave = hold.live.stream.view();
  let registered: (() => void) | undefined;
  return {
    live: hold.live,
    drop() {
      parts.context.counters.count("moora_streams_dropped_total");
      parts.context.loggerOf(ref.id).log("stream-stalled", {
        message: "A reader took nothing of a stream for too long; its connection was ended.",
        data: { user: access.user },
      });
      connection.drop?.();
    },
    endsBy(end) {
      registered = end;
      parts.streamEnds.add(end);
      if (request.signal.aborted) end();
      else request.signal.addEventListener("abort", end, { once: true });
    },
    release() {
      uncount();
      leave();
      hold.release();
      if (registered !== undefined) {
        parts.streamEnds.delete(registered);
        request.signal.removeEventListener("abort", registered);
      }
    },
  };
}
