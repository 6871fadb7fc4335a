import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { readHeader, type Agent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs } from "@moora/llm/testing";
import { mcpOfServer } from "@moora/mcp";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import type { Grant } from "../src/index.ts";
import { serve, type ServedAgents } from "../src/node.ts";
import { byName, Client, Scene, type SceneOptions } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

type Era = "legacy" | "modern";
type Asked = (message: string) => boolean;

/** A server that listens, with clients of the protocol and of the other routes. */
class Served implements AsyncDisposable {
  readonly scene: Scene;
  readonly served: ServedAgents;
  readonly #clients: McpClient[] = [];

  private constructor(scene: Scene, served: ServedAgents) {
    this.scene = scene;
    this.served = served;
  }

  static async start(agents: Agent<unknown> | readonly Agent<unknown>[], options: SceneOptions = {}) {
    const scene = new Scene(agents, { mcp: mcpOfServer(), ...options });
    return new Served(scene, await serve(scene.server, { port: 0 }));
  }

  as(user: string): Client {
    return new Client((path, init) =>
      fetch(`${this.served.url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${user}`, ...(init.headers as Record<string, string>) },
      }),
    );
  }

  /** The official client, for a user. `decide` answers the forms that the server shows. */
  async mcp(user: string, era: Era = "modern", decide?: Asked): Promise<McpClient> {
    const client = new McpClient(
      { name: user, version: "1" },
      {
        capabilities: decide === undefined ? {} : { elicitation: { form: {} } },
        versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } },
      },
    );
    if (decide !== undefined) {
      client.setRequestHandler("elicitation/create", ({ params }) => ({
        action: "accept",
        content: { approve: decide(params.message) },
      }));
    }
    const requestInit = { headers: { authorization: `Bearer ${user}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${this.served.url}/mcp`), { requestInit }),
    );
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.served.close();
    await this.scene[Symbol.asyncDispose]();
  }
}

const talker = () => agentOf(() => answers("Hello."));

/** An agent that pays after an approval, and what it has paid. */
function payer() {
  const paid: unknown[] = [];
  const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
  const turns = [callsTools([{ name: "pay", arguments: { euros: 5 } }]), answers("It is paid.")];
  return { agent: agentOf(turns, { tools: [pay] }), paid };
}

const call = async (client: McpClient, args: Readonly<Record<string, string>>, name = "helper") =>
  await client.callTool({ name, arguments: args });

const textOf = ({ content }: { readonly content: readonly unknown[] }): string =>
  content.map((block) => (block as { text: string }).text).join();

const sessionOf = (result: { readonly structuredContent?: unknown }): string =>
  (result.structuredContent as { session: string }).session;

describe.each<Era>(["legacy", "modern"])("the agents of a server as tools, in the %s protocol", (era) => {
  it("are listed and called, in sessions of the user that the other routes have, too", async () => {
    await using served = await Served.start([talker(), agentOf(() => answers("Moo."), { name: "cow" })], {
      mcp: mcpOfServer({ descriptions: { cow: "Moos." } }),
    });
    const ada = await served.mcp("ada", era);
    const { tools } = await ada.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ["helper", "Gives the agent helper a task, and returns its answer."],
      ["cow", "Moos."],
    ]);
    const result = await call(ada, { task: "Say something." }, "cow");
    expect(textOf(result)).toBe("Moo.");
    const id = sessionOf(result);
    expect(await readHeader(served.scene.log, id)).toMatchObject({ user: "ada", agent: { name: "cow" } });
    const { body } = await served.as("ada").get(`/sessions/${id}`);
    expect(body.state.messages).toMatchObject([{ content: "Say something." }, { content: "Moo." }]);
    const again = await call(ada, { task: "Again.", session: id }, "cow");
    expect(sessionOf(again)).toBe(id);
    const { contents } = await ada.readResource({ uri: `moora://sessions/${id}` });
    expect(JSON.parse((contents[0] as { text: string }).text)).toHaveLength(4);
  });
});

