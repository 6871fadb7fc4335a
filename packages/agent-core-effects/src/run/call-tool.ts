import { recordOf, type AgentState, type ToolCallResult } from "@moora/agent-core-state-machine";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import { shortened } from "../shortened.ts";
import type { Tool, ToolContext } from "../tool/define-tool.ts";
import { thrownToOutcome, type ToolOutcome } from "../tool/tool-reply.ts";
import type { RunHost } from "./agent-parts.ts";
import { tell, waitFor, type Run } from "./run-steps.ts";

/** Runs a tool, after its intent is durable, and tells its one result. */
export function* callTool(effect: CallToolEffect, state: AgentState, host: RunHost): Run<void> {
  const { toolCallId, attempt, key } = effect;
  const { clock, signal, limits } = host;
  const intended = yield* tell({ type: "tool-call-started", toolCallId, attempt, timestamp: clock.now() });
  if (!intended || signal.aborted) return;
  const tool = host.parts.tools.get(effect.name);
  const outcome =
    tool === undefined
      ? unknownTool(effect.name, host)
      : yield* waitFor(outcomeInTime(tool, effect, state, host));
  if (signal.aborted) return;
  const timestamp = clock.now();
  const result = outcomeToResult(outcome, limits.maxResultLength, timestamp);
  yield* tell({ type: "tool-call-completed", toolCallId, key, result, timestamp });
}

/** Asks the tool what became of a call that was broken off, and tells what it knows. */
export function* probeTool(effect: ProbeToolEffect, state: AgentState, host: RunHost): Run<void> {
  const { toolCallId, attempt, key } = effect;
  const tool = host.parts.tools.get(effect.name);
  const found = yield* waitFor(probeOutcome(tool, effect, contextOf(effect, state, host)));
  if (host.signal.aborted) return;
  const timestamp = host.clock.now();
  if (found === "not-run" || found === "unknown")
    return void (yield* tell({
      type: "tool-call-interrupted",
      toolCallId,
      attempt,
      outcome: found,
      timestamp,
    }));
  const result = outcomeToResult(found, host.limits.maxResultLength, timestamp);
  yield* tell({ type: "tool-call-completed", toolCallId, key, result, timestamp });
}

async function probeOutcome(
  tool: Tool | undefined,
  { parameters }: ProbeToolEffect,
  context: ToolContext,
): Promise<"not-run" | "unknown" | ToolOutcome> {
  try {
    return (await tool?.probe?.(parameters, context)) ?? "unknown";
  } catch {
    return "unknown";
  }
}

const maxNames = 20;

function unknownTool(name: string, { parts }: Pick<RunHost, "parts">): ToolOutcome {
  const names = [...parts.tools.keys()];
  const listed = names.slice(0, maxNames).join(", ");
  const rest = names.length > maxNames ? `, and ${names.length - maxNames} more` : "";
  const known = names.length === 0 ? "There are no tools." : `There are: ${listed}${rest}.`;
  return {
    isSuccess: false,
    error: `There is no tool ${shortened(name, 100)}. ${known}`,
    code: "unknown-tool",
  };
}

/** The tool's outcome, at once where it is there at once. */
function outcomeInTime(
  tool: Tool,
  effect: CallToolEffect,
  state: AgentState,
  host: RunHost,
): ToolOutcome | Promise<ToolOutcome> {
  const late = new AbortController();
  const running = runSafely(tool, effect.parameters, contextOf(effect, state, host, late.signal));
  return running instanceof Promise ? raced(running, late, tool, host) : running;
}

/** `Tool` promises not to throw; one that a host wrote by hand may do so all the same. */
function runSafely(tool: Tool, parameters: string, context: ToolContext): ToolOutcome | Promise<ToolOutcome> {
  try {
    const outcome = tool.run(parameters, context);
    return outcome instanceof Promise ? outcome.catch(thrownToOutcome) : outcome;
  } catch (error) {
    return thrownToOutcome(error);
  }
}

/** A failure when the tool's time is up, or the call no longer wanted; a tool that goes on then speaks to nobody. */
async function raced(
  running: Promise<ToolOutcome>,
  late: AbortController,
  tool: Tool,
  { clock, limits, signal }: RunHost,
): Promise<ToolOutcome> {
  const timeoutMs = tool.definition.timeoutMs ?? limits.toolTimeoutMs;
  const ended = Promise.withResolvers<ToolOutcome>();
  const callOff = clock.after(timeoutMs, () => {
    const error = `The tool did not answer within ${timeoutMs} ms. It may have had its effect.`;
    late.abort(new DOMException(error, "TimeoutError"));
    ended.resolve({ isSuccess: false, error, code: "timeout" });
  });
  const stop = (): void => ended.resolve({ isSuccess: false, error: "Cancelled.", code: "cancelled" });
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([running, ended.promise]);
  } finally {
    callOff();
    signal.removeEventListener("abort", stop);
  }
}

const contextOf = (
  effect: CallToolEffect | ProbeToolEffect,
  state: AgentState,
  host: RunHost,
  late?: AbortSignal,
): ToolContext => new CallContext(effect, state, host, late);

/** What a tool is told of its call. */
class CallContext implements ToolContext {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly idempotencyKey: string;
  readonly approvedBy?: string;
  private readonly host: RunHost;
  private readonly late: AbortSignal | undefined;
  private joined: AbortSignal | undefined;

  constructor(
    { toolCallId, attempt }: CallToolEffect | ProbeToolEffect,
    state: AgentState,
    host: RunHost,
    late: AbortSignal | undefined,
  ) {
    this.toolCallId = toolCallId;
    this.attempt = attempt;
    this.idempotencyKey = `${host.sessionId}/${toolCallId}`;
    const decision = recordOf(state, toolCallId)?.decision;
    if (decision !== undefined) this.approvedBy = decision.by;
    this.host = host;
    this.late = late;
  }

  /** Joined when it is asked for: most tools never look, and a joined signal costs more than their call. */
  get signal(): AbortSignal {
    const { signal } = this.host;
    this.joined ??= this.late === undefined ? signal : AbortSignal.any([signal, this.late]);
    return this.joined;
  }

  readonly progress = (text: string): void =>
    this.host.notify({ type: "tool-progress", toolCallId: this.toolCallId, text });
}

/** A result that fits: cut to the limit with a mark that says how long the whole was. */
function outcomeToResult(outcome: ToolOutcome, maxLength: number, receivedAt: number): ToolCallResult {
  if (!outcome.isSuccess)
    return { isSuccess: false, error: shortened(outcome.error, maxLength), receivedAt, code: outcome.code };
  const content = shortened(outcome.content, maxLength);
  return {
    isSuccess: true,
    content,
    receivedAt,
    ...(outcome.files === undefined ? {} : { files: outcome.files }),
  };
}
