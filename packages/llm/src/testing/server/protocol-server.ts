import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isJsonObject, textToJson, type JsonObject } from "../../json.ts";
import type { ScriptedAnswer, ServerBehavior } from "../conformance/harness.ts";
import type { ServerDialect, ServerEvent } from "./server-dialect.ts";

/**
 * An HTTP server on the loopback address that speaks the protocol of a provider. It checks every request by the rules of
 * the dialect and then behaves as scripted with `serve`. Needs Node.
 */
export class ProtocolServer {
  /** The bodies of the requests so far. */
  readonly bodies: string[] = [];
  /** The headers of the requests so far, with names in lower case. */
  readonly headers: Record<string, string>[] = [];
  /** The tokens that the server has signed or encrypted so far. */
  readonly issued: string[] = [];
  readonly #dialect: ServerDialect;
  readonly #server: Server;
  #behaviors: readonly ServerBehavior[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(dialect: ServerDialect) {
    this.#dialect = dialect;
    // Loaded here and not imported, so that a bundle for a browser can contain the rest of this entry.
    const { createServer } = process.getBuiltinModule("node:http");
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  /** Starts the server on a free port and resolves to its URL, without a slash at the end. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  /** Sets the behavior for the next requests, one after the other; the last one stays in effect. */
  readonly serve = (...behaviors: readonly ServerBehavior[]): void => {
    this.#behaviors = behaviors;
  };

  /** Resolves when the server has received this many requests in total. */
  readonly received = (count: number): Promise<void> =>
    new Promise((resolve) => {
      this.#waiting.push({ count, resolve });
      this.#resolveWaiting();
    });

  /** How many events a complete answer has. */
  readonly eventsOf = (answer: ScriptedAnswer): number =>
    this.#dialect.events(answer, { tools: [] }, (token) => token).findIndex((event) => event.isLast) + 1;

  /** Closes all connections, and resolves when the server is closed. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #resolveWaiting(): void {
    for (const { count, resolve } of this.#waiting) if (this.bodies.length >= count) resolve();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    this.bodies.push(text);
    this.headers.push(
      Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    );
    this.#resolveWaiting();
    const body = textToJson(text);
    if (!isJsonObject(body)) return this.#reject(response, "The body is not a JSON object.");
    const problem = this.#isPath(request.url ?? "")
      ? this.#dialect.requestProblem(body, this.issued)
      : `Unknown path: ${request.url}`;
    if (problem !== undefined) return this.#reject(response, problem);
    const [behavior, ...later] = this.#behaviors;
    if (behavior === undefined)
      throw new Error("ProtocolServer has no behavior. Call serve() before the first request.");
    if (later.length > 0) this.#behaviors = later;
    await this.#behave(behavior, body, request, response);
  }

  #isPath(url: string): boolean {
    const { path } = this.#dialect;
    return typeof path === "string" ? url === path : path.test(url);
  }

  #reject(response: ServerResponse, problem: string): void {
    sendJson(response, 400, this.#dialect.errorBody("invalid-request", problem));
  }

  async #behave(
    behavior: ServerBehavior,
    body: JsonObject,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (behavior.type === "silent") return;
    if (behavior.type === "error-response") {
      const error = this.#dialect.errorBody(behavior.error, errorMessage(behavior.error));
      return sendJson(response, behavior.status, error, behavior.headers);
    }
    if (behavior.type === "response") {
      const { authorization } = request.headers;
      const key = String(
        authorization ?? request.headers["x-api-key"] ?? request.headers["x-goog-api-key"],
      ).replace(/^Bearer /, "");
      response.writeHead(behavior.status, behavior.headers).end(behavior.body.replaceAll("{key}", key));
      return;
    }
    const events = this.#eventsFor(behavior.answer, body);
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    await writeEvents(response, behavior.type === "answer" ? events : events.slice(0, behavior.afterEvents));
    if (behavior.type === "answer") response.end();
    if (behavior.type === "cut" && behavior.by === "fin") response.end();
    if (behavior.type === "cut" && behavior.by === "rst") request.socket.resetAndDestroy();
    if (behavior.type === "malformed-event") response.end('event: response.created\ndata: {"type": \n\n');
    if (behavior.type === "error-event") response.end(this.#dialect.errorEvent(behavior.error));
  }

  #eventsFor(answer: ScriptedAnswer, body: JsonObject): readonly ServerEvent[] {
    return this.#dialect.events(answer, body, (token) => {
      this.issued.push(token);
      return token;
    });
  }
}

/** The message of a scripted error. */
const errorMessage = (error: string): string => `This is ${error}.`;

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Writes each event separately, so that the events may arrive in separate chunks. */
async function writeEvents(response: ServerResponse, events: readonly ServerEvent[]): Promise<void> {
  response.flushHeaders();
  for (const { text } of events) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => response.write(text, () => resolve()));
  }
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: JsonObject,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
