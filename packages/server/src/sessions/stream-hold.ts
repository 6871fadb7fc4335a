import type { Access } from "../access/authorization.ts";
import type { SessionRef } from "../access/grant.ts";
import type { ServerParts } from "../server-parts.ts";
import type { LiveSession } from "./live-session.ts";
import type { SessionHold } from "./session-pool.ts";

/** The request for a stream. */
interface StreamRequest {
  readonly parts: ServerParts;
  readonly request: Request;
  readonly access: Access;
  readonly connection: { readonly drop?: () => void };
}

interface StreamOptions {
  /** Whether the stream only reads a session that exists. Default: false. */
  readonly isRead?: boolean;
}

/** Opens a session for a stream. Throws `too-many-streams`, and what `SessionPool.hold` throws. */
export async function holdForStream(
  sent: StreamRequest,
  ref: SessionRef,
  options: StreamOptions = {},
): Promise<StreamHold> {
  const { parts, access } = sent;
  const uncount = parts.streams.add(access.user);
  try {
    return new StreamHold(sent, await parts.pool.hold(ref, options), uncount);
  } catch (error) {
    uncount();
    throw error;
  }
}

/** A session that is kept open for one stream, which counts among those of its user. */
export class StreamHold {
  readonly live: LiveSession;
  readonly #sent: StreamRequest;
  #releases: readonly (() => unknown)[];

  constructor(sent: StreamRequest, { live, release }: SessionHold, uncount: () => void) {
    this.live = live;
    this.#sent = sent;
    this.#releases = [uncount, live.stream.view(), release];
  }

  /** Reports a reader that takes nothing, and ends its connection. */
  readonly drop = (): void => {
    const { parts, access, connection } = this.#sent;
    parts.context.counters.count("moora_streams_dropped_total");
    parts.context.loggerOf(this.live.ref.id).log("stream-stalled", {
      message: "A reader took nothing of a stream for too long; its connection was ended.",
      data: { user: access.user },
    });
    connection.drop?.();
  };

  /** Registers how the stream is ended from outside: when its client leaves, or when the server is closed. */
  endsBy(end: () => void): void {
    const { parts, request } = this.#sent;
    if (request.signal.aborted) return end();
    parts.streamEnds.add(end);
    request.signal.addEventListener("abort", end, { once: true });
    this.#releases = [
      ...this.#releases,
      () => parts.streamEnds.delete(end),
      () => request.signal.removeEventListener("abort", end),
    ];
  }

  /** Called when the stream has ended, or could not begin. Can be called more than once. */
  release(): void {
    for (const release of this.#releases) release();
  }
}
