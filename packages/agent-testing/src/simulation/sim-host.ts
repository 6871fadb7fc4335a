import type { Agent, DurableSession } from "@moora/agent";
import type { Clock, StateHandler, Tool, ToolContext } from "@moora/agent-core-effects";
import type { LlmCallOptions, LlmRequest } from "@moora/llm";
import type { Beginning } from "./check-beginning.ts";
import type { Pending } from "./pending.ts";
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
  /** Timers that were set and have neither fired nor been cleared. */
  timers: number;
}

export interface SimulatedParts {
  readonly wait: (pending: Pending) => void;
  /** Called at the instant at which anything begins, before it does. `toolCallId`: of the call whose tool or probe begins. */
  readonly starts: (host: SimHost, what: Beginning, toolCallId?: string) => void;
  readonly asks: (request: LlmRequest, options: LlmCallOptions) => void;
  readonly begins: (host: SimHost, tool: Tool, parameters: string, context: ToolContext) => void;
  readonly hasRun: (toolCallId: string) => boolean;
  readonly executes: (name: string) => boolean;
}

/** The names that a tool has had in all releases. */
const namesOf = ({ name, definition }: Tool): readonly string[] => [name, ...(definition.formerNames ?? [])];

/** The agent of a host with a simulated model, and tools that end as actions decide. */
export function simulatedAgent(host: SimHost, sim: SimulatedParts): Agent<unknown> {
  const { agent, name } = host;
  const llm = simLlm(name, (pending) => {
    sim.starts(host, "model call");
    sim.asks(pending.request, pending.options);
    sim.wait(pending);
  });
  const toolOf = (tool: Tool): Tool =>
    simTool(tool, {
      host: name,
      wait: sim.wait,
      begins(begun, parameters, context) {
        sim.starts(host, "tool", context.toolCallId);
        sim.begins(host, begun, parameters, context);
      },
      probes: (toolCallId) => sim.starts(host, "probe", toolCallId),
      hasRun: sim.hasRun,
      // What a handoff changes is in the outcome of its tool.
      executes: namesOf(tool).some(
        (each) => (agent.team !== undefined && each === "hand_off") || sim.executes(each),
      ),
    });
  const handlerOf =
    (handle: StateHandler): StateHandler =>
    (state, context) => {
      sim.starts(host, "handler");
      return handle(state, context);
    };
  const simulated = <Of extends Agent<unknown>>(real: Of): Of => {
    const tools = new Map([...real.parts.tools].map(([toolName, tool]) => [toolName, toolOf(tool)]));
    const states = Object.fromEntries(
      Object.entries(real.parts.states).map(([state, handle]) => [state, handlerOf(handle)]),
    );
    return { ...real, parts: { ...real.parts, llm, tools, states } };
  };
  if (agent.team === undefined) return simulated(agent);
  const agents = new Map([...agent.team.agents].map(([agentName, member]) => [agentName, simulated(member)]));
  return { ...simulated(agent), team: { ...agent.team, agents } };
}

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
