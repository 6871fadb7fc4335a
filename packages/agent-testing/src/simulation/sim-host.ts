import { agentTool, type Agent, type AgentToolOptions, type DurableSession } from "@moora/agent";
import { calledAgentOf, type CalledAgent } from "@moora/agent/internal";
import type { Clock, StateHandler, Tool, ToolContext } from "@moora/agent-core-effects";
import type { LlmCallOptions, LlmCaller, LlmRequest } from "@moora/llm";
import type { Beginning } from "./check-beginning.ts";
import type { Pending, PendingSubAgent } from "./pending.ts";
import { simLlm } from "./sim-llm.ts";
import type { SimLog } from "./sim-log.ts";
import { simTool } from "./sim-tools.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** A process, as a session sees it: its own agent, handle on the store and timers, gone when it crashes. */
export interface SimHost {
  readonly name: string;
  /** The release that this process runs. */
  readonly agent: Agent<unknown>;
  readonly log: SimLog;
  readonly access: "run" | "post";
  /** Whether its `onApproval` approves whatever is asked. */
  readonly approvesAll: boolean;
  session: DurableSession<unknown> | undefined;
  /** The cancel of this process that is on its way to the log, and what has begun meanwhile. */
  canceling: { begun: Beginning | undefined } | undefined;
  /** Timers that were set and have neither fired nor been cleared. */
  timers: number;
}

export interface SimulatedParts {
  /** The clock of the host. */
  readonly clock: Clock;
  readonly wait: (pending: Pending) => void;
  /**
   * Called at the instant at which anything begins, before it does. `toolCallId`: of the call whose tool or probe begins.
   * `within`: the call of the simulated session whose sub-agent begins it; undefined for the session itself.
   */
  readonly starts: (host: SimHost, what: Beginning, toolCallId?: string, within?: string) => void;
  readonly asks: (request: LlmRequest, options: LlmCallOptions) => void;
  readonly begins: (host: SimHost, tool: Tool, parameters: string, context: ToolContext) => void;
  readonly hasRun: (toolCallId: string) => boolean;
  /** Follows a sub-agent until it ends. */
  readonly follow: <T>(pending: PendingSubAgent, end: Promise<T>) => Promise<T>;
  readonly executes: (name: string) => boolean;
}

/** The names that a tool has had in all releases. */
const namesOf = ({ name, definition }: Tool): readonly string[] => [name, ...(definition.formerNames ?? [])];

/**
 * The agent of a host with a simulated model, and tools that end as actions decide. Its sub-agents are simulated in the same way, with
 * sessions in the log of the host.
 */
export function simulatedAgent(host: SimHost, sim: SimulatedParts): Agent<unknown> {
  const { agent, name } = host;
  const llmOf = (within: string | undefined): LlmCaller =>
    simLlm({ host: name, within }, (pending) => {
      sim.starts(host, "model call", undefined, within);
      sim.asks(pending.request, pending.options);
      sim.wait(pending);
    });
  const toolOf = (tool: Tool, within: string | undefined): Tool => {
    // What a handoff changes is in the outcome of its tool.
    const executes = namesOf(tool).some(
      (each) => (agent.team !== undefined && each === "hand_off") || sim.executes(each),
    );
    const called = executes ? undefined : calledAgentOf(tool);
    const calledFor = (call: string | undefined): Tool =>
      called === undefined
        ? tool
        : agentTool(simulated(called.agent, call), optionsAt(host, sim.clock, called));
    if (called !== undefined && within !== undefined) return calledFor(within);
    const simulatedTool = simTool(tool, {
      host: name,
      within,
      wait: sim.wait,
      begins(begun, parameters, context) {
        sim.starts(host, "tool", context.toolCallId, within);
        if (within === undefined) sim.begins(host, begun, parameters, context);
      },
      probes: (toolCallId) => sim.starts(host, "probe", toolCallId, within),
      // The runs of sub-agents are not recorded: what their probes find is drawn.
      hasRun: (toolCallId) => within !== undefined || sim.hasRun(toolCallId),
      executes,
      runs:
        called &&
        (async (parameters, context) => {
          const { toolCallId, signal } = context;
          const end = Promise.resolve(calledFor(toolCallId).run(parameters, context));
          return await sim.follow({ type: "sub-agent", host: name, signal }, end);
        }),
    });
    // Sessions post to the sub-agents of the very tool that `agentTool` has made.
    return called === undefined ? simulatedTool : Object.assign(calledFor(undefined), simulatedTool);
  };
  const handlerOf =
    (handle: StateHandler, within: string | undefined): StateHandler =>
    (state, context) => {
      sim.starts(host, "handler", undefined, within);
      return handle(state, context);
    };
  const memberOf = <Of extends Agent<unknown>>(real: Of, within: string | undefined): Of => {
    const tools = new Map([...real.parts.tools].map(([toolName, tool]) => [toolName, toolOf(tool, within)]));
    const states = Object.fromEntries(
      Object.entries(real.parts.states).map(([state, handle]) => [state, handlerOf(handle, within)]),
    );
    return { ...real, parts: { ...real.parts, llm: llmOf(within), tools, states } };
  };
  const simulated = (real: Agent<unknown>, within: string | undefined): Agent<unknown> => {
    if (real.team === undefined) return memberOf(real, within);
    const agents = new Map([...real.team.agents].map(([each, member]) => [each, memberOf(member, within)]));
    return { ...memberOf(real, within), team: { ...real.team, agents } };
  };
  return simulated(agent, undefined);
}

/** The options of a sub-agent at a host. Its own reviewer approves. */
const optionsAt = ({ log }: SimHost, clock: Clock, { options }: CalledAgent): AgentToolOptions => {
  const { onSession: _, onApproval, log: own, ...rest } = options;
  const reviewed = onApproval === undefined ? rest : { ...rest, onApproval: () => "approve" as const };
  return own === undefined ? { ...reviewed, clock } : { ...reviewed, clock, log: log.asEventLog() };
};

/** Whether an agent has sub-agents with sessions in a log. */
export const hasSubAgents = ({ parts, team }: Agent<unknown>): boolean =>
  [{ parts }, ...(team?.agents.values() ?? [])].some((member) =>
    [...member.parts.tools.values()].some((tool) => calledAgentOf(tool)?.options.log !== undefined),
  );

/** The clock as a host sees it: timers of a process that is gone do not fire. */
export const clockOf = (host: SimHost, time: VirtualClock, isAlive: () => boolean): Clock => ({
  now: () => time.now(),
  after(ms, callback) {
    let isSet = true;
    const clear = (): void => {
      if (isSet) host.timers -= 1;
      isSet = false;
    };
    host.timers += 1;
    const cancel = time.after(ms, () => {
      clear();
      if (isAlive()) callback();
    });
    return () => {
      clear();
      cancel();
    };
  },
});
