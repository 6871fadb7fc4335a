import type { AgentState } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { describe, expect, it } from "vitest";
import { stateAt, verifySession } from "../../src/index.ts";
import { Counter, type Run } from "./world/counter.ts";
import { once } from "./world/counting-agent.ts";
import type { Death } from "./world/mortal-log.ts";
import { outcomeOf, problemsAfter } from "./world/outcome.ts";
import { storageOf, storeNames } from "./world/places.ts";
import { runProcess } from "./world/processes.ts";
import { transcripts, type Transcript } from "./world/transcripts.ts";
import { VirtualClock } from "./world/virtual-clock.ts";

describe.each(storeNames)("(C01, C02, C03) a process on %s that dies at any instant", (store) => {
  it.each(transcripts)("of $name: it is taken up, and nothing is lost or doubled", async (transcript) => {
    await using storage = storageOf(store);
    const whole = await lived(storage.open(), "whole", transcript);
    for (const death of deathsUpTo(whole.seq)) {
      const at = `dies ${death.when} record ${death.seq}`;
      const ran = await lived(storage.open(), at, transcript, death);
      const unknown = transcript.mayBeUnknown ? unknownIn(ran.state) : new Set<string>();
      expect(outcomeOf(without(unknown, ran.state)), at).toEqual(outcomeOf(without(unknown, whole.state)));
      expect(ran.report, at).toMatchObject({ ok: true });
      expect(problemsAfter(ran.state), at).toEqual([]);
      expect(ran.llmCalls, at).toBeLessThanOrEqual(whole.llmCalls + 1);
      expect(ran.effects, at).toBeLessThanOrEqual(whole.effects);
      expect(ran.effects, at).toBeGreaterThanOrEqual(whole.effects - unknown.size);
      expect(ran.onceAgain, at).toEqual([]);
      expect(ran.finishedAgain, at).toEqual([]);
    }
  });
});

type DeathAtRecord = Extract<Death, { readonly seq: number }>;

const deathsUpTo = (seq: number): readonly DeathAtRecord[] =>
  Array.from({ length: seq }, (_, index) =>
    (["before", "after"] as const).map((when): DeathAtRecord => ({ seq: index + 1, when })),
  ).flat();

const callOf = ({ key }: Run): string => key.slice(key.lastIndexOf("/") + 1);

/** A transcript that is run to its end by one process, or by one that dies and one that takes it up. */
async function lived(log: EventLog, id: string, transcript: Transcript, death?: Death) {
  using counter = new Counter();
  const scene = { log, id, counter, clock: new VirtualClock() };
  const first = await runProcess(scene, transcript, death);
  const { state: found } = await stateAt(log, id);
  const before = counter.runs.length;
  const second = death === undefined ? undefined : await runProcess(scene, transcript);
  await (second ?? first).session?.close();
  const { runs } = counter;
  return {
    ...(await stateAt(log, id)),
    report: await verifySession(log, id),
    llmCalls: first.llmCalls + (second?.llmCalls ?? 0),
    effects: counter.effects,
    onceAgain: runs.filter(
      ({ tool, key }, at) => once.has(tool) && runs.slice(0, at).some((run) => run.key === key),
    ),
    finishedAgain: runs
      .slice(before)
      .filter((run) => (found.toolCalls[callOf(run)]?.result ?? null) !== null),
  };
}

/** Calls whose outcome a crash left unknown, and a human perhaps settled. */
const unknownIn = (state: AgentState): ReadonlySet<string> =>
  new Set(
    Object.entries(state.toolCalls).flatMap(([id, { result }]) =>
      result?.isSuccess === false && (result.code === "outcome-unknown" || result.code === "rejected")
        ? [id]
        : [],
    ),
  );

function without(unknown: ReadonlySet<string>, state: AgentState): AgentState {
  const toolCalls = Object.entries(state.toolCalls).map(([id, { decision, ...record }]) => [
    id,
    unknown.has(id) ? { ...record, result: null } : { ...record, decision },
  ]);
  return { ...state, toolCalls: Object.fromEntries(toolCalls) };
}
