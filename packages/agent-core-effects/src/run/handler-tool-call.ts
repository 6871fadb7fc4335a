import type { AgentState } from "@moora/agent-core-state-machine";
import { isBlacklisted, wording } from "@moora/agent-core-state-machine/internal";
import type { DataUpdates } from "../data/data-updates.ts";
import { errorText } from "../error-text.ts";
import { isPromise } from "../is-promise.ts";
import { invalid, type Tool } from "../tool/define-tool.ts";
import type { ToolContext } from "../tool/tool-options.ts";
import { thrownToOutcome, type ToolOutcome } from "../tool/tool-reply.ts";
import { toolNamed } from "../tool/tool-named.ts";
import { unknownTool } from "../tool/unknown-tool.ts";
import { contextOf } from "./call-context.ts";
import { refusalOfTool } from "./commit-data.ts";
import { isAborted, LazyAbort, onAbort } from "./abort.ts";
import type { EffectHost } from "./host.ts";
import type { HandlerSpending } from "./handler-spending.ts";
import { unfundedOutcome } from "./unfunded-outcome.ts";
import { withTimeout } from "./with-timeout.ts";

/** A tool call by the handler of a custom state. */
export interface HandlerToolCall {
  readonly name: string;
  readonly input: unknown;
  readonly attempt: number;
  readonly toolCallId: string;
}

/** What the calls of one handler share. */
export interface HandlerWork {
  readonly spending: HandlerSpending;
  /** Undefined if the agent has no data. */
  readonly updates: DataUpdates | undefined;
}

/**
 * Runs a tool for a handler, as soon as the session is not paused. Does not throw or reject: a call that cannot run has a failed
 * outcome. `started` is the state with which the handler began; the configuration of the current state applies.
 */
export function callToolOfHandler(
  host: EffectHost,
  started: AgentState,
  work: HandlerWork,
  call: HandlerToolCall,
): ToolOutcome | Promise<ToolOutcome> {
  const { untilResumed } = host;
  if (untilResumed === undefined || !mayBePaused(host)) return startTool(host, started, work, call);
  return afterPause(host, untilResumed, () => startTool(host, started, work, call));
}

/** Whether the session is paused, or its host does not know. */
const mayBePaused = (host: EffectHost): boolean => host.isPaused?.() ?? true;

/** Starts when the session is not paused, or at once on an abort. */
async function afterPause(
  host: EffectHost,
  untilResumed: () => Promise<void>,
  start: () => ToolOutcome | Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const aborted = Promise.withResolvers<void>();
  const stopListening = onAbort(host, aborted.resolve);
  try {
    do await Promise.race([untilResumed(), aborted.promise]);
    while (!isAborted(host) && host.isPaused?.() === true);
  } catch (error) {
    return thrownToOutcome(error);
  } finally {
    stopListening();
  }
  return await start();
}

function startTool(
  host: EffectHost,
  started: AgentState,
  { spending, updates }: HandlerWork,
  call: HandlerToolCall,
): ToolOutcome | Promise<ToolOutcome> {
  const { name, input } = call;
  if (isAborted(host)) return { isSuccess: false, error: wording.cancelledBeforeRun, code: "cancelled" };
  const state = host.current?.() ?? started;
  const tool = toolNamed(host.parts.tools, name);
  if (tool === undefined) return unknownTool(name, host.parts.tools);
  if (isBlacklisted(state, { name }))
    return { isSuccess: false, error: wording.blacklisted(name), code: "blacklisted" };
  if (call.attempt > 1 && (tool.definition.replay ?? "once") === "once") {
    return {
      isSuccess: false,
      error: `The tool ${name} must not run twice, and an interrupted attempt of this handler may have run it. The outcome is unknown.`,
      code: "outcome-unknown",
    };
  }
  const parameters = inputToText(input);
  if (typeof parameters !== "string") return parameters;
  const { budgetLeft, settle } = spending.reserve(tool);
  const unfunded = unfundedOutcome(tool, budgetLeft);
  if (unfunded !== undefined) return settle(unfunded);
  const late = new LazyAbort();
  const ofTool = tool.data === undefined ? undefined : updates?.ofTool(tool.data, refusalOfTool(tool));
  const context = contextOf({ ...call, budgetLeft }, state, host, { tool, late, updates: ofTool });
  const outcome = outcomeOf(tool, parameters, context);
  const ended = (settled: ToolOutcome): ToolOutcome | Promise<ToolOutcome> => {
    const commits = ofTool?.close();
    const add = (): ToolOutcome => withUpdates(settled, updates, ofTool);
    return commits === undefined ? add() : commits.then(add);
  };
  return isPromise(outcome)
    ? finished(outcome.then(settle), tool, host, late).then(ended)
    : ended(settle(outcome));
}

const notByHandlers: ToolOutcome = {
  isSuccess: false,
  error: "A handler cannot hand the conversation over.",
  code: "not-handed-over",
};

/** Adds the updates of a tool that has succeeded to those of its handler; the outcome, or why they were refused. */
function withUpdates(
  outcome: ToolOutcome,
  updates: DataUpdates | undefined,
  ofTool: DataUpdates | undefined,
): ToolOutcome {
  if (outcome.handoff !== undefined) return notByHandlers;
  if (ofTool === undefined || !outcome.isSuccess) return outcome;
  try {
    updates?.add(ofTool);
    return outcome;
  } catch (error) {
    return thrownToOutcome(error);
  }
}

/** The outcome of a tool. An exception or rejection of a tool that was not made by `defineTool` is a failed outcome. */
function outcomeOf(tool: Tool, parameters: string, context: ToolContext): ToolOutcome | Promise<ToolOutcome> {
  try {
    const outcome = tool.run(parameters, context);
    return isPromise(outcome) ? outcome.catch(thrownToOutcome) : outcome;
  } catch (error) {
    return thrownToOutcome(error);
  }
}

/** The outcome, or a failure on timeout. After a cancel it still waits for the tool, so that its usage counts. */
async function finished(
  running: Promise<ToolOutcome>,
  tool: Tool,
  host: EffectHost,
  late: LazyAbort,
): Promise<ToolOutcome> {
  const outcome = await withTimeout(running, { tool, late, caught: thrownToOutcome }, host);
  return isAborted(host) ? await running : outcome;
}

/** JSON text of the input, or the outcome of a call whose input is not JSON. */
function inputToText(input: unknown): string | ToolOutcome {
  try {
    return JSON.stringify(input) ?? "";
  } catch (error) {
    return invalid(`The input is not JSON: ${errorText(error)}`);
  }
}
