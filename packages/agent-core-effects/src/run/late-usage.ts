import type { AgentInput, UsageReport } from "@moora/agent-core-state-machine";
import type { EffectHost } from "./host.ts";
import { dispatch, type EffectProgram } from "./effect-program.ts";

/** The input that reports what work used that ended without an answer. */
export const usageReported = (
  key: string,
  usage: UsageReport | undefined,
  timestamp: number,
): AgentInput => ({ type: "usage-reported", key, ...(usage === undefined ? {} : { usage }), timestamp });

/** Reports what work used that the state does not want anymore: it was paid for all the same. */
export function* reportUsage(
  key: string,
  usage: UsageReport | undefined,
  { clock, dispatchLate }: EffectHost,
): EffectProgram<void> {
  const input = usageReported(key, usage, clock.now());
  if (dispatchLate === undefined) yield* dispatch(input);
  else dispatchLate(input);
}