describe("a call of an agent of a server", () => {
  it("is approved by elicitation, under the name of the user", async () => {
    const { agent, paid } = payer();
    await using served = await Served.start(agent);
    const asked: string[] = [];
    const ada = await served.mcp("ada", "modern", (message) => asked.push(message) > 0);
    const result = await call(ada, { task: "Pay 5 euros." });
    expect(textOf(result)).toBe("It is paid.");
    expect(asked).toEqual([expect.stringContaining('pay({"euros":5})')]);
    expect(paid).toEqual([{ euros: 5 }]);
    const records = await served.as("ada").events(sessionOf(result));
    await using _ = records;
    expect((await records.until("tool-call-decided")).input).toMatchObject({ by: "ada" });
  });

  it("is watched by a viewer while it runs, and the viewer decides what it asks", async () => {
    const { agent, paid } = payer();
    await using served = await Served.start(agent);
    const ada = served.as("ada");
    const id = await ada.create();
    await using viewer = await ada.events(id);
    const client = await served.mcp("ada", "legacy");
    const waiting = await call(client, { task: "Pay 5 euros.", session: id });
    expect(waiting.isError).toBe(true);
    expect(textOf(waiting)).toContain(`in the session ${id}:`);
    await viewer.until("re-act-observed");
    const [{ toolCallId, digest }] = (await ada.get(`/sessions/${id}`)).body.questions;
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    await viewer.until("tool-call-completed");
    const done = await call(client, { session: id });
    expect(textOf(done)).toBe("It is paid.");
    expect(paid).toHaveLength(1);
    // One process runs the session for both: it was opened once.
    expect(viewer.inputs.filter(({ input }) => input.type === "session-opened")).toHaveLength(1);
    expect(served.scene.errors).toEqual([]);
  });

  it("is answered by a server that does not run the session, because a viewer of another one is there", async () => {
    const log = memoryLog();
    const { agent, paid } = payer();
    await using first = await Served.start(agent, { log });
    await using second = await Served.start(agent, { log: { ...log, close: () => undefined } });
    const id = await first.as("ada").create();
    await using viewer = await first.as("ada").events(id);
    const client = await second.mcp("ada", "modern", () => true);
    const result = await call(client, { task: "Pay 5 euros.", session: id });
    expect(textOf(result)).toBe("It is paid.");
    await viewer.until("tool-call-completed");
    expect(viewer.inputs.filter(({ input }) => input.type === "session-opened")).toHaveLength(1);
    expect(paid).toHaveLength(1);
  });
});

describe("the sessions of another user", () => {
  it("are not reached: neither called, nor listed, nor read", async () => {
    await using served = await Served.start(talker());
    const id = sessionOf(await call(await served.mcp("ada"), { task: "I am Ada." }));
    const eve = await served.mcp("eve");
    const foreign = await call(eve, { task: "Who am I?", session: id });
    expect(foreign.isError).toBe(true);
    expect(textOf(foreign)).toBe(textOf(await call(eve, { task: "Who?", session: "s_missing" })));
    expect((await eve.listResources()).resources).toHaveLength(1);
    await expect(eve.readResource({ uri: `moora://sessions/${id}` })).rejects.toThrow(/not found/i);
    expect((await served.as("ada").get(`/sessions/${id}`)).body.state.messages).toHaveLength(2);
  });

  it("are used with the rights of the grant: the one that is missing is named", async () => {
    const grants: Readonly<Record<string, Grant>> = {
      ada: { user: "ada" },
      rita: { user: "rita", mayForeign: (action) => action === "read" },
      reader: { user: "reader", may: (action) => action !== "create" },
    };
    const authorize = (sent: Request): Grant | undefined => grants[byName(sent)?.user ?? ""];
    await using served = await Served.start(talker(), { authorize });
    const id = sessionOf(await call(await served.mcp("ada"), { task: "I am Ada." }));
    const rita = await served.mcp("rita");
    expect(textOf(await call(rita, { task: "Hi.", session: id }))).toBe("You may not post to this session.");
    const { contents } = await rita.readResource({ uri: `moora://sessions/${id}` });
    expect(JSON.stringify(contents)).toContain("I am Ada.");
    const refused = await call(await served.mcp("reader"), { task: "Hi." });
    expect(textOf(refused)).toBe("You may not create a session.");
    expect(await served.scene.log.list()).toHaveLength(1);
  });

  it("are not decided without the right to decide: the form is shown again, and the call does not run", async () => {
    const { agent, paid } = payer();
    const authorize = (sent: Request): Grant | undefined => {
      const user = byName(sent)?.user;
      return user === undefined ? undefined : { user, may: (action) => action !== "decide" };
    };
    await using served = await Served.start(agent, { authorize });
    const asked: string[] = [];
    const ada = await served.mcp("ada", "modern", (message) => asked.push(message) > 0);
    await call(ada, { task: "Pay 5 euros." }).catch(() => undefined);
    expect(asked[1]).toContain("You may not decide this session.");
    expect(paid).toEqual([]);
  });
});

