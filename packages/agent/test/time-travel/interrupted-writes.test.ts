import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  defineAgent,
  exportSession,
  forkSession,
  importSession,
  openSession,
  verifySession,
} from "../../src/index.ts";
import { Interrupted, interrupted } from "../retention/interruptions.ts";

const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Hello.")) });

type Write = (log: EventLog, to: EventLog) => Promise<unknown>;

const writes = {
  "a fork": async (log, to) => {
    const seq = (await (await log.open("ada"))?.head()) ?? 0;
    return await forkSession(log, "ada", seq, { as: "copy", open: "reuse", to });
  },
  "an import": async (log, to) => await importSession(to, await exportSession(log, "ada"), "copy"),
} satisfies Readonly<Record<string, Write>>;

async function talked(): Promise<EventLog> {
  const log = memoryLog();
  const session = await openSession(agent, { log, id: "ada" });
  await session.ask("Hi.");
  await session.close();
  return log;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe.each(Object.entries(writes))("%s that is interrupted at any write", (_, write) => {
  it("leaves no session that can be opened without its records, and is made when it is repeated later", async () => {
    const log = await talked();
    let closed = 0;
    for (let left = 0, isComplete = false; !isComplete; left += 1) {
      const to = memoryLog();
      try {
        await write(log, interrupted(to, { left }));
        isComplete = true;
        continue;
      } catch (error) {
        expect(error).toBeInstanceOf(Interrupted);
      }
      if ((await to.open("copy")) !== undefined) {
        for (const access of ["run", "post", "read"] as const) {
          const opening = openSession(agent, { log: to, id: "copy", access });
          await expect(opening).rejects.toMatchObject({ code: "MoveUnfinished" });
        }
        await expect(write(log, to)).rejects.toMatchObject({ code: "LogExists" });
        closed += 1;
      }
      vi.setSystemTime(Date.now() + 31_000);
      await write(log, to);
      expect(await verifySession(to, "copy")).toMatchObject({ ok: true });
      const session = await openSession(agent, { log: to, id: "copy" });
      expect(session.current().messages.map(({ content }) => content)).toEqual(["Hi.", "Hello."]);
      await session.close();
    }
    expect(closed).toBeGreaterThan(1);
  });
});
