import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const module = join(import.meta.dirname, "asking-tools.ts");
const pays = calls(["pay", { euros: 5 }]);

/** A command without a terminal. */
async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

/** A session in which a call waits for approval. */
const openCall = async (provider: FakeProvider, ...log: readonly string[]) =>
  await cli("run", "pay", "--session", "ada", "--tools", module, ...log, ...provider.options);

describe.each([
  ["SQLite, the default", []],
  ["JSONL, a folder", ["--log", "logs"]],
])("a session in %s whose open call needs a tool of --tools", (_, log) => {
  it("does not run without them: the call waits, and the error names the way to load them", async () => {
    await using provider = await FakeProvider.start(pays, says("Paid."));
    expect((await openCall(provider, ...log)).code).toBe(7);
    const approved = await cli("approve", "ada", ...log);
    expect(approved.err).toContain(`moora run --session ada ${[...log, "--tools", module].join(" ")}\n`);
    const before = (await cli("log", "ada", ...log)).out;
    const without = await cli("run", "--session", "ada", ...log, ...provider.options);
    expect(without.code).toBe(2);
    expect(without.err).toContain(
      'moora: Session "ada" has open calls of tools that are not loaded: call_1 pay. ' +
        `Load them with moora run --session ada ${[...log, "--tools", module, ...provider.options].join(" ")}\n` +
        `To cancel the calls instead: moora cancel ada${log.map((word) => ` ${word}`).join("")}\n`,
    );
    expect((await cli("chat", "--session", "ada", ...log)).code).toBe(2);
    expect((await cli("log", "ada", ...log)).out).toBe(before);
    const loaded = await cli("run", "--session", "ada", "--tools", module, ...log, ...provider.options);
    expect(loaded).toMatchObject({ code: 0, out: "Paid.\n" });
    expect(JSON.stringify(provider.bodies[1])).toContain("paid {");
  });

  it("is listed as before: the tools file is not a session", async () => {
    await using provider = await FakeProvider.start(pays);
    await openCall(provider, ...log);
    expect((await cli("sessions", ...log)).out.match(/^\w+/gm)).toEqual(["ada"]);
  });
});

describe("the tools of a session", () => {
  it("are named if it continues without them", async () => {
    await using provider = await FakeProvider.start(says("Hello."), says("Hello again."));
    await cli("run", "hello", "--session", "ada", "--tools", module, ...provider.options);
    const again = await cli("run", "again", "--session", "ada", ...provider.options);
    expect(again).toMatchObject({ code: 0, out: "Hello again.\n" });
    expect(again.err).toContain(
      `Without the tools that this session used last. To load them: --tools ${module}\n`,
    );
  });

  it("are kept by a fork, but not by an imported session", async () => {
    await using provider = await FakeProvider.start(pays);
    await openCall(provider);
    expect((await cli("fork", "ada", "--to", "bob")).err).toContain(
      `To continue: moora chat --session bob --tools ${module}\n`,
    );
    await cli("export", "ada", "ada.moora");
    await cli("import", "ada.moora", "--to", "eve");
    const moved = await cli("run", "--session", "eve", ...provider.options);
    expect(moved.code).toBe(2);
    expect(moved.err).toContain(
      "that are not loaded: call_1 pay. Use --tools FILE with the module that exports them, or --mcp with the server that has them.\n",
    );
  });

  it("are not loaded from a file that does not exist anymore", async () => {
    await using provider = await FakeProvider.start(pays);
    mkdirSync(place.at("own"));
    writeFileSync(place.at("own", "tools.ts"), `export { tools } from ${JSON.stringify(module)};\n`);
    await cli("run", "pay", "--session", "ada", "--tools", "own/tools.ts", ...provider.options);
    renameSync(place.at("own"), place.at("other"));
    const gone = await cli("run", "--session", "ada", ...provider.options);
    expect(gone.err).toContain(
      `They were last loaded from ${place.at("own", "tools.ts")}, which does not exist anymore. Use --tools FILE.\n`,
    );
  });

  it("that have changed while a call is open are reported", async () => {
    await using provider = await FakeProvider.start(pays);
    const file = place.at("tools.ts");
    writeFileSync(file, `export { tools } from ${JSON.stringify(module)};\n`);
    const run = ["run", "--session", "ada", "--tools", "tools.ts", ...provider.options];
    await cli(...run, "pay");
    writeFileSync(file, `export { tools } from ${JSON.stringify(module)}; // changed\n`);
    expect((await cli(...run)).err).toContain(`${file} has changed since this session used it last.\n`);
    expect((await cli(...run)).err).not.toContain("has changed");
  });

  it("that another module exports are named in the error", async () => {
    await using provider = await FakeProvider.start(pays);
    await openCall(provider);
    writeFileSync(
      place.at("other.ts"),
      `import { tools as all } from ${JSON.stringify(module)};\nexport const tools = all.slice(0, 1);\n`,
    );
    const other = await cli("run", "--session", "ada", "--tools", "other.ts", ...provider.options);
    expect(other.code).toBe(2);
    expect(other.err).toContain(
      `${place.at("other.ts")} does not export them. Use --tools with the module that does.`,
    );
  });

  it("include fetch_url, which an option allows", async () => {
    await using provider = await FakeProvider.start(calls(["fetch_url", { url: "http://127.0.0.1/" }]));
    await cli("run", "read", "--session", "ada", "--allow-fetch", ...provider.options);
    expect((await cli("run", "--session", "ada", ...provider.options)).err).toContain(
      "that are not loaded: call_1 fetch_url. Load it with --allow-fetch.\n",
    );
  });
});

describe("the folder .moora", () => {
  it("and everything in it is for its owner only", async () => {
    await using provider = await FakeProvider.start(pays);
    await openCall(provider);
    expect(statSync(place.at(".moora")).mode & 0o777).toBe(0o700);
    const folder = place.at(".moora", "sessions.db.tools");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = readdirSync(folder);
    expect(files).toHaveLength(1);
    expect(statSync(join(folder, files[0] ?? "")).mode & 0o777).toBe(0o600);
  });
});
