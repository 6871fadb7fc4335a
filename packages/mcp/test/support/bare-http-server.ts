import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serveHttp, type RunningServer } from "./servers.ts";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string };
}

/** What a server does with a call: it writes the response itself. */
export type OnCall = (response: ServerResponse, id: number, request: IncomingMessage) => void;

/** A server over HTTP that speaks the older protocol with sessions, written against the bare protocol. */
export interface BareServer extends RunningServer {
  /** Forgets its sessions, as a server does that was started again. */
  restart(): void;
  /** The headers of each request. */
  readonly headers: readonly IncomingMessage["headers"][];
  /** The method of each message, in the order of their arrival. */
  readonly methods: readonly string[];
}

const json = (response: ServerResponse, body: object, headers: Record<string, string> = {}): void => {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", ...body }));
};

/** A successful answer to a call. */
export const says =
  (content: string): OnCall =>
  (response, id) =>
    json(response, { id, result: { content: [{ type: "text", text: content }] } });

/** Serves tools by what they do. */
export async function bareHttpServer(tools: Readonly<Record<string, OnCall>>): Promise<BareServer> {
  let session = 1;
  const headers: IncomingMessage["headers"][] = [];
  const methods: string[] = [];
  const server = await serveHttp((request, response) => {
    headers.push(request.headers);
    void text(request).then((body) => answer(request, response, body));
  });

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body) as Message;
    methods.push(method);
    if (method === "initialize") {
      const result = {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "bare", version: "1" },
      };
      return json(response, { id, result }, { "mcp-session-id": `session-${session}` });
    }
    if (method === "server/discover")
      return json(response, { id, error: { code: -32_601, message: "Method not found" } });
    if (request.headers["mcp-session-id"] !== `session-${session}`) return void response.writeHead(404).end();
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "tools/list") {
      const list = Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } }));
      return json(response, { id, result: { tools: list } });
    }
    tools[params?.name ?? ""]?.(response, id, request);
  }

  return Object.assign(server, {
    restart: () => {
      session += 1;
    },
    headers,
    methods,
  });
}
