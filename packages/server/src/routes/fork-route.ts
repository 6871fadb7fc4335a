import { requireRight } from "../access/authorization.ts";
import { forkBodySchema } from "@moora/agent-webui-protocol";
import { readOptionalBody } from "../body.ts";
import { requireIncarnation } from "../sessions/check-history.ts";
import { newSessionRef } from "../sessions/new-session.ts";
import { incarnationIn } from "../sessions/session-header.ts";
import { createdResponse, type Route } from "./route.ts";

/**
 * Creates a session of the user from the first records of one that the user may read. With an idempotency key, a repetition returns
 * the session of the first request, unless the original was removed and created again.
 */
export const postFork: Route = async ({ parts, request, access, param }) => {
  const { at } = await readOptionalBody(request, forkBodySchema, parts.context);
  const source = await parts.directory.findFor(access, "read", param("id"));
  const { agent } = source;
  const { header = "" } = (await parts.context.log.open(source.id)) ?? {};
  const incarnation = incarnationIn(header);
  requireIncarnation(incarnation, new URL(request.url).searchParams.get("incarnation"));
  const ref = newSessionRef(request, access, { agent, about: ["fork", source.id, incarnation] });
  await requireRight(access, "create", ref);
  const seq = await parts.forks.make(ref, source.id, at);
  return createdResponse(parts.context, { id: ref.id, agent, seq });
};
