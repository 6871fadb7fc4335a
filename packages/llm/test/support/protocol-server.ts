import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { isJsonObject, textToJson, type Json, type JsonObject } from "../../src/index.ts";
import type {
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ServerBehaviour,
} from "../../src/testing/index.ts";

import { textIn } from "../../src/testing/dialects/wire-rules.ts";

/** One event of a stream, as it goes over the wire. */
export interface WireEvent {
  readonly text: string;
  /** Whether the answer is whole with it. */
  readonly isLast?: boolean;
}

/** How a provider writes what a behaviour says. */
export interface ServerDialect {
  readonly path: string;
  /** Why the provider would answer with 400, or undefined. */
  readonly whyNot: (body: JsonObject, issued: readonly string[]) => string | undefined;
  readonly events: (
    answer: ScriptedAnswer,
    body: JsonObject,
    issue: (token: string) => string,
  ) => WireEvent[];
  readonly errorBody: (error: ScriptedError, message: string) => JsonObject;
  readonly errorEvent: (error: ScriptedError) => string;
}

/** One named event, or one without a name. */
export const sse = (name: string | undefined, data: unknown): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** The name that a call is made by: its own, or that of a tool of the request. */
export function nameIn(
  call: ScriptedCall,
  body: JsonObject,
  nameOf: (tool: JsonObject) => Json | undefined,
): string {
  if (typeof call.name === "string") return call.name;
  const { tools } = body;
  const tool = Array.isArray(tools) ? tools[call.name.tool] : undefined;
  return isJsonObject(tool) ? textIn(nameOf(tool) ?? "") : "";
}

/** A server on loopback that speaks a provider's protocol, checks what it gets, and behaves as it is told. */
export class ProtocolServer {
  readonly bodies: string[] = [];
  readonly headers: Record<string, string>[] = [];
  readonly issued: string[] = [];
  readonly #dialect: ServerDialect;
  readonly #server: Server;
  #behaviours: ServerBehaviour[] = [];
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(dialect: ServerDialect) {
    this.#dialect = dialect;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  }

  readonly serve = (...behaviours: readonly ServerBehaviour[]): void => {
    this.#behaviours = [...behaviours];
  };

  readonly received = (count: number): Promise<void> =>
    new Promise((resolve) => {
      this.#waiting.push({ count, resolve });
      this.#wake();
    });

  readonly eventsOf = (answer: ScriptedAnswer): number =>
    this.#dialect.events(answer, { tools: [] }, (token) => token).findIndex((event) => event.isLast) + 1;

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #wake(): void {
    for (const { count, resolve } of this.#waiting) if (this.bodies.length >= count) resolve();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    this.bodies.push(text);
    this.headers.push(
      Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    );
    this.#wake();
    const body = textToJson(text);
    const wrong =
      request.url !== this.#dialect.path
        ? `there is nothing at ${request.url}`
        : isJsonObject(body)
          ? this.#dialect.whyNot(body, this.issued)
          : "the body is no JSON object";
    if (wrong !== undefined || !isJsonObject(body)) {
      return sendJson(response, 400, this.#dialect.errorBody("invalid-request", wrong ?? ""));
    }
    const behaviour = this.#behaviours.length > 1 ? this.#behaviours.shift() : this.#behaviours[0];
    if (behaviour === undefined) throw new Error("this server was not told what to do");
    await this.#behave(behaviour, body, request, response);
  }

  async #behave(
    behaviour: ServerBehaviour,
    body: JsonObject,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (behaviour.type === "silent") return;
    if (behaviour.type === "says") {
      const error = this.#dialect.errorBody(behaviour.error, `this is ${behaviour.error}`);
      return sendJson(response, behaviour.status, error, behaviour.headers);
    }
    if (behaviour.type === "responds") {
      const key = `${request.headers.authorization}`.replace(/^Bearer /, "");
      response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body.replaceAll("{key}", key));
      return;
    }
    const events = this.#dialect.events(behaviour.answer, body, (token) => {
      this.issued.push(token);
      return token;
    });
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    if (behaviour.type === "answers") {
      await write(
        response,
        events.map((event) => event.text),
      );
      response.end();
      return;
    }
    await write(
      response,
      events.slice(0, behaviour.afterEvents).map((event) => event.text),
    );
    if (behaviour.type === "cuts")
      return void (behaviour.by === "fin" ? response.end() : request.socket.resetAndDestroy());
    if (behaviour.type === "garbles")
      return void response.end('event: response.created\ndata: {"type": \n\n');
    if (behaviour.type === "errs") return void response.end(this.#dialect.errorEvent(behaviour.error));
  }
}

/** Each event in a write of its own, so that they may come in pieces. */
async function write(response: ServerResponse, texts: readonly string[]): Promise<void> {
  response.flushHeaders();
  for (const text of texts) {
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
