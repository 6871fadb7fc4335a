import type { AgentState, ToolCallResult } from "@moora/agent-core-state-machine";
import type { CallToolEffect, ProbeToolEffect } from "../effect.ts";
import { isPromise } from "../is-promise.ts";
import { shortened } from "../shortened.ts";
import type { Tool } from "../tool/define-tool.ts";
import { thrownToOutcome, type ToolOutcome } from "../tool/tool-reply.ts";
import type { RunHost } from "./agent-parts.ts";
import { callContext } from "./call-context.ts";
import { countedUsage } from "./counted-usage.ts";
import { inTime } from "./in-time.ts";
import { recordable } from "./recordable.ts";
import { tell, waitFor, type Run } from "./run-steps.ts";

/** Runs a tool, after its intent is durable, and tells its one result. */
export function* callTool(effect: CallToolEffect, state: AgentState, host: RunHost): Run<void> {
  const { toolCallId, attempt } = effect;
  const { clock, signal } = host;
  const intended = yield* tell({ type: "tool-call-started", toolCallId, attempt, timestamp: clock.now() });
  if (!intended || signal.aborted) return;
  const tool = host.parts.tools.get(effect.name);
  const outcome =
    tool === undefined
      ? unknownTool(effect.name, host)
      : yield* waitFor(toolOutcome(tool, effect, state, host));
  if (!signal.aborted) yield* tellResult(effect, outcome, host);
}

/** Asks the tool what became of a call that was broken off, and tells what it knows. */
export function* probeTool(effect: ProbeToolEffect, state: AgentState, host: RunHost): Run<void> {
  const { toolCallId, attempt } = effect;
  const tool = host.parts.tools.get(effect.name);
  const found = yield* waitFor(probeOutcome(tool, effect, state, host));
  if (host.signal.aborted) return;
  if (found !== "not-run" && found !== "unknown") return yield* tellResult(effect, found, host);
  const timestamp = host.clock.now();
  yield* tell({ type: "tool-call-interrupted", toolCallId, attempt, outcome: found, timestamp });
}

function* tellResult(
  { toolCallId, key }: CallToolEffect | ProbeToolEffect,
  outcome: ToolOutcome,
  { clock, limits }: RunHost,
): Run<void> {
  const timestamp = clock.now();
  const result = outcomeToResult(outcome, limits.maxResultLength, timestamp);
  const usage = countedUsage(outcome.usage);
  const used = usage === undefined ? {} : { usage };
  const input = { type: "tool-call-completed", toolCallId, key, result, ...used, timestamp } as const;
  yield* tell("files" in result ? recordable(input) : input);
}

/** The tool's outcome, at once where it is there at once. */
function toolOutcome(
  tool: Tool,
  effect: CallToolEffect,
  state: AgentState,
  host: RunHost,
): ToolOutcome | Promise<ToolOutcome> {
  const late = new AbortController();
  const running = tool.run(effect.parameters, callContext(effect, state, host, late.signal));
  // `Tool` promises not to reject; one that a host wrote by hand may do so all the same.
  return isPromise(running) ? inTime(running.catch(thrownToOutcome), tool, host, late) : running;
}

type Found = Awaited<ReturnType<NonNullable<Tool["probe"]>>>;

/** A tool that is gone, has no probe, fails or does not answer in time does not know. */
async function probeOutcome(
  tool: Tool | undefined,
  effect: ProbeToolEffect,
  state: AgentState,
  host: RunHost,
): Promise<Found> {
  if (tool?.probe === undefined) return "unknown";
  const late = new AbortController();
  const found = tool.probe(effect.parameters, callContext(effect, state, host, late.signal));
  const outcome = await inTime(
    found.catch((): Found => "unknown"),
    tool,
    host,
    late,
  );
  return typeof outcome !== "string" && !outcome.isSuccess && outcome.code === "timeout"
    ? "unknown"
    : outcome;
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

/** A result that fits: cut to the limit with a mark that says how long the whole was. */
function outcomeToResult(outcome: ToolOutcome, maxLength: number, receivedAt: number): ToolCallResult {
  if (!outcome.isSuccess) {
    const error = shortened(outcome.error.toWellFormed(), maxLength);
    return { isSuccess: false, error, receivedAt, code: outcome.code };
  }
  const content = shortened(outcome.content.toWellFormed(), maxLength);
  return {
    isSuccess: true,
    content,
    receivedAt,
    ...(outcome.files === undefined ? {} : { files: outcome.files }),
  };
}
