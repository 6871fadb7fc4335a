import type { Tool, ToolOutcome } from "@moora/agent-core-effects";
import { loopRuns, traceOf, type AgentState, type Trace } from "@moora/agent-core-state-machine";
import type { EventLog } from "@moora/event-log";
import { canonicalJson } from "../durable/canonical-json.ts";
import type { Agent } from "../define-agent.ts";
import { startSession } from "../start-session.ts";
import { differencesOf, type Difference } from "./differences.ts";
import { positionOf, readSession } from "./read-session.ts";

export interface RerunOptions {
  /** The record to begin after. */
  readonly from: number;
  /** What a call does that the record knows nothing of: it fails, and the model reads that, or it really runs. */
  readonly unrecorded?: "fail" | "run";
}

/** What another model, prompt or set of limits would have made of a recorded run. */
export interface Rerun {
  readonly recorded: { readonly state: AgentState; readonly trace: Trace };
  readonly state: AgentState;
  readonly trace: Trace;
  readonly differences: readonly Difference[];
  /** Calls that the record had no result for. */
  readonly unrecordedCalls: number;
}

/**
 * Runs a recorded session again from one of its positions, with another agent. Tools answer what they answered then, by
 * name and arguments, so nothing is done twice; nothing is written to the log.
 */
export async function rerunSession<Answer>(
  agent: Agent<Answer>,
  log: EventLog,
  id: string,
  { from, unrecorded = "fail" }: RerunOptions,
): Promise<Rerun> {
  const session = await readSession(log, id);
  const whole = positionOf(session, Number.MAX_SAFE_INTEGER);
  const start = positionOf(session, from);
  const recordings = new Recordings(whole.state, unrecorded);
  const tools = new Map([...agent.parts.tools].map(([name, tool]) => [name, recordings.standInFor(tool)]));
  const replayed = startSession({ ...agent, parts: { ...agent.parts, tools } }, { id, state: start.state });
  const { config, tools: definitions } = agent;
  const timestamp = start.state.updatedAt;
  await replayed.dispatch({ type: "session-opened", owner: "rerun", timestamp });
  await replayed.dispatch({ type: "agent-configured", config, tools: definitions, timestamp });
  await replayed.settled();
  const { streaming: _, ...state } = replayed.current();
  const trace = replayed.trace();
  await replayed.close();
  return {
    recorded: { state: whole.state, trace: traceOf(whole.moves.slice(start.moves.length)) },
    state,
    trace,
    differences: loopRuns(start.state) ? differencesOf(whole.state, state) : [],
    unrecordedCalls: recordings.missing,
  };
}

/** The results of a recorded session by tool and arguments, each given once, in their order. */
class Recordings {
  missing = 0;
  private readonly outcomes = new Map<string, ToolOutcome[]>();
  private readonly unrecorded: "fail" | "run";

  constructor({ toolCalls }: AgentState, unrecorded: "fail" | "run") {
    this.unrecorded = unrecorded;
    for (const { name, parameters, result } of Object.values(toolCalls)) {
      if (result === null) continue;
      const key = keyOf(name, parameters);
      this.outcomes.set(key, [...(this.outcomes.get(key) ?? []), outcomeOf(result)]);
    }
  }

  standInFor(tool: Tool): Tool {
    return {
      ...tool,
      run: (parameters, context) => {
        const known = this.outcomes.get(keyOf(tool.name, parameters))?.shift();
        if (known !== undefined) return known;
        this.missing += 1;
        if (this.unrecorded === "run") return tool.run(parameters, context);
        return { isSuccess: false, error: "The recorded run did not make this call.", code: "not-recorded" };
      },
    };
  }
}

function outcomeOf(result: NonNullable<AgentState["toolCalls"][string]["result"]>): ToolOutcome {
  if (!result.isSuccess) return { isSuccess: false, error: result.error, code: result.code ?? "tool-error" };
  return {
    isSuccess: true,
    content: result.content,
    ...(result.files === undefined ? {} : { files: result.files }),
  };
}

function keyOf(name: string, parameters: string): string {
  try {
    return `${name} ${canonicalJson(JSON.parse(parameters))}`;
  } catch {
    return `${name} ${parameters}`;
  }
}
