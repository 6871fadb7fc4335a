import { transcriptOf } from "../collections/state-lists.ts";
import type { StateEdit } from "../state-edit.ts";
import type { ControlOf } from "./control.ts";
import { maySummarize, summaryEnd } from "./context-plan.ts";
import type { AnyFiredEvent, EnterState, FiredEvent } from "./enter.ts";
import { reflectsBySteps } from "./observing.ts";
import { newLlmCall } from "./planning.ts";
import { halvedWindow } from "./window.ts";

type Cause = ControlOf<"Reflecting">["cause"];

/** Enters `Reflecting`: fixes the part that the summary covers. Ends the reflection at once if there is none. */
export const enterReflecting: EnterState<"Reflecting"> = (edit, fired) => {
  const cause = causeOf(edit, fired);
  const { loopStart, windowStart } = edit.reActContext;
  const since = cause === "tokens" || cause === "context-exceeded" ? windowStart : loopStart;
  const covers = coveredUntil(edit, cause);
  const call = newLlmCall(edit, reflectTaskType);
  edit.setContext({ control: { type: "Reflecting", cause, since, covers, ...call } });
  return maySummarize(edit, since, covers) ? undefined : finishReflection(edit, false);
};

/** The end of what a summary covers. */
const coveredUntil = (edit: StateEdit, cause: Cause): number =>
  cause === "steps" || cause === "low-confidence" ? transcriptOf(edit).length : summaryEnd(edit);

/** The task type of summaries, which selects their model in `models`. */
export const reflectTaskType = "reflect";

function causeOf(edit: StateEdit, { event }: AnyFiredEvent): Cause {
  if (event === "LowConfidence") return "low-confidence";
  if (event === "ContextExceeded") return "context-exceeded";
  return reflectsBySteps(edit) ? "steps" : "tokens";
}

/** Ends a reflection, with or without a summary: resets the retries, or shrinks the window. Returns the next event. */
export function finishReflection(edit: StateEdit, summarized: boolean): FiredEvent<"Reflecting"> {
  const { control } = edit.reActContext;
  const cause = control.type === "Reflecting" ? control.cause : undefined;
  if (cause === "steps" || cause === "tokens") edit.setContext({ retryCount: 0 });
  if (cause === "context-exceeded" && !summarized) edit.setContext(halvedWindow(edit) ?? {});
  return { event: "ReflectDone" };
}

/** Counts a failed summary. After one that is too long for the model, no more are made in this loop. */
export function countFailedSummary(edit: StateEdit, failureKind: string): void {
  const { maxAnswerRetries } = edit.config.retries;
  const { summariesFailed } = edit.reActContext;
  edit.setContext({
    summariesFailed: failureKind === "context-length" ? maxAnswerRetries + 1 : summariesFailed + 1,
  });
}
