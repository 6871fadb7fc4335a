import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { InspectorPage } from "@moora/inspector";
import { bindError } from "./listening.ts";

const hostname = "127.0.0.1";

/** A server of one page on this machine. */
export interface InspectorServer {
  /** The address with the token, which only this process and its reader know. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a page at an address with a random token, on loopback. `makePage` is called for each request, so that a reload shows the
 * newest records. Throws `UsageError` for a port that is in use.
 */
export async function serveInspector(
  port: number,
  makePage: () => Promise<InspectorPage>,
  onError: (error: unknown) => void,
): Promise<InspectorServer> {
  const token = randomBytes(18).toString("base64url");
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      onError(error);
      response.writeHead(500).end();
    });
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (
      request.method !== "GET" ||
      !isHost(request.headers.host) ||
      !isSame(request.url ?? "", `/${token}/`)
    ) {
      response.writeHead(404, { "content-type": "text/plain" }).end("Not found.\n");
      return;
    }
    const { html, contentSecurityPolicy } = await makePage();
    response
      .writeHead(200, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": contentSecurityPolicy,
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      })
      .end(html);
  };
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(bindError(error, hostname, port) ?? error));
    server.listen(port, hostname, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${hostname}:${bound}/${token}/`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** A page whose name was bound to this machine (DNS rebinding) names another host. */
const isHost = (host: string | undefined): boolean =>
  host !== undefined && /^(127\.0\.0\.1|localhost)(:\d{1,5})?$/.test(host);

function isSame(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
