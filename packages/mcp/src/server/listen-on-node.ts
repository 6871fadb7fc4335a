import { once } from "node:events";
import { createServer } from "node:http";
import { ListenError } from "@moora/agent";
import { loadSdk } from "../load-sdk.ts";
import type { ListeningServer } from "./mcp-agent-server.ts";

/** Where to listen, and who hears of errors. */
export interface NodeOptions {
  readonly host: string;
  readonly port: number;
  readonly onError: (error: unknown) => void;
}

/** Serves a handler of web requests with Node's HTTP server. Rejects with `ListenError`. */
export async function listenOnNode(
  fetch: (request: Request) => Promise<Response>,
  { host, onError, port }: NodeOptions,
): Promise<ListeningServer> {
  const { toNodeHandler } = await loadSdk(
    "@modelcontextprotocol/node",
    () => import("@modelcontextprotocol/node"),
  );
  const handler = toNodeHandler({ fetch }, { onerror: onError });
  const server = createServer((request, response) => {
    // A request that a server receives has a method and a URL.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    void handler(request as Parameters<typeof handler>[0], response);
  });
  server.listen(port, host);
  await once(server, "listening").catch((error: unknown) => {
    throw new ListenError(host, port, error);
  });
  const address = server.address();
  const actualPort = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}/mcp`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
