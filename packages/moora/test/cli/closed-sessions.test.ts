import { moveSession } from "@moora/agent";
import { newWriteHolder } from "@moora/agent/internal";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(async () => {
  place = new TemporaryFolder();
  await said("run", "2+2", "--session", "ada", "--log", "own.db");
});
afterEach(() => place[Symbol.dispose]());

/** The exit code of a command, and what it prints. */
async function said(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  const code = await host.run(args, "");
  return { code, out: host.stdout.text, err: host.stderr.text };
}

/** What an interrupted fork leaves: a session that is closed while its records are written. */
async function leaveIncomplete(): Promise<void> {
  await using log = sqliteLog(place.at("own.db"));
  await (await log.open("ada"))?.lease({ owner: newWriteHolder(), now: Date.now(), ttlMs: 1e12 });
}

const full = () => {
  throw new Error("The disk is full.");
};

/** A move that ends before the original is removed, or after that, before the copy is opened. */
async function interruptMove(first: string, other: string, end: "removeAt" | "release"): Promise<void> {
  await using from = sqliteLog(place.at(first));
  await using to = sqliteLog(place.at(other));
  const [source, target] =
    end === "removeAt"
      ? [withSessions(from, () => ({ removeAt: full })), to]
      : [from, withSessions(to, () => ({ release: full }))];
  await expect(moveSession(source, "ada", target)).rejects.toThrow("full");
}

const own = ["--log", "own.db"];
const old = ["--log", "old.db"];

describe("a session that a fork or an import has not completed", () => {
  const never = "The session ada was never completed";

  it("is not intact", async () => {
    await leaveIncomplete();
    const { code, out } = await said("verify", "ada", ...own);
    expect([code, out]).toEqual([1, expect.stringContaining(never)]);
    expect(out).not.toContain("intact");
    const json = await said("verify", "ada", "--json", ...own);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      reason: "incomplete",
      message: expect.stringContaining(never),
    });
  });

  it("is shown as one that was never completed", async () => {
    await leaveIncomplete();
    expect(await said("show", "ada", ...own)).toMatchObject({ code: 0, out: expect.stringContaining(never) });
    const { out } = await said("show", "ada", "--json", ...own);
    expect(JSON.parse(out)).toMatchObject({ closed: { code: "SessionIncomplete" } });
    const { code, err } = await said("log", "ada", ...own);
    expect([code, err]).toEqual([0, expect.stringContaining(never)]);
  });
});

describe("a session that a move has closed", () => {
  const unfinished = "The session ada is closed: a move of it has not ended.";

  it("is shown as closed, beside its records, which are intact", async () => {
    await interruptMove("own.db", "old.db", "release");
    const verified = await said("verify", "ada", ...old);
    expect(verified.code).toBe(0);
    expect(verified.out).toMatch(/^ada is intact: \d+ records/);
    expect(verified.out).toContain(unfinished);
    expect((await said("show", "ada", ...old)).out).toContain(unfinished);
    const { out, err } = await said("log", "ada", ...old);
    expect(out).toContain("2+2");
    expect(err).toContain(unfinished);
    for (const command of ["verify", "show"]) {
      const json = await said(command, "ada", "--json", ...old);
      expect(JSON.parse(json.out)).toMatchObject({ closed: { code: "MoveUnfinished" } });
    }
  });

  it("is not shown as closed when the move has ended", async () => {
    await interruptMove("own.db", "old.db", "release");
    expect((await said("archive", "ada", "--archive", "old.db", ...own)).code).toBe(0);
    for (const command of ["verify", "show", "log"]) {
      const { out, err } = await said(command, "ada", ...old);
      expect(`${out}${err}`).not.toContain("closed");
    }
  });
});

describe("a session without records", () => {
  it("is shown without a time", async () => {
    expect((await said("show", "ada", "--at", "0", ...own)).out).toMatch(/^ada at record 0\nstate +Idle/);
  });
});

describe("a closed original whose copy is lost", () => {
  it.each([
    ["archive", "own.db", "old.db"],
    ["restore", "old.db", "own.db"],
  ] as const)("is moved by %s --copy-lost, as each refused command says", async (move, first, other) => {
    if (move === "restore")
      expect((await said("archive", "ada", ...own, "--archive", "old.db")).code).toBe(0);
    await interruptMove(first, other, "removeAt");
    expect((await said("remove", "ada", "--log", other)).code).toBe(0);
    const logs = [...own, "--archive", "old.db"];
    const hint = `If its copy is lost: moora ${move} ada --copy-lost --archive old.db --log own.db`;
    const refused = await said(move, "ada", ...logs);
    expect([refused.code, refused.err]).toEqual([5, expect.stringContaining(hint)]);
    const moved = await said(move, "ada", "--copy-lost", ...logs);
    expect(moved).toEqual({ code: 0, out: `ada is in ${other}.\n`, err: "" });
    expect((await said("show", "ada", "--log", first)).code).toBe(3);
    expect((await said("verify", "ada", "--log", other)).code).toBe(0);
    expect((await said("run", "1+1", "--session", "ada", "--log", other)).code).toBe(0);
  });

  it("is named by the commands that find it as the other side of their move, or cannot remove it", async () => {
    await interruptMove("own.db", "old.db", "removeAt");
    await said("remove", "ada", ...old);
    const hint = "If its copy is lost: moora archive ada --copy-lost";
    for (const refused of [
      await said("restore", "ada", ...own, "--archive", "old.db"),
      await said("remove", "ada", ...own),
      await said("export", "ada", ...own),
    ])
      expect([refused.code, refused.err]).toEqual([5, expect.stringContaining(hint)]);
  });

  it("is not moved to a third log while its copy is there, without the option", async () => {
    await interruptMove("own.db", "old.db", "removeAt");
    const third = [...own, "--archive", "third.db"];
    expect((await said("archive", "ada", ...third)).code).toBe(5);
    expect((await said("archive", "ada", ...own, "--archive", "old.db", "--copy-lost")).err).toBe("");
    expect((await said("show", "ada", ...own)).code).toBe(3);
  });
});
