import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { jsonlLog } from "../src/jsonl.ts";
import { fileNameOf } from "../src/jsonl/file-name.ts";
import { ExclusiveOpenLock, exclusiveOpenFlags } from "../src/lock/exclusive-open-lock.ts";
import { fileLock, lockFolder } from "../src/lock/file-lock.ts";
import { createHolderName } from "../src/lock/process-identity.ts";
import { appendBodies } from "../src/testing/index.ts";
import { Child } from "./child.ts";
import { TemporaryDirectory } from "@moora/testbed/stores";

const name = fileNameOf("a");

/** A folder of locks, and the files that another holder would leave there. */
class Locks implements Disposable {
  readonly temporary = new TemporaryDirectory();
  readonly folder = join(this.temporary.path, lockFolder);
  readonly lock = fileLock(this.temporary.path);

  constructor() {
    mkdirSync(this.folder);
  }

  /** Whether the name can be held now. */
  holds(): boolean {
    return this.lock.tryHold(name, () => true)?.value ?? false;
  }

  [Symbol.dispose](): void {
    this.lock.close();
    this.temporary[Symbol.dispose]();
  }
}

/** The name of a holder in which some of its parts, `pid-start-boot-space-random`, are others. */
const otherHolder = (parts: Readonly<Record<number, string>>): string =>
  createHolderName()
    .split("-")
    .map((part, index) => parts[index] ?? part)
    .join("-");

const elsewhere = { 3: "0badcafe" };

/** Leaves the socket of a holder that has ended under this file name. */
async function leaveDeadSocket({ folder }: Locks, file: string): Promise<void> {
  const server = createServer().listen(join(folder, "sign"));
  await once(server, "listening");
  renameSync(join(folder, "sign"), join(folder, file));
  server.close();
  await once(server, "close");
}

describe("a lock", () => {
  it("is held by one of two at a time, and free after its release", () => {
    using locks = new Locks();
    const other = fileLock(locks.temporary.path);
    const inside = locks.lock.tryHold(name, () => [other.tryHold(name, () => true), other.isFree(name)]);
    expect(inside?.value).toEqual([undefined, false]);
    expect(other.isFree(name)).toBe(true);
    expect(other.tryHold(name, () => "held")).toEqual({ value: "held" });
    other.close();
  });

  it("of one name does not block another name", () => {
    using locks = new Locks();
    const other = fileLock(locks.temporary.path);
    const inside = locks.lock.tryHold(name, () => other.tryHold(fileNameOf("b"), () => true));
    expect(inside?.value).toEqual({ value: true });
    other.close();
  });

  it("is released when the work throws", () => {
    using locks = new Locks();
    const work = (): never => {
      throw new Error("a fault of this test");
    };
    expect(() => locks.lock.tryHold(name, work)).toThrow("a fault of this test");
    expect(fileLock(locks.temporary.path).isFree(name)).toBe(true);
  });

  it("is tested without writing, also where no lock ever existed", () => {
    using temporary = new TemporaryDirectory();
    expect(fileLock(temporary.path).isFree(name)).toBe(true);
    expect(readdirSync(temporary.path)).toEqual([]);
  });

  it("works after its folder was deleted", () => {
    using locks = new Locks();
    expect(locks.holds()).toBe(true);
    rmSync(locks.folder, { recursive: true });
    expect(locks.holds()).toBe(true);
  });

  it("leaves no file when it is closed", () => {
    using locks = new Locks();
    locks.holds();
    locks.lock.close();
    expect(readdirSync(locks.folder)).toEqual([]);
  });
});

