import {
  defineAgent,
  defineTool,
  forkSession,
  openSession,
  pruneSessions,
  moveSession,
  removeSession,
  sessionOwner,
  userMessage,
  verifySession,
} from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { restateLog, restateSession } from "../src/index.ts";
import { serveLocally } from "./local-service.ts";
import { LogScene, newId, opened, post, recordsOf } from "./log-scene.ts";

let scene: LogScene;
const calls: { readonly signal: AbortSignal; readonly end: () => void }[] = [];

const work = defineTool({
  name: "work",
  description: "Works until the test ends it.",
  input: { type: "object" },
  replay: "once",
  async execute(_input, { signal }) {
    const ended = Promise.withResolvers<void>();
    calls.push({ signal, end: ended.resolve });
    await ended.promise;
    return "worked";
  },
});

const agentOf = (version: string) =>
  defineAgent({
    name: "worker",
    version,
    systemPrompt: `Release ${version}.`,
    llm: new MockLlmCaller(({ messages }) => {
      const text = JSON.stringify(messages);
      if (text.includes("worked")) return answers("Done.");
      return text.includes("work") ? callsTools([{ name: "work", arguments: {} }]) : hangs();
    }),
    tools: [work],
  });

const agent = agentOf("1");

beforeAll(async () => {
  scene = await LogScene.start(agent);
});

afterAll(async () => {
  await scene[Symbol.asyncDispose]();
});

const message = (text: string) => userMessage(text, { messageId: text });
const coded = (code: string): unknown => expect.objectContaining({ name: "LogError", code });

describe("a session of a log on Restate", () => {
  it("is posted to and read as one that Restate owns, and not run by another process", async () => {
    const id = newId();
    const opening = openSession(agent, { log: scene.log, id, user: "ada" });
    await expect(opening).rejects.toMatchObject({ code: "SessionBusy", owner: "restate" });
    expect(await sessionOwner(scene.log, id)).toBe("restate");
    await using session = await openSession(agent, { log: scene.log, id, access: "post" });
    expect(session.header.user).toBe("ada");
    await session.send("Please work.");
    await vi.waitFor(() => expect(calls).toHaveLength(1), 10_000);
    calls[0]?.end();
    await vi.waitFor(() => expect(session.current().reActContext.control.type).toBe("Done"), 10_000);
    expect(calls).toHaveLength(1);
    expect(await verifySession(scene.log, id)).toMatchObject({ ok: true, seq: session.seq() });
  });

  it("reports to its listeners what other handles and effects have added, and its removal", async () => {
    const session = await scene.create();
    const listener = vi.fn<() => void>();
    const stop = session.watch(listener);
    await vi.waitFor(() => expect(listener).toHaveBeenCalled());
    listener.mockClear();
    await using other = scene.openLog();
    await post(await opened(other, session.id), message("one"));
    await vi.waitFor(() => expect(listener).toHaveBeenCalled(), 10_000);
    // The intent of the model call.
    await vi.waitFor(async () => expect(await session.head()).toBe(2), 10_000);
    listener.mockClear();
    await other.remove(session.id);
    await vi.waitFor(() => expect(listener).toHaveBeenCalled(), 10_000);
    stop();
  });

  it("that a message without a log has created can be opened", async () => {
    const { ingressUrl } = scene.server;
    const id = newId();
    await restateSession({ ingressUrl, agent: "worker", id }).send("Hello.");
    const session = await opened(scene.log, id);
    await post(session, message("again"));
    expect(await verifySession(scene.log, id)).toMatchObject({ ok: true });
  });

  it("of an earlier release is brought to the release of the newest deployment before an append", async () => {
    const session = await scene.create();
    await post(session, message("one"));
    await vi.waitFor(async () => expect(await session.head()).toBe(2), 10_000);
    await using newer = await serveLocally(scene.server, agentOf("2"));
    await newer.register();
    const records = await recordsOf(session, message("two"));
    await expect(session.append(2, records)).rejects.toMatchObject({ code: "Conflict" });
    const seqs = (await session.read(2)).map(
      ({ body }) => (JSON.parse(body) as { readonly type: string }).type,
    );
    expect(seqs.length).toBeGreaterThan(0);
    expect(seqs).not.toContain("user-message-received");
    await post(session, message("two"));
    expect(await verifySession(scene.log, session.id)).toMatchObject({ ok: true });
    await scene.register();
  });
});

