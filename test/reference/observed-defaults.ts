import {
  agentTransition,
  defineAgent,
  defineData,
  defineTool,
  openSession,
  userMessage,
  type AgentState,
  effectsAt,
  initialStateOf,
  systemClock,
  type ToolOptions,
} from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import type { JsonObject } from "@moora/llm";

/** The default of an option, as the running code has it. Code of the page is compared with it. */
type Observations = Readonly<Record<string, () => unknown>>;

const llm = new MockLlmCaller(() => answers("Yes."));
const agent = defineAgent({ llm });

const toolWith = (options: Partial<ToolOptions<JsonObject, JsonObject>> = {}) =>
  defineTool({
    name: "act",
    description: "Acts.",
    input: { type: "object" },
    execute: () => "done",
    ...options,
  });

/** The state in which a call of the tool has begun. */
function begun(policy: "never" | { readonly above: "low" | "medium" }, tools = [toolWith()]): AgentState {
  const asking = defineAgent({ llm, tools, config: { approval: { policy } } });
  const call = { name: "act", parameters: "{}", calledAt: 0 };
  const inputs = [
    userMessage("Act.", { messageId: "m1", timestamp: 0 }),
    {
      type: "re-act-observed",
      calledLlmAt: 0,
      timestamp: 0,
      observation: { type: "continue-re-act", toolCalls: { call_1: call } },
    },
    { type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 0 },
  ] as const;
  return inputs.reduce<AgentState>((state, input) => agentTransition(input)(state), initialStateOf(asking));
}

const opened = (state: AgentState): AgentState =>
  agentTransition({ type: "session-opened", owner: "next", timestamp: 1 })(state);

const asks = (above: "low" | "medium"): boolean =>
  Object.values(effectsAt(begun({ above }))).some(({ type }) => type === "ask-human");

const outcomeAfterCrash = (): string | undefined => {
  const result = opened(begun("never")).toolCalls["call_1"]?.result;
  return result?.isSuccess === false ? result.code : undefined;
};

/** A session that was opened without the option, by a clock that stands still. */
async function openedSession<Value>(
  read: (session: Awaited<ReturnType<typeof openSession>>) => Value,
): Promise<Value> {
  await using session = await openSession(agent, {
    log: memoryLog(),
    id: "a",
    clock: { ...systemClock, now: () => 0 },
  });
  return read(session);
}

const hasSnapshot = async (): Promise<boolean> => {
  const log = memoryLog();
  {
    await using session = await openSession(agent, { log, id: "a" });
    await session.ask("Hello?");
  }
  return (await (await log.open("a"))?.snapshot()) !== undefined;
};

export const observedDefaults: Readonly<Record<string, Observations>> = {
  AgentOptions: {
    tools: () => Object.keys(agent.tools),
    systemPrompt: () => agent.config.systemPrompt,
    name: () => agent.name,
    version: () => agent.version,
  },
  RunLimits: {
    toolTimeoutMs: () => agent.runLimits.toolTimeoutMs,
    maxResultLength: () => agent.runLimits.maxResultLength,
  },
  ToolOptions: {
    risk: () => (asks("low") && !asks("medium") ? "low" : "higher"),
    replay: () => (outcomeAfterCrash() === "outcome-unknown" ? "once" : "safe"),
    onUnknown: () => (outcomeAfterCrash() === "outcome-unknown" ? "report" : "ask"),
    timeoutMs: () => agent.runLimits.toolTimeoutMs,
    maxParallel: () => agent.config.toolCalls.maxParallel,
  },
  DataOptions: {
    version: () => defineData({ schema: { type: "object" }, initial: {} }).version,
  },
  OpenOptions: {
    access: () => openedSession((session) => session.info().access),
    leaseMs: () => openedSession((session) => session.info().leaseUntil),
    snapshots: hasSnapshot,
  },
};
