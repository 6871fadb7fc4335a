import { toolNamed } from "@moora/agent-core-effects/internal";
import { isLoopRunning, type AgentState, type ToolCallRecord } from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";
import { identityOf } from "../durable/session-header.ts";
import { codeAt } from "../team/member-at.ts";
import { openToPost, takesPosts } from "./post-to-sub-agent.ts";

type Code = Pick<Agent<unknown>, "parts" | "runLimits" | "team">;

/** The session that calls sub-agents, as its records have it. */
interface CallingSession {
  readonly agent: Code;
  readonly state: AgentState;
  /** The beginning of the idempotency keys of its calls. */
  readonly identity: string;
  readonly failed: (error: unknown) => void;
}

/**
 * Cancels the sessions of sub-agents whose calls were cancelled, or ran out of time, when no process was there to cancel them: the
 * caller's process had ended, or ended before it could. Those that the sub-agents have called are cancelled, too.
 */
export async function cancelAbandoned(caller: CallingSession): Promise<void> {
  const { agent, state, identity } = caller;
  const { tools } = codeAt(agent, state).parts;
  if (![...tools.values()].some(takesPosts)) return;
  for (const [toolCallId, record] of Object.entries(state.toolCalls)) {
    if (!isAbandoned(record)) continue;
    const tool = toolNamed(tools, record.name);
    if (tool === undefined || !takesPosts(tool)) continue;
    try {
      await cancelCalled(tool, `${identity}/${toolCallId}`, caller);
    } catch (error) {
      caller.failed(error);
    }
  }
}

async function cancelCalled(
  tool: Parameters<typeof openToPost>[0],
  idempotencyKey: string,
  { failed }: CallingSession,
): Promise<void> {
  const called = await openToPost(tool, { idempotencyKey });
  if (called === undefined) return;
  const { agent, session } = called;
  try {
    if (isLoopRunning(session.current())) await session.cancel("The call was cancelled.");
    const identity = identityOf(session.info().id, session.header);
    await cancelAbandoned({ agent, state: session.current(), identity, failed });
  } finally {
    await session.close();
  }
}

/** The codes of results that a call gets without its sub-agent, which may run. */
const abandoning: ReadonlySet<string> = new Set(["cancelled-after-start", "timeout"]);

const isAbandoned = ({ result }: ToolCallRecord): boolean =>
  result !== null && !result.isSuccess && result.code !== undefined && abandoning.has(result.code);
