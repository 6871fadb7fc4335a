import type { Clock, Tool } from "@moora/agent-core-effects";
import { callIdempotencyKey, toolNamed, usageReported, validUsage } from "@moora/agent-core-effects/internal";
import {
  isLoopRunning,
  type AgentState,
  type AgentUsage,
  type ToolCallRecord,
} from "@moora/agent-core-state-machine";
import {
  addAgentUsage,
  isToolKey,
  noAgentUsage,
  toolCallIdIn,
} from "@moora/agent-core-state-machine/internal";
import type { Agent } from "../define-agent.ts";
import { SessionError } from "../durable/session-error.ts";
import { identityOf } from "../durable/session-header.ts";
import type { HostedSession } from "./create-session.ts";
import { PendingInput } from "./pending-input.ts";
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
  /** The session whose opening cancels. */
  readonly hosted: Pick<HostedSession<unknown>, "dispatch" | "report">;
  readonly clock: Clock;
  /** Whether the process still runs that session. */
  readonly isLive: () => boolean;
}

/** The most calls whose sessions one opening reads. */
const maxReads = 32;

/**
 * Cancels the sessions of sub-agents whose calls were canceled, settled, or ran out of time, when no process was there to cancel
 * them: the caller's process had ended, or ended before it could. Those that the sub-agents have called are canceled, too. Then
 * reports what they have used, where that is awaited. The calls whose usage is awaited are first, then the newest, and at most
 * `maxReads` are looked at. Reports each failure, and does not reject.
 */
export async function cancelAbandoned(caller: CallingSession, host: CancelHost): Promise<void> {
  const search: Search = { host, readsLeft: maxReads };
  for (const call of abandonedCalls(caller)) {
    const used = await cancelAndCount(call, search);
    if (used === "unread" || call.awaited === undefined || !host.isLive()) continue;
    const input = usageReported(call.awaited, validUsage(used), host.clock.now());
    await host.hosted.dispatch(new PendingInput(input)).catch((error: unknown) => failed(host, error));
  }
}

const failed = ({ hosted }: CancelHost, error: unknown): void => hosted.report({ source: "effect", error });

interface Search {
  readonly host: CancelHost;
  readsLeft: number;
}

/**
 * Cancels the sessions of a call. Resolves with what they have used, undefined if the call has none in a log, and `unread` if one
 * of them was not read.
 */
async function cancelAndCount(
  call: AbandonedCall,
  search: Search,
): Promise<AgentUsage | undefined | "unread"> {
  let sum: AgentUsage | undefined;
  for (const tool of call.tools) {
    if (search.readsLeft === 0 || !search.host.isLive()) return "unread";
    search.readsLeft -= 1;
    try {
      const used = await cancelCalled(tool, call, search);
      if (used === "unread") return used;
      if (used !== undefined) sum = addAgentUsage(sum ?? noAgentUsage, used);
    } catch (error) {
      // The session is that of the other tool.
      if (call.tools.length > 1 && isOfOtherAgent(error)) continue;
      failed(search.host, error);
      return "unread";
    }
  }
  return sum;
}

const isOfOtherAgent = (error: unknown): boolean =>
  error instanceof SessionError && error.code === "WrongAgent";

/** A call whose session may still run, or whose usage is awaited. */
interface AbandonedCall {
  readonly idempotencyKey: string;
  readonly reason: string;
  /** The key of the usage that the state awaits. */
  readonly awaited: string | undefined;
  /** The agents of a team may have different tools with the name of the call. */
  readonly tools: readonly Tool[];
}

/** The calls of a session that have ended without their sub-agents: those whose usage is awaited, and then the newest first. */
function abandonedCalls({ agent, state, identity }: CallingSession): readonly AbandonedCall[] {
  const members = [agent, ...(agent.team?.agents.values() ?? [])];
  const all = members.map(({ parts }) => parts.tools);
  const keys = new Map(state.unreportedUsage.filter(isToolKey).map((key) => [toolCallIdIn(key), key]));
  // A state creates its calls when they are read.
  if (keys.size === 0 && !all.some((tools) => [...tools.values()].some(takesPosts))) return [];
  const calls = Object.entries(state.toolCalls)
    .toReversed()
    .flatMap(([toolCallId, record]) => {
      const awaited = keys.get(toolCallId);
      const reason = reasonOf(record, awaited);
      const named = new Set(all.map((tools) => toolNamed(tools, record.name)));
      const tools = [...named].filter((tool): tool is Tool => tool !== undefined && takesPosts(tool));
      if (reason === undefined || (tools.length === 0 && awaited === undefined)) return [];
      return { idempotencyKey: callIdempotencyKey(identity, toolCallId), reason, awaited, tools };
    });
  return calls.toSorted((a, b) => Number(a.awaited === undefined) - Number(b.awaited === undefined));
}

/** Cancels the session of a call, if it runs. Resolves with what it has used, with the calls that have ended without their sub-agents. */
async function cancelCalled(
  tool: Tool,
  call: AbandonedCall,
  search: Search,
): Promise<AgentUsage | undefined | "unread"> {
  const called = await openToPost(tool, call);
  if (called === undefined) return undefined;
  const { agent, session } = called;
  try {
    if (isLoopRunning(session.current())) await session.cancel(call.reason);
    const identity = identityOf(session.info().id, session.header);
    let { usage } = session.current();
    let isWhole = true;
    for (const each of abandonedCalls({ agent, state: session.current(), identity })) {
      const used = await cancelAndCount(each, search);
      if (each.awaited === undefined || used === undefined) continue;
      if (used === "unread") isWhole = false;
      else usage = addAgentUsage(usage, used);
    }
    return isWhole ? usage : "unread";
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
function reasonOf({ result }: ToolCallRecord, awaited: string | undefined): string | undefined {
  if (result === null) return undefined;
  const reason = result.isSuccess ? undefined : reasons.get(result.code);
  return reason ?? (awaited === undefined ? undefined : "The call was settled.");
}
