import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  defineAgent,
  defineTool,
  moveSession,
  openSession,
  rulesVersion,
  systemClock,
  type Tool,
} from "@moora/agent";
import { newWriteHolder } from "@moora/agent/internal";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, inject, it, vi } from "vitest";
import { createDatabase } from "@moora/testbed/postgres/database";
import { parseLogTarget } from "../../src/cli/session/log-target.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

/** A command by itself: what it ends with and says. */
const said = (...args: readonly string[]) => saidBy(new TestHost({ cwd: place.path }), args);

/** A command two days from now. */
const saidLater = (...args: readonly string[]) => {
  const clock = { ...systemClock, now: () => systemClock.now() + 2 * 86_400_000 };
  return saidBy(Object.assign(new TestHost({ cwd: place.path }), { clock }), args);
};

async function saidBy(host: TestHost, args: readonly string[]) {
  const code = await host.run(args, "");
  return { code, out: host.stdout.text, err: host.stderr.text };
}

/** The lines of JSON that a command gives. */
async function rows(...args: readonly string[]): Promise<readonly unknown[]> {
  const { code, out, err } = await said(...args, "--json");
  expect(code, err).toBe(0);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("more sessions than a page has", () => {
  it("are listed page by page, each once and in order", async () => {
    const log = sqliteLog(place.at("many.db"));
    const agent = defineAgent({ llm: new MockLlmCaller([]) });
    const ids = Array.from({ length: 205 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    for (const id of ids) await (await openSession(agent, { log, id })).close();
    const list = vi.spyOn(Object.getPrototypeOf(log), "list");
    const { code, out } = await said("sessions", "--log", "many.db");
    expect(code).toBe(0);
    expect(out.match(/^\S+/gm)).toEqual(ids);
    expect(list).not.toHaveBeenCalled();
    list.mockRestore();
    await log.close();
  });
});

describe("a move that was interrupted", () => {
  const logs = ["--log", "own.db", "--archive", "old.db"];

  it.each([
    ["archive", "own.db", "old.db"],
    ["restore", "old.db", "own.db"],
  ])("is completed by %s, also where all originals are removed", async (command, first, other) => {
    expect((await said("run", "2+2", "--session", "ada", "--log", first)).code).toBe(0);
    const from = sqliteLog(place.at(first));
    const to = sqliteLog(place.at(other));
    const failing = withSessions(to, () => ({
      release: () => {
        throw new Error("The disk is full.");
      },
    }));
    await expect(moveSession(from, "ada", failing)).rejects.toThrow("full");
    await Promise.all([from.close(), to.close()]);
    const closed = await said("run", "1+1", "--session", "ada", "--log", other);
    expect(closed).toMatchObject({
      code: 5,
      err: expect.stringContaining("If it was interrupted, repeat it"),
    });
    expect(await said(command, "ada", ...logs)).toMatchObject({ code: 0, out: `ada is in ${other}.\n` });
    expect((await said(command, "ada", ...logs)).code).toBe(3);
    expect((await said("run", "1+1", "--session", "ada", "--log", other)).code).toBe(0);
  });
});

describe.each([
  ["SQLite, the default", []],
  ["SQLite, a file", ["--log", "own.db"]],
  ["JSONL, a folder", ["--log", "logs"]],
])("sessions in %s", (_, log) => {
  const cli = (...args: readonly string[]) => said(...args, ...log);

  beforeEach(async () => {
    await cli("run", "what is 2+2?", "--session", "ada");
  });

  it("are listed, and shown record by record", async () => {
    expect((await cli("sessions")).out).toMatch(/^ada +\d+ +Done .* = 4\.\n$/);
    const timeline = await cli("log", "ada");
    expect(timeline.out).toMatch(/^ +1 .*Idle +opened by host \d+\n +2 .*Planning +user: what is 2\+2\?/);
    expect(timeline.out).toMatch(/Acting +model calls call_1 .*; call_1 calculator started /);
    expect(timeline.out).toContain(
      "call_1 calculator returned 2+2 = 4; model call started, plan/1/2/1  [ToolSuccess, Continue]",
    );
    expect((await cli("log", "ada", "--from", "4")).out).toMatch(/^ +5 /);
    const then = await cli("show", "ada", "--at", "3");
    expect(then.out).toMatch(/^ada at record 3, .*Z\nstate +Acting, loop 1, step 1 of 50\n/);
    expect(then.out).toContain('call_1 calculator {"expression":"2+2"}: started, attempt 1');
    expect((await cli("show", "ada")).out).toContain("assistant: According to calculator: 2+2 = 4.");
  });

  it("are archived, restored, and pruned when they are old", async () => {
    const before = (await cli("export", "ada")).out;
    const archived = await cli("archive", "ada");
    expect(archived, archived.err).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^ada is in .*archive/),
    });
    expect((await cli("archive", "ada")).code).toBe(3);
    expect((await cli("show", "ada")).code).toBe(3);
    const restored = await cli("restore", "ada");
    expect(restored, restored.err).toMatchObject({ code: 0, out: expect.stringMatching(/^ada is in /) });
    expect(await cli("restore", "ada")).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /^moora: Session "ada" not found in (\S+)\. It is in \S+\.\nTo list the archive: moora sessions --log \1\nFor another archive: --archive WHERE\n$/,
      ),
    });
    expect((await cli("export", "ada")).out).toBe(before);
    expect((await cli("prune", "--older-than", "1d")).out).toBe("Nothing to prune.\n");
    const dry = await saidLater("prune", "--older-than", "1d", "--dry-run", ...log);
    expect(dry.out).toBe("ada  would be removed\n");
    const pruned = await saidLater("prune", "--older-than", "1d", "--archive", "old.db", "--json", ...log);
    expect(JSON.parse(pruned.out)).toEqual({ pruned: ["ada"], kept: [], incomplete: [], dryRun: false });
    expect((await said("show", "ada", "--log", "old.db")).code).toBe(0);
    expect((await cli("show", "ada")).code).toBe(3);
  });

  it("are named as closed in the list, and removed, where the move of another one of that name is refused", async () => {
    await cli("run", "what is 2+2?", "--session", "twin");
    await said("run", "what is 3+3?", "--session", "twin", "--log", "twins.db");
    for (const refused of [
      await cli("archive", "twin", "--archive", "twins.db"),
      await cli("restore", "twin", "--archive", "twins.db"),
    ]) {
      expect(refused.code).toBe(5);
      expect(refused.err).toContain(
        'The other log has a session "twin", or is the same log. Compare the two, and',
      );
      expect(refused.err).not.toContain("--to");
    }
    await using opened = sqliteLog(place.at("twins.db"));
    const session = await opened.open("twin");
    await session?.lease({ owner: newWriteHolder(), now: Date.now(), ttlMs: 1e12 });
    const twins = ["--log", "twins.db"];
    expect((await said("sessions", ...twins)).out).toMatch(/^twin +\d+ +SessionIncomplete /);
    const unfinished = await said("archive", "twin", ...twins, "--archive", "new.db");
    expect(unfinished).toMatchObject({ code: 5, err: expect.stringContaining("was never completed") });
    expect(await said("remove", "twin", ...twins)).toMatchObject({ code: 0, out: "Removed twin.\n" });
    expect((await said("remove", "twin", ...twins)).code).toBe(3);
    expect((await cli("remove", "twin")).code).toBe(0);
  });

  it.each([
    [["prune"], "Missing --older-than."],
    [
      ["prune", "--older-than", "30"],
      '--older-than must be a whole number above 0 with m, h or d, got "30".',
    ],
    [["archive", "ada", "--archive", "same"], "The archive is the log itself."],
  ])("%j is refused", async (args, message) => {
    const { code, err } = await said(...args, ...(args.includes("same") ? ["--log", "same"] : []));
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it("continue, and the next process that opens them finds the conversation", async () => {
    const more = await cli("run", "what is 3+3?", "--session", "ada");
    expect(more.out).toContain("= 6");
    const { out } = await cli("show", "ada");
    expect(out.match(/user: /g)).toHaveLength(2);
  });

  it("are verified, forked, compared, moved and run again", async () => {
    expect((await cli("verify", "ada")).out).toMatch(/^ada is intact: \d+ records, digest /);
    expect((await cli("fork", "ada", "--at", "3", "--to", "bob", "--open", "rerun")).code).toBe(0);
    const apart = await cli("diff", "ada", "bob");
    expect(apart.code).toBe(1);
    expect(apart.out).toMatch(
      /^bob begins with the first \d records of ada, apart from snapshots\.\nThen\n {2}ada: /,
    );
    expect((await cli("fork", "ada", "--to", "eve")).code).toBe(0);
    expect((await cli("diff", "ada", "eve")).out).toContain("ada and eve have the same records.\n");
    expect((await cli("run", "--session", "bob")).out).toContain("= 4");
    expect((await cli("export", "ada", "ada.moora")).code).toBe(0);
    expect((await cli("import", "ada.moora", "--to", "copy")).out).toMatch(/^copy has \d+ records\.\n$/);
    expect(await cli("diff", "ada", "copy")).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^ada and copy have the same records\.\nMessages, calls and answers are the same\.\n$/,
      ),
    });
    expect((await cli("verify", "copy")).code).toBe(0);
    expect((await cli("rerun", "ada")).out).toContain("Messages, calls and answers are the same.");
    expect((await cli("sessions")).out.match(/^\w+/gm)).toEqual(["ada", "bob", "copy", "eve"]);
  });

  it("print lines of JSON for programs", async () => {
    expect(await rows("sessions", ...log)).toMatchObject([{ id: "ada", state: "Done" }]);
    const records = await rows("log", "ada", ...log);
    expect(records.length).toBeGreaterThan(6);
    expect(records[1]).toMatchObject({ seq: 2, state: "Planning", input: { type: "user-message-received" } });
    expect(await rows("show", "ada", ...log)).toMatchObject([
      { seq: records.length, state: { version: 1 }, questions: [] },
    ]);
    expect(await rows("verify", "ada", ...log)).toMatchObject([{ ok: true, seq: records.length }]);
    expect(await rows("fork", "ada", "--at", "2", ...log)).toMatchObject([
      { id: "ada-fork", parent: { seq: 2 } },
    ]);
    expect(await rows("rerun", "ada", ...log)).toMatchObject([{ differences: [], unrecordedCalls: 0 }]);
  });

  it("are forked, and the output says what becomes of open work", async () => {
    const fork = async (to: string, ...options: readonly string[]) =>
      (await cli("fork", "ada", "--at", "5", "--to", to, ...options)).out;
    const first = "the first 5 of ada";
    const settled = `${first} and 1 for what was in progress. Work in progress`;
    expect(await fork("a")).toBe(`a has 6 records: ${settled} has what is recorded of it.\n`);
    expect(await fork("b", "--open", "rerun")).toContain(`4 records: 4 of ${first}. Work in progress runs`);
    expect(await fork("c", "--open", "close")).toBe(`c has 6 records: ${settled} is closed.\n`);
  });

  it("are forked after an approval, and the call is not run", async () => {
    writeFileSync(place.at("a.txt"), "the text\n");
    expect((await cli("run", "read a.txt", "--session", "eve", "--approve", "ask")).code).toBe(7);
    expect((await cli("approve", "eve", "call_1")).code).toBe(0);
    expect((await cli("fork", "eve", "--to", "bob")).code).toBe(0);
    expect((await cli("show", "bob", "--json")).out).toContain("Not run: the conversation was forked here.");
  });

  it("confirm an approval with the arguments that were approved", async () => {
    expect((await cli("run", "read a.txt", "--session", "eve", "--approve", "ask")).code).toBe(7);
    const approved = await cli("approve", "eve", "--args", '{"path":"b.txt"}');
    expect(approved.out).toMatch(/^Approved: call_1 read_file \{"path":"b\.txt"\}\. It is record \d+\.\n$/);
    expect((await cli("log", "eve")).out).toContain('approved with other arguments by ada: {"path":"b.txt"}');
  });
});

