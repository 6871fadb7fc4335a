import { cursorOf, EventStream } from "../events/event-stream.ts";
import { checkHistory } from "../sessions/check-history.ts";
import { holdForStream } from "../sessions/stream-hold.ts";
import type { Route } from "./route.ts";

/** The events of a session after a cursor, as server-sent events. Throws `cursor-beyond-end` and `history-changed`. */
export const streamEvents: Route = async (call) => {
  const { parts, request, access, param } = call;
  const cursor = cursorOf(request);
  const ref = await parts.directory.findFor(access, "read", param("id"));
  const hold = await holdForStream(call, ref, { isRead: true });
  try {
    await checkHistory(parts.context.log, hold.live, cursor);
    return new EventStream(hold, cursor.after).response;
  } catch (error) {
    hold.release();
    throw error;
  }
};
