import type { Tool } from "@moora/agent-core-effects";
import { callIdempotencyKey, toolNamed } from "@moora/agent-core-effects/internal";
import { isLoopRunning, type AgentState, type ToolCallRecord } from "@moora/agent-core-state-machine";
import type { Agent } from "../define-agent.ts";
import { SessionError } from "../durable/session-error.ts";
import { identityOf } from "../durable/session-header.ts";
import { openToPost, takesPosts } from "./post-to-sub-agent.ts";

type Code = Pick<Agent<unknown>, "parts" | "runLimits" | "team">;

/** The session that calls sub-agents, as its records have it. */
interface CallingSession {
  readonly agent: Code;
  readonly state: AgentState;
  /** The beginning of the idempotency keys of its calls. */
  readonly identity: string;
}

interface CancelHost {
  /** Whether the process still runs the session whose opening cancels. */
  readonly isLive: () => boolean;
  readonly failed: (error: unknown) => void;
}

/** The most calls whose sessions one opening reads. */
const maxReads = 32;

/**
 * Cancels the sessions of sub-agents whose calls were canceled, or ran out of time, when no process was there to cancel them: the
 * caller's process had ended, or ended before it could. Those that the sub-agents have called are canceled, too. The newest calls
 * are first, and at most `maxReads` are looked at. Reports each failure, and does not reject.
 */
export async function cancelAbandoned(caller: CallingSession, host: CancelHost): Promise<void> {
  const queue = abandonedCalls(caller);
  for (let reads = 0; reads < maxReads && host.isLive(); reads += 1) {
    const call = queue.shift();
    if (call === undefined) return;
    for (const tool of call.tools) {
      try {
        queue.push(...(await cancelCalled(tool, call)));
      } catch (error) {
        // The session is that of the other tool.
        if (call.tools.length === 1 || !isOfOtherAgent(error)) host.failed(error);
      }
    }
  }
}

const isOfOtherAgent = (error: unknown): boolean =>
  error instanceof SessionError && error.code === "WrongAgent";

/** A call whose session may still run. */
interface AbandonedCall {
  readonly idempotencyKey: string;
  readonly reason: string;
  /** The agents of a team may have different tools with the name of the call. */
  readonly tools: readonly Tool[];
}

/** The calls of a session that have ended without their sub-agents, the newest first. */
function abandonedCalls({ agent, state, identity }: CallingSession): AbandonedCall[] {
  const members = [agent, ...(agent.team?.agents.values() ?? [])];
  const all = members.map(({ parts }) => parts.tools);
  // A state creates its calls when they are read.
  if (!all.some((tools) => [...tools.values()].some(takesPosts))) return [];
  return Object.entries(state.toolCalls)
    .toReversed()
    .flatMap(([toolCallId, record]) => {
      const reason = reasonOf(record);
      const named = new Set(all.map((tools) => toolNamed(tools, record.name)));
      const tools = [...named].filter((tool): tool is Tool => tool !== undefined && takesPosts(tool));
      if (reason === undefined || tools.length === 0) return [];
      return { idempotencyKey: callIdempotencyKey(identity, toolCallId), reason, tools };
    });
}

/** Cancels the session of a call, if it runs. Resolves with its own calls that have ended without their sub-agents. */
async function cancelCalled(tool: Tool, call: AbandonedCall): Promise<readonly AbandonedCall[]> {
  const called = await openToPost(tool, call);
  if (called === undefined) return [];
  const { agent, session } = called;
  try {
    if (isLoopRunning(session.current())) await session.cancel(call.reason);
    const identity = identityOf(session.info().id, session.header);
    return abandonedCalls({ agent, state: session.current(), identity });
  } finally {
    await session.close();
  }
}

/** The reasons of cancels, by the codes of results that a call gets without its sub-agent, which may run. */
const reasons: ReadonlyMap<string | undefined, string> = new Map([
  ["cancelled-after-start", "The call was cancelled."],
  ["timeout", "The call timed out."],
]);

/** The reason for which the sub-agent of a call is canceled; undefined for a call that has not ended without it. */
const reasonOf = ({ result }: ToolCallRecord): string | undefined =>
  result === null || result.isSuccess ? undefined : reasons.get(result.code);
