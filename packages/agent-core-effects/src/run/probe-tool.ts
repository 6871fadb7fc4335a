import type { AgentState } from "@moora/agent-core-state-machine";
import type { ProbeToolEffect } from "../effect.ts";
import type { Tool } from "../tool/define-tool.ts";
import { toolNamed } from "../tool/tool-named.ts";
import { isAborted, LazyAbort } from "./abort.ts";
import { callContext } from "./call-context.ts";
import { resultInput } from "./dispatch-result.ts";
import { dispatch, waitFor, type EffectProgram } from "./effect-program.ts";
import type { EffectHost } from "./host.ts";
import { withTimeout } from "./with-timeout.ts";

/** Asks the tool for the outcome of an interrupted call, and dispatches the answer. */
export function* probeTool(
  effect: ProbeToolEffect,
  state: AgentState,
  host: EffectHost,
): EffectProgram<void> {
  const { toolCallId, attempt } = effect;
  const tool = toolNamed(host.parts.tools, effect.name);
  const found = yield* waitFor(probeOutcome(tool, effect, state, host));
  if (isAborted(host)) return;
  if (found === "not-run" || found === "unknown") {
    const timestamp = host.clock.now();
    yield* dispatch({ type: "tool-call-interrupted", toolCallId, attempt, outcome: found, timestamp });
  } else yield* dispatch(resultInput(effect, found, host));
}

type Found = Awaited<ReturnType<NonNullable<Tool["probe"]>>>;

/** The result of a probe; "unknown" if the tool is missing, has no probe, fails or times out. */
async function probeOutcome(
  tool: Tool | undefined,
  effect: ProbeToolEffect,
  state: AgentState,
  host: EffectHost,
): Promise<Found> {
  if (tool?.probe === undefined) return "unknown";
  const late = new LazyAbort();
  const found = tool.probe(
    effect.parameters,
    callContext(effect, state, host, { tool, late, updates: undefined }),
  );
  const outcome = await withTimeout(found, { tool, late, caught: (): Found => "unknown" }, host);
  return typeof outcome !== "string" && !outcome.isSuccess && outcome.code === "timeout"
    ? "unknown"
    : outcome;
}