describe.each([
  ["SQLite, the default", []],
  ["SQLite, a file", ["--log", "own.db"]],
])("sessions in %s, which several processes share,", (_, log) => {
  const cli = (...args: readonly string[]) => said(...args, ...log);

  it("wait for decisions from anywhere, which bind to the call", async () => {
    writeFileSync(place.at("a.txt"), "the text\n");
    const host = new TestHost({ cwd: place.path, isTTY: true, env: { NO_COLOR: "1" } });
    const owner = host.run(["run", "read a.txt", "--session", "eve", "--approve", "ask", ...log]);
    await host.stderr.shows("Allow it?");
    const shown = await cli("show", "eve");
    expect(shown.out).toContain('Approve? call_1 read_file {"path":"a.txt"}');
    expect(await cli("approve", "eve", "call_7")).toMatchObject({
      code: 3,
      err: 'moora: Call "call_7" not found in session "eve". Open questions: call_1 read_file.\n',
    });
    const misfit = await cli("approve", "eve", "--args", '{"path": 7}');
    expect(misfit).toMatchObject({ code: 5, err: expect.stringContaining("not valid for read_file") });
    expect((await cli("approve", "eve", "--args", "{")).code).toBe(2);
    expect((await cli("answer", "eve", "call_1", "yes")).err).toContain(
      "waits for approval. Use one of\n  moora approve eve call_1",
    );
    expect((await cli("reject", "eve", "--reason", "not now", "--as", "bob")).out).toContain(
      "Rejected: call_1 read_file",
    );
    expect((await cli("approve", "eve", "call_1")).err).toContain("was already decided by bob: rejected");
    expect(await owner).toBe(0);
    expect(host.stdout.text).not.toContain("the text");
    expect((await cli("log", "eve")).out).toContain("call_1 read_file rejected by bob: not now");
  });

  it("are paused and resumed from anywhere", async () => {
    await cli("run", "what is 2+2?", "--session", "eve");
    expect((await cli("pause", "eve", "--reason", "Not now.")).out).toMatch(/^Paused\. It is record \d+/);
    expect(await cli("pause", "eve")).toMatchObject({
      code: 5,
      err: "moora: The session is paused already.\n",
    });
    expect((await cli("log", "eve")).out).toContain("paused: Not now.");
    expect((await cli("show", "eve")).out).toMatch(/^paused {4}since [^:]+:[^:]+:[^:]+: Not now\.$/m);
    expect((await cli("sessions")).out).toMatch(/^eve +\d+ +Done, paused /m);
    const terminal = new TestHost({ cwd: place.path, isTTY: true, env: { NO_COLOR: "1" } });
    const owner = terminal.run(["run", "what is 3+3?", "--session", "eve", ...log]);
    await terminal.stderr.shows("To continue it, in another terminal: moora resume eve");
    const logged = async (): Promise<string> => (await cli("log", "eve")).out;
    await expect.poll(logged, { timeout: 20_000 }).toContain("user: what is 3+3?");
    expect(terminal.stdout.text).not.toContain("6");
    expect((await cli("resume", "eve")).out).toMatch(/^Resumed\. It is record \d+/);
    expect(await owner, terminal.stderr.text).toBe(0);
    expect(terminal.stdout.text).toContain("= 6");
    expect(await cli("resume", "eve")).toMatchObject({
      code: 5,
      err: "moora: The session is not paused.\n",
    });
  });

  it("are canceled from anywhere, and accept the next message", async () => {
    const host = new TestHost({ cwd: place.path, isTTY: true, env: { NO_COLOR: "1" } });
    const owner = host.run(["run", "list the files", "--session", "eve", "--approve", "ask", ...log]);
    await host.stderr.shows("Allow it?");
    expect((await cli("cancel", "eve", "--reason", "enough")).out).toMatch(/^Canceled\. It is record/);
    expect(await owner).toBe(130);
    expect(await cli("cancel", "eve")).toMatchObject({
      code: 5,
      err: "moora: Nothing is in progress in this session.\n",
    });
    expect((await cli("run", "1+1", "--session", "eve", "--approve", "never")).out).toContain("= 2");
  });
});

