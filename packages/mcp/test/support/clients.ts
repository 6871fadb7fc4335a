import { PassThrough } from "node:stream";
import { Client, StreamableHTTPClientTransport, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { McpAgentServer } from "@moora/mcp";

/** A generation of the protocol, as the official client names it. */
export type Era = "legacy" | "modern";

/** How a client is connected to a server. */
export type Connect = (server: McpAgentServer, options?: ClientOptions) => Promise<Client>;

const clientOf = (era: Era, options: ClientOptions): Client =>
  new Client(
    { name: "test", version: "1" },
    { ...options, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );

/** The streams of a server in this process, joined to a client. */
const overStreams =
  (era: Era): Connect =>
  async (server, options = {}) => {
    const toServer = new PassThrough();
    const toClient = new PassThrough();
    void server.serveStdio({ input: toServer, output: toClient });
    const client = clientOf(era, options);
    // Messages are lines in both directions: the transport of the SDK's servers serves the other side as well.
    await client.connect(new StdioServerTransport(toClient, toServer));
    Object.assign(client, { onclose: () => void toServer.end() });
    return client;
  };

const overHttp =
  (era: Era): Connect =>
  async (server, options = {}) => {
    const { url } = await server.listen();
    const client = clientOf(era, options);
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    return client;
  };

/** Every way to connect, by its name. */
export const connections: Readonly<Record<string, Connect>> = {
  "streams, older protocol": overStreams("legacy"),
  "streams, newer protocol": overStreams("modern"),
  "HTTP, older protocol": overHttp("legacy"),
  "HTTP, newer protocol": overHttp("modern"),
};
