import type { AgentState, ToolCallAskedInput } from "@moora/agent-core-state-machine";
import { openCallOf, recordOf, wording } from "@moora/agent-core-state-machine/internal";
import type { CallToolEffect } from "../effect.ts";
import { dataAt } from "../data/data-at.ts";
import { DataUpdates } from "../data/data-updates.ts";
import { searchesTools, searchToolName } from "../internal-tools.ts";
import { isPromise } from "../is-promise.ts";
import { invalid, type Tool } from "../tool/define-tool.ts";
import type { ToolQuestion } from "../tool/tool-asks.ts";
import { thrownToOutcome, type ToolOutcome } from "../tool/tool-reply.ts";
import { toolNamed } from "../tool/tool-named.ts";
import { unknownTool } from "../tool/unknown-tool.ts";
import { isAborted, LazyAbort } from "./abort.ts";
import type { EffectHost } from "./host.ts";
import { callContext } from "./call-context.ts";
import { commitOf, refusalOfTool } from "./commit-data.ts";
import { resultInput, resultWithUpdates } from "./dispatch-result.ts";
import type { DispatchedInput } from "./dispatched-input.ts";
import { usageReported } from "./late-usage.ts";
import { validUsage } from "./valid-usage.ts";
import { unfundedOutcome } from "./unfunded-outcome.ts";
import { withTimeout } from "./with-timeout.ts";
import { waitFor, type EffectProgram } from "./effect-program.ts";
import { storedFiles } from "./host-files.ts";

/** Runs a tool, and dispatches its result. For a call that cannot run, only dispatches a failure. */
export function* callTool(effect: CallToolEffect, state: AgentState, host: EffectHost): EffectProgram<void> {
  const tool = toolNamed(host.parts.tools, effect.name);
  const problem = recordOf(state, effect.toolCallId)?.problem;
  if (tool === undefined || problem !== undefined) {
    const search = searchesTools(state) ? searchToolName : undefined;
    const refused =
      problem === undefined ? unknownTool(effect.name, host.parts.tools, search) : invalid(problem);
    yield { dispatch: [resultInput(effect, refused, host)] };
    return;
  }
  let updates: DataUpdates | undefined;
  let failed = unfundedOutcome(tool, effect.budget);
  try {
    if (failed === undefined) updates = updatesOf(tool, effect, state, host);
  } catch (error) {
    failed = thrownToOutcome(error);
  }
  if (failed !== undefined) {
    yield { dispatch: [resultInput(effect, failed, host)] };
    return;
  }
  const running = toolOutcome(tool, { effect, updates }, state, host);
  const settled = isPromise(running) ? yield* waitFor(running) : running;
  let outcome = mayHaveRunBefore(tool, effect, state) ? withoutDenial(settled) : settled;
  const commits = updates?.close();
  if (commits !== undefined) yield* waitFor(commits);
  if (isAborted(host)) return;
  const stored = outcomeToStore(outcome, host);
  if (isPromise(stored)) outcome = yield* waitFor(stored);
  if (isAborted(host)) return;
  yield { dispatch: [inputOf(effect, outcome, updates, host)] };
}

/** The input that a call ends with: its question, or its result with its updates. */
function inputOf(
  effect: CallToolEffect,
  outcome: ToolOutcome,
  updates: DataUpdates | undefined,
  host: EffectHost,
): DispatchedInput {
  if (!outcome.isSuccess && outcome.asks !== undefined)
    return askedInput(effect, outcome, outcome.asks, host);
  return updates === undefined || updates.isEmpty || !outcome.isSuccess
    ? resultInput(effect, outcome, host)
    : resultWithUpdates(effect, outcome, updates, host);
}

/** Whether an earlier attempt of the call may have run with arguments that the tool no longer takes. */
const mayHaveRunBefore = (
  { definition }: Tool,
  { toolCallId }: CallToolEffect,
  { reActContext: { control } }: AgentState,
): boolean => definition.upcasts === true && openCallOf(control, toolCallId)?.mayHaveRun === true;

/** The outcome of a call of which an earlier attempt may have run: arguments that cannot be converted leave it unknown. */
const withoutDenial = (outcome: ToolOutcome): ToolOutcome =>
  outcome.isSuccess || outcome.code !== "invalid-arguments"
    ? outcome
    : { ...outcome, error: wording.outcomeUnknown(outcome.error), code: "outcome-unknown" };

/** An outcome whose files are stored by the host. A promise only if it has files. */
function outcomeToStore(
  outcome: ToolOutcome,
  { files: store }: EffectHost,
): ToolOutcome | Promise<ToolOutcome> {
  if (store === undefined || !outcome.isSuccess || outcome.files === undefined) return outcome;
  // What a tool returns is checked first: the check of the input throws for it otherwise.
  if (!outcome.files.every((file) => typeof file.url === "string")) return outcome;
  return storedFiles(outcome.files, store).then((files) => ({ ...outcome, files }));
}

/** The updates of a call; undefined for a tool without data. Throws `DataRefused` for data of another version. */
function updatesOf(
  tool: Tool,
  { name, toolCallId }: CallToolEffect,
  state: AgentState,
  host: EffectHost,
): DataUpdates | undefined {
  const { data } = tool;
  if (data === undefined) return undefined;
  const commit = refusalOfTool(tool) ?? commitOf(host, data, { by: name, toolCallId });
  return new DataUpdates(data, dataAt(host.current?.() ?? state, data), commit);
}

/** The question of a call. Updates of data by an attempt that asks are dropped: the attempt with the reply makes them. */
function askedInput(
  { toolCallId, key }: CallToolEffect,
  outcome: ToolOutcome,
  asks: ToolQuestion["asks"],
  { clock, digestOf, sessionId }: EffectHost,
): ToolCallAskedInput {
  const usage = validUsage(outcome.usage);
  const used = usage === undefined ? {} : { usage };
  const digest = toolQuestionDigest({ toolCallId, key, ...asks }, { sessionId, digestOf });
  return { type: "tool-call-asked", toolCallId, key, ...asks, digest, ...used, timestamp: clock.now() };
}

/** The digest of a question of a tool: it binds the reply to the session, the call, its attempt and what is asked. */
export const toolQuestionDigest = (
  { toolCallId, key, question, answerSchema = "" }: Omit<ToolCallAskedInput, "type" | "digest" | "timestamp">,
  { sessionId, digestOf }: Pick<EffectHost, "sessionId" | "digestOf">,
): string => digestOf(sessionId, toolCallId, key, question, answerSchema);

/** The outcome of a tool; a promise only if the tool returns one. */
function toolOutcome(
  tool: Tool,
  { effect, updates }: { readonly effect: CallToolEffect; readonly updates: DataUpdates | undefined },
  state: AgentState,
  host: EffectHost,
): ToolOutcome | Promise<ToolOutcome> {
  const late = new LazyAbort();
  const running = tool.run(effect.parameters, callContext(effect, state, host, { tool, late, updates }));
  if (!isPromise(running)) return running;
  const { spends } = tool.definition;
  // A result that arrives after a cancel or the timeout of the tool is dropped. Its usage counts all the same.
  const dropped = (outcome: ToolOutcome): void => {
    // A tool without types may resolve with anything.
    const { usage }: Partial<ToolOutcome> = Object(outcome);
    host.onLateOutput?.(effect.key, "result");
    if (spends !== undefined)
      host.dispatchLate?.(usageReported(effect.key, validUsage(usage), host.clock.now()));
  };
  // A `Tool` must not reject, but one that was not made by `defineTool` might.
  return withTimeout(running, { tool, late, caught: thrownToOutcome, dropped }, host);
}
