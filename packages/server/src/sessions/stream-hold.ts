import type { SessionRef } from "../access/grant.ts";
import type { RouteCall } from "../routes/route.ts";
import type { SessionHold } from "./session-pool.ts";

/** A session that is kept open for the stream that answers a request, which counts among those of its user. */
export interface StreamHold extends SessionHold {
  readonly call: RouteCall;
}

/** Opens a session for a stream. Throws `too-many-streams`, and what `SessionPool.hold` throws. */
export async function holdForStream(
  call: RouteCall,
  ref: SessionRef,
  options: { readonly isRead?: boolean } = {},
): Promise<StreamHold> {
  const { parts, access } = call;
  const uncount = parts.streams.add(access.user);
  try {
    const { live, release } = await parts.pool.hold(ref, options);
    const releases = [uncount, live.stream.view(), release];
    return { call, live, release: () => releases.forEach((free) => free()) };
  } catch (error) {
    uncount();
    throw error;
  }
}
