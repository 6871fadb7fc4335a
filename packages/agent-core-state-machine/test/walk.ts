import {
  initialAgentState,
  replay,
  type AgentInput,
  type AgentState,
  type ToolDefinition,
} from "../src/index.ts";

/** Small walks to each control state, for tests that start there. */
const tool: ToolDefinition = { description: "A tool.", schema: "{}" };
export const start: AgentState = initialAgentState({
  config: { reflection: { everyNSteps: 1 } },
  tools: { search: tool, pay: { ...tool, approval: "always" } },
});

export const asked: AgentInput = {
  type: "user-message-received",
  messageId: "m1",
  content: "q",
  timestamp: 1,
};

export const wants = (...names: readonly string[]): AgentInput => ({
  type: "re-act-observed",
  calledLlmAt: 1,
  timestamp: 1,
  observation: {
    type: "continue-re-act",
    toolCalls: Object.fromEntries(
      names.map((name, index) => [`call_${index + 1}`, { name, parameters: "{}", calledAt: 1 }]),
    ),
  },
});

export const answered: AgentInput = {
  type: "re-act-observed",
  calledLlmAt: 1,
  timestamp: 1,
  observation: { type: "complete-re-act" },
  turn: { origin: "", parts: [{ type: "text", text: "a" }] },
};

export const succeeded: AgentInput = {
  type: "tool-call-completed",
  toolCallId: "call_1",
  timestamp: 1,
  result: { isSuccess: true, content: "r", receivedAt: 1 },
};

const at = (...inputs: readonly AgentInput[]): AgentState => replay(inputs, start);

/** Control is passed through Observing and never rests there, so that state is put together. */
const acting = at(asked, wants("search"));
export const restingIn: Readonly<Record<string, AgentState>> = {
  Idle: start,
  Planning: at(asked),
  WaitingForHuman: at(asked, wants("pay")),
  Acting: acting,
  ParallelActing: at(asked, wants("search", "search")),
  Observing: { ...acting, reActContext: { ...acting.reActContext, control: { type: "Observing" } } },
  Reflecting: at(asked, wants("search"), succeeded),
  Done: at(asked, answered),
  Error: at(asked, { type: "re-act-cancelled", timestamp: 1 }),
};
