import { toolReply } from "@moora/agent-core-effects";
import { blobUrl, memoryLog, type BlobStore, type EventLog } from "@moora/event-log";
import type { LlmOutcome } from "@moora/llm";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import {
  defineAgent,
  exportSession,
  forkSession,
  moveSession,
  openSession,
  rerunSession,
  startSession,
  verifySession,
  type Agent,
  type BlobOptions,
  type DurableSession,
} from "../../src/index.ts";
import { toolOf } from "../support.ts";

const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256);
const data = Buffer.from(bytes).toString("base64");
const dataUrl = `data:image/png;base64,${data}`;
const url = blobUrl(bytes);
const inline = { mediaType: "image/png", name: "a.png", url: dataUrl };
const logged = { ...inline, url };
const small = { mediaType: "text/plain", url: "data:text/plain;base64,aGk=" };

const drawn: LlmOutcome = {
  ...(answers("Drawn.") as Extract<LlmOutcome, { ok: true }>),
  turn: {
    origin: "mock",
    parts: [
      { type: "text", text: "Drawn." },
      { type: "file", file: { mediaType: "image/png", data }, raw: { id: "ig_1" } },
    ],
  },
};

const scan = toolOf("scan", () => toolReply({ content: "scanned", files: [inline, small] }));

interface Scene {
  readonly agent: Agent;
  readonly llm: MockLlmCaller;
  readonly log: EventLog;
  open(blobs?: BlobOptions | null): Promise<DurableSession>;
}

function scene(script: MockScript, log: EventLog = memoryLog()): Scene {
  const llm = new MockLlmCaller(script);
  const agent = defineAgent({ llm, tools: [scan] });
  return {
    agent,
    llm,
    log,
    open: (blobs = { maxInlineBytes: 100 }) =>
      openSession(agent, { log, id: "s", ...(blobs === null ? {} : { blobs }) }),
  };
}

/** The text of all records. */
const recordsOf = async (log: EventLog): Promise<string> =>
  JSON.stringify(await (await log.open("s"))?.read());

const say = (session: DurableSession, content: string, ...attachments: (typeof small)[]) =>
  session.ask({ content, attachments });

