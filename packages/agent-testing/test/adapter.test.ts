import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { canonical, effects, fold, open, readLog, request, verifyLog } from "../src/adapter.ts";

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  replay: "keyed",
  input: z.object({ euros: z.number() }),
  execute: ({ euros }) => `${euros} euros paid`,
});
const llm = () =>
  new MockLlmCaller([callsTools([{ name: "pay", arguments: { euros: 5 } }]), answers("Paid.")]);
const said = { type: "user-message-received", messageId: "u1", content: "Pay.", timestamp: 1 };

describe("the way in for scenarios", () => {
  it.each(["memory", "jsonl", "sqlite"] as const)(
    "runs a session on the %s store, and its log folds to the same bytes",
    async (store) => {
      const folder = mkdtempSync(join(tmpdir(), "moora-adapter-"));
      const path = store === "sqlite" ? join(folder, "log.db") : folder;
      const session = await open(
        store === "memory" ? { store, llm: llm(), tools: [pay] } : { store, path, llm: llm(), tools: [pay] },
      );
      expect(await session.dispatch(said)).toEqual({ status: "accepted", seq: 2 });
      await session.session.settled();
      expect(session.state.reActContext.control.type).toBe("Done");
      const records = await readLog(session.log);
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
      expect(records).toHaveLength(session.seq);
      const inputs = records.flatMap(({ input }) => (input === undefined ? [] : [input]));
      expect(canonical(fold(inputs, session.agent))).toEqual(session.canonical());
      expect(await verifyLog(session.log)).toMatchObject({ ok: true, seq: session.seq });
      await session.close();
      rmSync(folder, { recursive: true });
    },
  );

  it("shows effects and requests, in a provider's own words when asked", async () => {
    const hangs = { name: "hangs", call: () => new Promise<never>(() => undefined) };
    await using session = await open({ store: memoryLog(), llm: hangs, limits: { limits: { maxSteps: 3 } } });
    await session.dispatch(said);
    expect(effects(session.state)).toMatchObject([{ type: "call-llm", key: "plan/1/1/1" }]);
    expect(request(session.state)?.messages).toHaveLength(1);
    expect(request(session.state, ({ messages }) => ({ count: messages.length }))).toEqual({ count: 1 });
    expect(session.state.config.limits.maxSteps).toBe(3);
    expect(await session.cancel()).toMatchObject({ status: "accepted" });
    expect(effects(session.state)).toEqual([]);
    expect(request(session.state)).toBeUndefined();
  });

  it("asks a human where the policy says so", async () => {
    await using session = await open({ store: "memory", llm: llm(), tools: [pay], policy: "always" });
    await session.dispatch(said);
    await session.session.settled();
    expect(effects(session.state)).toMatchObject([{ type: "ask-human" }]);
  });

  it("refuses what is not an input, with a code and a path", async () => {
    await using session = await open({ store: "memory", llm: llm() });
    await expect(session.dispatch({ type: "user-message-received", content: 7 })).rejects.toMatchObject({
      code: "wrong-shape",
      path: "messageId",
    });
  });
});
