import type { Tool, ToolContext, ToolOptions } from "@moora/agent-core-effects";
import { callIdempotencyKey, toolNamed } from "@moora/agent-core-effects/internal";
import type { AgentState, OpenCall } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import { digestOf, type EventLog } from "@moora/event-log";
import type { Agent } from "./define-agent.ts";
import { SessionError } from "./durable/session-error.ts";
import { codeAt } from "./team/member-at.ts";

/** The names of a tool of `agentTool`, and the log with the sessions of its calls. */
export type ToolWithLog = Pick<ToolOptions, "name" | "formerNames"> & { readonly log: EventLog };

const logsOfTools = new WeakMap<Tool, ToolWithLog>();

/** Records in which log the sessions of a tool's calls are. */
export const registerLog = (tool: Tool, options: ToolWithLog): void => void logsOfTools.set(tool, options);

/** A session in a log that calls sub-agents. */
interface CallingSession {
  readonly log: EventLog;
  /** Its id and incarnation. */
  readonly identity: string;
  readonly state: AgentState;
}

/**
 * Throws `InvalidOption` if the session of an open call is in the log of its caller, and not in the log of the tool, such as after
 * a move: the call would begin anew.
 */
export async function checkLogsOfCalls(agent: Agent<unknown>, session: CallingSession): Promise<void> {
  const { log, state } = session;
  const { tools } = codeAt(agent, state).parts;
  const toolOf = ({ id }: OpenCall): ToolWithLog | undefined => {
    const tool = toolNamed(tools, recordOf(state, id)?.name ?? "");
    const found = tool === undefined ? undefined : logsOfTools.get(tool);
    return found?.log === log ? undefined : found;
  };
  for await (const { toolCallId, tool, call } of callsWithoutSession(session, toolOf)) {
    const found = await openedSessionId({ ...tool, log }, call);
    if (found === undefined) continue;
    throw new SessionError(
      "InvalidOption",
      `The call ${toolCallId} has its session "${found}" in the log of this session, but the tool ${tool.name} has another log: ` +
        `give agentTool the log "${log.name}" that openSession has.`,
    );
  }
}

/**
 * Throws `InvalidOption` if an open call of a sub-agent has begun, and the log does not have its session: the call would begin anew.
 * A tool that is `resumable` and has `spends` counts as a sub-agent with a log, as `agentTool` defines it: the state shows nothing else of it.
 */
export async function checkHasSessionsOfCalls(session: CallingSession): Promise<void> {
  const { log, state } = session;
  const toolOf = ({ id, mayHaveRun, status }: OpenCall): ToolWithLog | undefined => {
    const { name = "" } = recordOf(state, id) ?? {};
    const { resumable, spends, formerNames = [] } = state.tools[name] ?? {};
    const hasBegun = mayHaveRun || (status.type === "running" && status.started);
    const isOfSubAgent = resumable === true && spends !== undefined;
    return isOfSubAgent && hasBegun ? { name, formerNames, log } : undefined;
  };
  for await (const { toolCallId, tool } of callsWithoutSession(session, toolOf)) {
    throw new SessionError(
      "InvalidOption",
      `The call ${toolCallId} of ${tool.name} is open and has begun, and this log does not have its session: it would begin again. ` +
        `Move the session with moveSession, or export a fork of it with open: "close".`,
    );
  }
}

/** An open call whose session the log of its tool does not have. */
interface CallWithoutSession {
  readonly toolCallId: string;
  readonly tool: ToolWithLog;
  readonly call: Pick<ToolContext, "idempotencyKey">;
}

/** The open calls whose session is not in the log of their tool. `toolOf` returns undefined for a call that is not checked. */
async function* callsWithoutSession(
  { identity, state }: CallingSession,
  toolOf: (call: OpenCall) => ToolWithLog | undefined,
): AsyncGenerator<CallWithoutSession, void> {
  for (const open of openCallsOf(state.reActContext.control)) {
    const tool = toolOf(open);
    const call = { idempotencyKey: callIdempotencyKey(identity, open.id) };
    if (tool !== undefined && (await openedSessionId(tool, call)) === undefined)
      yield { toolCallId: open.id, tool, call };
  }
}

/** The id of the session that an earlier attempt of a call has opened, under any name of the tool; undefined if none has. */
export async function openedSessionId(
  { name, formerNames = [], log }: ToolWithLog,
  call: Pick<ToolContext, "idempotencyKey">,
): Promise<string | undefined> {
  for (const each of [name, ...formerNames]) {
    const id = agentToolSessionId(each, call);
    if ((await log.open(id)) !== undefined) return id;
  }
  return undefined;
}

/**
 * The id of the session of a call of `agentTool` with a log: the same for every attempt of the call, different for every other
 * call. `name` is that of the tool.
 */
export const agentToolSessionId = (
  name: string,
  { idempotencyKey }: Pick<ToolContext, "idempotencyKey">,
): string => `${name}-${digestOf(idempotencyKey)}`;