describe("a session that stores bytes outside its records", () => {
  it("logs the URL of a file of the user, and sends its bytes to the model", async () => {
    const { open, log, llm, agent } = scene([answers("A picture."), answers("Still one.")]);
    await using session = await open();
    await say(session, "What is it?", inline, small);
    expect(session.current().messages[0]?.attachments).toEqual([logged, small]);
    expect(await recordsOf(log)).not.toContain(data);
    expect(await log.blobs?.get(url)).toEqual(bytes);
    const file = { mediaType: "image/png", name: "a.png", data };
    expect(llm.requests[0]?.messages[0]).toEqual({
      role: "user",
      content: [
        { type: "text", text: "What is it?" },
        { type: "file", file },
        { type: "file", file: small },
      ],
    });
    await session.close();
    expect((await verifySession(log, "s")).ok).toBe(true);
    await using again = await openSession(agent, { log, id: "s" });
    await again.ask("And now?");
    expect(llm.requests[1]?.messages[0]).toEqual(llm.requests[0]?.messages[0]);
  });

  it("does so with the files of tools and of the model", async () => {
    const { open, log, llm } = scene([callsTools([{ name: "scan" }]), drawn, answers("Smaller.")]);
    await using session = await open();
    await session.ask("Scan and draw.");
    const [call] = Object.values(session.current().toolCalls);
    expect(call?.result).toMatchObject({ files: [logged, small] });
    expect(session.current().messages.at(-1)?.attachments).toEqual([{ mediaType: "image/png", url }]);
    expect(await recordsOf(log)).not.toContain(data);
    await session.ask("Smaller.");
    const [, scanned, made] = llm.requests.at(-1)?.messages ?? [];
    expect(scanned).toMatchObject({ results: [{ files: [{ mediaType: "image/png", data }, small] }] });
    expect(made).toMatchObject({
      turn: {
        parts: [{ type: "text" }, { type: "file", file: { data }, raw: { id: "ig_1" } }],
      },
    });
  });

  it("leaves files in the records without the option, and below the limit", async () => {
    for (const blobs of [null, {}, { maxInlineBytes: 300 }]) {
      const { open, log } = scene([answers("A picture.")]);
      await using session = await open(blobs);
      await say(session, "What is it?", inline);
      expect(session.current().messages[0]?.attachments).toEqual([inline]);
      expect(await log.blobs?.get(url)).toBeUndefined();
    }
    const { open } = scene([answers("A picture.")]);
    await using session = await open({ maxInlineBytes: 299 });
    await say(session, "What is it?", inline);
    expect(session.current().messages[0]?.attachments).toEqual([logged]);
  });

  it("names a file whose bytes are missing to the model", async () => {
    const { open, log, llm } = scene([callsTools([{ name: "scan" }]), answers("Seen."), answers("Gone.")]);
    await using session = await open();
    await say(session, "What is it?", inline);
    await log.blobs?.remove(url);
    await session.ask("Look again.");
    const [user, scanned] = llm.requests.at(-1)?.messages ?? [];
    const text = "(File not found: a.png (image/png).)";
    expect(user).toMatchObject({ content: [{ type: "text" }, { type: "text", text }] });
    expect(scanned).toMatchObject({ results: [{ content: `scanned\n${text}`, files: [small] }] });
  });

  it("keeps the order of messages, of which only the first has a file", async () => {
    const { open } = scene([answers("Yes."), answers("Yes.")]);
    await using session = await open();
    const first = session.send({ content: "First.", attachments: [inline] });
    const second = session.send("Second.");
    expect([await first, await second]).toMatchObject([{ status: "accepted" }, { status: "accepted" }]);
    const asked = session.current().messages.filter(({ role }) => role === "user");
    expect(asked.map(({ content }) => content)).toEqual(["First.", "Second."]);
  });

  it("logs nothing of a message whose bytes could not be stored, and takes the next", async () => {
    const { open } = scene([answers("Yes.")]);
    const store: BlobStore = {
      put: () => Promise.reject(new Error("The disk is full.")),
      get: () => undefined,
      remove: () => undefined,
    };
    await using session = await open({ store, maxInlineBytes: 0 });
    const attachments = [inline];
    const refused = session.send({ content: "First.", attachments });
    const next = session.send("Second.");
    await expect(refused).rejects.toThrow("The disk is full.");
    expect(await next).toMatchObject({ status: "accepted" });
    await expect(session.ask({ content: "Third.", attachments })).rejects.toMatchObject({
      kind: "MemoryError",
    });
    const asked = session.current().messages.filter(({ role }) => role === "user");
    expect(asked.map(({ content }) => content)).toEqual(["Second."]);
  });

  it("fails a call, and a turn, whose files could not be stored", async () => {
    const { open } = scene([callsTools([{ name: "scan" }]), drawn]);
    const store: BlobStore = {
      put: () => Promise.reject(new Error("The disk is full.")),
      get: () => undefined,
      remove: () => undefined,
    };
    await using session = await open({ store, maxInlineBytes: 100 });
    await expect(session.ask("Scan and draw.")).rejects.toThrow("The disk is full.");
    const [call] = Object.values(session.current().toolCalls);
    expect(call?.result).toMatchObject({ isSuccess: false, error: "The disk is full." });
  });

  it("uses a store of the application, whose URLs models may read themselves", async () => {
    const { open, llm, log } = scene([answers("A picture.")]);
    const types: string[] = [];
    const store: BlobStore = {
      put: (_bytes, mediaType) => `https://files.test/${types.push(mediaType)}`,
      get: () => undefined,
      remove: () => undefined,
    };
    await using session = await open({ store, maxInlineBytes: 100 });
    await say(session, "What is it?", inline);
    const file = { ...inline, url: "https://files.test/1" };
    expect(session.current().messages[0]?.attachments).toEqual([file]);
    expect(llm.requests[0]?.messages[0]).toMatchObject({
      content: [{ type: "text" }, { type: "file", file }],
    });
    expect(types).toEqual(["image/png"]);
    expect(await log.blobs?.get(url)).toBeUndefined();
  });

  it("is forked with its bytes into another log, and run again with them", async () => {
    const { open, log, llm, agent } = scene([answers("A picture."), answers("A picture."), answers("Yes.")]);
    const session = await open();
    await say(session, "What is it?", inline);
    await session.close();
    const other = memoryLog();
    await forkSession(log, "s", 3, { as: "copy", to: other, open: "close" });
    expect(await other.blobs?.get(url)).toEqual(bytes);
    await rerunSession(agent, log, "s", { from: 0 });
    expect(llm.requests[1]?.messages).toEqual(llm.requests[0]?.messages);
    expect(await exportSession(log, "s")).toContain(url);
  });

  it("goes with its session to an archive", async () => {
    const { open, log } = scene([answers("A picture.")]);
    const session = await open();
    await say(session, "What is it?", inline);
    await session.close();
    const archive = memoryLog();
    await moveSession(log, "s", archive);
    expect(await archive.blobs?.get(url)).toEqual(bytes);
  });

  it("can be in memory, with a store", async () => {
    const { agent, llm } = scene([answers("A picture.")]);
    const store = memoryLog().blobs;
    if (store === undefined) throw new Error("A log in memory stores bytes.");
    const session = startSession(agent, { blobs: { store, maxInlineBytes: 100 } });
    await session.ask({ content: "What is it?", attachments: [inline] });
    expect(session.current().messages[0]?.attachments).toEqual([logged]);
    expect(llm.requests[0]?.messages[0]).toMatchObject({ content: [{}, { file: { data } }] });
  });

  it("refuses options of the wrong form, and a log without a store", async () => {
    const { log, agent } = scene([]);
    const { blobs: _, ...bare } = log;
    const open = (blobs: unknown, own: EventLog = log) =>
      // Callers without types may pass any value.
      openSession(agent, { log: own, id: "s", blobs: blobs as BlobOptions });
    await expect(open(true)).rejects.toThrow("blobs must be an object");
    await expect(open({ limit: 1 })).rejects.toThrow('Unknown option "limit"');
    await expect(open({ maxInlineBytes: -1 })).rejects.toThrow(
      "blobs.maxInlineBytes must be an integer from 0, got -1.",
    );
    await expect(open({ store: {} })).rejects.toThrow(
      "blobs.store must be a store of bytes with put and get",
    );
    await expect(open({}, bare)).rejects.toThrow("blobs.store is missing");
    expect(() => startSession(agent, { blobs: {} })).toThrow("blobs.store is missing");
  });
});
