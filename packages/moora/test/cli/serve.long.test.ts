import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { defineAgent, openSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { connectMcp } from "@moora/mcp";
import { planner } from "@moora/planner";
import { Page } from "@moora/testbed/page";
import { afterEach, describe, expect, it } from "vitest";
import { plannerNotice } from "../../src/cli/providers.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

const opened: TemporaryFolder[] = [];
afterEach(() => {
  for (const folder of opened.splice(0)) folder[Symbol.dispose]();
});

/** A folder that is removed after the test. */
function temporaryFolder(): string {
  const folder = new TemporaryFolder();
  opened.push(folder);
  return folder.path;
}

/** A server of the command line. */
async function started(...args: readonly string[]) {
  const host = new TestHost({ cwd: temporaryFolder() });
  const ended = host.start(["serve", "--port", "0", ...args]);
  await host.stdout.shows("Listening on ");
  const [, url = ""] = /Listening on (\S+)\. /.exec(host.stdout.text) ?? [];
  return { host, ended, url };
}

/** Runs commands of a shell. They may take as long as a test may. */
async function shell(commands: string): Promise<string> {
  const child = spawn("bash", ["-c", commands], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => (output += String(text)));
  await once(child, "close");
  return output;
}

/** Creates a session in a folder, posts a message to it, and resolves when a worker has answered. */
async function postedIn(cwd: string): Promise<void> {
  await using log = sqliteLog(join(cwd, ".moora/sessions.db"));
  const agent = defineAgent({ name: "moora", llm: planner() });
  await (await openSession(agent, { log, id: "posted" })).close();
  await using poster = await openSession(agent, { log, id: "posted", access: "post" });
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = poster.onInput(({ type }) => (type === "re-act-observed" ? resolve() : undefined));
  await poster.send("What is 2 + 2?");
  await promise;
  stop();
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe("moora worker", () => {
  it("answers what other commands have posted, until it is stopped", async () => {
    const host = new TestHost({ cwd: temporaryFolder() });
    const ended = host.start(["worker"]);
    await host.stdout.shows(
      "Working on the sessions of moora in .moora/sessions.db. Ctrl-C stops the worker.\n",
    );
    await postedIn(host.cwd);
    host.terminate();
    expect(await ended).toBe(143);
    expect(host.stderr.text).toBe(`${plannerNotice}\n`);
  });

  it.each([
    [["now"], '"moora worker" takes no arguments.'],
    [["--log", "folder"], "A worker cannot use folder: files cannot list the sessions that are due."],
    [["--port", "0"], '"moora worker" does not take the option --port.'],
  ])("refuses %j", async (args, message) => {
    const host = new TestHost({ cwd: temporaryFolder() });
    expect(await host.run(["worker", ...args])).toBe(2);
    expect(host.stderr.text).toContain(message);
  });
});

describe("moora serve", () => {
  it("serves the agent of the command line, and keeps its sessions for other commands", async () => {
    const { host, ended, url } = await started();
    expect(host.stdout.text).toContain(`Agent moora: POST ${url}/agents/moora/sessions\n`);
    expect(await (await fetch(`${url}/inspector/`)).text()).toContain("<title>Moora inspector</title>");
    expect(host.stdout.text).toContain("Sessions are kept in .moora/sessions.db. Ctrl-C stops the server.\n");
    const created = await fetch(`${url}/agents/moora/sessions`, { method: "POST" });
    const { id } = (await created.json()) as { id: string };
    const posted = await fetch(`${url}/sessions/${id}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: "What is 2 + 2?" }),
    });
    expect(await posted.json()).toEqual({ status: "accepted", seq: 2 });
    host.interrupt();
    expect(await ended).toBe(130);
    expect(host.stderr.text).toBe(`${plannerNotice}\n`);
    const next = new TestHost({ cwd: host.cwd });
    expect(await next.run(["sessions"])).toBe(0);
    expect(next.stdout.text).toContain(id);
  });

  it("prints the address of everything that it has, and each of them answers", async () => {
    const { host, ended, url } = await started("--agent", join(import.meta.dirname, "served-agent.ts"));
    const lines = host.stdout.lines;
    expect(lines).toEqual([
      `Agent counter: POST ${url}/agents/counter/sessions`,
      `  Chat of the AI SDK: POST ${url}/agents/counter/chat`,
      `  AG-UI: POST ${url}/agents/counter/ag-ui`,
      `Sessions: ${url}/sessions`,
      `Description of the routes: ${url}/openapi.json`,
      `Inspector: ${url}/inspector/`,
      `MCP: ${url}/mcp`,
      `Listening on ${url}. Sessions are kept in .moora/sessions.db. Ctrl-C stops the server.`,
    ]);
    const addresses = lines.flatMap((line) => /(POST )?(http:\S+[^.])$/.exec(line)?.slice(1) ?? []);
    expect(addresses).toHaveLength(14);
    for (let index = 0; index < addresses.length; index += 2) {
      const method = addresses[index] === undefined ? "GET" : "POST";
      const { status } = await fetch(addresses[index + 1] ?? "", { method });
      // MCP takes posts only. Bodies of posts are missing, and only a new session needs none.
      expect([200, 201, 405, 415], addresses[index + 1]).toContain(status);
    }
    const connection = await connectMcp({ url: `${url}/mcp` }, { name: "served" });
    expect(connection.tools.map(({ name }) => name)).toEqual(["served_counter"]);
    await connection.close();
    host.interrupt();
    await ended;
  });

  it("leaves MCP out, and says why, for an agent whose name cannot be that of a tool", async () => {
    const { host, ended, url } = await started("--agent", join(import.meta.dirname, "spaced-agent.ts"));
    expect(host.stdout.text).toContain('MCP: off. The name "two words" cannot be that of a tool.\n');
    expect(host.stdout.text).toContain(`Agent two words: POST ${url}/agents/two%20words/sessions\n`);
    expect((await fetch(`${url}/mcp`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${url}/agents/two%20words/sessions`, { method: "POST" })).status).toBe(201);
    host.interrupt();
    await ended;
  });

  it("stops by SIGTERM, and ends its streams", async () => {
    const { host, ended, url } = await started();
    const created = await fetch(`${url}/agents/moora/sessions`, { method: "POST" });
    const { id } = (await created.json()) as { id: string };
    const stream = await fetch(`${url}/sessions/${id}/events`);
    host.terminate();
    expect(await ended).toBe(143);
    expect(await stream.text()).toContain("event: input");
  });

  it("serves the agents of a module, with its authentication", async () => {
    const file = join(import.meta.dirname, "agents-module.ts");
    const { host, ended, url } = await started("--agent", file, "--host", "0.0.0.0");
    expect(host.stdout.text).toContain("Agent one: ");
    expect(host.stdout.text).toContain("Agent two: ");
    const address = url.replace("0.0.0.0", "127.0.0.1");
    const create = (headers: Record<string, string>) =>
      fetch(`${address}/agents/two/sessions`, { method: "POST", headers });
    expect((await create({})).status).toBe(401);
    expect((await create({ authorization: "Bearer ada" })).status).toBe(201);
    host.interrupt();
    await ended;
  });

  it("leads the reader of its address to the inspector", async () => {
    const { host, ended, url } = await started();
    const page = await fetch(`${url}/`);
    expect(page.url).toBe(`${url}/inspector/`);
    expect(page.status).toBe(200);
    host.interrupt();
    await ended;
  });

  it("needs the context that the agents of a module need, from the module", async () => {
    const module = join(import.meta.dirname, "context-module.ts");
    const host = new TestHost({ cwd: temporaryFolder() });
    expect(await host.run(["serve", "--agent", module])).toBe(2);
    expect(host.stderr.text).toContain("needs a context.");
    const made = join(import.meta.dirname, "made-context-module.ts");
    const { host: other, ended, url } = await started("--agent", made);
    const created = await fetch(`${url}/agents/shop/sessions`, { method: "POST" });
    expect(created.status).toBe(201);
    other.interrupt();
    await ended;
  });

  it.each([
    [
      ["--host", "0.0.0.0", "--port", "0"],
      "--host 0.0.0.0 can be reached by others, and the server has no authorize.",
    ],
    [["--port", "70000"], '--port must be an integer from 0 to 65535, got "70000".'],
    [["--agent", "missing.ts"], "The file missing.ts does not exist."],
    [["--agent", "x.ts", "--system", "Hi"], "--system cannot be used with --agent."],
    [["now"], '"moora serve" takes no arguments.'],
  ])("refuses %j", async (args, message) => {
    const host = new TestHost({ cwd: temporaryFolder() });
    expect(await host.run(["serve", ...args])).toBe(2);
    expect(host.stderr.text).toContain(message);
  });

  it("answers, with a worker, what other commands have posted", async () => {
    const { host, ended } = await started("--worker");
    await postedIn(host.cwd);
    host.interrupt();
    expect(await ended).toBe(130);
    expect(host.stderr.text).toBe(`${plannerNotice}\n`);
  });

  it("reports a port that is in use", async () => {
    const { host, ended, url } = await started();
    const second = new TestHost({ cwd: temporaryFolder() });
    expect(await second.run(["serve", "--port", new URL(url).port])).toBe(2);
    expect(second.stderr.text).toContain("is in use. Choose another port, or 0 for any free one.");
    host.interrupt();
    await ended;
  });

  it("answers the commands of the README", async () => {
    expect(hasCurl).toBe(true);
    const { host, ended, url } = await started();
    const commands = new Page("packages/server/README.md").block("sh curl");
    const output = await shell(commands.replace("http://127.0.0.1:8787", url));
    const receipt = '{"status":"accepted","seq":2}';
    expect(output.startsWith(receipt.repeat(2))).toBe(true);
    expect(output).toMatch(/\nid: 2\nevent: input\ndata: \{"seq":2,"input":\{"type":"user-message-received"/);
    expect(output).toContain('"type":"complete-re-act"');
    expect(output).toContain('{"status":"ignored","reason":"no-loop"}');
    expect(output.endsWith('"code":"not-found","detail":"Session not found."}')).toBe(true);
    host.interrupt();
    await ended;
  });
});
