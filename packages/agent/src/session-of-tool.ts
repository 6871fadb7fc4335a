import type { Tool, ToolContext, ToolOptions } from "@moora/agent-core-effects";
import { callIdempotencyKey, toolNamed } from "@moora/agent-core-effects/internal";
import type { AgentState } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import { digestOf, type EventLog } from "@moora/event-log";
import type { Agent } from "./define-agent.ts";
import { SessionError } from "./durable/session-error.ts";
import { codeAt } from "./team/member-at.ts";

/** The names of a tool of `agentTool`, and the log with the sessions of its calls. */
export type ToolWithLog = Pick<ToolOptions, "name" | "formerNames"> & { readonly log: EventLog };

const withLogs = new WeakMap<Tool, ToolWithLog>();

/** Makes known in which log the calls of a tool have their sessions. */
export const hasSessionsIn = (tool: Tool, options: ToolWithLog): void => void withLogs.set(tool, options);

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
export async function checkLogsOfCalls(
  agent: Agent<unknown>,
  { log, identity, state }: CallingSession,
): Promise<void> {
  const { tools } = codeAt(agent, state).parts;
  for (const { id: toolCallId } of openCallsOf(state.reActContext.control)) {
    const tool = toolNamed(tools, recordOf(state, toolCallId)?.name ?? "");
    const ofTool = tool === undefined ? undefined : withLogs.get(tool);
    if (ofTool === undefined || ofTool.log === log) continue;
    const call = { idempotencyKey: callIdempotencyKey(identity, toolCallId) };
    const found = await openedSessionId({ ...ofTool, log }, call);
    if (found === undefined || (await openedSessionId(ofTool, call)) !== undefined) continue;
    throw new SessionError(
      "InvalidOption",
      `The call ${toolCallId} has its session "${found}" in the log of this session, but the tool ${ofTool.name} has another log: ` +
        `give agentTool the log "${log.name}" that openSession has.`,
    );
  }
}

/**
 * Throws `InvalidOption` if an open call may have begun a session that the log does not have: the call would begin anew. A tool of
 * `agentTool` with a log is the only one whose calls are `resumable` in this way.
 */
export async function checkHasSessionsOfCalls({ log, identity, state }: CallingSession): Promise<void> {
  for (const { id: toolCallId, mayHaveRun, status } of openCallsOf(state.reActContext.control)) {
    const { name = "" } = recordOf(state, toolCallId) ?? {};
    const { resumable, formerNames = [] } = state.tools[name] ?? {};
    const hasBegun = mayHaveRun || (status.type === "running" && status.started);
    if (resumable !== true || !hasBegun) continue;
    const call = { idempotencyKey: callIdempotencyKey(identity, toolCallId) };
    if ((await openedSessionId({ name, formerNames, log }, call)) !== undefined) continue;
    throw new SessionError(
      "InvalidOption",
      `The call ${toolCallId} of ${name} is open and has begun, and what it has done is not in this text: it would begin again. ` +
        `Move the session with moveSession, or export a fork of it with open: "close".`,
    );
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