describe("sessions in JSONL, a folder", () => {
  it("are refused to a second process, with what to use instead", async () => {
    writeFileSync(place.at("a.txt"), "the text\n");
    const logs = ["--log", "logs"];
    const host = new TestHost({ cwd: place.path, isTTY: true, env: { NO_COLOR: "1" } });
    const owner = host.run(["run", "read a.txt", "--session", "eve", "--approve", "ask", ...logs]);
    await host.stderr.shows("Allow it?");
    expect(await said("show", "eve", ...logs)).toMatchObject({
      code: 4,
      err: expect.stringMatching(/logs is open in another process, .* use sqliteLog for several processes/),
    });
    host.stdin.write("y\n");
    expect(await owner).toBe(0);
    expect((await said("show", "eve", ...logs)).code).toBe(0);
  });

  it("are moved to a SQLite file by one command", async () => {
    for (const id of ["ada", "eve"]) await said("run", "1+1", "--session", id, "--log", "logs");
    const moved = await saidLater("prune", "--log", "logs", "--older-than", "1m", "--archive", "own.db");
    expect(moved.out).toBe("ada  archived\neve  archived\n");
    expect((await said("show", "ada", "--log", "own.db")).code).toBe(0);
    expect((await said("sessions", "--log", "logs")).out).not.toContain("ada");
  });
});

