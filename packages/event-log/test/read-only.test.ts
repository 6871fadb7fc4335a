import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { jsonlLog } from "../src/jsonl.ts";
import { sqliteLog, sqliteMemoryStore } from "../src/sqlite.ts";
import { bodies, appendBodies, snapshotOf } from "../src/testing/index.ts";
import { Child } from "@moora/testbed/child";
import { pathOf, TemporaryDirectory } from "@moora/testbed/stores";

const places: TemporaryDirectory[] = [];

afterEach(() => {
  for (const temporary of places.splice(0)) {
    chmodSync(temporary.path, 0o700);
    temporary[Symbol.dispose]();
  }
});

/** A log with three records, a lease and a snapshot in the session "a", closed. Returns its path. */
async function logIn(
  store: string,
): Promise<{ readonly temporary: TemporaryDirectory; readonly path: string }> {
  const temporary = new TemporaryDirectory();
  places.push(temporary);
  const path = store === "jsonl" ? temporary.path : temporary.file("log.db");
  const log = store === "jsonl" ? jsonlLog(path) : sqliteLog(path);
  const session = await log.create("a", "{}");
  await appendBodies(session, ...bodies(3));
  await session.lease({ owner: "x", now: 0, ttlMs: 10 });
  await session.saveSnapshot(snapshotOf(2));
  await log.close();
  return { temporary, path };
}

/** Removes write permission from the files and their folder. */
function protect({ path }: TemporaryDirectory, fileMode = 0o444): void {
  for (const name of readdirSync(path)) {
    const file = join(path, name);
    chmodSync(file, statSync(file).isDirectory() ? 0o555 : fileMode);
  }
  chmodSync(path, 0o555);
}

/** Runs the other user, and returns what it reports. */
async function asOtherUser(store: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const child = new Child(`${import.meta.dirname}/children/other-user.ts`, store, path);
  await child.ended();
  return Object.assign({}, ...child.lines.map((line): unknown => JSON.parse(line)));
}

describe.each(["jsonl", "sqlite"])("a %s log without write permission", (store) => {
  it("can be read by every method; writes fail with the path and change nothing", async () => {
    const { temporary, path } = await logIn(store);
    protect(temporary);
    const before = readdirSync(temporary.path);
    const found = await asOtherUser(store, path);
    expect(found).toMatchObject({
      log: "closed",
      read: 3,
      inspect: 3,
      checkUpTo: "nothing",
      snapshot: 2,
      currentLease: { owner: "x", until: 10 },
      watch: "nothing",
      list: ["a"],
      page: store === "jsonl" ? "nothing" : ["a"],
      called: store === "jsonl" ? "nothing" : 0,
      notices: [],
    });
    const refused = { code: "LogWrite", message: expect.stringContaining(path) };
    for (const write of ["append", "lease", "saveSnapshot", "create", "remove"])
      expect(found[write], write).toEqual(refused);

    expect(readdirSync(temporary.path)).toEqual(before);
  });
});

describe("memories without write permission", () => {
  it("are read; a write fails", async () => {
    const temporary = new TemporaryDirectory();
    places.push(temporary);
    const path = temporary.file("memories.db");
    const store = sqliteMemoryStore(path);
    await store.remember("ada", { id: "1", text: "Prefers tea.", at: 1 });
    await store.close();
    protect(temporary);
    expect(await asOtherUser("memories", path)).toMatchObject({
      log: "closed",
      recall: 1,
      forgetUser: { code: "LogWrite" },
    });
  });
});

describe("a JSONL file without read permission", () => {
  it("is an error with its path, and the list skips it with a notice", async () => {
    const { temporary, path } = await logIn("jsonl");
    const log = jsonlLog(path);
    await appendBodies(await log.create("b", "{}"), "{}");
    await log.close();
    protect(temporary);
    chmodSync(pathOf(path, "a"), 0o000);
    const found = await asOtherUser("jsonl", path);
    expect(found["log"]).toEqual({ code: "LogWrite", message: expect.stringContaining(pathOf(path, "a")) });
    expect(found["list"]).toEqual(["b"]);
    expect(found["notices"]).toMatchObject([{ type: "unreadable-session" }]);
  });
});

describe("a SQLite file without read permission", () => {
  it("is an error with its path", async () => {
    const { temporary, path } = await logIn("sqlite");
    protect(temporary, 0o000);
    const found = await asOtherUser("sqlite", path);
    expect(found["log"]).toEqual({ code: "LogWrite", message: expect.stringContaining(path) });
  });
});
