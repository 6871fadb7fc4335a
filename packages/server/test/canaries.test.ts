import { BuildError, defineAgent, defineContext, defineTool, LogError, type Agent } from "@moora/agent";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { openaiChat } from "@moora/llm-openai";
import { mcpOfServer } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { formsOf } from "./canary-forms.ts";
import { Scene, type SceneOptions } from "@moora/testbed/server/scene";

/** A secret whose text differs in each encoding. */
const canary = (name: string): string => `${name}-7f3a+"9/e1\\b2=%c4`;

const secrets = {
  apiKey: canary("api-key"),
  gatewayHeader: canary("gateway-header"),
  gatewayPassword: "gateway-password-7f3a9e1b",
  bearer: canary("bearer"),
  cookie: canary("cookie"),
  idempotencyKey: canary("idempotency-key"),
  toolCause: canary("tool-cause"),
  toolProperty: canary("tool-property"),
  environment: canary("environment"),
  context: canary("context"),
  log: canary("log"),
  authorize: canary("authorize"),
  mcp: canary("mcp-signing-key-of-32-bytes"),
  inspector: canary("inspector"),
} as const;

/** All that the clients of a server have received. */
class Received {
  readonly texts: string[] = [];
  readonly #scene: Scene;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  async send(method: string, path: string, body?: object): Promise<Response> {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secrets.bearer}`,
        cookie: `session=${secrets.cookie}`,
        "idempotency-key": secrets.idempotencyKey,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        accept: "application/json, text/event-stream",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await this.#scene.server.fetch(request);
    this.texts.push(JSON.stringify([...response.headers]));
    return response;
  }

  /** Sends a request and reads the whole answer. */
  async read(method: string, path: string, body?: object): Promise<string> {
    const text = await (await this.send(method, path, body)).text();
    this.texts.push(text);
    return text;
  }

  /** Reads a stream of events up to a record. */
  async readUpTo(path: string, seq: number): Promise<void> {
    const response = await this.send("GET", path);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes(`\nid: ${seq}\n`) && !text.startsWith(`id: ${seq}\n`);) {
      const { done, value = "" } = (await reader?.read()) ?? { done: true };
      if (done) throw new Error(`The stream has ended before record ${seq}.`);
      text += value;
      this.texts.push(text);
    }
    await reader?.cancel();
  }

  /** The secrets that were found, each with the beginning of the text around it. */
  found(): readonly string[] {
    const all = this.texts.join("\n");
    return Object.entries(secrets).flatMap(([name, secret]) => {
      const form = formsOf(secret).find((one) => all.includes(one));
      return form === undefined
        ? []
        : [`${name}: ${all.slice(all.indexOf(form) - 80, all.indexOf(form) + 40)}`];
    });
  }
}

/** Talks to an agent on every face, and reads everything that the server shows of it. */
async function readAll(scene: Scene): Promise<Received> {
  const received = new Received(scene);
  const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
  const chat = { id: "chat", messages: [message], trigger: "submit-message" };
  const streamed = await received.read("POST", "/agents/helper/chat", chat);
  expect(streamed).toContain("data: ");
  const run = { threadId: "thread", runId: "r1", tools: [], context: [] };
  const userMessage = { id: "m2", role: "user", content: "Hi" };
  await received.read("POST", "/agents/helper/ag-ui", { ...run, messages: [userMessage] });
  const params = { name: "helper", arguments: { task: "Hi" } };
  await received.read("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await received.read("GET", "/agents/helper/chat/chat");
  const { id } = JSON.parse(await received.read("POST", "/agents/helper/sessions", {})) as { id: string };
  await received.read("POST", `/sessions/${id}/messages`, { content: "Hi" });
  const { sessions } = JSON.parse(await received.read("GET", "/sessions")) as { sessions: { id: string }[] };
  expect(sessions.length).toBeGreaterThanOrEqual(4);
  for (const session of sessions) {
    const path = `/sessions/${session.id}`;
    const { seq } = JSON.parse(await received.read("GET", path)) as { seq: number };
    await received.readUpTo(`${path}/events`, seq);
    await received.read("GET", `${path}/export`);
    await received.read("POST", `${path}/fork`, {});
    await received.read("POST", `${path}/decisions`, { toolCallId: "a", digest: "b", decision: "approve" });
    await received.read("POST", `${path}/data`, { patches: [{ op: "test", path: "/x", value: 1 }] });
  }
  await received.read("GET", "/metrics");
  await received.read("GET", "/openapi.json");
  await received.read("GET", "/inspector/");
  return received;
}

const options: SceneOptions = {
  metrics: true,
  mcp: mcpOfServer({ secret: secrets.mcp }),
  inspector: async () => {
    throw new Error(`Cannot read the page with ${secrets.inspector}.`);
  },
  authorize: (request) =>
    request.headers.get("authorization") === `Bearer ${secrets.bearer}`
      ? { user: "ada", mayReadMetrics: true }
      : undefined,
};

/** What a careless provider or gateway repeats of a request, in every encoding. */
function echoOf(init: RequestInit | undefined): string {
  const { gatewayHeader, gatewayPassword } = secrets;
  const authorization = new Headers(init?.headers).get("authorization") ?? "";
  return [authorization, gatewayHeader, `gateway:${gatewayPassword}`]
    .flatMap((text) => [text, btoa(text), btoa(`x${text}`), encodeURIComponent(text), JSON.stringify(text)])
    .join(" ");
}

const json = (status: number, body: object): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

type ProviderFetch = typeof globalThis.fetch;

const providerErrors: Readonly<Record<string, ProviderFetch>> = {
  "that refuses the key": async (_, init) =>
    json(401, { error: { message: `Incorrect key: ${echoOf(init)}`, code: "invalid_api_key" } }),
  "that refuses the request": async (_, init) =>
    json(400, { error: { message: echoOf(init), type: echoOf(init) } }),
  "that fails": async (_, init) => new Response(`<html>${echoOf(init)}</html>`, { status: 500 }),
  "that cannot be reached": async (_, init) => {
    throw new TypeError(`fetch failed: ${echoOf(init)}`, {
      cause: new Error(echoOf(init)),
    });
  },
  "whose stream breaks": async (_, init) =>
    new Response(`data: {"choices":[]}\n\ndata: {"error":{"message":${JSON.stringify(echoOf(init))}}}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    }),
};

const failingAgent = (fetch: ProviderFetch): Agent =>
  defineAgent({
    name: "helper",
    llm: openaiChat("gpt", {
      apiKey: secrets.apiKey,
      baseURL: `https://gateway:${secrets.gatewayPassword}@gateway.example/v1`,
      headers: { "x-gateway": secrets.gatewayHeader },
      fetch,
    }),
    config: { retries: { maxLlmAttempts: 1 } },
  });

