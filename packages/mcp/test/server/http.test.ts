import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { BuildError } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { mcpServer, type McpAgentServer, type McpServerOptions } from "@moora/mcp";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { payingAgent, pays } from "../support/agents.ts";

const authorize: McpServerOptions["authorize"] = (request) => {
  const [, user] = /^Bearer (\w+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
  return user;
};

/** A client of a user, in the newer protocol, without a port: the server answers its requests in this process. */
async function clientOf(server: McpAgentServer, user: string): Promise<Client> {
  const client = new Client(
    { name: user, version: "1" },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
      inputRequired: { autoFulfill: false },
    },
  );
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${user}`);
    headers.set("host", "localhost");
    return server.fetch(new Request(url, { ...init, headers }));
  };
  await client.connect(new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch }));
  return client;
}

interface InputRequired {
  readonly resultType: string;
  readonly inputRequests: Readonly<Record<string, object>>;
  readonly requestState: string;
}

/** Calls the agent, and returns its questions. */
async function asksFor(client: Client, task: string): Promise<InputRequired> {
  const options = { allowInputRequired: true };
  const result: unknown = await client.callTool({ name: "cashier", arguments: { task } }, options);
  return result as InputRequired;
}

const decided = ({ inputRequests, requestState }: InputRequired, approve: boolean): object => ({
  inputResponses: Object.fromEntries(
    Object.keys(inputRequests).map((key) => [key, { action: "accept", content: { approve } }]),
  ),
  requestState,
});

const call = (client: Client, args: object, more: object = {}) =>
  client.callTool({ name: "cashier", arguments: args as never, ...more });

describe("a server over HTTP with users", () => {
  it("refuses a request without one", async () => {
    const { agent } = payingAgent();
    await using server = mcpServer([agent], { log: memoryLog(), authorize });
    const response = await server.fetch(
      new Request("http://localhost/mcp", { method: "POST", headers: { host: "localhost" }, body: "{}" }),
    );
    expect(response.status).toBe(401);
  });

  it("shows and continues the sessions of their own user only", async () => {
    const { agent } = payingAgent(answers("Hello, Ada."), answers("Hello, Bob."));
    await using server = mcpServer([agent], { log: memoryLog(), authorize });
    const ada = await clientOf(server, "ada");
    const bob = await clientOf(server, "bob");
    const first = await call(ada, { task: "I am Ada." });
    const { session } = first.structuredContent as { session: string };
    // The id ends with random digits and letters, which may contain any three of them.
    expect(session).not.toMatch(/\bada\b/);
    const foreign = await call(bob, { task: "Who am I?", session });
    expect(foreign).toMatchObject({
      isError: true,
      content: [{ text: `Session "${session}" not found.` }],
    });
    const sessionsOf = async (client: Client): Promise<number> =>
      (await client.listResources()).resources.length - 1;
    expect(await sessionsOf(ada)).toBe(1);
    expect(await sessionsOf(bob)).toBe(0);
    await expect(bob.readResource({ uri: `moora://sessions/${session}` })).rejects.toThrow(/not found/i);
  });

  it("takes a decision once, from the user who was asked, and only with the state that it signed", async () => {
    const { agent, payments } = payingAgent(...pays());
    const log = memoryLog();
    await using server = mcpServer([agent], { log, authorize, secret: "x".repeat(32) });
    const ada = await clientOf(server, "ada");
    const bob = await clientOf(server, "bob");
    const asked = await asksFor(ada, "Pay 5 euros.");
    expect(asked.resultType).toBe("input_required");
    await expect(call(bob, { task: "Pay 5 euros." }, decided(asked, true))).rejects.toMatchObject({
      code: -32_602,
    });
    const forged = { ...asked, requestState: `${asked.requestState.slice(0, -2)}xx` };
    await expect(call(ada, { task: "Pay 5 euros." }, decided(forged, true))).rejects.toMatchObject({
      code: -32_602,
    });
    expect(payments).toEqual([]);
    const done = await call(ada, { task: "Pay 5 euros." }, decided(asked, true));
    expect(done.content).toEqual([{ type: "text", text: "It is paid." }]);
    const again = await call(ada, { task: "Pay 5 euros." }, decided(asked, true));
    expect(again.content).toEqual([{ type: "text", text: "It is paid." }]);
    expect(payments).toEqual([5]);
    const [{ id } = { id: "" }] = await log.list();
    const records = (await (await log.open(id))?.read()) ?? [];
    expect(records.map(({ body }) => body).join()).toContain('"by":"ada"');
  });

  it("takes a decision after a restart, by another process with the same log and the same secret", async () => {
    const { agent, payments } = payingAgent(...pays());
    const options = { log: memoryLog(), authorize, secret: "x".repeat(32) };
    const before = mcpServer([agent], options);
    const asked = await asksFor(await clientOf(before, "ada"), "Pay 5 euros.");
    await before.close();
    await using after = mcpServer([agent], options);
    const done = await call(await clientOf(after, "ada"), {}, decided(asked, true));
    expect(done.content).toEqual([{ type: "text", text: "It is paid." }]);
    expect(payments).toEqual([5]);
  });
});

describe("a call that waits for a person over HTTP", () => {
  it.each([25, 24 * 400])("takes the decision after %i hours", async (hours) => {
    const { agent, payments } = payingAgent(...pays());
    await using server = mcpServer([agent], { log: memoryLog(), authorize });
    const ada = await clientOf(server, "ada");
    const asked = await asksFor(ada, "Pay 5 euros.");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + hours * 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const done = await call(ada, { task: "Pay 5 euros." }, decided(asked, true));
    expect(done.content).toEqual([{ type: "text", text: "It is paid." }]);
    expect(payments).toEqual([5]);
  });
});