describe("errors about a session name the problem", () => {
  it("if it does not exist, and create nothing", async () => {
    for (const args of [
      ["log"],
      ["show"],
      ["verify"],
      ["approve"],
      ["send", "x"],
      ["export"],
      ["rerun"],
      ["cancel"],
    ]) {
      const [name = "", ...more] = args;
      expect(await said(name, "ada", ...more), name).toMatchObject({
        code: 3,
        err: 'moora: Session "ada" not found in .moora/sessions.db. To list the sessions: moora sessions\n',
      });
    }
    expect((await said("diff", "ada", "bob", "--log", "other.db")).err).toBe(
      'moora: Session "ada" not found in other.db. To list the sessions: moora sessions --log other.db\n',
    );
    expect((await said("log", "ada", "--log", "other.db")).err).toContain("moora sessions --log other.db\n");
    expect(await said("sessions")).toMatchObject({ code: 0, out: "" });
    expect(readdirSync(place.path)).toEqual([]);
  });

  it("if arguments or values are missing or invalid", async () => {
    expect((await said("log")).err).toBe(
      'moora: Missing <session> for "moora log". Usage: moora log <session>\n',
    );
    expect((await said("diff", "a")).err).toBe(
      'moora: Missing <other> for "moora diff". Usage: moora diff <session> <other>\n',
    );
    expect((await said("log", "a", "b")).err).toBe(
      'moora: Too many arguments for "moora log". Usage: moora log <session>\n',
    );
    expect((await said("show", "a", "--at", "x")).err).toContain(
      '--at must be the number of a record, got "x".',
    );
    expect((await said("fork", "a", "--open", "x")).err).toContain("Use one of reuse, rerun, close.");
    expect((await said("log", "a", "--log", "mysql://host/db")).err).toContain(
      "--log is not a valid location for a log.",
    );
    writeFileSync(place.at("plain"), "");
    expect((await said("run", "1+1", "--session", "a", "--log", "plain")).err).toContain(
      "plain is not a folder.",
    );
    expect((await said("run", "1", "--tools", "plain.ts")).err).toContain(
      "The file plain.ts does not exist.",
    );
  });

  it("if a file exists, is missing, or has changed", async () => {
    await said("run", "1+1", "--session", "ada");
    await said("export", "ada", "a");
    expect(await said("export", "ada", "a")).toMatchObject({
      code: 5,
      err: "moora: The file a exists already.\n",
    });
    expect((await said("export", "ada", "/dev/null")).code).toBe(0);
    expect(await said("import", "nowhere")).toMatchObject({
      code: 3,
      err: "moora: The file nowhere does not exist.\n",
    });
    expect((await said("import", "a")).err).toContain("A session of this name exists already.");
    writeFileSync(place.at("b"), readFileSync(place.at("a"), "utf8").replace("= 2", "= 3"));
    expect(await said("import", "b", "--to", "b")).toMatchObject({
      code: 6,
      err: expect.stringContaining("damaged"),
    });
  });

  it("if its log is damaged: verify names the record", async () => {
    await said("run", "1+1", "--session", "ada", "--log", "logs");
    const file = place.at(
      "logs",
      readdirSync(place.at("logs")).find((name) => name.endsWith(".jsonl")) ?? "",
    );
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.with(3, (lines[3] ?? "").replace("plan", "plam")).join("\n"));
    const report = await said("verify", "ada", "--log", file);
    expect(report).toMatchObject({ code: 1, out: expect.stringContaining("ada, record 3: damaged.") });
    for (const name of ["log", "show", "rerun", "fork"]) {
      expect(await said(name, "ada", "--log", "logs")).toMatchObject({
        code: 6,
        err: expect.stringMatching(/^moora: The log is damaged: record 3 is /),
      });
    }
    expect((await said("run", "2+2", "--session", "ada", "--log", "logs")).code).toBe(6);
  });

  it("if its log is damaged: log shows the records before the damage", async () => {
    await said("run", "1+1", "--session", "ada", "--log", "own.db");
    const whole = (await said("log", "ada", "--log", "own.db")).out;
    {
      using database = new DatabaseSync(place.at("own.db"));
      database.exec("UPDATE moora_records SET body = body || ' ' WHERE seq = 4");
    }
    expect(await said("log", "ada", "--log", "own.db")).toMatchObject({
      code: 6,
      out: whole.split("\n").slice(0, 3).join("\n").concat("\n"),
      err: expect.stringContaining("record 4"),
    });
  });

  it("if the last append is incomplete: verify reports it and changes nothing", async () => {
    await said("run", "1+1", "--session", "ada", "--log", "logs");
    const names = readdirSync(place.at("logs"));
    const file = place.at("logs", names.find((name) => name.endsWith(".jsonl")) ?? "");
    appendFileSync(file, '{"torn');
    const bytes = readFileSync(file);
    const report = await said("verify", "ada", "--log", "logs");
    expect(report.code).toBe(0);
    expect(report.out).toMatch(
      /^ada is intact: .*\nAn append after record \d+ was not finished \(6 bytes\)\./,
    );
    expect(readFileSync(file)).toEqual(bytes);
  });

  it("if a fork needs records behind the damage: the message names the alternatives", async () => {
    await said("run", "1+1", "--session", "ada", "--log", "own.db");
    {
      using database = new DatabaseSync(place.at("own.db"));
      database.exec("UPDATE moora_records SET body = body || ' ' WHERE seq = 4");
    }
    expect((await said("fork", "ada", "--at", "1", "--to", "empty", "--log", "own.db")).code).toBe(0);
    expect(await said("fork", "ada", "--at", "3", "--log", "own.db")).toMatchObject({
      code: 6,
      err: expect.stringMatching(/record 4 .* Use --open rerun or --open close\.\n$/),
    });
    expect((await said("fork", "ada", "--at", "3", "--open", "rerun", "--log", "own.db")).code).toBe(0);
  });

  it("if a record was changed after it was written", async () => {
    await said("run", "1+1", "--session", "ada", "--log", "own.db");
    using database = new DatabaseSync(place.at("own.db"));
    database.exec(`UPDATE moora_records SET changes_digest = '${rulesVersion}-otherchange' WHERE seq = 4`);
    const report = await said("verify", "ada", "--log", "own.db");
    expect(report.code).toBe(1);
    expect(report.out).toContain("ada, record 4");
  });

  it("if a newer release wrote it: it can be listed, and is not written to", async () => {
    const log = sqliteLog(place.at("own.db"));
    await log.create("ada", JSON.stringify({ format: 99 }));
    await log.close();
    expect((await said("sessions", "--log", "own.db")).out).toContain("UnsupportedVersion");
    for (const args of [
      ["run", "1+1", "--session", "ada"],
      ["show", "ada"],
      ["send", "ada", "x"],
    ]) {
      expect(await said(...args, "--log", "own.db")).toMatchObject({
        code: 6,
        err: expect.stringContaining("A newer release wrote this log."),
      });
    }
  });

  it("and name the text that cannot be imported, not the log", async () => {
    writeFileSync(place.at("bad.jsonl"), "{}\n");
    expect(await said("import", "bad.jsonl")).toMatchObject({
      code: 6,
      err: expect.stringMatching(/^moora: bad\.jsonl cannot be imported\. This text is not/),
    });
  });

  it("and repeat the address of a database without its password, and with its user", () => {
    const shown = (text: string): string => parseLogTarget(text, place.path).shown;
    expect(shown("postgres://ada:sesame99@127.0.0.1:5499/moora?sslmode=disable&password=sesame99")).toBe(
      "postgres://ada@127.0.0.1:5499/moora?sslmode=disable",
    );
    expect(shown("postgresql://ada@db/moora")).toBe("postgresql://ada@db/moora");
    expect(shown("postgres://db/moora")).toBe("postgres://db/moora");
  });

  it("and do not show the password of a database", async () => {
    const { code, err } = await said("sessions", "--log", "postgres://user:sesame99@127.0.0.1:1/db");
    expect(code).toBe(6);
    expect(err).toContain("The log cannot be read or written");
    expect(err).not.toContain("sesame99");
  });
});

