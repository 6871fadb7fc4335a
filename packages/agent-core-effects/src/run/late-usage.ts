import type { UsageReport } from "@moora/agent-core-state-machine";
import type { EffectHost } from "./host.ts";
import { dispatch, type EffectProgram } from "./effect-program.ts";

/** Reports what work used that the state does not want anymore: it was paid for all the same. */
export function* reportUsage(
  key: string,
  usage: UsageReport | undefined,
  { clock, dispatchLate }: EffectHost,
): EffectProgram<void> {
  const used = usage === undefined ? {} : { usage };
  const input = { type: "usage-reported", key, ...used, timestamp: clock.now() } as const;
  if (dispatchLate === undefined) yield* dispatch(input);
  else dispatchLate(input);
}