describe("a server over HTTP", () => {
  it.each<[string, Record<string, string>]>([
    ["another name", { host: "evil.example" }],
    ["a page of another site", { host: "localhost", origin: "https://evil.example" }],
  ])("refuses requests for %s", async (_, headers) => {
    const { agent } = payingAgent();
    await using server = mcpServer([agent], { log: memoryLog() });
    const response = await server.fetch(
      new Request("http://localhost/mcp", { method: "POST", headers, body: "{}" }),
    );
    expect(response.status).toBe(403);
  });

  it("answers to the names that it is given", async () => {
    const { agent } = payingAgent();
    await using server = mcpServer([agent], {
      log: memoryLog(),
      authorize,
      allowedHosts: ["agents.example"],
    });
    const ask = async (host: string): Promise<number> =>
      (await server.fetch(new Request("http://x/mcp", { method: "POST", headers: { host }, body: "{}" })))
        .status;
    expect(await ask("agents.example")).toBe(401);
    expect(await ask("localhost")).toBe(403);
  });

  it.each([
    ["an object", { user: "ada" }, 500],
    ["a number", 7, 500],
    ["an empty name", "", 500],
    ["null", null, 401],
  ])("answers no request whose user is %s", async (_, user, status) => {
    const errors: unknown[] = [];
    await using server = mcpServer([payingAgent(answers("Hello.")).agent], {
      log: memoryLog(),
      // What code without types may return.
      authorize: () => user as never,
      onError: (error) => void errors.push(error),
    });
    const headers = { "content-type": "application/json", host: "localhost" };
    const response = await server.fetch(
      new Request("http://localhost/mcp", { method: "POST", headers, body: "{}" }),
    );
    expect(response.status).toBe(status);
    expect(errors).toHaveLength(status === 500 ? 1 : 0);
  });

  it("does not listen beyond this machine without authorize", async () => {
    const { agent } = payingAgent();
    await using server = mcpServer([agent], { log: memoryLog() });
    await expect(server.listen({ host: "0.0.0.0" })).rejects.toMatchObject({
      name: "BuildError",
      message: 'host is "0.0.0.0", which other machines can reach. Give authorize as well.',
    });
  });

  it("rejects if its port is taken", async () => {
    const { agent } = payingAgent();
    await using server = mcpServer([agent], { log: memoryLog() });
    const { url } = await server.listen();
    const port = Number(new URL(url).port);
    await expect(server.listen({ port })).rejects.toMatchObject({
      code: "EADDRINUSE",
      message: `Port ${port} of 127.0.0.1 is in use. Choose another port, or 0 for any free one.`,
    });
  });
});

describe("options of a server", () => {
  const log = memoryLog();
  const { agent } = payingAgent();

  it.each<[string, unknown, unknown, string]>([
    ["no agents", [], { log }, "mcpServer needs a list of agents"],
    ["the same agent twice", [agent, agent], { log }, 'Two agents have the name "cashier".'],
    ["a name that cannot be a tool", [{ ...agent, name: "a b" }], { log }, 'got "a b".'],
    ["no log", [agent], {}, "log is missing. Give a log, such as memoryLog()."],
    ["a short secret", [agent], { log, secret: "short" }, "secret must have at least 32 bytes."],
    ["an unknown option", [agent], { log, autorize: 1 }, 'Did you mean "authorize"?'],
    ["a log that is not one", [agent], { log: {} }, "log must be a log, such as memoryLog(), got an object."],
    ["no agent in the list", [{}], { log }, "agents[0] of mcpServer needs an agent, got an object."],
    [
      "an agent that is missing",
      [{ agent: undefined, description: "Pays." }],
      { log },
      "agents[0] of mcpServer needs an agent, got undefined.",
    ],
    [
      "a misspelled description",
      [agent, { agent, descripton: "Pays." }],
      { log },
      'Unknown option "descripton" of agents[1] of mcpServer. Did you mean "description"?',
    ],
    ["a token in place of users", [agent], { log, authorize: "x" }, "authorize must be a function"],
    ["one host", [agent], { log, allowedHosts: "localhost" }, "allowedHosts must be a list of strings"],
    ["a public name", [agent], { log, allowedHosts: ["a.example"] }, "Give authorize as well."],
  ])("with %s are refused", (_, agents, options, message) => {
    expect(() => mcpServer(agents as never, options as never)).toThrow(message);
  });

  it.each<[string, (server: McpAgentServer) => Promise<unknown>, string]>([
    [
      "listen with a misspelled port",
      (server) => server.listen({ prot: 8080 } as never),
      'Unknown option "prot" of listen. Did you mean "port"?',
    ],
    [
      "listen with a text as the port",
      (server) => server.listen({ port: "8080" } as never),
      'port must be an integer from 0 to 65535, got "8080".',
    ],
    [
      "serveStdio with one stream",
      (server) => server.serveStdio({ input: process.stdin, output: "stdout" } as never),
      'output must be a writable stream, an object with write() and on(), got "stdout".',
    ],
  ])("are checked where they are given: %s", async (_, use, message) => {
    await using server = mcpServer([agent], { log });
    await expect(use(server)).rejects.toThrow(new BuildError(message));
  });
});
