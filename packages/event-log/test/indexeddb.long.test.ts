import * as fake from "fake-indexeddb";
import { afterEach, describe, expect, it, vi } from "vitest";
import { indexedDbStorage } from "@moora/testbed/indexeddb-storage";
import { isProof } from "@moora/testbed/sample";
import { checkCase, everything, optionalPartsOf } from "@moora/testbed/stores";
import { indexedDbLog } from "../src/indexeddb.ts";
import { chainStart, type DisposableLog, type LogErrorCode, type SessionLog } from "../src/index.ts";
import { appendBodies, headOf, logConformance, recordsAfter } from "../src/testing/index.ts";

// Sets the globals of a browser. packages/event-log/test-browser runs the same suite in Chromium.
vi.stubGlobal("indexedDB", fake.indexedDB);
vi.stubGlobal("IDBKeyRange", fake.IDBKeyRange);

const durabilities = isProof ? (["full", "relaxed"] as const) : (["full"] as const);

describe.each(durabilities)("(B13) the indexeddb log, durability %s", (durability) => {
  it.each(logConformance(everything))("$name", async (logCase) =>
    checkCase(logCase, indexedDbStorage({ durability })),
  );
});

/** The log under test, a handle on a session with one record, and the name of the database. */
async function openWithOneRecord(): Promise<{ log: DisposableLog; session: SessionLog; name: string }> {
  const name = `log-${crypto.randomUUID()}`;
  const log = indexedDbLog(name);
  const session = await log.create("a", "{}");
  await appendBodies(session, "{}");
  return { log, session, name };
}

const settled = (request: IDBRequest): Promise<unknown> =>
  new Promise((resolve) => {
    for (const type of ["success", "error", "blocked"]) request.addEventListener(type, resolve);
  });

const refusal = (code: LogErrorCode): unknown => expect.objectContaining({ name: "LogError", code });

describe("the indexeddb log", () => {
  afterEach(() => vi.restoreAllMocks());

  it("has a list of due sessions and a store of bytes", async () => {
    await using log = indexedDbLog(`log-${crypto.randomUUID()}`);
    expect(optionalPartsOf(log)).toEqual(["due", "blobs"]);
  });

  it("lets the user delete its data, and no handle reads the session that is created in its place", async () => {
    const { log, session, name } = await openWithOneRecord();
    const deletion = indexedDB.deleteDatabase(name);
    expect(await settled(deletion)).toMatchObject({ type: "success" });
    await expect(session.read()).rejects.toEqual(refusal("LogRemoved"));
    const other = await log.create("a", "{}");
    await expect(session.head()).rejects.toEqual(refusal("LogRemoved"));
    expect(await other.head()).toBe(0);
    await log.close();
  });

  it("lets a newer release change its stores, and reports that it cannot read them", async () => {
    const { log, session, name } = await openWithOneRecord();
    const upgrade = indexedDB.open(name, 3);
    expect(await settled(upgrade)).toMatchObject({ type: "success" });
    await expect(session.read()).rejects.toEqual(refusal("UnsupportedVersion"));
    upgrade.result.close();
    await log.close();
  });

  it("adds the store of bytes to a database of an earlier release, and keeps its sessions", async () => {
    const name = `log-${crypto.randomUUID()}`;
    const creation = indexedDB.open(name, 1);
    creation.addEventListener("upgradeneeded", () => {
      const sessions = creation.result.createObjectStore("sessions", { keyPath: "generation" });
      sessions.createIndex("id", "id", { unique: true });
      sessions.add({ generation: 1, id: "a", header: "{}" });
      const heads = creation.result.createObjectStore("heads", { keyPath: "generation" });
      heads.createIndex("due", ["due", "id"]);
      const { seq, digest } = chainStart("{}");
      heads.add({ generation: 1, id: "a", seq, digest, due: null, lease: null });
      creation.result.createObjectStore("records", { keyPath: ["generation", "seq"] });
      creation.result.createObjectStore("snapshots", { keyPath: "generation" });
    });
    await settled(creation);
    creation.result.close();
    await using log = indexedDbLog(name);
    expect(await log.list()).toEqual([{ id: "a", head: 0, header: "{}" }]);
    const url = (await log.blobs?.put(Uint8Array.of(1, 2), "image/png")) ?? "";
    expect(await log.blobs?.get(url)).toEqual(Uint8Array.of(1, 2));
  });

  it("reports bytes that are not the ones that were stored", async () => {
    const { log, name } = await openWithOneRecord();
    const url = (await log.blobs?.put(Uint8Array.of(1, 2), "image/png")) ?? "";
    const opening = indexedDB.open(name);
    await settled(opening);
    const rows = opening.result.transaction("blobs", "readwrite").objectStore("blobs");
    const [key] = await new Promise<readonly IDBValidKey[]>((resolve) => {
      const keys = rows.getAllKeys();
      keys.addEventListener("success", () => resolve(keys.result));
    });
    await settled(rows.put({ digest: key, bytes: Uint8Array.of(3) }));
    opening.result.close();
    await expect(log.blobs?.get(url)).rejects.toEqual(refusal("LogCorrupt"));
    await log.close();
  });

  it("stores the bytes of a part of a buffer, without the others", async () => {
    const { log } = await openWithOneRecord();
    const url = (await log.blobs?.put(new Uint8Array(1_000).subarray(10, 12), "image/png")) ?? "";
    expect((await log.blobs?.get(url))?.buffer.byteLength).toBe(2);
    await log.close();
  });

  it("refuses the database of another program and changes nothing in it", async () => {
    const name = `other-${crypto.randomUUID()}`;
    const creation = indexedDB.open(name, 1);
    creation.addEventListener("upgradeneeded", () => void creation.result.createObjectStore("notes"));
    await settled(creation);
    await using log = indexedDbLog(name);
    await expect(log.create("a", "{}")).rejects.toEqual(refusal("InvalidOption"));
    expect([...creation.result.objectStoreNames]).toEqual(["notes"]);
    creation.result.close();
  });

  it("stores nothing of an append for which there is no space, and accepts the next one", async () => {
    const { log, session } = await openWithOneRecord();
    const records = recordsAfter(await headOf(session), "[1]", "[2]");
    vi.spyOn(fake.IDBObjectStore.prototype, "put")
      .mockImplementationOnce(fake.IDBObjectStore.prototype.put)
      .mockImplementationOnce(() => {
        throw new DOMException("The disk is full.", "QuotaExceededError");
      });
    await expect(session.append(1, records)).rejects.toMatchObject({
      code: "LogWrite",
      message: expect.stringContaining("The disk is full."),
    });
    expect(await session.head()).toBe(1);
    await session.append(1, records);
    expect((await session.read()).slice(1)).toEqual(records);
    await log.close();
  });

  it("rejects every call after it was closed", async () => {
    const { log, session } = await openWithOneRecord();
    await log.close();
    await expect(session.read()).rejects.toEqual(refusal("LogWrite"));
    await expect(log.open("a")).rejects.toEqual(refusal("LogWrite"));
    expect(session.watch(() => undefined)).toBeTypeOf("function");
  });

  it("refuses invalid options, and a runtime without IndexedDB", () => {
    expect(() => indexedDbLog("")).toThrow(/indexedDbLog needs the name of a database/);
    // Callers without types may pass any value.
    expect(() => indexedDbLog("a", { durable: "full" } as object)).toThrow(/Did you mean "durability"\?/);
    vi.stubGlobal("indexedDB", undefined);
    expect(() => indexedDbLog("a")).toThrow(/This runtime has no IndexedDB/);
    vi.stubGlobal("indexedDB", fake.indexedDB);
  });
});
