import { forkBodySchema } from "@moora/agent-webui-protocol";
import { readOptionalBody } from "../body.ts";
import { checkMayCreate, newSessionRef } from "../sessions/new-session.ts";
import { createdResponse } from "./created-response.ts";
import type { Route } from "./route.ts";

/**
 * Creates a session of the user from the first records of one that the user may read. With an idempotency key, a repetition returns
 * the session of the first request.
 */
export const postFork: Route = async ({ parts, request, access, param }) => {
  const { at } = await readOptionalBody(request, forkBodySchema, parts.context);
  const source = await parts.directory.findFor(access, "read", param("id"));
  const { agent } = source;
  const ref = newSessionRef(request, access, { agent, about: ["fork", source.id] });
  await checkMayCreate(access, ref);
  const seq = await parts.forks.make(ref, source.id, at);
  return createdResponse(parts.context, { id: ref.id, agent, seq });
};
