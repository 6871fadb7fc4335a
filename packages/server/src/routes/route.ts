import type { SessionSummary } from "@moora/agent-webui-protocol";
import type { Access } from "../access/authorization.ts";
import type { ServerContext } from "../server-options.ts";
import type { ServerParts } from "../server-parts.ts";

/** How the request reached the server, as far as the platform reports it. */
export interface Connection {
  /** Whether the server listens on a loopback address. Default: false. */
  readonly isLoopback?: boolean;
  /** Ends the connection at once. Default: the stream ends, and the platform ends the connection. */
  readonly drop?: () => void;
}

/** A request of an authenticated user. `param` returns a part of the path by its name. */
export interface RouteCall {
  readonly parts: ServerParts;
  readonly request: Request;
  readonly access: Access;
  readonly connection: Connection;
  readonly param: (name: string) => string;
}

/** Answers the requests of one route. Throws `HttpProblem`, and any error of a session. */
export type Route = (call: RouteCall) => Promise<Response>;

/** A JSON response. */
export const json = (
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response =>
  new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

/** The response with a new session. */
export const createdResponse = ({ basePath }: ServerContext, session: SessionSummary): Response =>
  json(session, 201, { location: `${basePath}/sessions/${encodeURIComponent(session.id)}` });
