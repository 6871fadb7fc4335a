import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { jsonlLog } from "../src/jsonl.ts";
import { fileNameOf } from "../src/jsonl/file-name.ts";
import { ExclusiveOpenLock, exclusiveOpenFlags } from "../src/lock/exclusive-open-lock.ts";
import { ClaimLock, type FileLock } from "../src/lock/claim-lock.ts";
import { fileLock, lockFolder } from "../src/lock/file-lock.ts";
import { Holders } from "../src/lock/holders.ts";
import { createHolderName } from "../src/lock/process-identity.ts";
import { appendBodies } from "../src/testing/index.ts";
import { Child } from "./child.ts";
import { TemporaryDirectory } from "@moora/testbed/stores";

const name = fileNameOf("a");

/** The two ways to lock a name on Linux: by a hard link, or by a claim where the file system has no hard links. */
const kinds = ["link", "claim"] as const;
type Kind = (typeof kinds)[number];

const lockOf = (kind: Kind, directory: string): FileLock =>
  kind === "link" ? fileLock(directory) : new ClaimLock(new Holders(join(directory, lockFolder)));

/** A folder of locks, and the files that another holder would leave there. */
class Locks implements Disposable {
  readonly temporary = new TemporaryDirectory();
  readonly folder = join(this.temporary.path, lockFolder);
  readonly lock: FileLock;
  readonly #kind: Kind;

  constructor(kind: Kind) {
    this.#kind = kind;
    this.lock = lockOf(kind, this.temporary.path);
    mkdirSync(this.folder);
  }

  /** Whether the name can be held now. */
  holds(): boolean {
    return this.lock.tryHold(name, () => true)?.value ?? false;
  }

  /** The file of a lock that another holder has. */
  fileOf(holder: string, locked: string = name): string {
    return this.#kind === "link" ? `lock.${locked}` : `${locked}.${holder}`;
  }

  /** Leaves the lock of another holder, whose file is an empty one. */
  leave(holder: string): void {
    writeFileSync(join(this.folder, holder), "");
    this.#lockWith(holder, name);
  }

  /** Leaves the lock of another holder, whose file is a socket. Returns a function that ends the holder. */
  async leaveSocket(holder: string, locked: string = name): Promise<() => Promise<void>> {
    const server = createServer().listen(join(this.folder, "sign"));
    await once(server, "listening");
    renameSync(join(this.folder, "sign"), join(this.folder, holder));
    this.#lockWith(holder, locked);
    return async () => {
      server.close();
      await once(server, "close");
    };
  }

