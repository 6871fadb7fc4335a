import { createServer } from "node:net";
import type { LlmCaller } from "../../src/index.ts";
import type { HarnessSetup, LlmHarness } from "../../src/testing/index.ts";
import { ProtocolServer, type ServerDialect } from "./protocol-server.ts";

/** A harness whose caller talks to a server of a dialect on loopback. */
export async function openHarness(
  dialect: ServerDialect,
  setup: HarnessSetup,
  callerAt: (baseURL: string, key: string) => LlmCaller,
): Promise<LlmHarness> {
  const server = new ProtocolServer(dialect);
  const url = await server.listen();
  const targets = {
    server: url,
    refused: `http://127.0.0.1:${await freePort()}`,
    nowhere: "http://nowhere.invalid",
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

/** A port of loopback where nobody listens any more. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 1));
    });
  });