describe("a session that another process takes over", () => {
  it("is closed by the first one, whose results are rejected (D04)", async () => {
    const first = new TestHost({ cwd: place.path });
    const left = first.start(["chat", "--session", "ada"]);
    first.stdin.write("1+1\n");
    await first.stdout.shows("= 2");
    const second = Object.assign(new TestHost({ cwd: place.path }), { isOwnerGone: () => true });
    expect(await second.run(["run", "2+2", "--session", "ada"], "")).toBe(0);
    first.stdin.write("3+3\n");
    expect(await left).toBe(4);
    expect(first.stderr.text).toContain(`The session was taken over by ${second.owner}.`);
    expect((await said("show", "ada")).out).not.toContain("3+3");
  });
});

describe("sessions in PostgreSQL", () => {
  it("work as in other logs, with a URL from the environment", async () => {
    const url = await createDatabase(inject("postgresUrl"));
    const cli = async (...args: readonly string[]): Promise<string> => {
      const host = new TestHost({ cwd: place.path, env: { MOORA_LOG: url } });
      expect(await host.run(args, ""), host.stderr.text).toBe(0);
      return host.stdout.text;
    };
    expect(await cli("run", "what is 2+2?", "--session", "ada")).toContain("= 4");
    expect(await cli("sessions")).toMatch(/^ada +\d+ +Done/);
    expect(await cli("log", "ada")).toContain("call_1 calculator returned 2+2 = 4");
    expect(await cli("verify", "ada")).toContain("is intact");
    await cli("fork", "ada", "--at", "3", "--to", "bob", "--open", "rerun");
    expect(await cli("run", "--session", "bob")).toContain("= 4");
    expect(await cli("send", "ada", "1+1")).toMatch(/It is record \d+\./);
    expect(await cli("run", "--session", "ada")).toContain("= 2");
    expect(readdirSync(place.path)).toEqual([]);
    expect(await cli("archive", "bob", "--archive", "old.db")).toBe("bob is in old.db.\n");
    expect(await cli("sessions")).not.toContain("bob");
    expect(await cli("restore", "bob", "--archive", "old.db")).toMatch(/^bob is in postgres/);
    expect(await cli("verify", "bob")).toContain("is intact");
    expect(await cli("prune", "--older-than", "1m")).toBe("Nothing to prune.\n");
  });
});

