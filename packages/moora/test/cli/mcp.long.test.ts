import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectMcp } from "@moora/mcp";
import { describe, expect, it } from "vitest";
import { textToServer } from "../../src/cli/mcp/text-to-server.ts";
import manifest from "../../package.json" with { type: "json" };
import { source } from "./child.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

const file = join(import.meta.dirname, "mcp-server.ts");
const quoted = (text: string): string => `"${text}"`;

/** The command of the server, as a user writes it. */
const command = (...args: readonly string[]): string =>
  [process.execPath, file, ...args].map(quoted).join(" ");

async function cli(host: TestHost, ...args: readonly string[]) {
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

const results = (provider: FakeProvider): string => JSON.stringify(provider.bodies.at(-1));

describe("--mcp", () => {
  it("gives the agent the tools of a command; each call asks first", async () => {
    await using provider = await FakeProvider.start(
      calls(["echo_echo", { text: "hi" }]),
      says("It said hi."),
    );
    const rejected = await cli(new TestHost(), "run", "x", "--mcp", `echo=${command()}`, ...provider.options);
    expect(rejected).toMatchObject({ code: 8, out: "It said hi.\n" });
    expect(results(provider)).toContain("Not run. No reviewer is available.");
    await using again = await FakeProvider.start(calls(["echo_echo", { text: "hi" }]), says("It said hi."));
    const options = ["--mcp", `echo=${command("one")}`, "--approve", "never", ...again.options];
    expect(await cli(new TestHost(), "run", "x", ...options)).toMatchObject({
      code: 0,
      out: "It said hi.\n",
    });
    expect(results(again)).toContain("one hi");
  });

  it("may be repeated, and names what has no name", async () => {
    await using provider = await FakeProvider.start(
      calls(["a_echo", { text: "1" }], ["node_echo", { text: "2" }], ["node_2_echo", { text: "3" }]),
      says("Done."),
    );
    const servers = [`a=${command("first")}`, `node=${command("second")}`, `node=${command("third")}`];
    const options = [...servers.flatMap((server) => ["--mcp", server]), "--approve", "never"];
    await cli(new TestHost(), "run", "x", ...options, ...provider.options);
    for (const result of ["first 1", "second 2", "third 3"]) expect(results(provider)).toContain(result);
  });

  it("keeps a session that is continued with it", async () => {
    using place = new TemporaryFolder();
    await using provider = await FakeProvider.start(calls(["echo_echo", { text: "hi" }]), says("Done."));
    const server = ["--mcp", `echo=${command("kept")}`];
    const run = (...args: readonly string[]) =>
      cli(new TestHost({ cwd: place.path }), "run", ...args, "--session", "ada", ...provider.options);
    expect(await run("x", ...server)).toMatchObject({ code: 7 });
    const without = await run();
    expect(without.code).toBe(2);
    expect(without.err).toContain("--mcp for a server");
    await cli(new TestHost({ cwd: place.path }), "approve", "ada", "call_1");
    expect(await run(...server)).toMatchObject({ code: 0, out: "Done.\n" });
    expect(results(provider)).toContain("kept hi");
  });

  it("fails with the reason if a server cannot be used, and then nothing runs", async () => {
    await using provider = await FakeProvider.start();
    const options = ["--mcp", command(), "--mcp", "no-such-program --key secret", ...provider.options];
    const { code, err } = await cli(new TestHost(), "run", "x", ...options);
    expect(code).toBe(1);
    expect(err).toBe(
      'moora: Cannot connect to the MCP server no-such-program (no-such-program): The program "no-such-program" was not found. Install it, or give its path.\n',
    );
    expect(provider.bodies).toEqual([]);
  });

  it.each([
    ["npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem"],
    ["uvx mcp-server-git@1.2", "git"],
    ["node 'my folder/weather-mcp.mjs'", "weather"],
    ["docker run -i --rm ghcr.io/github/github-mcp-server", "github"],
    ["https://mcp.example.com/v1", "mcp_example_com"],
    ["tools=npx -y server-filesystem", "tools"],
  ])("%s has the name %s", (text, name) => {
    expect(textToServer(text).name).toBe(name);
  });

  it("splits a command at blanks, but not in quotation marks or after a backslash", () => {
    const text = String.raw`a 'b c' "d \"e\" f" g\ h i'j'"k" ''`;
    expect(textToServer(text).server).toEqual({
      command: "a",
      args: ["b c", 'd "e" f', "g h", "ijk", ""],
    });
    expect(() => textToServer("a 'b")).toThrow("has a quotation mark without its end.");
    expect(() => textToServer(" ")).toThrow("--mcp needs a command or a URL.");
    expect(() => textToServer("http://")).toThrow('--mcp "http://" is not a valid URL.');
  });
});

describe("--mcp-config", () => {
  const config = {
    mcpServers: {
      echo: { command: process.execPath, args: [file, "configured"], env: { GREETING: "${WORD}" } },
    },
  };

  it("starts the servers of the file, with variables of the environment", async () => {
    using place = new TemporaryFolder();
    mkdirSync(place.at(".moora"));
    writeFileSync(place.at(".moora/mcp.json"), JSON.stringify(config));
    await using provider = await FakeProvider.start(calls(["echo_echo", { text: "hi" }]), says("Done."));
    const host = new TestHost({ cwd: place.path, env: { WORD: "hello" } });
    const options = ["--mcp-config", ".moora/mcp.json", "--approve", "never", ...provider.options];
    expect(await cli(host, "run", "x", ...options)).toMatchObject({ code: 0, out: "Done.\n" });
    expect(results(provider)).toContain("configured hello hi");
  });

  it("is needed: a file that lies in the folder only gets a hint", async () => {
    using place = new TemporaryFolder();
    mkdirSync(place.at(".moora"));
    writeFileSync(place.at(".moora/mcp.json"), JSON.stringify(config));
    const { code, err } = await cli(new TestHost({ cwd: place.path }), "run", "2+2");
    expect(code).toBe(0);
    expect(err).toContain(
      "The MCP servers of .moora/mcp.json are not started. To start them: --mcp-config .moora/mcp.json\n",
    );
  });

  it("with a file that is missing or invalid ends with 2 and the reason", async () => {
    using place = new TemporaryFolder();
    const missing = await cli(new TestHost({ cwd: place.path }), "run", "x", "--mcp-config", "none.json");
    expect(missing.code).toBe(2);
    expect(missing.err).toContain("--mcp-config: the file none.json cannot be read:");
    writeFileSync(place.at("bad.json"), JSON.stringify(config));
    const unset = await cli(new TestHost({ cwd: place.path }), "run", "x", "--mcp-config", "bad.json");
    expect(unset.code).toBe(2);
    expect(unset.err).toContain(
      "mcpServers.echo.env.GREETING uses the environment variable WORD, which is not set.",
    );
  });
});

describe("moora mcp", () => {
  it("serves the agents of a module to a client that starts it, and ends with the client", async () => {
    using place = new TemporaryFolder();
    const agent = join(import.meta.dirname, "served-agent.ts");
    const args = ["--conditions=@moora/source", join(source, "main.ts"), "mcp", "--agent", agent];
    const connection = await connectMcp(
      { command: process.execPath, args, cwd: place.path, env: { NODE_NO_WARNINGS: "1" } },
      { name: "moora" },
    );
    const [tool] = connection.tools;
    const outcome = await tool?.run(JSON.stringify({ task: "What is 2 + 2?" }), {
      toolCallId: "call_1",
      idempotencyKey: "call_1",
      attempt: 1,
      signal: new AbortController().signal,
      progress: () => undefined,
    });
    expect(outcome).toMatchObject({
      isSuccess: true,
      content: expect.stringContaining("According to calculator: 2 + 2 = 4."),
    });
    await connection.close();
    const sessions = await cli(new TestHost({ cwd: place.path }), "sessions");
    expect(sessions.out).toMatch(/^mcp-\S+ .* Done /);
  });

  it("shows log entries with --verbose", async () => {
    using place = new TemporaryFolder();
    const host = new TestHost({ cwd: place.path });
    const agent = join(import.meta.dirname, "served-agent.ts");
    const ended = host.start(["mcp", "--agent", agent, "--verbose"]);
    const send = (message: object): void =>
      void host.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "0" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    send({ id: 1, method: "initialize", params });
    await host.stdout.shows('"id":1');
    expect(host.stdout.text).toContain(`"serverInfo":{"name":"moora","version":"${manifest.version}"}`);
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "counter", arguments: { task: "What is 2 + 2?" } } });
    await host.stdout.shows('"id":2');
    host.stdin.end();
    expect(await ended).toBe(0);
    expect(host.stderr.text).toMatch(/^\[info\] session-opened, session mcp-\S+: /m);
    expect(host.stderr.text).toMatch(/^\[info\] session-closed, session mcp-\S+: /m);
  });

  it("needs a module with agents", async () => {
    const without = await cli(new TestHost(), "mcp");
    expect(without).toMatchObject({ code: 2, out: "" });
    expect(without.err).toBe('moora: "moora mcp" needs a module with agents. Use moora mcp --agent FILE.\n');
    const none = await cli(new TestHost(), "mcp", "--agent", "asking-tools.ts");
    expect(none.err).toBe("moora: asking-tools.ts exports no agents. Export what defineAgent returns.\n");
  });
});
