import type { ServerParts } from "../server-parts.ts";
import type { PublicOperation, UserOperation } from "./addresses.ts";
import { postAgUi } from "./ag-ui-routes.ts";
import { postChat, readChat, resumeChat } from "./chat-routes.ts";
import { streamEvents } from "./event-routes.ts";
import { readFile } from "./file-routes.ts";
import { postFork } from "./fork-route.ts";
import { healthResponse, readyResponse } from "./health-routes.ts";
import { exportRoute, readInspector } from "./inspector-routes.ts";
import { postMcp } from "./mcp-route.ts";
import { readMetrics } from "./metrics-routes.ts";
import { describeApi } from "./openapi-routes.ts";
import { postCancel, postData, postDecision, postMessage } from "./post-routes.ts";
import { postPause, postResume, postRetry } from "./loop-routes.ts";
import type { Route } from "./route.ts";
import { createSession, listAgents, listSessions, readSessionView, removeSession } from "./session-routes.ts";

/** What answers the operations of users. */
export const userHandlers: Readonly<Record<UserOperation, Route>> = {
  listAgents,
  createSession,
  listSessions,
  readSession: readSessionView,
  exportSession: exportRoute,
  removeSession,
  postMessage,
  postDecision,
  postCancel,
  postData,
  postRetry,
  postPause,
  postResume,
  forkSession: postFork,
  readFile,
  streamEvents,
  postAgUi,
  postChat,
  readChat,
  resumeChat,
  postMcp,
  readMetrics,
};

/** What answers the operations without authentication. */
export const publicHandlers: Readonly<
  Record<PublicOperation, (parts: ServerParts) => Response | Promise<Response>>
> = {
  readHealth: healthResponse,
  readReadiness: readyResponse,
  describeApi,
  readInspector,
};
