import { userMessage, type AgentInput } from "@moora/agent";

/** What does not apply to a session whose loop has ended. `messageId` is that of its last message. */
export const ignoredInputs = (
  timestamp: number,
  messageId: string,
): Readonly<Record<string, AgentInput>> => ({
  "A message with the id of an earlier one": userMessage("Again.", { messageId, timestamp }),
  "A cancel without a loop": { type: "re-act-cancelled", timestamp },
  "A resume without a pause": { type: "session-resumed", timestamp },
  "A decision without a question": {
    type: "tool-call-decided",
    toolCallId: "call_99",
    digest: "none",
    decision: { type: "approved" },
    by: "reviewer",
    timestamp,
  },
});

/** What no caller may post. */
export const refusedInputs = (timestamp: number): Readonly<Record<string, AgentInput>> => ({
  "A result of the model": {
    type: "llm-call-failed",
    key: "plan/1/1/1",
    failure: { kind: "server", message: "No.", retryable: false },
    timestamp,
  },
  "The start of a call": { type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp },
  "A message without an id": { type: "user-message-received", messageId: "", content: "Two.", timestamp },
});