describe("the lock of a holder that ended while it held it", () => {
  it("by kill -9, is free immediately", async () => {
    using temporary = new TemporaryDirectory();
    const log = jsonlLog(temporary.path, { busyTimeoutMs: 0 });
    const session = await log.create("a", "{}");
    const holder = new Child("lock-holder.ts", temporary.path, name);
    await holder.waitForLines(1);
    expect(() => session.append(0, [])).toThrow(expect.objectContaining({ code: "LogBusy" }));
    holder.kill();
    await holder.ended();
    expect(await appendBodies(session, "{}")).toEqual(await session.read());
    await log.close();
  });

  it("is free when another process has reused its number", () => {
    using locks = new Locks();
    // The parent is alive, but its start time is not 0.
    writeFileSync(join(locks.folder, `${name}.${otherHolder({ 0: String(process.ppid), 1: "1" })}`), "");
    expect(locks.lock.isFree(name)).toBe(true);
    expect(locks.holds()).toBe(true);
    expect(readdirSync(locks.folder)).toHaveLength(1);
  });

  it("is free after a reboot", () => {
    using locks = new Locks();
    writeFileSync(join(locks.folder, `${name}.${otherHolder({ 2: "0badcafe" })}`), "");
    expect(locks.holds()).toBe(true);
  });

  it("is free when its parent has not read its exit code", async () => {
    using locks = new Locks();
    // The shell starts a process that ends with its input, and then becomes one that never waits for it.
    const script = "exec 3<&0; cat <&3 & echo $!; exec sleep 600";
    const parent = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "inherit"] });
    const [output] = await once(parent.stdout, "data");
    const pid = String(output).trim();
    while (readFileSync(`/proc/${parent.pid}/comm`, "utf8") !== "sleep\n") await setImmediate();
    parent.stdin.end();
    let stat = "";
    while (!stat.startsWith("Z")) {
      await setImmediate();
      stat = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /, "");
    }
    const holder = otherHolder({ 0: pid, 1: stat.split(" ")[19] ?? "" });
    writeFileSync(join(locks.folder, `${name}.${holder}`), "");
    expect(locks.holds()).toBe(true);
    parent.kill();
    await once(parent, "exit");
  });

  it("is not free while that process may be alive", () => {
    using locks = new Locks();
    const [, start = ""] = createHolderName().split("-");
    const claim = join(locks.folder, `${name}.${otherHolder({ 1: start })}`);
    writeFileSync(claim, "");
    expect(locks.holds()).toBe(false);
  });

  it("as a thread of a running process, is free", async () => {
    using temporary = new TemporaryDirectory();
    const log = jsonlLog(temporary.path, { busyTimeoutMs: 60_000 });
    const session = await log.create("a", "{}");
    const thread = new Worker(
      `const { parentPort, workerData } = require("node:worker_threads");
       import(workerData.module).then(({ fileLock }) =>
         fileLock(workerData.directory).tryHold(workerData.name, () => {
           parentPort.postMessage("held");
           Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
         }));`,
      {
        eval: true,
        workerData: {
          module: join(import.meta.dirname, "../src/lock/file-lock.ts"),
          directory: temporary.path,
          name,
        },
      },
    );
    await once(thread, "message");
    const appended = appendBodies(session, "{}");
    await thread.terminate();
    expect(await appended).toEqual(await session.read());
    await log.close();
  });

  it("in another container, is free after a probe", async () => {
    using locks = new Locks();
    const claim = `${name}.${otherHolder(elsewhere)}`;
    const server = createServer().listen(join(locks.folder, "sign"));
    await once(server, "listening");
    renameSync(join(locks.folder, "sign"), join(locks.folder, claim));
    await locks.lock.probe(name);
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([false, false]);
    server.close();
    await once(server, "close");
    await locks.lock.probe(name);
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([true, true]);
    expect(readdirSync(locks.folder)).not.toContain(claim);
  });

  it("in another container, leaves a file that the next holder removes", async () => {
    using locks = new Locks();
    const sign = otherHolder(elsewhere);
    await leaveDeadSocket(locks, sign);
    expect(readdirSync(locks.folder)).toEqual([sign]);
    expect(locks.holds()).toBe(true);
    while (readdirSync(locks.folder).includes(sign)) await setImmediate();
  });

  it("in another container, leaves a claim that only the next holder of the same name removes", async () => {
    using locks = new Locks();
    // Files are visited in the order of their names, so the claim is visited before the file of the other holder.
    const claim = `${fileNameOf("0")}.${otherHolder(elsewhere)}`;
    const sign = otherHolder(elsewhere);
    await leaveDeadSocket(locks, claim);
    await leaveDeadSocket(locks, sign);
    expect(locks.holds()).toBe(true);
    while (readdirSync(locks.folder).includes(sign)) await setImmediate();
    expect(readdirSync(locks.folder)).toContain(claim);
  });

  it("in another container, on a disk without sockets, stays: the holder may be alive", async () => {
    using locks = new Locks();
    writeFileSync(join(locks.folder, `${name}.${otherHolder(elsewhere)}`), "");
    await locks.lock.probe(name);
    expect(locks.holds()).toBe(false);
  });
});

describe("a lock on systems that open files exclusively", () => {
  /** File functions like those of macOS and Windows, which open a file once at a time. */
  function exclusiveFiles(code: string) {
    const open = new Map<number, string>();
    let isMade = false;
    return {
      openSync(path: unknown) {
        const fail = (why: string): never => {
          throw Object.assign(new Error(why), { code: why });
        };
        if (!isMade) fail("ENOENT");
        if ([...open.values()].includes(String(path))) fail(code);
        const fd = open.size + 10;
        open.set(fd, String(path));
        return fd;
      },
      closeSync: (fd: number) => void open.delete(fd),
      mkdirSync: () => {
        isMade = true;
        return undefined;
      },
    };
  }

  it.each([
    ["darwin", "EAGAIN"],
    ["win32", "EBUSY"],
  ])("as on %s, is held by one at a time", (platform, code) => {
    const flags = exclusiveOpenFlags[platform];
    if (flags === undefined) throw new Error("There are no flags for this platform.");
    const lock = new ExclusiveOpenLock("/locks", flags, exclusiveFiles(code));
    expect(lock.isFree(name)).toBe(true);
    const inside = lock.tryHold(name, () => [lock.tryHold(name, () => true), lock.isFree(name)]);
    expect(inside?.value).toEqual([undefined, false]);
    expect(lock.tryHold(name, () => "held")).toEqual({ value: "held" });
    expect(lock.isFree(name)).toBe(true);
  });

  it("is not used on Linux, which has no such mode", () => {
    expect(exclusiveOpenFlags["linux"]).toBeUndefined();
  });
});
