import { scheduleInput } from "@moora/agent";
import { scheduleBodySchema, unscheduleBodySchema } from "@moora/agent-webui-protocol";
import { dispatchOnce } from "../sessions/dispatch-post.ts";
import { postRoute } from "./post-routes.ts";
import type { Route } from "./route.ts";

/** Sets a schedule. One without an id gets that of its post, so that a repetition names the same schedule. */
export const postSchedule: Route = postRoute({
  kind: "schedule",
  action: "post",
  schema: scheduleBodySchema,
  post: async (call) => {
    const { user, timestamp, id, body } = call;
    const options = { id: `schedule_${id.key}`, ...body };
    return await dispatchOnce(call, await scheduleInput(options, { by: user, timestamp }));
  },
});

/** Removes a schedule. Its right is that of a cancel. */
export const postUnschedule: Route = postRoute({
  kind: "unschedule",
  action: "cancel",
  schema: unscheduleBodySchema,
  post: async (call) => {
    const { user: by, body } = call;
    return await dispatchOnce(call, { type: "schedule-changed", scheduleId: body.id, schedule: null, by });
  },
});