describe("the secrets of a server", () => {
  it.each(Object.entries(providerErrors))(
    "are in no answer after an error of a provider %s",
    async (_, fetch) => {
      await using scene = new Scene(failingAgent(fetch), options);
      const received = await readAll(scene);
      // The error itself is shown, as the pages about errors say.
      expect(received.texts.join()).toContain("[secret]");
      expect(received.found()).toEqual([]);
    },
  );

  it("are in no answer after errors of tools, whose messages the model reads and nothing else", async () => {
    const shop = defineContext<{ readonly password: string }>();
    const call = defineTool({
      name: "call_shop",
      description: "Calls the shop.",
      input: z.object({}),
      context: shop,
      execute(_input, { context }) {
        const env = { SHOP_TOKEN: secrets.environment };
        const cause = new Error(`connect with ${secrets.toolCause} and ${context.password}`);
        throw Object.assign(new Error("The shop does not answer.", { cause }), {
          config: { headers: { authorization: secrets.toolProperty }, env },
          stack: `Error: at ${secrets.toolProperty} ${secrets.environment} ${context.password}`,
        });
      },
    });
    const llm = new MockLlmCaller((request) =>
      JSON.stringify(request).includes("does not answer")
        ? answers("It failed.")
        : callsTools([{ name: "call_shop" }]),
    );
    const agent = defineAgent({
      name: "helper",
      llm,
      tools: [call],
      config: { retries: { maxToolAttempts: 1 } },
    });
    await using scene = new Scene(agent, { ...options, context: () => ({ password: secrets.context }) });
    const received = await readAll(scene);
    expect(received.texts.join()).toContain("The shop does not answer.");
    expect(received.found()).toEqual([]);
  });

  it.each<[string, (scene: { log: EventLog }) => SceneOptions]>([
    [
      "the log",
      ({ log }) => ({
        log: {
          ...log,
          open: () => {
            const cause = new Error(secrets.log);
            throw new LogError("LogWrite", `postgres://moora:${secrets.log}@db cannot be reached.`, {
              cause,
            });
          },
        },
      }),
    ],
    [
      "authorize",
      () => ({
        authorize: () => {
          throw new Error(`No user for ${secrets.authorize} and ${secrets.bearer}.`);
        },
      }),
    ],
    [
      "the context of a session",
      () => ({
        context: () => {
          throw new BuildError(`No database at ${secrets.context}.`);
        },
      }),
    ],
  ])("are in no answer after an error of %s", async (_, more) => {
    const agent = defineAgent({ name: "helper", llm: new MockLlmCaller(() => answers("Hello.")) });
    await using scene = new Scene(agent, { ...options, ...more({ log: memoryLog() }) });
    const received = new Received(scene);
    for (const path of [
      "/sessions",
      "/sessions/x",
      "/sessions/x/export",
      "/sessions/x/events",
      "/metrics",
      "/ready",
    ])
      await received.read("GET", path);
    await received.read("POST", "/agents/helper/sessions", {});
    await received.read("POST", "/sessions/x/messages", { content: "Hi" });
    await received.read("POST", "/sessions/x/fork", {});
    const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };
    await received.read("POST", "/agents/helper/chat", { id: "c", messages: [message] });
    const params = { name: "helper", arguments: { task: "Hi" } };
    await received.read("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(scene.errors.length).toBeGreaterThan(0);
    expect(received.texts.join()).toContain('"code":"internal"');
    expect(received.found()).toEqual([]);
  });

  it("would be found in each encoding", () => {
    const secret = secrets.apiKey;
    const shown = [
      secret,
      JSON.stringify({ secret }),
      JSON.stringify(JSON.stringify({ secret })),
      encodeURIComponent(`a ${secret} b`),
      ...["", "x", "xx"].map((before) => btoa(`${before}${secret} and more`)),
      Buffer.from(`key:${secret}`).toString("base64url"),
    ];
    const missed = shown.filter((text) => !formsOf(secret).some((form) => text.includes(form)));
    expect(missed).toEqual([]);
  });
});
