import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  DataRefused,
  defineAgent,
  defineData,
  defineTool,
  diffSessions,
  forkSession,
  openSession,
  rerunSession,
  stateAt,
  verifySession,
  type Agent,
} from "../../src/index.ts";

const cart = defineData({
  schema: z.object({ items: z.array(z.string().max(10)).max(3) }),
  initial: { items: [] },
});
type Cart = { items: string[] };

const push =
  (item: string) =>
  (draft: Cart): void =>
    void draft.items.push(item);

/** An agent that adds what the user asks for; the model answers with the number of calls so far. */
function shop(data = cart, reads = "reads"): Agent<string, Cart> {
  const add = defineTool({
    name: "add",
    description: "Adds an item.",
    input: z.object({ item: z.string() }),
    replay: "keyed",
    data,
    async execute({ item }, { update }) {
      await update.now(push(`${item}?`));
      update((draft) => void (draft.items[draft.items.length - 1] = item));
      return `added ${item}`;
    },
  });
  const llm = new MockLlmCaller(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role !== "user") return answers(`${reads} ${messages.length}`);
    const text = last.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    return callsTools([{ name: "add", arguments: { item: text } }]);
  });
  return defineAgent({ name: "shop", llm, data, tools: [add] });
}

/** A session with two loops, and an update of the application between them. */
async function recorded(): Promise<{ readonly log: EventLog; readonly seqs: readonly number[] }> {
  const log = memoryLog();
  const session = await openSession(shop(), { log, id: "ada" });
  const seqs = [session.seq()];
  await session.ask("tea");
  seqs.push(session.seq());
  await session.update(push("rice"));
  seqs.push(session.seq());
  await session.ask("milk");
  seqs.push(session.seq());
  await session.close();
  return { log, seqs };
}

describe("a fork with an update of data", () => {
  it("has it as its last record, and verifies", async () => {
    const { log, seqs } = await recorded();
    const fork = await forkSession(log, "ada", seqs[1] ?? 0, {
      as: "fork",
      open: "rerun",
      data: cart,
      update: (draft) => void (draft.items = ["salt"]),
    });
    expect(fork.state.data).toEqual({ items: ["salt"] });
    expect((await stateAt(log, "fork", fork.seq - 1)).state.data).toEqual({ items: ["tea"] });
    expect(await verifySession(log, "fork")).toMatchObject({ ok: true, seq: fork.seq });
    expect((await stateAt(log, "ada")).state.data).toEqual({ items: ["tea", "rice", "milk"] });
    await using session = await openSession(shop(), { log, id: "fork" });
    await session.ask("milk");
    expect(session.current().data.items).toEqual(["salt", "milk"]);
  });

  it.each(["reuse", "close", "rerun"] as const)(
    "also from every position, within a call too (%s)",
    async (open) => {
      const { log, seqs } = await recorded();
      for (let seq = 0; seq <= (seqs.at(-1) ?? 0); seq += 1) {
        const as = `fork-${seq}`;
        const update = (draft: Cart): void => void (draft.items = ["salt"]);
        const { state } = await forkSession(log, "ada", seq, { as, open, data: cart, update });
        expect(state.data, as).toEqual({ items: ["salt"] });
        expect(await verifySession(log, as), as).toMatchObject({ ok: true });
      }
    },
  );

  it("that does not fit the schema is refused, and creates no session", async () => {
    const { log, seqs } = await recorded();
    const options = { as: "fork", open: "rerun", data: cart } as const;
    const refused = forkSession(log, "ada", seqs[1] ?? 0, { ...options, update: push("much too long") });
    await expect(refused).rejects.toThrow(DataRefused);
    await expect(refused).rejects.toThrow("items[1]");
    expect(await log.open("fork")).toBeUndefined();
  });

  it("that changes nothing adds no record", async () => {
    const { log, seqs } = await recorded();
    const options = { as: "fork", open: "rerun", data: cart, update: () => undefined } as const;
    expect(await forkSession(log, "ada", seqs[1] ?? 0, options)).toMatchObject({ seq: seqs[1] });
  });

  it("needs the definition of data of the same version", async () => {
    const { log, seqs } = await recorded();
    const options = { as: "fork", open: "rerun", update: () => undefined } as const;
    const fork = (more: object): Promise<unknown> =>
      forkSession(log, "ada", seqs[1] ?? 0, { ...options, ...more });
    await expect(fork({})).rejects.toMatchObject({ code: "InvalidOption", message: /data is missing/ });
    await expect(fork({ data: cart, update: undefined })).rejects.toMatchObject({
      code: "InvalidOption",
      message: /update is missing/,
    });
    await expect(fork({ data: {} })).rejects.toThrow("was not created by defineData");
    const newer = defineData({
      schema: z.object({ items: z.array(z.string()) }),
      initial: { items: [] },
      version: 2,
      migrate: () => ({ items: [] }),
    });
    await expect(fork({ data: newer })).rejects.toThrow("it has version 1, and this agent has version 2");
  });
});

describe("a rerun of a session with data", () => {
  it("repeats the changes of calls and of the application, from every position", async () => {
    const { log, seqs } = await recorded();
    for (let from = 0; from <= (seqs.at(-1) ?? 0); from += 1) {
      const rerun = await rerunSession(shop(), log, "ada", { from });
      expect(rerun.state.data, `from ${from}`).toEqual({ items: ["tea", "rice", "milk"] });
      expect(rerun.differences, `from ${from}`).toEqual([]);
      expect(rerun.droppedUpdates, `from ${from}`).toBe(0);
    }
  });

  it("leaves out what the data of another release refuses, and counts it", async () => {
    const { log } = await recorded();
    const strict = defineData({
      schema: z.object({ items: z.array(z.enum(["tea", "milk", "tea?", "milk?"])) }),
      initial: { items: [] },
    });
    const agent = shop(strict as unknown as typeof cart);
    const rerun = await rerunSession(agent, log, "ada", { from: 0 });
    expect(rerun.droppedUpdates).toBe(2);
    expect(rerun.state.data).toEqual({ items: ["tea"] });
  });

  it("with an agent without data leaves all changes out", async () => {
    const { log } = await recorded();
    const add = defineTool({
      name: "add",
      description: "Adds an item.",
      input: z.object({ item: z.string() }),
      execute: () => "It is not executed.",
    });
    const agent = defineAgent({ name: "shop", llm: shop().parts.llm, tools: [add] });
    const rerun = await rerunSession(agent, log, "ada", { from: 0 });
    expect(rerun.droppedUpdates).toBe(3);
  });
});

describe("the difference of two sessions with data", () => {
  it("has all fields of the data, whatever their names", async () => {
    const log = memoryLog();
    const data = defineData({ schema: z.object({ owner: z.string() }), initial: { owner: "nana" } });
    const agent = defineAgent({ llm: new MockLlmCaller(() => answers("ok")), data });
    for (const owner of ["ada", "bob"]) {
      await using session = await openSession(agent, { log, id: owner });
      await session.update((draft) => void (draft.owner = owner));
    }
    const diff = await diffSessions({ log, id: "ada" }, { log, id: "bob" });
    expect(diff.state).toEqual([{ path: "data.owner", a: "ada", b: "bob" }]);
    expect(diff.a).toMatchObject({ patches: [{ path: "/owner", value: "ada" }] });
  });
});
