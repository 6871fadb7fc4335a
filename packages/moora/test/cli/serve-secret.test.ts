import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

async function started(port: string, args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  const ended = host.start(["serve", "--port", port, ...args]);
  await host.stdout.shows("Listening on ");
  const [, url = ""] = /Listening on (\S+)\. /.exec(host.stdout.text) ?? [];
  const stop = async (): Promise<void> => {
    host.interrupt();
    await ended;
  };
  return { url, stop };
}

/** A client whose person approves each call, after `beforeAnswer`. */
async function clientAt(url: string, beforeAnswer: () => Promise<void>): Promise<Client> {
  const client = new Client(
    { name: "person", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", async () => {
    await beforeAnswer();
    return { action: "accept", content: { approve: true } };
  });
  // A connection that is kept would end with the server.
  const requestInit = { headers: { connection: "close" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

describe("the key of the open questions of /mcp", () => {
  it.each<[string, readonly string[], string]>([
    ["beside a SQLite log", [], ".moora/sessions.db.mcp-secret"],
    ["in a folder of JSONL files", ["--log", "logs"], "logs/.mcp-secret"],
    ["in the file of --secret-file", ["--secret-file", "keys/mcp"], "keys/mcp"],
  ])("is kept %s, so that a question survives a restart", async (_, options, file) => {
    await using provider = await FakeProvider.start(
      calls(["calculator", { expression: "2 + 2" }]),
      says("It is 4."),
    );
    const args = [...options, "--approve", "ask", ...provider.options];
    const first = await started("0", args);
    let server = first;
    const restart = async (): Promise<void> => {
      await server.stop();
      server = await started(new URL(first.url).port, args);
    };
    const client = await clientAt(first.url, restart);
    const result = await client.callTool({ name: "moora", arguments: { task: "What is 2 + 2?" } });
    expect(JSON.stringify(result)).toContain("It is 4.");
    await client.close();
    await server.stop();
    expect(statSync(place.at(file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(place.at(file), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it("has at least 32 bytes, and is a file", async () => {
    writeFileSync(place.at("short"), "short\n");
    mkdirSync(place.at("folder"));
    const errorOf = async (file: string): Promise<string> => {
      const host = new TestHost({ cwd: place.path });
      expect(await host.run(["serve", "--port", "0", "--secret-file", file])).toBe(2);
      return host.stderr.text;
    };
    expect(await errorOf("short")).toContain("The key in short is shorter than 32 bytes.");
    expect(await errorOf("folder")).toContain("The key in folder is a folder.");
  });
});
