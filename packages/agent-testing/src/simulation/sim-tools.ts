import type { Tool, ToolContext, ToolOutcome } from "@moora/agent-core-effects";
import type { PendingProbe, PendingTool } from "./pending.ts";

export interface SimToolHost {
  readonly host: string;
  readonly within: string | undefined;
  readonly wait: (pending: PendingTool | PendingProbe) => void;
  /** Called at the instant at which the tool begins to run. */
  readonly begins: (tool: Tool, parameters: string, context: ToolContext) => void;
  /** Called at the instant at which the tool is asked for the outcome of a call. */
  readonly probes: (toolCallId: string) => void;
  readonly hasRun: (toolCallId: string) => boolean;
  /** Whether the tool itself is executed when it begins; what it returns is delivered by an action. */
  readonly executes: boolean;
  /** Runs the sub-agent of a tool that calls one; undefined for any other tool. */
  readonly runs: Tool["run"] | undefined;
}

/** A stand-in for a tool: checks arguments as the tool does, and ends as an action decides. */
export function simTool(tool: Tool, sim: SimToolHost): Tool {
  const { name, definition } = tool;
  return {
    name,
    definition,
    ...(tool.data === undefined ? {} : { data: tool.data }),
    // A tool that is not executed needs nothing of its host.
    ...(tool.context === undefined || !sim.executes ? {} : { context: tool.context }),
    check: (parameters) => tool.check(parameters),
    run(parameters, context) {
      const problem = tool.check(parameters);
      const begin = (found: string | undefined): ToolOutcome | Promise<ToolOutcome> =>
        found === undefined ? beginRun(tool, parameters, context, sim) : invalid(found);
      return typeof problem === "object" ? problem.then(begin) : begin(problem);
    },
    ...(tool.probe === undefined ? {} : { probe: probeOf(tool, tool.probe, sim) }),
  };
}

const invalid = (error: string): ToolOutcome => ({ isSuccess: false, error, code: "invalid-arguments" });

function beginRun(
  tool: Tool,
  parameters: string,
  context: ToolContext,
  { host, within, wait, begins, executes, runs }: SimToolHost,
): ToolOutcome | Promise<ToolOutcome> {
  begins(tool, parameters, context);
  const { toolCallId, signal } = context;
  if (runs !== undefined) return runs(parameters, context);
  const { promise, resolve: answer, reject } = Promise.withResolvers<ToolOutcome>();
  const pending: PendingTool = {
    type: "tool",
    host,
    within,
    name: tool.name,
    toolCallId,
    parameters,
    signal,
    answer,
    reject,
    executes,
    returned: undefined,
  };
  if (executes) keepReturned(pending, tool.run(parameters, context));
  wait(pending);
  return promise;
}

function keepReturned(pending: PendingTool, running: ToolOutcome | Promise<ToolOutcome>): void {
  const keep = (outcome: ToolOutcome): void => {
    pending.returned = outcome;
  };
  if (!(running instanceof Promise)) return keep(running);
  running.then(keep, (error: unknown) =>
    keep({ isSuccess: false, error: String(error), code: "tool-error" }),
  );
}

/**
 * A probe that reports the truth, or that the outcome is unknown. The own one of a tool is asked if the tool is executed, and about
 * arguments that do not fit its schema: it is not executed for them.
 */
const probeOf =
  (tool: Tool, probe: NonNullable<Tool["probe"]>, sim: SimToolHost): NonNullable<Tool["probe"]> =>
  async (parameters, context) => {
    sim.probes(context.toolCallId);
    if (sim.executes || (await tool.check(parameters)) !== undefined) return await probe(parameters, context);
    return await simulatedProbe(context, sim);
  };

const simulatedProbe = (
  { toolCallId, signal }: ToolContext,
  { host, wait, hasRun }: SimToolHost,
): ReturnType<NonNullable<Tool["probe"]>> =>
  hasRun(toolCallId)
    ? new Promise((answer) => wait({ type: "probe", host, toolCallId, signal, answer }))
    : Promise.resolve("not-run" as const);
