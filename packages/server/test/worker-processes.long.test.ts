import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent, defineTool, openSession, readSession, stateAt } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { MockLlmCaller } from "@moora/llm/testing";
import { Child } from "@moora/testbed/child";
import { Place } from "@moora/testbed/durable/places";
import { createDatabase } from "@moora/testbed/postgres/database";
import { describe, expect, inject, it } from "vitest";

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  replay: "once",
  execute: () => "not run here",
});
const program = join(import.meta.dirname, "children/worker.ts");
const agent = defineAgent({ name: "payer", llm: new MockLlmCaller([]), tools: [pay] });

describe("workers in several processes on PostgreSQL", () => {
  it(
    "answer every message and run every effect once, also when they are killed",
    { timeout: 120_000 },
    async () => {
      using place = new Place();
      const url = await createDatabase(inject("postgresUrl"));
      await using log = postgresLog(url);
      const ids = Array.from({ length: 60 }, (_, index) => `session ${index}`);
      for (const id of ids) {
        await (await openSession(agent, { log, id })).close();
        const poster = await openSession(agent, { log, id, access: "post" });
        await poster.send("Pay");
        await poster.close();
      }
      const effects = place.file("effects");
      writeFileSync(effects, "");
      const start = () => new Child(program, url, effects);
      const linesOf = () => readFileSync(effects, "utf8").split("\n").slice(0, -1);
      const workers = [start(), start(), start()];
      try {
        for (const kills of [1, 2, 3]) {
          while (linesOf().length < kills * 10) await new Promise((resolve) => setImmediate(resolve));
          const [killed] = workers.splice(0, 1);
          await killed?.kill();
          workers.push(start());
        }
        // Every session is left alone: nothing is due, and no process has a lease.
        for (const id of ids) {
          for (;;) {
            const session = await log.open(id);
            const { control } = (await stateAt(log, id)).state.reActContext;
            const isAtRest = control.type === "Done" || control.type === "WaitingForHuman";
            const lease = await session?.currentLease();
            // A process may be killed when its work is done and its lease is not released yet.
            const isFree = lease === undefined || lease.until <= Date.now();
            if (isAtRest && isFree) break;
            await new Promise((resolve) => setImmediate(resolve));
          }
        }
      } finally {
        for (const worker of workers) await worker[Symbol.asyncDispose]();
      }
      const lines = linesOf();
      expect(new Set(lines).size).toBe(lines.length);
      for (const id of ids) {
        const { state } = await stateAt(log, id);
        const { inputs } = await readSession(log, id);
        const { control } = state.reActContext;
        // Only a call that a killed process had begun may wait for a person, who knows what happened.
        if (control.type === "WaitingForHuman")
          expect(inputs.some(({ type }) => type === "tool-call-interrupted")).toBe(true);
        else expect(state.messages.at(-1)?.content).toBe("It is paid.");
      }
    },
  );
});
