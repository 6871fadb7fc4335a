import { openSession, SessionError, stateAt, type Agent, type AgentParts, type Tool } from "@moora/agent";
import { DataRefused, effectsAt } from "@moora/agent-core-effects";
import { controlName, type AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";
import type { EventLog } from "@moora/event-log";
import { VirtualClock } from "./simulation/virtual-clock.ts";

/** What an agent does with a session that it resumes after the last record, before any of its work ends. */
export type Resumed =
  | {
      readonly control: string;
      /** The keys of the effects that it wants, sorted. */
      readonly effects: readonly string[];
      /** The calls that were open: "open", "ok" or the code of the failed result. */
      readonly calls: Readonly<Record<string, string>>;
    }
  /** The code of the error with which it refuses to open the session. */
  | { readonly error: string };

/** Resumes a session with an agent whose model, tools and handlers do not end. Appends the records of the opening. */
export async function resumeSession(agent: Agent<unknown>, log: EventLog, id: string): Promise<Resumed> {
  const { state } = await stateAt(log, id);
  try {
    await using session = await openSession(endless(agent), {
      log,
      id,
      clock: new VirtualClock(state.updatedAt),
      owner: "golden",
      snapshots: false,
      context: {},
      onError: () => undefined,
    });
    return resumedAt(session.current(), openCallIds(state));
  } catch (error) {
    if (error instanceof SessionError || error instanceof DataRefused) return { error: error.code };
    throw error;
  }
}

const openCallIds = ({ reActContext: { control } }: AgentState): readonly string[] =>
  openCallsOf(control).map(({ id }) => id);

const resumedAt = (state: AgentState, callIds: readonly string[]): Resumed => ({
  control: controlName(state.reActContext.control),
  effects: Object.keys(effectsAt(state)).toSorted(),
  calls: Object.fromEntries(callIds.map((id) => [id, outcomeOf(state, id)])),
});

function outcomeOf({ toolCalls }: AgentState, id: string): string {
  const result = toolCalls[id]?.result ?? null;
  if (result === null) return "open";
  return result.isSuccess ? "ok" : (result.code ?? "failed");
}

const never = (): Promise<never> => new Promise(() => undefined);

/** The agent, and each agent of its team, with work that never ends. */
function endless<Of extends Agent<unknown>>(agent: Of): Of {
  const changed = { ...agent, parts: endlessParts(agent.parts) };
  if (agent.team === undefined) return changed;
  const agents = new Map([...agent.team.agents].map(([name, member]) => [name, endless(member)]));
  return { ...changed, team: { ...agent.team, agents } };
}

const endlessParts = (parts: AgentParts): AgentParts => ({
  ...parts,
  llm: { name: parts.llm.name, call: never },
  tools: new Map([...parts.tools].map(([name, tool]) => [name, endlessTool(tool)])),
  states: Object.fromEntries(Object.keys(parts.states).map((name) => [name, never])),
});

const endlessTool = (tool: Tool): Tool => ({
  ...tool,
  run: never,
  ...(tool.probe === undefined ? {} : { probe: never }),
});