describe("a request to /mcp", () => {
  const init = {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  };
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const ask = async (scene: Scene, headers: Readonly<Record<string, string>>, body = init.body) =>
    await scene.server.fetch(
      new Request("http://localhost/mcp", { ...init, body, headers: { ...json, ...headers } }),
      { isLoopback: true },
    );
  const user = { authorization: "Bearer ada" };

  it.each<[string, Record<string, string>, string]>([
    ["of a name that is bound to a loopback address", { host: "evil.example" }, "host-not-allowed"],
    ["of a page of another site", { origin: "https://evil.example" }, "origin-not-allowed"],
    ["of a page without an origin", { origin: "null" }, "origin-not-allowed"],
    ["that a page of another site has sent", { "sec-fetch-site": "cross-site" }, "origin-not-allowed"],
  ])("%s is refused, with and without authorize", async (_, headers, code) => {
    for (const options of [{}, { authorize: null }]) {
      await using scene = new Scene(talker(), { mcp: mcpOfServer(), ...options });
      const response = await ask(scene, { ...user, ...headers });
      expect([response.status, (await response.json()).code]).toEqual([403, code]);
    }
  });

  it("without a user, of another media type, too large, or not JSON, gets a problem", async () => {
    await using scene = new Scene(talker(), { mcp: mcpOfServer(), limits: { maxBodyBytes: 1_000 } });
    const codes = await Promise.all(
      [
        ask(scene, {}),
        ask(scene, { ...user, "content-type": "text/plain" }),
        ask(scene, user, " ".repeat(1_001)),
        ask(scene, user, "{"),
      ].map(async (response) => (await (await response).json()).code),
    );
    expect(codes).toEqual(["unauthorized", "unsupported-media-type", "body-too-large", "invalid-request"]);
    const get = await scene.server.fetch(new Request("http://localhost/mcp", { headers: user }));
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect(scene.errors).toEqual([]);
  });

  it("counts among the requests and the streams of its user until its answer has ended", async () => {
    await using scene = new Scene(agentOf([hangs()]), {
      mcp: mcpOfServer(),
      limits: { maxStreamsPerUser: 1 },
    });
    const ada = scene.as("ada");
    const id = await ada.create();
    const params = { name: "helper", arguments: { task: "Wait.", session: id } };
    const leaving = new AbortController();
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const running = scene.server.fetch(
      new Request("http://localhost/mcp", {
        ...init,
        body,
        headers: { ...json, ...user },
        signal: leaving.signal,
      }),
    );
    for (;;) if ((await ada.get(`/sessions/${id}`)).body.state.messages.length > 0) break;
    expect((await (await ask(scene, user)).json()).code).toBe("too-many-streams");
    leaving.abort();
    await (await running).text().catch(() => undefined);
    expect((await ask(scene, user)).status).toBe(200);
  });

  it("is not found without the option, and the description has it only with it", async () => {
    await using without = new Scene(talker());
    expect((await ask(without, user)).status).toBe(404);
    const pathsOf = async (scene: Scene) => (await scene.as("ada").get("/openapi.json")).body.paths;
    expect(await pathsOf(without)).not.toHaveProperty("/mcp");
    await using scene = new Scene(talker(), { mcp: mcpOfServer() });
    expect(await pathsOf(scene)).toHaveProperty("/mcp");
  });

  it("has a name for each tool: other agents and options are refused when the server is created", () => {
    expect(() => new Scene(agentOf([], { name: "a b" }), { mcp: mcpOfServer() })).toThrow('got "a b".');
    expect(() => mcpOfServer({ secret: "short" })).toThrow("secret must have at least 32 bytes.");
    // @ts-expect-error An option that does not exist.
    expect(() => mcpOfServer({ log: memoryLog() })).toThrow('Unknown option "log" of mcpOfServer.');
    // @ts-expect-error The route is made by a function.
    expect(() => new Scene(talker(), { mcp: true })).toThrow("mcp must be a function");
  });
});