describe("a session of another agent", () => {
  /** Asks a person for a number, and is answered by one. */
  const ask: Tool = (() => {
    const tool = defineTool({
      name: "ask",
      description: "Asks.",
      input: { type: "object", properties: {} },
      execute: () => "",
    });
    const answerSchema = JSON.stringify({ type: "number" });
    return { ...tool, definition: { ...tool.definition, asksHuman: true, answerSchema } };
  })();

  it("is answered from the command line by the schema of its question, and run by its own program", async () => {
    mkdirSync(place.at(".moora"));
    const log = sqliteLog(place.at(".moora", "sessions.db"));
    const llm = new MockLlmCaller([callsTools([{ name: "ask", arguments: {} }]), answers("Thank you.")]);
    const agent = defineAgent({ name: "survey", llm, tools: [ask] });
    const session = await openSession(agent, { log, id: "ada" });
    await session.send("Ask me.");
    await session.settled();
    const misfit = await said("answer", "ada", "call_1", "many");
    expect(misfit).toMatchObject({ code: 5, err: expect.stringContaining("decision.answer: ") });
    expect((await said("approve", "ada")).err).toContain(
      "waits for an answer. Use one of\n  moora answer ada call_1 ...",
    );
    expect((await said("answer", "ada", "call_1", "7")).code).toBe(0);
    await session.refresh();
    await session.running();
    expect(session.current().messages.at(-1)?.content).toBe("Thank you.");
    await session.close();
    await log.close();
    const stranger = await said("run", "1+1", "--session", "ada");
    expect(stranger.code).toBe(2);
    expect(stranger.err).toContain('belongs to the agent "survey"');
  });

  it("is refused by name and forked without a command, also with states that the command line does not have", async () => {
    const log = sqliteLog(place.at("shop.db"));
    const agent = defineAgent({
      name: "shop",
      llm: new MockLlmCaller([answers("It costs 5.")]),
      states: { Check: () => "Fine" },
      config: {
        graph: {
          states: ["Check"],
          rows: { Planning: { AnswerInvalid: "Check" }, Check: { Fine: "Done" } },
          terminals: [],
        },
      },
    });
    const session = await openSession(agent, { log, id: "ada" });
    await session.ask("How much?");
    await session.close();
    await log.close();
    const forked = await said("fork", "ada", "--to", "what-if", "--log", "shop.db");
    expect(forked.code, forked.err).toBe(0);
    expect(forked.err).toContain('To continue: open what-if in the program of the agent "shop"');
    const stranger = await said("run", "1+1", "--session", "ada", "--log", "shop.db");
    expect(stranger).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        'This session belongs to the agent "shop", not to "moora". ' +
          "Run it with the module of that agent: --agent FILE, or moora worker --agent FILE --log shop.db",
      ),
    });
  });

  it("of another program is decided, and the command to run it names the module of its agent", async () => {
    const log = sqliteLog(place.at("shop.db"));
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      input: { type: "object", properties: {} },
      approval: "always",
      execute: () => "paid",
    });
    const llm = new MockLlmCaller([callsTools([{ name: "pay", arguments: {} }]), answers("Done.")]);
    const session = await openSession(defineAgent({ name: "shop", llm, tools: [pay] }), {
      log,
      id: "ada",
      onError: () => undefined,
    });
    await session.send("Pay.");
    await expect.poll(() => session.questions()).toHaveLength(1);
    await session.close();
    await log.close();
    const approved = await said("approve", "ada", "--log", "shop.db");
    expect(approved).toMatchObject({
      code: 0,
      err: expect.stringContaining(
        'If no process runs the session: moora run --session ada --agent FILE --log shop.db, with the module of the agent "shop"\n',
      ),
    });
  });

  it("is shown with a call that waits for the resume, if it was opened while it is paused", async () => {
    const log = sqliteLog(place.at("shop.db"));
    const llm = new MockLlmCaller([callsTools([{ name: "count", arguments: {} }]), answers("Done.")]);
    const isCounting = Promise.withResolvers<undefined>();
    const count = defineTool({
      name: "count",
      description: "Counts.",
      replay: "safe",
      input: { type: "object", properties: {} },
      execute: async (_input, { signal }) => {
        isCounting.resolve(undefined);
        await new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        });
        return "";
      },
    });
    const agent = defineAgent({ name: "shop", llm, tools: [count] });
    const session = await openSession(agent, { log, id: "ada" });
    await session.send("Count.");
    await isCounting.promise;
    await session.pause("Not now.");
    await session.close();
    await (await openSession(agent, { log, id: "ada" })).close();
    await log.close();
    const { out } = await said("show", "ada", "--log", "shop.db");
    expect(out).toContain("call_1 count {}: waits for the resume, attempt ");
  });
});
