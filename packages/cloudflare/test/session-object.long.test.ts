import type * as platform from "@cloudflare/workers-types";
import { userMessage } from "@moora/agent";
import { durableObjectLog, sessionObject, type ObjectState } from "@moora/cloudflare";
import { describe, expect, expectTypeOf, it } from "vitest";
import { Viewer } from "./viewer.ts";
import { bundleWorker, startWorkerd, StorageFolder, useWorkerd } from "./workerd.ts";

const workerd = useWorkerd("object-worker");

interface Call {
  readonly method?: string;
  readonly body?: unknown;
  /** The object, if it is not that of the session. */
  readonly object?: string;
}

async function call(id: string, path = "", { method = "GET", body, object = id }: Call = {}) {
  const response = await workerd.dispatchFetch(`http://localhost/sessions/${id}${path}`, {
    method,
    headers: { object },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

const post = (id: string, text: string) =>
  call(id, "/inputs", { method: "POST", body: userMessage(text, { messageId: text }) });

describe("a session object", () => {
  it("gives onLog its log entries", async () => {
    await post("logged", "Hello.");
    await post("logged", "Hello.");
    const entries = (await call("logged", "/entries")).body as readonly string[];
    expect(entries).toContain("info session-opened logged");
    expect(entries).toContain("debug input-ignored logged");
  });

  it("answers a repeated input with the reason why it does not apply again", async () => {
    expect(await post("repeated", "One.")).toMatchObject({ status: 200, body: { status: "accepted" } });
    expect(await post("repeated", "One.")).toMatchObject({ status: 200, body: { status: "ignored" } });
  });

  it("shows a viewer that was there before the session its state, its text and each record once", async () => {
    const viewer = await Viewer.connect(workerd, "awaited");
    await post("awaited", "One.");
    await viewer.until(() => viewer.text === "One.");
    const [first] = viewer.messages;
    expect(first).toMatchObject({ type: "state", id: "awaited" });
    await post("awaited", "Two.");
    await viewer.until(() => viewer.text === "One.Two.");
    const from = viewer.seqs[0] ?? 0;
    expect(viewer.seqs).toEqual(viewer.seqs.map((_, index) => from + index));
  });

  it("sends a viewer that connects again the records that it missed", async () => {
    const before = await Viewer.connect(workerd, "missed");
    await post("missed", "One.");
    await before.until(() => before.text === "One.");
    const after = await Viewer.connect(workerd, "missed", 2);
    await after.until(() => after.seqs.length > 0);
    expect(after.seqs[0]).toBe(3);
    expect(after.messages.map(({ type }) => type)).not.toContain("state");
  });

  it("shows its state, and the records as they are in the log", async () => {
    await post("shown", "One.");
    expect(await call("shown")).toMatchObject({ status: 200, body: { id: "shown", questions: [] } });
    expect(await call("shown", "/records?after=1")).toMatchObject({
      body: { id: "shown", records: expect.arrayContaining([expect.objectContaining({ seq: 2 })]) },
    });
  });

  it("removes its session, and begins a new one with the next input, which the viewers of the old one do not see", async () => {
    const before = await Viewer.connect(workerd, "removed");
    await post("removed", "One.");
    await before.until(() => before.text === "One.");
    expect(await call("removed", "", { method: "DELETE" })).toMatchObject({ status: 204 });
    expect(await call("removed")).toMatchObject({ status: 404 });
    const after = await Viewer.connect(workerd, "removed");
    expect(await post("removed", "Two.")).toMatchObject({ body: { status: "accepted" } });
    await after.until(() => after.text === "Two.");
    expect(before.text).toBe("One.");
  });

  it("stores the bytes of a large file beside its records, shows them, and removes them with the session", async () => {
    const id = "files";
    const bytes = new Uint8Array(2_500_000).fill(7);
    const url = `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
    const attachments = [{ mediaType: "image/png", url }];
    const viewer = await Viewer.connect(workerd, id);
    await call(id, "/inputs", { method: "POST", body: { ...userMessage("Look."), attachments } });
    await viewer.until(() => viewer.text === "Look.");
    const state = await call(id);
    const [, digest = ""] = /"ni:\/\/\/sha-256;([\w-]+)"/.exec(JSON.stringify(state.body)) ?? [];
    const read = () =>
      workerd.dispatchFetch(`http://localhost/sessions/${id}/files/${digest}`, { headers: { object: id } });
    const file = await read();
    expect(file.headers.get("content-type")).toBe("image/png");
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
    expect(await call(id, `/files/${"A".repeat(43)}`)).toMatchObject({ status: 404 });

    await call(id, "", { method: "DELETE" });
    const named = { mediaType: "image/png", url: `ni:///sha-256;${digest}` };
    await call(id, "/inputs", { method: "POST", body: { ...userMessage("Again."), attachments: [named] } });
    const gone = await read();
    expect([gone.status, await gone.json()]).toMatchObject([404, { code: "not-found" }]);
  });

  it.each([
    ["an unknown session", "unknown", "", {}, 404, "not-found"],
    ["an unknown resource", "known", "/secrets", {}, 404, "not-found"],
    [
      "an input that only the runner may dispatch",
      "known",
      "/inputs",
      { method: "POST", body: { type: "session-opened" } },
      422,
      "refused",
    ],
    ["a body that is not JSON", "known", "/inputs", { method: "POST", body: "{" }, 400, "invalid-request"],
    ["a position that is not a number", "known", "/records?after=x", {}, 400, "invalid-request"],
    ["a request for events without a socket", "known", "/events", {}, 426, "upgrade-required"],
    [
      "a message that is longer than the log accepts",
      "known",
      "/inputs",
      { method: "POST", body: userMessage("x".repeat(9_000_000)) },
      422,
      "refused",
    ],
    [
      "an id that is too long",
      "x".repeat(300),
      "/inputs",
      { method: "POST", body: userMessage("One.") },
      400,
      "invalid-request",
    ],
    ["an id that is not valid in a URL", "%ff", "", {}, 400, "invalid-request"],
    ["the session of another object", "other", "", { object: "known" }, 409, "wrong-object"],
  ] as const)("refuses %s", async (_, id, path, details, status, code) => {
    await post("known", "One.");
    expect(await call(id, path, details)).toMatchObject({ status, body: { code } });
  });
});

describe("a class without the SQLite backend", () => {
  it("fails each request, and says how to declare it", async () => {
    using plainFolder = new StorageFolder();
    const plain = startWorkerd({
      code: await bundleWorker("plain-storage-worker"),
      objects: { SESSIONS: "Sessions" },
      hasSql: false,
      folder: plainFolder.path,
    });
    const requests = [1, 2].map(async () =>
      (await plain.dispatchFetch("http://localhost/sessions/plain")).text(),
    );
    const texts = await Promise.all(requests);
    await plain.dispose();
    expect(texts).toEqual([1, 2].map(() => expect.stringContaining("new_sqlite_classes")));
  });
});

describe("the options of the package", () => {
  it.each<[unknown, RegExp]>([
    [undefined, /sessionObject needs an object of options, got undefined/],
    [{}, /sessionObject needs agent: sessionObject\(/],
    [{ agent: "helper" }, /agent must be a function, got "helper"/],
    [{ agent: () => undefined, idel: 1 }, /Unknown option "idel" of sessionObject/],
    [
      { agent: () => undefined, idleMs: 0 },
      /idleMs must be a positive number of milliseconds below 2 \*\* 31/,
    ],
    [{ agent: () => undefined, blobs: true }, /blobs must be false or an object of options, got true/],
    [
      { agent: () => undefined, blobs: { maxInlineBytes: -1 } },
      /blobs.maxInlineBytes must be an integer from 0/,
    ],
  ])("sessionObject(%o) throws", (options, message) => {
    // Callers without types may pass any value.
    expect(() => sessionObject(options as never)).toThrow(message);
  });

  it("the log needs the SQLite backend", () => {
    const storage = {
      get sql(): never {
        throw new Error("SQL is not enabled for this Durable Object class.");
      },
    };
    expect(() => durableObjectLog(storage as never)).toThrow(/new_sqlite_classes/);
  });

  it("the types of the platform fit", () => {
    expectTypeOf<platform.DurableObjectState>().toExtend<ObjectState>();
  });
});
