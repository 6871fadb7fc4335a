import { protocolVersion } from "@moora/agent-webui-protocol";
import { Hono } from "hono";
import { accessOf } from "./access/authorization.ts";
import { checkSite, preflightResponse, secured } from "./access/site-checks.ts";
import { errorToProblem } from "./error-to-problem.ts";
import { HttpProblem, unavailable } from "./problem.ts";
import { postAgUi } from "./routes/ag-ui-routes.ts";
import { postChat, resumeChat } from "./routes/chat-routes.ts";
import { streamEvents } from "./routes/event-routes.ts";
import { healthResponse, readyResponse } from "./routes/health-routes.ts";
import { postCancel, postData, postDecision, postMessage } from "./routes/post-routes.ts";
import type { Connection, Route } from "./routes/route.ts";
import { createSession, listSessions, readSessionView, removeSession } from "./routes/session-routes.ts";
import { ServerParts } from "./server-parts.ts";
import { contextOf, type AgentServerOptions } from "./server-options.ts";

/** A server of agents, for any platform with web-standard requests and responses. */
export interface AgentServer {
  /** Answers a request. It never rejects. `connection` is what the platform knows of it. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /** Whether requests are authenticated. Without it, only requests to loopback addresses are answered. */
  readonly isAuthorized: boolean;
  /**
   * Ends all streams, which clients can resume at another server, and closes all sessions: it waits up to `graceMs` milliseconds
   * (default: 0) for running tools. Further requests get 503. The log stays open.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** The routes of users, by method and path. */
const routes: readonly (readonly ["GET" | "POST" | "DELETE", string, Route])[] = [
  ["POST", "/agents/:agent/sessions", createSession],
  ["GET", "/sessions", listSessions],
  ["GET", "/sessions/:id", readSessionView],
  ["DELETE", "/sessions/:id", removeSession],
  ["POST", "/sessions/:id/messages", postMessage],
  ["POST", "/sessions/:id/decisions", postDecision],
  ["POST", "/sessions/:id/cancel", postCancel],
  ["POST", "/sessions/:id/data", postData],
  ["GET", "/sessions/:id/events", streamEvents],
  ["POST", "/agents/:agent/ag-ui", postAgUi],
  ["POST", "/agents/:agent/chat", postChat],
  ["GET", "/agents/:agent/chat/:id/stream", resumeChat],
];

/** Creates a server of agents on a log. Throws `BuildError` for an invalid option. */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const parts = new ServerParts(contextOf(options));
  const app = appOf(parts);
  return {
    isAuthorized: options.authorize !== undefined,
    fetch: async (request, connection = {}) => {
      const response = await app.fetch(request, connection);
      response.headers.set("moora-protocol", String(protocolVersion));
      return secured(response, request, parts.context);
    },
    async close({ graceMs = 0 } = {}) {
      parts.isClosing = true;
      for (const end of parts.streamEnds) end();
      await parts.pool.closeAll(graceMs);
    },
  };
}

function appOf(parts: ServerParts): Hono<{ Bindings: Connection }> {
  const { context } = parts;
  const app = new Hono<{ Bindings: Connection }>();
  app.onError((error) => {
    const problem = errorToProblem(error);
    if (problem.code === "internal") context.onError(error);
    return problem.toResponse();
  });
  app.notFound(() => new HttpProblem("not-found", "There is no such address.").toResponse());
  app.use(async ({ req, env }, next) => {
    // A stream that is never read would keep its session open.
    if (req.raw.method === "HEAD") throw notAllowed();
    checkSite(context, req.raw, env.isLoopback === true);
    if (req.raw.method === "OPTIONS" && req.raw.headers.has("origin")) return preflightResponse();
    checkProtocol(req.raw);
    return await next();
  });
  const { basePath } = context;
  app.get(`${basePath}/health`, healthResponse);
  app.get(`${basePath}/ready`, () => readyResponse(parts));
  for (const [method, path, route] of routes) {
    app.on(method, `${basePath}${path}`, async ({ req, env }) => {
      if (parts.isClosing) throw unavailable("The server is closing.");
      const access = await accessOf(context, req.raw);
      const param = (name: string): string => req.param(name) ?? "";
      return await route({ parts, request: req.raw, access, connection: env, param });
    });
  }
  for (const path of new Set(routes.map(([, routePath]) => routePath))) {
    app.all(`${basePath}${path}`, () => {
      throw notAllowed();
    });
  }
  return app;
}

const notAllowed = (): HttpProblem =>
  new HttpProblem("method-not-allowed", "This address does not take this method.");

/** Throws `unsupported-protocol` for a client of another version. */
function checkProtocol(request: Request): void {
  const version = request.headers.get("moora-protocol");
  if (version === null || version === String(protocolVersion)) return;
  const detail = `This server has version ${protocolVersion} of the protocol.`;
  throw new HttpProblem("unsupported-protocol", detail);
}
