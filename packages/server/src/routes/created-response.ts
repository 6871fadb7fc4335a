import type { SessionSummary } from "@moora/agent-webui-protocol";
import type { ServerContext } from "../server-options.ts";
import { json } from "./route.ts";

/** The response with a new session. */
export const createdResponse = ({ basePath }: ServerContext, session: SessionSummary): Response =>
  json(session, 201, { location: `${basePath}/sessions/${encodeURIComponent(session.id)}` });
