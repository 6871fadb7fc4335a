import nodeFileSystem, {
  copyFileSync,
  linkSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { describe, expect, it } from "vitest";
import type { EventLog, SessionLog } from "../src/index.ts";
import { type FileSystem, jsonlLog } from "../src/jsonl.ts";
import { appendBodies, headOf, recordsAfter } from "../src/testing/index.ts";
import { noNotice, pathOf, TemporaryDirectory } from "@moora/testbed/stores";

/** A log without syncs in a temporary directory, and the number of its files that this process has open. */
class Opened implements Disposable {
  readonly temporary = new TemporaryDirectory();
  readonly calls: string[] = [];
  readonly log = this.open(this.#countingCalls());

  open(fs: FileSystem = nodeFileSystem, durability: "full" | "relaxed" = "relaxed"): EventLog {
    return jsonlLog(this.temporary.path, { durability, fs, onNotice: noNotice });
  }

  /** The paths of the session files that are open, on Linux. A deleted file keeps its path. */
  openPaths(): readonly string[] {
    return readdirSync("/proc/self/fd").flatMap((fd) => {
      try {
        const path = readlinkSync(`/proc/self/fd/${fd}`);
        return path.startsWith(this.temporary.path) && path.includes(".jsonl") ? [path] : [];
      } catch {
        return [];
      }
    });
  }

  #countingCalls(): FileSystem {
    return new Proxy<FileSystem>(nodeFileSystem, {
      get: (fs, name) => {
        const value: unknown = Reflect.get(fs, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          this.calls.push(String(name));
          return Reflect.apply(value, fs, args);
        };
      },
    });
  }

  [Symbol.dispose](): void {
    void this.log.close();
    this.temporary[Symbol.dispose]();
  }
}

const removed = expect.objectContaining({ code: "LogRemoved" });

describe("the files of a JSONL log stay open between appends", () => {
  it("so that an append is a look at the path, a look at the header and a write", async () => {
    using opened = new Opened();
    const session = await opened.log.create("a", "{}");
    await appendBodies(session, "{}");
    const records = recordsAfter(await headOf(session), "{}", "{}");
    opened.calls.length = 0;
    await session.append(1, records);
    expect(opened.calls).toEqual(["lstatSync", "readSync", "writeSync"]);
  });

  it("and a durable one adds one sync of the data", async () => {
    using opened = new Opened();
    await opened.log.create("a", "{}");
    const calls: string[] = [];
    const fs: FileSystem = {
      ...nodeFileSystem,
      fsyncSync: () => void calls.push("fsyncSync"),
      fdatasyncSync: () => void calls.push("fdatasyncSync"),
    };
    const log = opened.open(fs, "full");
    const session = await log.open("a");
    if (session === undefined) throw new Error("The session exists.");
    await appendBodies(session, "{}");
    calls.length = 0;
    await appendBodies(session, "{}");
    expect(calls).toEqual(["fdatasyncSync"]);
    await log.close();
  });

  it("the last 64 of them, whatever the number of sessions", async () => {
    using opened = new Opened();
    const sessions: SessionLog[] = [];
    for (let index = 0; index < 300; index += 1) sessions.push(await opened.log.create(`s${index}`, "{}"));
    for (const round of ["[1]", "[2]"]) for (const session of sessions) await appendBodies(session, round);
    expect(opened.openPaths()).toHaveLength(64);
    const heads = await Promise.all(sessions.map(async (session) => session.head()));
    expect(new Set(heads)).toEqual(new Set([2]));
    await opened.log.close();
    expect(opened.openPaths()).toEqual([]);
  });

  it("one for each session, also with several handles", async () => {
    using opened = new Opened();
    const first = await opened.log.create("a", "{}");
    const second = await opened.log.open("a");
    await appendBodies(first, "[1]");
    await appendBodies(second ?? first, "[2]");
    await appendBodies(first, "[3]");
    expect(opened.openPaths()).toHaveLength(1);
    expect((await first.read()).map(({ body }) => body)).toEqual(["[1]", "[2]", "[3]"]);
  });
});

describe("an append to a file that was open", () => {
  it("fails after another process removed the session, and leaves the one that was created again unchanged", async () => {
    using opened = new Opened();
    const session = await opened.log.create("a", "{}");
    const [record] = await appendBodies(session, "{}");
    const other = opened.open();
    await other.remove("a");
    expect(() => session.append(1, [])).toThrow(removed);
    await appendBodies(await other.create("a", "{}"), "[1]");
    expect(() => session.append(1, recordsAfter(record ?? { seq: 0, digest: "" }, "{}"))).toThrow(removed);
    expect((await (await other.open("a"))?.read())?.map(({ body }) => body)).toEqual(["[1]"]);
    expect(opened.openPaths().filter((path) => path.endsWith("(deleted)"))).toEqual([]);
    await other.close();
  });

  it("fails after the file was renamed, deleted or linked", async () => {
    using opened = new Opened();
    const path = pathOf(opened.temporary.path, "a");
    const session = await opened.log.create("a", "{}");
    await appendBodies(session, "{}");
    renameSync(path, `${path}.moved`);
    expect(() => session.append(1, [])).toThrow(removed);
    renameSync(`${path}.moved`, path);
    await appendBodies(session, "[2]");
    linkSync(path, `${path}.second`);
    expect(() => session.append(2, [])).toThrow(expect.objectContaining({ code: "LogWrite" }));
    rmSync(`${path}.second`);
    await appendBodies(session, "[3]");
    rmSync(path);
    expect(() => session.append(3, [])).toThrow(removed);
  });

  it("goes to the file that has the path now, after a restored copy replaced it", async () => {
    using opened = new Opened();
    const path = pathOf(opened.temporary.path, "a");
    const session = await opened.log.create("a", "{}");
    await appendBodies(session, "[1]");
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    await appendBodies(session, "[2]");
    expect((await (await opened.open().open("a"))?.read())?.map(({ body }) => body)).toEqual(["[1]", "[2]"]);
  });
});