describe("the removal of a session on Restate", () => {
  it("cancels its effects and fails its handles as LogRemoved; its id can be created again", async () => {
    const session = await scene.create();
    const { id } = session;
    const before = calls.length;
    await post(session, message("work"));
    await vi.waitFor(() => expect(calls).toHaveLength(before + 1), 10_000);
    const late = await recordsOf(session, message("late"));
    expect(await removeSession(scene.log, id)).toEqual([id]);
    expect(await scene.log.remove(id)).toBe(false);
    expect(await scene.log.open(id)).toBeUndefined();
    await vi.waitFor(() => expect(calls.at(-1)?.signal.aborted).toBe(true), 10_000);
    const next = await scene.log.create(id, scene.header("two"));
    for (const use of [
      () => session.head(),
      () => session.read(),
      () => session.inspect(),
      () => session.checkUpTo(1),
      () => session.append((late[0]?.seq ?? 1) - 1, late),
    ])
      await expect(use()).rejects.toEqual(coded("LogRemoved"));
    calls.at(-1)?.end();
    expect(await next.read()).toEqual([]);
    await post(next, message("work"));
    await vi.waitFor(() => expect(calls).toHaveLength(before + 2), 10_000);
    expect(await verifySession(scene.log, id)).toMatchObject({ ok: true });
  });

  it("drops what an effect of the removed session reports, also if its id has another session", async () => {
    const session = await scene.create();
    const report = () =>
      fetch(`${scene.server.ingressUrl}/worker-session/${session.id}/report`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ inputs: [message("reported")], from: "plan/1/1/1", header: "another" }),
      }).then((response) => response.json());
    expect(await report()).toEqual({ applied: 0, ignored: [0] });
    await scene.log.remove(session.id);
    expect(await report()).toEqual({ applied: 0, ignored: [0] });
    expect(await scene.log.open(session.id)).toBeUndefined();
  });
});

describe("a log on Restate refuses", () => {
  it("to move sessions, prunes none, and refuses a fork into it, which leaves nothing", async () => {
    const session = await scene.create();
    await post(session, message("one"));
    const to = memoryLog();
    await expect(moveSession(scene.log, session.id, to)).rejects.toMatchObject({ code: "InvalidOption" });
    expect(await pruneSessions(scene.log, { before: Date.now() + 60_000 })).toMatchObject({ pruned: [] });
    await using source = await openSession(agent, { log: to, id: "source" });
    await source.send("Hello.");
    const as = newId();
    const fork = forkSession(to, "source", 2, { as, to: scene.log, open: "close" });
    await expect(fork).rejects.toMatchObject({ code: "InvalidOption" });
    expect(await scene.log.open(as)).toBeUndefined();
    // The other way round it works.
    await forkSession(scene.log, session.id, 1, { as: "copy", to, open: "close" });
  });

  it("to list without the admin API, with one that is down, and all calls after its close", async () => {
    const { ingressUrl } = scene.server;
    const unlisted = restateLog({ ingressUrl, agent: "worker" });
    await expect(unlisted.list()).rejects.toEqual(coded("InvalidOption"));
    const down = restateLog({ ingressUrl, agent: "worker", adminUrl: "http://127.0.0.1:9" });
    await expect(down.list()).rejects.toEqual(coded("LogWrite"));
    const session = await scene.create();
    const handle = await opened(unlisted, session.id);
    await unlisted.close();
    for (const use of [
      () => unlisted.open("a"),
      () => unlisted.create("a", "{}"),
      () => unlisted.list(),
      () => handle.head(),
    ])
      await expect((async () => use())()).rejects.toThrow("closed");
  });

  it("each call as LogWrite while the ingress cannot be reached", async () => {
    const session = await scene.create();
    const log = restateLog({ ingressUrl: "http://127.0.0.1:9", agent: "worker" });
    const id = newId();
    for (const use of [() => log.open(id), () => log.create(id, scene.header()), () => log.remove(id)])
      await expect((async () => use())()).rejects.toEqual(coded("LogWrite"));
    await expect(openSession(agent, { log, id, access: "post" })).rejects.toEqual(coded("LogWrite"));
    expect(await session.head()).toBe(0);
  });

  it.each([
    [{ agent: "worker" }, "ingressUrl is missing"],
    [{ ingressUrl: "http://127.0.0.1:9" }, "agent is missing"],
    [{ ingressUrl: "127.0.0.1:9", agent: "worker" }, "ingressUrl must be a URL"],
    [{ ingressUrl: "http://127.0.0.1:9", agent: "worker", adminUrl: "x" }, "adminUrl must be a URL"],
    [{ ingressUrl: "http://127.0.0.1:9", agent: "9" }, "must start with a letter"],
    [{ ingressUrl: "http://127.0.0.1:9", agent: "worker", lives: {} }, 'Did you mean "live"?'],
  ])("the options %j", (options, problem) => {
    expect(() => restateLog(options as never)).toThrow(problem);
  });
});
