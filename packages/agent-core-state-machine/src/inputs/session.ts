import { changeConfig } from "../agent-config.ts";
import {
  applyPolicy,
  isBlacklisted,
  refuseBlacklisted,
  waitsForStart,
  withdrawApproval,
} from "../control/admission.ts";
import { isRiskier } from "../control/approval-rule.ts";
import { recordOf } from "../collections/state-lists.ts";
import { openCallOf, openCallsOf } from "../collections/open-call-list.ts";
import { failAsUnknown, failCall, toolOf } from "../control/calls.ts";
import type { OpenCall } from "../control/control.ts";
import { interruptHandler, reconsiderState } from "../control/custom.ts";
import type { FiredEvent } from "../control/enter.ts";
import { interruptCall, interruptProbe, settleUnknown } from "../control/interruptions.ts";
import { move } from "../control/move.ts";
import { advanceBatch } from "../control/tool-batch.ts";
import { isToolKey, stateKey } from "../keys.ts";
import type { StateEdit } from "../state-edit.ts";
import type {
  AgentConfiguredInput,
  LoopRetriedInput,
  ReActCancelledInput,
  SessionOpenedInput,
  SnapshotTakenInput,
  StateHandlerInterruptedInput,
  UsageReportedInput,
} from "../input.ts";
import type { AgentState, ToolDefinition } from "../state.ts";
import { awaitUsageOfHandler, releaseReservations } from "../unreported-usage.ts";
import { interruptLlmCall, replaceLlmCall } from "./llm-call.ts";
import { cancelLoop, isLoopRunning, mayRetryLoop, retryLoop } from "./loop.ts";
import type { InputHandler } from "./input-handler.ts";

export const reActCancelled: InputHandler<ReActCancelledInput> = (state, { reason, partial }) =>
  isLoopRunning(state) ? (edit) => cancelLoop(edit, reason, partial ?? "") : "no-loop";

export const loopRetried: InputHandler<LoopRetriedInput> = (state) =>
  mayRetryLoop(state) ? retryLoop : "not-failed";

/** Changes only the time of the last change: the input exists so that the chain of records covers the snapshot. */
export const snapshotTaken: InputHandler<SnapshotTakenInput> = () => () => undefined;

export const usageReported: InputHandler<UsageReportedInput> = (state, { key, usage }) => {
  if (!state.unreportedUsage.includes(key)) return "wrong-key";
  return (edit) => {
    edit.set({ unreportedUsage: edit.unreportedUsage.filter((other) => other !== key) });
    edit.addToolUsage(usage);
    releaseReservations(edit, key);
  };
};

export const sessionOpened: InputHandler<SessionOpenedInput> =
  (_, { owner, reportsUsage }) =>
  (edit) => {
    // The usage of model calls that the previous process did not report is lost.
    const unreportedUsage = reportsUsage === true ? edit.unreportedUsage.filter(isToolKey) : [];
    edit.set({ owner, opened: edit.opened + 1, unreportedUsage });
    releaseReservations(edit);
    const { control } = edit.reActContext;
    const calling =
      (control.type === "Planning" && (control.started || control.messageId !== null)) ||
      (control.type === "Reflecting" && control.started);
    if (calling) interruptLlmCall(edit);
    for (const { id } of openCallsOf(control))
      interruptIfStarted(edit, openCallOf(edit.reActContext.control, id));
    advanceBatch(edit);
    interruptStartedHandler(edit);
  };

function interruptIfStarted(edit: StateEdit, call: OpenCall | undefined): void {
  if (call?.status.type === "running" && call.status.started) interruptCall(edit, call, "unknown");
  if (call?.status.type === "probing") interruptProbe(edit, call);
}

function interruptStartedHandler(edit: StateEdit): void {
  const { control } = edit.reActContext;
  const fired = control.type === "Custom" && control.started ? interruptHandler(edit, control) : undefined;
  if (fired !== undefined) move<"Custom">(edit, fired);
}

export const stateHandlerInterrupted: InputHandler<StateHandlerInterruptedInput> = (state, { key }) => {
  const { reActContext: context } = state;
  const { control } = context;
  if (control.type !== "Custom" || stateKey(context, control) !== key) return "wrong-key";
  return control.started ? interruptStartedHandler : "not-open";
};

export const agentConfigured: InputHandler<AgentConfiguredInput> = (state, input) => {
  const before = configurationOf(state);
  const after = configured(before, input);
  if (sameJson(after, before)) return "nothing-new";
  return (edit) => {
    const wasLastStep = isLastStep(edit);
    moveStepLimit(edit, after.config.limits.maxSteps - before.config.limits.maxSteps);
    configure(edit, after, isLastStep(edit) !== wasLastStep);
  };
};

/** Replaces the configuration and the tools, and applies them to the open work. `changesStep`: whether the current step has become the last one, or no longer is. */
export function configure(edit: StateEdit, after: Configuration, changesStep = false): void {
  const before: Configuration = { config: edit.config, tools: edit.tools };
  edit.set(after);
  if (changesStep || changesRequest(before, after)) replaceLlmCall(edit);
  for (const { id } of openCallsOf(edit.reActContext.control)) reconsiderCall(edit, id, before.tools);
  applyPolicy(edit);
  advanceBatch(edit);
  leaveState(edit, reconsiderState(edit, before.config));
}

