import type { HostAbility } from "./host.ts";
import type { HostExpectations, HostScenario, HostStep } from "./host-case.ts";

export const ask = (message: string): HostStep => ({ type: "ask", message });
export const hold = (work: string): HostStep => ({ type: "hold", work, moment: "begin" });
export const reach = (work: string, times = 1): HostStep => ({ type: "reach", work, moment: "begin", times });
/** Waits until work has learned of its abort: a host may report the end of the loop before. */
export const aborted = (work: string): HostStep => ({ type: "reach", work, moment: "aborted", times: 1 });
export const decide = (decision: "approve" | "reject", times = 1): HostStep => ({
  type: "decide",
  decision: decision === "approve" ? "approve" : { reject: "No." },
  times,
});
export const end: HostStep = { type: "end" };
export const question: HostStep = { type: "question" };
export const restart: HostStep = { type: "restart", release: 1 };
export const releaseAll: HostStep = { type: "release-all" };

/** In milliseconds. */
export const day: number = 24 * 60 * 60 * 1_000;

/** A scenario without its names. */
interface Row {
  readonly needs?: readonly HostAbility[];
  readonly steps: readonly HostStep[];
  readonly expects: HostExpectations;
  readonly deaths?: "every-commit";
}

/** The scenarios of a group, by their sentences. */
export const group = (name: string, rows: Readonly<Record<string, Row>>): readonly HostScenario[] =>
  Object.entries(rows).map(([sentence, { needs = [], ...row }]) => ({
    name: sentence,
    group: name,
    needs,
    ...row,
  }));
