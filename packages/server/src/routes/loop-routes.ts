import { emptyBodySchema, pauseBodySchema } from "@moora/agent-webui-protocol";
import { postRoute } from "./post-routes.ts";
import type { Route } from "./route.ts";

/** Tries a failed or canceled loop again. */
export const postRetry: Route = postRoute({
  kind: "retry",
  action: "post",
  schema: emptyBodySchema,
  post: async ({ session, id }) => await session.retry(id.text),
});

/** Pauses a session. Its right is that of a cancel. */
export const postPause: Route = postRoute({
  kind: "pause",
  action: "cancel",
  schema: pauseBodySchema,
  post: async ({ session, id, body: { reason } }) => await session.pause(reason, id.text),
});

/** Continues a paused session. */
export const postResume: Route = postRoute({
  kind: "resume",
  action: "cancel",
  schema: emptyBodySchema,
  post: async ({ session, id }) => await session.resume(id.text),
});
