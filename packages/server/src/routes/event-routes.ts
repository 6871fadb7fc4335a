import { cursorOf, eventStream } from "../events/event-stream.ts";
import type { Route } from "./route.ts";

/** The events of a session after a cursor, as server-sent events. */
export const streamEvents: Route = async ({ parts, request, access, connection, param }) => {
  const after = cursorOf(request);
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const uncount = parts.streams.add(access.user);
  const hold = await parts.pool.hold(ref).catch((error: unknown) => {
    uncount();
    throw error;
  });
  const drop = connection.drop ?? (() => undefined);
  const onEnd = (): void => {
    uncount();
    if (end !== undefined) parts.streamEnds.delete(end);
  };
  let end: (() => void) | undefined;
  try {
    const stream = await eventStream(parts.context, hold, { after, drop, onEnd });
    ({ end } = stream);
    parts.streamEnds.add(stream.end);
    request.signal.addEventListener("abort", stream.end, { once: true });
    return stream.response;
  } catch (error) {
    uncount();
    hold.release();
    throw error;
  }
};
