import type { LlmCaller } from "../caller.ts";
import type { LlmOutcome } from "../outcome.ts";

/**
 * The outcome with the caller that answered, and the reason of one more choice, if there is one. A choice that was made inside
 * the caller is kept: its reasons follow. A failure has no answer and is returned unchanged.
 */
export function withAnswerer(
  outcome: LlmOutcome,
  caller: Pick<LlmCaller, "name">,
  reason?: string,
): LlmOutcome {
  if (!outcome.ok) return outcome;
  const { caller: name, reasons } = outcome.answeredBy ?? { caller: caller.name, reasons: [] };
  const answeredBy = {
    caller: name,
    model: outcome.model,
    reasons: reason === undefined ? reasons : [reason, ...reasons],
  };
  return { ...outcome, answeredBy };
}
