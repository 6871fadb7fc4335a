import { failCall, openCallOf, openCallsOf, recordOf, toolOf } from "../control/calls.ts";
import type { OpenCall } from "../control/control.ts";
import { interruptCall, interruptProbe } from "../control/interrupted.ts";
import { continueRound } from "../control/round.ts";
import type { Edit } from "../edit.ts";
import type {
  AgentConfiguredInput,
  ReActCancelledInput,
  SessionOpenedInput,
  SnapshotTakenInput,
} from "../input.ts";
import type { AgentState, ToolDefinition } from "../state.ts";
import { wording } from "../wording.ts";
import { interruptLlmCall } from "./llm-call.ts";
import { cancelLoop, loopRuns } from "./loop.ts";
import type { Row } from "./row.ts";

export const reActCancelled: Row<ReActCancelledInput> = {
  whyNot: (state) => (loopRuns(state) ? undefined : "no-loop"),
  apply: (edit, { reason, partial }) => cancelLoop(edit, reason, partial ?? ""),
};

/** Changes nothing but the time of the last change: it is a fact about the log, recorded so that the chain covers it. */
export const snapshotTaken: Row<SnapshotTakenInput> = {
  whyNot: () => undefined,
  apply: () => undefined,
};

export const sessionOpened: Row<SessionOpenedInput> = {
  whyNot: () => undefined,
  apply(edit, { owner }) {
    edit.set({ owner, opened: edit.opened + 1 });
    const { control } = edit.reActContext;
    const calling =
      "started" in control && (control.started || ("messageId" in control && control.messageId !== null));
    if (calling) interruptLlmCall(edit);
    for (const { id } of openCallsOf(control))
      interruptIfStarted(edit, openCallOf(edit.reActContext.control, id));
    continueRound(edit);
  },
};

function interruptIfStarted(edit: Edit, call: OpenCall | undefined): void {
  if (call?.status.type === "running" && call.status.started) interruptCall(edit, call, "unknown");
  if (call?.status.type === "probing") interruptProbe(edit, call);
}

export const agentConfigured: Row<AgentConfiguredInput> = {
  whyNot(state, input) {
    const { config, tools } = configured(state, input);
    return sameJson(config, state.config) && sameJson(tools, state.tools) ? "nothing-new" : undefined;
  },
  apply(edit, input) {
    const before = edit.tools;
    edit.set(configured(edit, input));
    interruptLlmCallForNewRequest(edit);
    for (const { id } of openCallsOf(edit.reActContext.control)) failIfChanged(edit, id, before);
    continueRound(edit);
  },
};

const configured = (
  state: AgentState,
  { config, tools }: AgentConfiguredInput,
): Pick<AgentState, "config" | "tools"> => ({
  config: { ...state.config, ...config },
  tools: tools ?? state.tools,
});

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Equal keys mean equal requests: a model call that is wanted under the old configuration gives way to a new one. */
function interruptLlmCallForNewRequest(edit: Edit): void {
  const { control } = edit.reActContext;
  if (control.type === "Reflecting" || (control.type === "Planning" && control.retryAt === null))
    interruptLlmCall(edit);
}

/** A call that has not begun does not run with a tool that is not the one the model saw. */
function failIfChanged(edit: Edit, id: string, before: Readonly<Record<string, ToolDefinition>>): void {
  const name = recordOf(edit, id)?.name ?? "";
  const old = Object.hasOwn(before, name) ? before[name] : undefined;
  const status = openCallOf(edit.reActContext.control, id)?.status;
  const begun = status?.type === "probing" || (status?.type === "running" && status.started);
  if (!begun && !sameJson(old, toolOf(edit, name))) failCall(edit, id, "tool-changed", wording.toolChanged);
}
