import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { source } from "./child.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  mkdirSync(place.at("keys"));
});
afterEach(() => place[Symbol.dispose]());

const keyForm = /^moora-mcp-secret-[0-9a-f]{64}\n$/;

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
    expect(readFileSync(place.at(file), "utf8")).toMatch(keyForm);
  });

  it("has at least 32 bytes, and is a file", async () => {
    writeFileSync(place.at("short"), "short\n", { mode: 0o600 });
    mkdirSync(place.at("folder"));
    expect(await errorOf("short")).toContain(
      "The key in short is shorter than 32 bytes. Remove the file to have a new key created",
    );
    expect(await errorOf("folder")).toContain("The key in folder is a folder.");
  });

  it.each(["644", "640", "620", "604"])(
    "is refused where others have a permission on it: %s",
    async (mode) => {
      const key = "k".repeat(32);
      writeFileSync(place.at("my key"), key);
      chmodSync(place.at("my key"), Number.parseInt(mode, 8));
      expect(await errorOf("my key")).toBe(
        `moora: The key in my key is open to other users: its mode is 0${mode}. Run: chmod 600 'my key'\n`,
      );
      chmodSync(place.at("my key"), 0o600);
      await (await started("0", ["--secret-file", "my key"])).stop();
      expect(readFileSync(place.at("my key"), "utf8")).toBe(key);
    },
  );

  it("is created only in a folder that exists", async () => {
    expect(await errorOf("none/below/mcp", 3)).toContain(
      `The folder ${place.at("none/below")} of none/below/mcp does not exist. Create it first.`,
    );
    expect(existsSync(place.at("none"))).toBe(false);
  });

  it("is not replaced where it is shared by a link that leads nowhere", async () => {
    symlinkSync("keys/none", place.at("link"));
    expect(await errorOf("link")).toContain("The key in link does not exist.");
    expect(readdirSync(place.at("keys"))).toEqual([]);
  });

  it("is there as a whole or not at all, where it cannot be written", async () => {
    const run = [process.execPath, "--conditions=@moora/source", join(source, "main.ts")];
    // No byte can be written to any file, as on a full disk.
    const { stderr } = spawnSync(
      "sh",
      ["-c", 'ulimit -f 0; exec "$@"', "sh", ...run, "serve", "--port", "0", ...inKeys, ...inPostgres],
      { cwd: place.path, env: { PATH: process.env["PATH"] }, encoding: "utf8" },
    );
    expect(stderr).toContain("The key in keys/mcp cannot be used: EFBIG.");
    expect(readdirSync(place.at("keys"))).toEqual([]);
    await (await started("0", inKeys)).stop();
    expect(readFileSync(place.at("keys/mcp"), "utf8")).toMatch(keyForm);
  });
});

const inKeys = ["--secret-file", "keys/mcp"];
const inPostgres = ["--log", "postgres://localhost/none"];

/** The error of a server with this file. */
async function errorOf(file: string, code: number = 2): Promise<string> {
  const host = new TestHost({ cwd: place.path });
  expect(
    await host.run(["serve", "--port", "0", "--provider", "local", "--model", "x", "--secret-file", file]),
  ).toBe(code);
  return host.stderr.text;
}
