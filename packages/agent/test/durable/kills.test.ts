import type { AgentState } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import { stateAt, verifySession } from "../../src/index.ts";
import { Counter } from "./world/counter.ts";
import type { Death } from "./world/mortal-log.ts";
import { outcomeOf, problemsAfter } from "./world/outcome.ts";
import { storageOf, storeNames } from "./world/places.ts";
import { runProcess } from "./world/processes.ts";
import { transcripts, type Transcript } from "./world/transcripts.ts";
import { VirtualClock } from "./world/virtual-clock.ts";

/** What a call came to that a crash left with an unknown outcome is not compared. */
function withoutUnknown(state: AgentState, isUnknown: (id: string) => boolean): AgentState {
  const toolCalls = Object.entries(state.toolCalls).map(([id, record]) => {
    const { decision: _, ...rest } = record;
    return [id, isUnknown(id) ? { ...rest, result: null } : record];
  });
  return { ...state, toolCalls: Object.fromEntries(toolCalls) };
}

const unknown = (state: AgentState): ReadonlySet<string> =>
  new Set(
    Object.entries(state.toolCalls).flatMap(([id, { result }]) =>
      result?.isSuccess === false && ["outcome-unknown", "rejected"].includes(result.code ?? "") ? [id] : [],
    ),
  );

describe.each(storeNames)("(C01, C02, C03) a process on %s that dies at any instant", (store) => {
  it.each(transcripts)("of $name", async (transcript) => {
    await using storage = storageOf(store);
    const whole = await lived(storage.open(), "whole", transcript);
    const deaths = Array.from({ length: whole.seq }, (_, index): Death[] => [
      { seq: index + 1, when: "before" },
      { seq: index + 1, when: "after" },
    ]).flat();
    for (const death of deaths) {
      const ran = await lived(storage.open(), `${death.when} ${death.seq}`, transcript, death);
      const at = `dies ${death.when} record ${death.seq}`;
      const isUnknown = (id: string): boolean => transcript.runsOnce && unknown(ran.state).has(id);
      expect(outcomeOf(withoutUnknown(ran.state, isUnknown)), at).toEqual(
        outcomeOf(withoutUnknown(whole.state, isUnknown)),
      );
      expect(ran.report, at).toMatchObject({ ok: true });
      expect(problemsAfter(ran.state), at).toEqual([]);
      expect(ran.llmCalls, at).toBeLessThanOrEqual(whole.llmCalls + 1);
      expect(ran.effects, at).toBeLessThanOrEqual(whole.effects);
      expect(ran.effects, at).toBeGreaterThanOrEqual(whole.effects - unknown(ran.state).size);
      expect(ran.ranOnceTwice, at).toEqual([]);
      expect(ran.ranAfterResult, at).toEqual([]);
    }
  });
});

const once: ReadonlySet<string> = new Set(["send", "send_or_ask", "ship"]);

/** A transcript run to its end, by one process or by two. */
async function lived(log: Awaited<ReturnType<typeof storageOf>>["open"] extends () => infer Log ? Log : never, id: string, transcript: Transcript, death?: Death) {
  using counter = new Counter();
  const clock = new VirtualClock();
  const scene = { log, id, counter, clock };
  const first = await runProcess(scene, transcript, death);
  const settled = await stateAt(log, id);
  const runsBefore = counter.runs.length;
  const second = death === undefined ? undefined : await runProcess(scene, transcript);
  await (second ?? first).session?.close();
  const { seq, state } = await stateAt(log, id);
  const runs = counter.runs.map(({ key, tool }) => ({ key, tool, id: key.slice(key.lastIndexOf("/") + 1) }));
  return {
    seq,
    state,
    report: await verifySession(log, id),
    llmCalls: first.llmCalls + (second?.llmCalls ?? 0),
    effects: counter.effects,
    ranOnceTwice: runs.filter(({ tool, key }, index) => once.has(tool) && runs.findIndex((run) => run.key === key) < index),
    ranAfterResult: runs.slice(runsBefore).filter((run) => settled.state.toolCalls[run.id]?.result !== null && settled.state.toolCalls[run.id] !== undefined),
  };
}
