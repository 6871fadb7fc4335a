import type { AgentConfig } from "../agent-config.ts";
import type { StateEdit } from "../state-edit.ts";
import { awaitUsageOfCalls } from "../unreported-usage.ts";
import { abandonCall, callsOnEntry, unansweredIds } from "./calls.ts";
import type { ControlOf } from "./control.ts";
import { answerAt } from "./done-and-error.ts";
import type { FiredEvent } from "./enter.ts";

/** Enters a custom state. Open calls stay open, unless the state is terminal. */
export function enterCustom(edit: StateEdit, name: string, event: string): undefined {
  const entry = edit.reActContext.entries + 1;
  if (edit.config.graph.terminals.includes(name)) {
    awaitUsageOfCalls(edit);
    for (const id of unansweredIds(edit)) abandonCall(edit, id);
  }
  edit.setContext({
    entries: entry,
    entriesSincePlan: edit.reActContext.entriesSincePlan + 1,
    control: { type: "Custom", name, entry, event, attempt: 1, started: false, calls: callsOnEntry(edit) },
  });
  return undefined;
}

/**
 * Applies the replay policy of a state to a handler that was interrupted after it had started: `safe` and `keyed` run
 * again, `once` does not. Returns the event that leaves the state if the handler does not run again.
 */
export function interruptHandler(
  edit: StateEdit,
  control: ControlOf<"Custom">,
): FiredEvent<"Custom"> | undefined {
  const { name, attempt } = control;
  const policy = replayOf(edit.config, name);
  if (policy !== "once" && attempt < edit.config.retries.maxToolAttempts) {
    edit.setContext({ control: { ...control, attempt: attempt + 1, started: false } });
    return undefined;
  }
  return interrupted(name, policy === "once" ? "and must not run again" : `in each of ${attempt} attempts`);
}

const replayOf = ({ graph: { replay } }: AgentConfig, name: string): "safe" | "keyed" | "once" =>
  (replay !== undefined && Object.hasOwn(replay, name) ? replay[name] : undefined) ?? "once";

/** Whether the handler of a state runs again after an interruption, up to the limit of attempts. */
export const handlerRunsAgain = (config: AgentConfig, { name }: ControlOf<"Custom">): boolean =>
  replayOf(config, name) !== "once";

const interrupted = (name: string, why: string): FiredEvent<"Custom"> => ({
  event: "HandlerInterrupted",
  detail: `The handler of the state ${name} was interrupted ${why}; it may have had its effect.`,
});

/**
 * Applies a changed configuration to a custom state. A loop that ended in a terminal state stays ended. Returns the event
 * that leaves the state if its handler must no longer run: the state has become terminal, or the handler was interrupted
 * before and the new policy does not allow another run.
 */
export function reconsiderState(edit: StateEdit, before: AgentConfig): FiredEvent<"Custom"> | undefined {
  const { control } = edit.reActContext;
  if (control.type !== "Custom") return undefined;
  const { name, attempt, started } = control;
  const isTerminal = edit.config.graph.terminals.includes(name);
  if (before.graph.terminals.includes(name)) {
    if (!isTerminal) edit.setContext({ control: { type: "Done", answer: answerAt(edit) } });
    return undefined;
  }
  if (isTerminal)
    return { event: "HandlerInterrupted", detail: `The state ${name} has become a terminal state.` };
  const mustNotRun = replayOf(before, name) !== "once" && replayOf(edit.config, name) === "once";
  return mustNotRun && attempt > 1 && !started ? interrupted(name, "and must not run again") : undefined;
}
