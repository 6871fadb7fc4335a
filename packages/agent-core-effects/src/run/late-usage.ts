import type { AgentInput, UsageReport } from "@moora/agent-core-state-machine";
import type { EffectHost } from "./host.ts";
import { dispatch, type EffectProgram } from "./effect-program.ts";

/** The input that reports the usage of work that ended without an answer. */
export const usageReported = (
  key: string,
  usage: UsageReport | undefined,
  timestamp: number,
): AgentInput => ({ type: "usage-reported", key, ...(usage === undefined ? {} : { usage }), timestamp });

/** Reports the usage of work that the state no longer wants: it counts as spent. */
export function* reportUsage(
  key: string,
  usage: UsageReport | undefined,
  { clock, dispatchLate }: EffectHost,
): EffectProgram<void> {
  const input = usageReported(key, usage, clock.now());
  if (dispatchLate === undefined) yield* dispatch(input);
  else dispatchLate(input);
}
