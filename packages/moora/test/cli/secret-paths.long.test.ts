import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, openSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { planner } from "@moora/planner";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

const adaToken = "ada-token-5f1d9c2e8b";
const bobToken = "bob-token-7a6b5c4d3e";
const diagnosis = "diagnosis-41c7";
const users = [
  { user: "ada", token: adaToken },
  { user: "bob", token: bobToken },
];

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
  writeFileSync(place.at("users.json"), JSON.stringify({ users }));
  writeFileSync(place.at("notes.txt"), "The answer is 42.\n");
  symlinkSync("users.json", place.at("link-to-users"));
});
afterEach(() => place[Symbol.dispose]());

/** A server for ada and bob in the folder. */
async function started(args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  const ended = host.start(["serve", "--port", "0", "--auth", "users.json", ...args]);
  await host.stdout.shows("Listening on ");
  const [, url = ""] = /Listening on (\S+)\. /.exec(host.stdout.text) ?? [];
  const ask = async (path: string, token: string, body?: object): Promise<Response> =>
    await fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  /** Sends a task in a new session, and resolves with all that the session has when its answer is there. */
  const answerTo = async (token: string, content: string): Promise<string> => {
    const created = await ask("/agents/moora/sessions", token, {});
    const { id } = (await created.json()) as { id: string };
    await ask(`/sessions/${id}/messages`, token, { content });
    for (;;) {
      const session = await (await ask(`/sessions/${id}`, token)).text();
      if (/"type":"(Done|Error)"/.test(session)) return session;
    }
  };
  const stop = async (): Promise<void> => {
    host.interrupt();
    await ended;
  };
  return { answerTo, stop };
}

/** Every file below the folder, but those of the user. */
const secretFiles = (): readonly string[] =>
  readdirSync(place.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "notes.txt")
    .map((entry) => join(entry.parentPath, entry.name).slice(place.path.length + 1));

