/**
 * A process without the permissions of the user that runs the tests: `other-user.ts STORE PATH`. It calls every reading method
 * of the session "a", or of the memories of "ada", then writes, and prints each result as a line of JSON.
 */
import { writeSync } from "node:fs";
import { LogError, type SessionLog } from "../../src/index.ts";
import { jsonlLog } from "../../src/jsonl.ts";
import { sqliteLog, sqliteMemoryStore } from "../../src/sqlite.ts";
import { appendBodies, snapshotOf } from "../../src/testing/index.ts";

const [, , store = "", path = ""] = process.argv;
const unprivilegedId = 65_534;

// The root user ignores permissions, so the process changes its user. All modules are loaded by now.
if (process.getuid?.() === 0) {
  process.setgid?.(unprivilegedId);
  process.setuid?.(unprivilegedId);
}

async function outcomeOf(work: () => unknown): Promise<unknown> {
  try {
    return (await work()) ?? "nothing";
  } catch (error) {
    return error instanceof LogError ? { code: error.code, message: error.message } : String(error);
  }
}

const print = async (name: string, work: () => unknown): Promise<void> => {
  writeSync(1, `${JSON.stringify({ [name]: await outcomeOf(work) })}\n`);
};

const notices: unknown[] = [];
const onNotice = (notice: unknown): void => void notices.push(notice);
const open = () => (store === "jsonl" ? jsonlLog(path, { onNotice }) : sqliteLog(path, { onNotice }));

async function useMemories(): Promise<string> {
  const memories = sqliteMemoryStore(path);
  await print("recall", async () => (await memories.recall("ada", { text: "tea", limit: 1 })).length);
  await print("forgetUser", () => memories.forgetUser("ada"));
  await memories.close();
  return "closed";
}

async function useLog(): Promise<string> {
  const log = open();
  await print("list", async () => (await log.list()).map(({ id }) => id));
  await print("page", async () => (await log.page?.({ users: [null], limit: 2 }))?.map(({ id }) => id));
  await print("called", async () => (await log.called?.("x/"))?.length);
  const session = await log.open("a");
  if (session === undefined) return "no session";
  const reads: Record<string, (from: SessionLog) => unknown> = {
    read: async (from) => (await from.read()).length,
    inspect: async (from) => (await from.inspect()).records.length,
    checkUpTo: (from) => from.checkUpTo(2),
    snapshot: async (from) => (await from.snapshot())?.seq,
    currentLease: (from) => from.currentLease(),
    watch: (from) => from.watch(() => undefined)(),
    append: (from) => appendBodies(from, "{}"),
    lease: (from) => from.lease({ owner: "y", now: 1_000, ttlMs: 1 }),
    saveSnapshot: (from) => from.saveSnapshot(snapshotOf(1)),
  };
  for (const [name, work] of Object.entries(reads)) await print(name, () => work(session));
  await print("create", () => log.create("new", "{}"));
  await print("remove", () => log.remove("a"));
  await log.close();
  return "closed";
}

await print("log", store === "memories" ? useMemories : useLog);
await print("notices", () => notices);
