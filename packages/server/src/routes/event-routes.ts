import { cursorOfRequest, eventStream } from "../events/event-stream.ts";
import type { Route } from "./route.ts";
import { holdForStream } from "../sessions/stream-hold.ts";

/** The events of a session after a cursor, as server-sent events. */
export const streamEvents: Route = async (call) => {
  const { parts, request, access, param } = call;
  const cursor = cursorOfRequest(request);
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const hold = await holdForStream(call, ref, { isRead: true });
  try {
    return await eventStream(parts.context, hold, cursor);
  } catch (error) {
    hold.release();
    throw error;
  }
};
