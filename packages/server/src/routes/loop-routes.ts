import { emptyBodySchema, pauseBodySchema } from "@moora/agent-webui-protocol";
import { dispatchOnce } from "../sessions/dispatch-post.ts";
import { postRoute } from "./post-routes.ts";
import type { Route } from "./route.ts";

/** Tries a failed or canceled loop again. */
export const postRetry: Route = postRoute({
  kind: "retry",
  action: "post",
  schema: emptyBodySchema,
  post: async (call) => await dispatchOnce(call, { type: "loop-retried" }),
});

/** Pauses a session. Its right is that of a cancel. */
export const postPause: Route = postRoute({
  kind: "pause",
  action: "cancel",
  schema: pauseBodySchema,
  post: async (call) => {
    const { reason } = call.body;
    return await dispatchOnce(call, { type: "session-paused", ...(reason === undefined ? {} : { reason }) });
  },
});

/** Continues a paused session. */
export const postResume: Route = postRoute({
  kind: "resume",
  action: "cancel",
  schema: emptyBodySchema,
  post: async (call) => await dispatchOnce(call, { type: "session-resumed" }),
});