describe("the file tools of moora serve --auth", () => {
  it.each<[string, readonly string[]]>([
    ["the default log", []],
    ["a SQLite file", ["--log", "s.db"]],
    ["a folder of JSONL files", ["--log", "logs"]],
    ["JSONL files in the root itself", ["--log", "."]],
  ])("show no user the tokens or the sessions of another, with %s", async (_, args) => {
    const { answerTo, stop } = await started(args);
    await answerTo(adaToken, `My diagnosis is ${diagnosis}`);
    expect(secretFiles().length).toBeGreaterThan(1);
    const asked = [
      ...[...secretFiles(), "link-to-users"].map((file) => `read "${file}"`),
      "search diagnosis",
      "search token",
      "list .",
      "list .moora",
      "list logs",
    ];
    for (const task of asked) {
      const session = await answerTo(bobToken, task);
      expect(session, task).not.toMatch(new RegExp(`${adaToken}|${bobToken}|${diagnosis}`));
      expect(session, task).not.toMatch(/\.(db|json)\S* \(\d/);
    }
    expect(await answerTo(bobToken, "read notes.txt")).toContain("The answer is 42.");
    await stop();
  });
});

describe("logs of earlier commands in the root", () => {
  it.each([
    ["the folder of another --log", ["--log", "old"]],
    ["a folder below others", ["--log", "sub/deep/old"]],
    ["a SQLite file", ["--log", "old.db"]],
    ["a SQLite file without the usual name, in a folder", ["--log", "sub/old.sqlite3"]],
  ])("are not read by the file tools of a server: %s", async (_, args) => {
    mkdirSync(place.at("sub"));
    const earlier = ["run", `My diagnosis is ${diagnosis}`, "--session", "ada", ...args];
    expect(await new TestHost({ cwd: place.path }).run(earlier)).toBe(0);
    const files = secretFiles();
    for (const file of files.filter((name) => name.endsWith(".jsonl")))
      copyFileSync(place.at(file), place.at("sub", "copy.bak"));
    const { answerTo, stop } = await started([]);
    for (const task of [...files, "sub/copy.bak"].map((file) => `read "${file}"`))
      expect(await answerTo(bobToken, task), task).not.toContain(diagnosis);
    expect(await answerTo(bobToken, "search diagnosis")).not.toContain(diagnosis);
    await stop();
  });
});

/** The module of an agent whose file tools read the folder, without `exclude`. */
function writeModule(): void {
  const index = JSON.stringify(join(import.meta.dirname, "../../src/index.ts"));
  const root = JSON.stringify(place.path);
  writeFileSync(
    place.at("agent.mjs"),
    `import { defineAgent, fileTools, planner } from ${index};
export const agent = defineAgent({ name: "moora", llm: planner(), tools: fileTools({ root: ${root} }) });`,
  );
}

describe("the file tools of a module, which gives them no paths to exclude", () => {
  it("show no user the tokens, the sessions of another and the key of a server", async () => {
    writeModule();
    writeFileSync(place.at("key"), diagnosis.repeat(5), { mode: 0o600 });
    const { answerTo, stop } = await started([
      "--agent",
      "agent.mjs",
      "--log",
      "logs",
      "--secret-file",
      "key",
    ]);
    await answerTo(adaToken, `My diagnosis is ${diagnosis}`);
    for (const task of [...secretFiles(), "link-to-users"].map((file) => `read "${file}"`)) {
      if (task === "read agent.mjs") continue;
      expect(await answerTo(bobToken, task), task).not.toMatch(new RegExp(`${adaToken}|${diagnosis}`));
    }
    expect(await answerTo(bobToken, "read notes.txt")).toContain("The answer is 42.");
    await stop();
  });

  it("do not read what --exclude names", async () => {
    writeModule();
    mkdirSync(place.at("keys"));
    for (const file of ["keys/own.pem", "keys/b.txt"]) writeFileSync(place.at(file), diagnosis);
    const { answerTo, stop } = await started(["--agent", "agent.mjs", "--exclude", "**/*.pem"]);
    expect(await answerTo(bobToken, "read keys/own.pem")).toContain("is excluded");
    expect(await answerTo(bobToken, "read keys/b.txt")).toContain(diagnosis);
    await stop();
  });

  it.each([[[]], [["--agent", "agent.mjs"]]])(
    "of a worker in the folder of a server show neither its users nor its key: %j",
    async (args) => {
      writeModule();
      const { answerTo, stop } = await started(["--secret-file", "key"]);
      await answerTo(adaToken, "1 + 1");
      await stop();
      const host = new TestHost({ cwd: place.path });
      const ended = host.start(["worker", ...args]);
      await host.stdout.shows("Working on the sessions of moora");
      for (const file of ["users.json", "key", "notes.txt"]) {
        const session = await workerAnswers(`read "${file}"`);
        expect(session).not.toMatch(new RegExp(`${adaToken}|${bobToken}|moora-mcp-secret`));
        expect(session).toContain(file === "notes.txt" ? "The answer is 42." : "is excluded");
      }
      host.interrupt();
      await ended;
    },
  );
});

/** Posts a task in a new session of the log, and resolves with all that the session has when a worker has answered. */
async function workerAnswers(task: string): Promise<string> {
  await using log = sqliteLog(place.at(".moora/sessions.db"));
  const agent = defineAgent({ name: "moora", llm: planner() });
  await (await openSession(agent, { log, id: task })).close();
  await using poster = await openSession(agent, { log, id: task, access: "post" });
  const { promise, resolve } = Promise.withResolvers<string>();
  const stop = poster.onInput(() => {
    const session = JSON.stringify(poster.current());
    if (/"type":"(Done|Error)"/.test(session)) resolve(session);
  });
  await poster.send(task);
  return await promise.finally(stop);
}

describe("the file tools of moora run", () => {
  it("keep the sessions, the tokens and the configuration of MCP servers from the model", async () => {
    mkdirSync(place.at("sub", ".moora"), { recursive: true });
    writeFileSync(place.at("servers.json"), JSON.stringify({ mcpServers: {} }));
    writeFileSync(place.at("sub", ".moora", "mcp.json"), diagnosis);
    await new TestHost({ cwd: place.path }).run(["run", diagnosis, "--session", "ada"]);
    const paths = [
      ".moora/sessions.db",
      "servers.json",
      "sub/.moora/mcp.json",
      "link-to-users",
      "sub/../users.json",
    ];
    await using provider = await FakeProvider.start(
      calls(
        ...paths.map((path): [string, object] => ["read_file", { path }]),
        ["search_files", { query: diagnosis }],
        ["list_files", { recursive: true }],
      ),
      says("Done."),
    );
    const host = new TestHost({ cwd: place.path });
    expect(
      await host.run([
        "run",
        "x",
        "--mcp-config",
        "servers.json",
        "--exclude",
        "users.json",
        ...provider.options,
      ]),
    ).toBe(0);
    const body = JSON.stringify(provider.bodies[1]);
    expect(body.match(/is excluded: it must not be read\./g)).toHaveLength(paths.length);
    expect(body).toContain("No line matches");
    expect(body).not.toMatch(/\.(db|json)\S* \(\d/);
  });

  it("count the paths of --exclude from the folder of --root, and from the current one", async () => {
    mkdirSync(place.at("root", "data"), { recursive: true });
    const paths = [".env", "data/a.key", "own.txt", "b.txt"];
    for (const path of paths) writeFileSync(place.at("root", path), diagnosis);
    await using provider = await FakeProvider.start(
      calls(...paths.map((path): [string, object] => ["read_file", { path }])),
      says("Done."),
    );
    const excluded = [".env", "*/*.key", "root/own.txt"].flatMap((path) => ["--exclude", path]);
    const host = new TestHost({ cwd: place.path });
    expect(await host.run(["run", "x", "--root", "root", ...excluded, ...provider.options])).toBe(0);
    const body = JSON.stringify(provider.bodies[1]);
    expect(body.match(/is excluded: it must not be read\./g)).toHaveLength(3);
    expect(body.split(diagnosis)).toHaveLength(2);
  });

  it("refuse a root that is kept from them", async () => {
    mkdirSync(place.at(".moora"));
    const host = new TestHost({ cwd: place.path });
    expect(await host.run(["run", "x", "--root", ".moora"])).toBe(2);
    expect(host.stderr.text).toContain("it has sessions or secrets. Name another one with --root.");
  });
});
