import { inputsIn, type AgentInput } from "@moora/agent-core-state-machine";
import type { Death } from "@moora/testbed/durable/mortal-log";

/**
 * Where a process dies. `a`: before the record of this number is written. `b`: right after, where work begins with it, so that
 * nothing of it is done yet. `c`: when the tool of this number has done its work, and not reported it. `d`: right
 * after any other record.
 */
export type Phase = "a" | "b" | "c" | "d";

export interface Case {
  readonly phase: Phase;
  /** The number of the record, or of the tool's run, from 1. */
  readonly at: number;
  readonly death: Death;
}

const intents: ReadonlySet<AgentInput["type"]> = new Set(["llm-call-started", "tool-call-started"]);

/** Of a long session, all of so many records are taken, and then one in so many. */
const wholeUpTo = 120;
const oneIn = 7;

const isTaken = (at: number): boolean => at <= wholeUpTo || at % oneIn === 0;

/** The deaths that a process can die on its way through these records, with so many tools run. */
export function casesOf(inputs: readonly AgentInput[], works: number): readonly Case[] {
  const aroundRecords = inputs.flatMap((input, index): readonly Case[] => {
    const seq = index + 1;
    const phase = inputsIn(input).some(({ type }) => intents.has(type)) ? "b" : "d";
    return [
      { phase: "a", at: seq, death: { seq, when: "before" } },
      { phase, at: seq, death: { seq, when: "after" } },
    ];
  });
  const withinTools = Array.from({ length: works }, (_, index): Case => {
    const work = index + 1;
    return { phase: "c", at: work, death: { work } };
  });
  return [...aroundRecords, ...withinTools].filter(({ at }) => isTaken(at));
}