/** Whether the model is asked to answer without tools. */
const isLastStep = ({ reActContext: { step, stepLimit } }: AgentState): boolean => step >= stepLimit;

/** Changes the step limit of a loop that runs, or that has failed and may be tried again, by the change of `limits.maxSteps`. */
function moveStepLimit(edit: StateEdit, by: number): void {
  const { control, stepLimit } = edit.reActContext;
  const isOfLoop = isLoopRunning(edit) || control.type === "Error";
  if (isOfLoop && by !== 0) edit.setContext({ stepLimit: stepLimit + by });
}

function leaveState(edit: StateEdit, fired: FiredEvent<"Custom"> | undefined): void {
  if (fired === undefined) return;
  awaitUsageOfHandler(edit);
  move<"Custom">(edit, fired);
}

/** What an agent consists of in the state. */
type Configuration = Pick<AgentState, "config" | "tools" | "activeAgent">;

export const configurationOf = ({ config, tools, activeAgent }: AgentState): Configuration => ({
  config,
  tools,
  ...(activeAgent === undefined ? {} : { activeAgent }),
});

/** The configuration after a change. */
export const configured = (
  before: Configuration,
  { config, tools, activeAgent }: Pick<AgentConfiguredInput, "config" | "tools" | "activeAgent">,
): Configuration => ({
  ...before,
  config: config === undefined ? before.config : changeConfig(before.config, config),
  tools: tools === undefined || sameJson(tools, before.tools) ? before.tools : tools,
  ...(activeAgent === undefined ? {} : { activeAgent }),
});

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A key of the parts of a configuration that requests contain. Equal keys mean equal requests. */
const requestPart = ({ config, tools }: Configuration): unknown => [
  config.systemPrompt,
  config.taskType,
  config.models,
  config.settings,
  config.toolChoice,
  config.answerSchema,
  config.toolCalls.parallel,
  config.toolCalls.blacklist,
  // A former name may be that of a found tool.
  config.toolSearch === undefined ? null : [config.toolSearch, tools],
  Object.entries(tools).map(([name, { description, schema }]) => [name, description, schema]),
];

const changesRequest = (before: Configuration, after: Configuration): boolean =>
  !sameJson(requestPart(before), requestPart(after));

/**
 * Applies a changed tool to an open call. One that is not running cannot run if its tool was removed or accepts other arguments, and gets an
 * unknown outcome if the new replay policy does not allow it to run again. An approval does not hold for a greater risk.
 */
function reconsiderCall(edit: StateEdit, id: string, before: Readonly<Record<string, ToolDefinition>>): void {
  const call = openCallOf(edit.reActContext.control, id);
  const record = recordOf(edit, id);
  if (call === undefined || record === undefined) return;
  const tool = toolOf(edit, record.name);
  const old = toolOf({ tools: before }, record.name);
  if (old !== undefined && tool !== undefined && isRiskier(old, tool)) withdrawApproval(edit, call, record);
  if (!mayStillRun(call)) return;
  if (isOtherTool(old, tool, call.madeFor)) {
    if (call.mayHaveRun) failAsUnknown(edit, id, { reason: ["toolChanged"] });
    else failCall(edit, id, { code: "tool-changed", says: ["notRun", ["toolChanged"]] });
  } else if (call.status.type === "asking" && isBlacklisted(edit, record))
    refuseBlacklisted(edit, call, record);
  else if (call.mayHaveRun && mustNotRunAnymore(old, tool)) settleUnknown(edit, call);
  else keepSchema(edit, id, old);
}

/** Keeps the schema that the arguments of a call were made for, so that the call survives a return to it. */
function keepSchema(edit: StateEdit, id: string, old: ToolDefinition | undefined): void {
  const call = openCallOf(edit.reActContext.control, id);
  const tool = toolOf(edit, recordOf(edit, id)?.name ?? "");
  if (call !== undefined && call.madeFor === undefined && old !== undefined && old.schema !== tool?.schema)
    edit.putOpenCall({ ...call, madeFor: old.schema });
}

const mustNotRunAnymore = (old: ToolDefinition | undefined, tool: ToolDefinition | undefined): boolean =>
  (old?.replay ?? "once") !== "once" && (tool?.replay ?? "once") === "once";

/** Whether the call waits for its next attempt: queued, admitted but not started, or for an approval. */
const mayStillRun = ({ status }: OpenCall): boolean =>
  waitsForStart(status) || (status.type === "asking" && status.about !== "outcome");

/**
 * Whether the new tool cannot run calls of the old one, with arguments for the schema `madeFor`: it was removed, or its input is another one
 * and it does not convert earlier arguments.
 */
function isOtherTool(
  old: ToolDefinition | undefined,
  tool: ToolDefinition | undefined,
  madeFor = old?.schema,
): boolean {
  if (old === undefined || tool === undefined) return old !== tool;
  const isOtherInput = madeFor !== tool.schema && tool.upcasts !== true;
  return isOtherInput || (old.asksHuman ?? false) !== (tool.asksHuman ?? false);
}
