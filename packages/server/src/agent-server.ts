import { protocolVersion } from "@moora/agent-webui-protocol";
import { Hono } from "hono";
import { accessOf } from "./access/authorization.ts";
import { checkSite, preflightResponse, secured } from "./access/site-checks.ts";
import { errorToProblem, isLogFailure } from "./error-to-problem.ts";
import { HttpProblem, pathNotFound, unavailable } from "./problem.ts";
import { readInspector } from "./routes/server-routes.ts";
import { isAt, operationsOn } from "./routes/operation.ts";
import { operations } from "./routes/operations.ts";
import type { Connection } from "./routes/route.ts";
import { ServerParts } from "./server-parts.ts";
import { optionsToContext } from "./options-to-context.ts";
import type { AgentServerOptions } from "./server-options.ts";

/** A server of agents, for any platform with web-standard requests and responses. */
export interface AgentServer {
  /** Answers a request. It never rejects. `connection` is what the platform knows of it. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /** Whether requests are authenticated. Without it, only requests to loopback addresses are answered. */
  readonly isAuthorized: boolean;
  /** The path before all routes; "" for none. */
  readonly basePath: string;
  /**
   * Ends all streams, which clients can resume at another server, and closes all sessions: it waits up to `graceMs` milliseconds
   * (default: 0) for running tools. Further requests get 503. The log stays open.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Creates a server of agents on a log. Throws `BuildError` for an invalid option. */
export function createAgentServer(options: AgentServerOptions): AgentServer {
  const parts = new ServerParts(optionsToContext(options));
  const app = appOf(parts);
  return {
    isAuthorized: options.authorize !== undefined,
    basePath: parts.context.basePath,
    fetch: async (request, connection = {}) => {
      const response = await app.fetch(request, connection);
      response.headers.set("moora-protocol", String(protocolVersion));
      // The next request on this connection reaches the server that has taken over the address.
      if (parts.isClosing) response.headers.set("connection", "close");
      parts.context.counters.count("moora_http_responses_total", { status: response.status });
      return secured(response, request, parts.context);
    },
    async close({ graceMs = 0 } = {}) {
      parts.isClosing = true;
      parts.worker?.close();
      for (const end of parts.streamEnds) end();
      await parts.pool.closeAll(graceMs);
      await parts.mcp?.close();
      parts.context.liveHub?.close();
    },
  };
}

function appOf(parts: ServerParts): Hono<{ Bindings: Connection }> {
  const { context } = parts;
  const { basePath } = context;
  const routes = operationsOn(operations, context).map(([, operation]) => operation);
  const unrouted = (path: string): HttpProblem => {
    const at = path.startsWith(basePath) ? path.slice(basePath.length) : "";
    return unroutedProblem(routes.flatMap((route) => (isAt(route, at) ? [route.method] : [])));
  };
  const app = new Hono<{ Bindings: Connection }>();
  app.onError((error) => {
    const problem = errorToProblem(error, context.log.owner);
    if (problem.code === "internal" || isLogFailure(error)) context.onError(error);
    return problem.toResponse();
  });
  app.notFound(({ req }) => unrouted(req.path).toResponse());
  app.use(async ({ req, env }, next) => {
    // A stream that is never read would keep its session open.
    if (req.raw.method === "HEAD") throw unrouted(req.path);
    checkSite(context, req.raw, env.isLoopback === true);
    if (req.raw.method === "OPTIONS" && req.raw.headers.has("origin")) return preflightResponse();
    checkProtocol(req.raw);
    return await next();
  });
  if (context.inspector !== undefined) {
    // Hosts such as Next.js redirect to addresses without a final slash.
    app.get(`${basePath}/inspector`, () => readInspector(parts));
    app.get(`${basePath}/`, (hono) => hono.redirect(`${basePath}/inspector/`, 302));
  }
  for (const { method, path, handle, handleOpen } of routes) {
    app.on(method, `${basePath}${path}`, async ({ req, env }) => {
      if (handle === undefined) return await handleOpen(parts);
      if (parts.isClosing) throw unavailable("The server is closing.");
      const access = await accessOf(context, req.raw);
      parts.requestRate.check(access.user);
      const param = (name: string): string => req.param(name) ?? "";
      return await handle({ parts, request: req.raw, access, connection: env, param });
    });
  }
  return app;
}

/** The problem of a request that no route takes. */
function unroutedProblem(methods: readonly string[]): HttpProblem {
  if (methods.length === 0) return pathNotFound();
  const allow = methods.join(", ");
  const detail = `This path does not accept the method. Allowed methods: ${allow}.`;
  return new HttpProblem("method-not-allowed", detail, { headers: { allow } });
}

/** Throws `unsupported-protocol` for a client of a version that is not served. */
function checkProtocol(request: Request): void {
  const version = request.headers.get("moora-protocol");
  if (version === null || version === String(protocolVersion)) return;
  const asked = JSON.stringify(version.slice(0, 20));
  const detail = `moora-protocol must be ${protocolVersion}, the version that this server serves, got ${asked}.`;
  throw new HttpProblem("unsupported-protocol", detail);
}
