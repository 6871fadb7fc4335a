import type { LlmCaller } from "../../caller.ts";
import type { HarnessSetup, LlmHarness } from "../conformance/harness.ts";
import { ProtocolServer } from "./protocol-server.ts";
import type { ServerDialect } from "./server-dialect.ts";

/**
 * Starts a server of a dialect and opens a harness on it: the `open` of a conformance subject. `callerAt` creates the
 * caller for a base URL and an API key. Needs Node.
 */
export async function openHarness(
  dialect: ServerDialect,
  setup: HarnessSetup,
  callerAt: (baseURL: string, apiKey: string) => LlmCaller,
): Promise<LlmHarness> {
  const server = new ProtocolServer(dialect);
  const url = await server.listen();
  const targets = {
    server: url,
    refused: `http://127.0.0.1:${await unusedPort()}`,
    "unknown-host": "http://nowhere.invalid",
    "no-tls": url.replace("http:", "https:"),
  };
  return {
    caller: callerAt(targets[setup.target ?? "server"], setup.key ?? "some-key"),
    serve: server.serve,
    bodies: server.bodies,
    headers: server.headers,
    issued: server.issued,
    received: server.received,
    eventsOf: server.eventsOf,
    close: () => server.close(),
  };
}

/** A loopback port that no process listens on any more. */
const unusedPort = (): Promise<number> =>
  new Promise((resolve) => {
    const { createServer } = process.getBuiltinModule("node:net");
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 1));
    });
  });