  #lockWith(holder: string, locked: string): void {
    const [from, to] = [join(this.folder, holder), join(this.folder, this.fileOf(holder, locked))];
    if (this.#kind === "link") linkSync(from, to);
    else renameSync(from, to);
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

describe.each(kinds)("a lock by a %s", (kind) => {
  it("is held by one of two at a time, and free after its release", () => {
    using locks = new Locks(kind);
    const other = lockOf(kind, locks.temporary.path);
    const inside = locks.lock.tryHold(name, () => [other.tryHold(name, () => true), other.isFree(name)]);
    expect(inside?.value).toEqual([undefined, false]);
    expect(other.isFree(name)).toBe(true);
    expect(other.tryHold(name, () => "held")).toEqual({ value: "held" });
    other.close();
  });

  it("of one name does not block another name", () => {
    using locks = new Locks(kind);
    const other = lockOf(kind, locks.temporary.path);
    const inside = locks.lock.tryHold(name, () => other.tryHold(fileNameOf("b"), () => true));
    expect(inside?.value).toEqual({ value: true });
    other.close();
  });

  it("is released when the work throws", () => {
    using locks = new Locks(kind);
    const work = (): never => {
      throw new Error("a fault of this test");
    };
    expect(() => locks.lock.tryHold(name, work)).toThrow("a fault of this test");
    expect(lockOf(kind, locks.temporary.path).isFree(name)).toBe(true);
  });

  it("is tested without writing, also where no lock ever existed", () => {
    using temporary = new TemporaryDirectory();
    expect(lockOf(kind, temporary.path).isFree(name)).toBe(true);
    expect(readdirSync(temporary.path)).toEqual([]);
  });

  it("works after its folder was deleted", () => {
    using locks = new Locks(kind);
    expect(locks.holds()).toBe(true);
    rmSync(locks.folder, { recursive: true });
    expect(locks.holds()).toBe(true);
  });

  it("leaves no file when it is closed", () => {
    using locks = new Locks(kind);
    locks.holds();
    locks.lock.close();
    expect(readdirSync(locks.folder)).toEqual([]);
  });
});

describe.each(kinds)("the lock of a holder that ended while it held it, by a %s", (kind) => {
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
    using locks = new Locks(kind);
    // The parent is alive, but its start time is not 0.
    const holder = otherHolder({ 0: String(process.ppid), 1: "1" });
    locks.leave(holder);
    expect(locks.lock.isFree(name)).toBe(true);
    expect(locks.holds()).toBe(true);
    expect(readdirSync(locks.folder)).not.toContain(locks.fileOf(holder));
  });

  it("is free after a reboot", () => {
    using locks = new Locks(kind);
    locks.leave(otherHolder({ 2: "0badcafe" }));
    expect(locks.holds()).toBe(true);
  });

  it("is free when its parent has not read its exit code", async () => {
    using locks = new Locks(kind);
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
    locks.leave(otherHolder({ 0: pid, 1: stat.split(" ")[19] ?? "" }));
    expect(locks.holds()).toBe(true);
    parent.kill();
    await once(parent, "exit");
  });

  it("is not free while that process may be alive", () => {
    using locks = new Locks(kind);
    const [, start = ""] = createHolderName().split("-");
    locks.leave(otherHolder({ 1: start }));
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
    using locks = new Locks(kind);
    const holder = otherHolder(elsewhere);
    const end = await locks.leaveSocket(holder);
    await locks.lock.probe(name);
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([false, false]);
    await end();
    await locks.lock.probe(name);
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([true, true]);
    expect(readdirSync(locks.folder)).not.toContain(locks.fileOf(holder));
  });

  it("in another container, leaves a file that the next holder removes", async () => {
    using locks = new Locks(kind);
    const sign = otherHolder(elsewhere);
    await leaveDeadSocket(locks, sign);
    expect(readdirSync(locks.folder)).toEqual([sign]);
    expect(locks.holds()).toBe(true);
    while (readdirSync(locks.folder).includes(sign)) await setImmediate();
  });

  it("in another container, leaves a lock that only the next holder of the same name removes", async () => {
    using locks = new Locks(kind);
    // Files are visited in the order of their names, so the lock is visited before the file of the other holder.
    const holder = otherHolder({ 0: "1", ...elsewhere });
    const sign = otherHolder({ 0: "9999999", ...elsewhere });
    await (
      await locks.leaveSocket(holder, fileNameOf("0"))
    )();
    await leaveDeadSocket(locks, sign);
    expect(locks.holds()).toBe(true);
    while (readdirSync(locks.folder).includes(sign)) await setImmediate();
    expect(readdirSync(locks.folder)).toContain(locks.fileOf(holder, fileNameOf("0")));
  });

  it("in another container, on a disk without sockets, stays: the holder may be alive", async () => {
    using locks = new Locks(kind);
    locks.leave(otherHolder(elsewhere));
    await locks.lock.probe(name);
    expect(locks.holds()).toBe(false);
  });
});

describe("a lock by a link whose holder file was deleted", () => {
  it("is free after a probe if no process listens, and not before", async () => {
    using locks = new Locks("link");
    const holder = otherHolder(elsewhere);
    const end = await locks.leaveSocket(holder);
    unlinkSync(join(locks.folder, holder));
    await locks.lock.probe(name);
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([false, false]);
    await end();
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([false, false]);
    await locks.lock.probe(name);
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([true, true]);
  });

  it("is free at once if the file was not a socket", () => {
    using locks = new Locks("link");
    const holder = otherHolder(elsewhere);
    locks.leave(holder);
    unlinkSync(join(locks.folder, holder));
    expect([locks.lock.isFree(name), locks.holds()]).toEqual([true, true]);
  });

  it("is not taken from one that locks the name after another process has removed it", () => {
    using locks = new Locks("link");
    locks.leave(otherHolder({ 2: "0badcafe" }));
    const other = lockOf("link", locks.temporary.path);
    const inside = other.tryHold(name, () => [locks.holds(), locks.lock.isFree(name)]);
    expect(inside?.value).toEqual([false, false]);
    expect(locks.holds()).toBe(true);
    other.close();
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
