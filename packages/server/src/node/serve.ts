import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { BuildError, ListenError } from "@moora/agent";
import {
  checkOptions,
  isObject,
  refuse,
  shownValue,
  type OptionForms,
} from "@moora/agent-core-effects/internal";
import { isLoopbackAddress, setStrictHeaders } from "../access/site-checks.ts";
import type { AgentServer } from "../agent-server.ts";
import { HttpProblem } from "../problem.ts";

/** The options of `serve`. */
export interface ServeOptions {
  /** The port; 0 for any free one. Default: 8787. */
  readonly port?: number;
  /**
   * The address to listen on. Default: 127.0.0.1. Others than loopback addresses, which are localhost, those of 127.0.0.0/8 and ::1, need a
   * server with `authorize`.
   */
  readonly hostname?: string;
  /** How long a client may take to send the head of a request, in milliseconds. Default: 10,000. */
  readonly headersTimeoutMs?: number;
  /** The number of connections at the same time; further ones are closed. Default: 20,000. */
  readonly maxConnections?: number;
}

const forms: OptionForms<ServeOptions> = {
  port: "port",
  hostname: "string",
  headersTimeoutMs: "positive",
  maxConnections: "positiveInteger",
};

const isServer = (value: unknown): boolean => isObject(value) && typeof value["fetch"] === "function";

/** A server that listens. */
export interface ServedAgents {
  /** The address of the routes, with `basePath`, such as `http://127.0.0.1:8787` or `http://127.0.0.1:8787/api`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops listening, ends all streams, closes all sessions, and waits up to `graceMs` milliseconds (default: 0) for running
   * tools.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/**
 * Serves agents over HTTP on Node. Rejects with `BuildError` for an invalid option, for an address that others can reach and a server without
 * `authorize`, and with `ListenError` if the address cannot be bound.
 */
export async function serve(server: AgentServer, options: ServeOptions = {}): Promise<ServedAgents> {
  if (!isServer(server)) refuse(`serve needs a server of createAgentServer, got ${shownValue(server)}.`);
  checkOptions("serve", options, forms);
  const { port = 8787, hostname: given = "127.0.0.1" } = options;
  const hostname = given.replace(/^\[(.*)\]$/, "$1");
  const isLoopback = isLoopbackAddress(hostname.toLowerCase());
  if (!isLoopback && !server.isAuthorized) {
    throw new BuildError(
      `hostname ${hostname} can be reached by others. Give createAgentServer({ authorize }), or serve on 127.0.0.1.`,
    );
  }
  const http = httpServerOf(server, options, isLoopback);
  const address = await listen(http, port, hostname);
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return {
    url: `http://${host}:${address.port}${server.basePath}`,
    port: address.port,
    close: (closing) => closeBoth(http, server, closing),
  };
}

/** The HTTP server of Node that gives its requests to an agent server. It does not listen yet. */
function httpServerOf(server: AgentServer, options: ServeOptions, isLoopback: boolean): Server {
  const { headersTimeoutMs = 10_000, maxConnections = 20_000 } = options;
  const listener = getRequestListener(
    (request, { outgoing }) => server.fetch(request, { isLoopback, drop: () => outgoing.destroy() }),
    // A request without a host is refused by Node. Globals of the application stay as they are.
    { overrideGlobalObjects: false, errorHandler: unreadableResponse },
  );
  const http = createServer({
    headersTimeout: headersTimeoutMs,
    // The time for the body is that of the server; this one is for bodies that are never read.
    requestTimeout: 300_000,
    connectionsCheckingInterval: Math.min(headersTimeoutMs, 5_000),
    keepAliveTimeout: 65_000,
  });
  http.maxConnections = maxConnections;
  http.on("request", (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (hasUnreadBody(incoming)) outgoing.setHeader("connection", "close");
    void listener(incoming, outgoing);
  });
  return http;
}

/** Stops listening, closes the agent server, and then the connections that are left. */
async function closeBoth(
  http: Server,
  server: AgentServer,
  closing: Parameters<AgentServer["close"]>[0],
): Promise<void> {
  const closed = new Promise<void>((resolve) => void http.close(() => resolve()));
  await server.close(closing);
  http.closeAllConnections();
  await closed;
}

/** The answer to a request from which no web-standard request can be made. `AgentServer.fetch`, the other source of errors, never rejects. */
const unreadableResponse = (): Response =>
  setStrictHeaders(
    new HttpProblem(
      "invalid-request",
      "The address of the request is invalid: check its path and Host.",
    ).toResponse(),
  );

/**
 * Whether a request has a body that no web-standard request of its method can have. The listener drops what is left of other bodies.
 */
const hasUnreadBody = ({ method, headers }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") &&
  (headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0");

function listen(http: Server, port: number, hostname: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(new ListenError(hostname, port, error));
    http.once("error", fail);
    http.listen(port, hostname, () => {
      http.off("error", fail);
      const address = http.address();
      if (typeof address === "object" && address !== null) resolve(address);
      else reject(new Error("The server has no address."));
    });
  });
}
