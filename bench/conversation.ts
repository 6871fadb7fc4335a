import type { AgentInput } from "@moora/agent-core-state-machine";

/** Steps of a model call and a tool call, four events each, in one conversation of loops of 50 steps. */
export function conversation(count: number): readonly AgentInput[] {
  const inputs: AgentInput[] = [];
  for (let loop = 1, call = 0; inputs.length < count; loop += 1) {
    inputs.push({
      type: "user-message-received",
      messageId: `m${loop}`,
      content: "Continue, please.",
      timestamp: loop,
    });
    for (let step = 1; step <= 50; step += 1) {
      const key = `plan/${loop}/${step}/1`;
      const last = step === 50;
      const id = `call_${(call += last ? 0 : 1)}`;
      inputs.push({ type: "llm-call-started", key, timestamp: loop });
      inputs.push({
        type: "re-act-observed",
        key,
        messageId: `msg_${loop}_${step}`,
        calledLlmAt: loop,
        timestamp: loop,
        turn: {
          origin: "bench",
          parts: last ? [{ type: "text", text: "Done with it." }] : [{ type: "call", toolCallId: id }],
        },
        observation: last
          ? { type: "complete-re-act" }
          : {
              type: "continue-re-act",
              toolCalls: { [id]: { name: "add", parameters: '{"a":1}', calledAt: loop } },
            },
        usage: {
          inputTokens: 1,
          cachedInputTokens: 0,
          cacheWriteTokens: 0,
          outputTokens: 1,
          reasoningTokens: 0,
        },
      });
      if (last) continue;
      inputs.push({ type: "tool-call-started", toolCallId: id, attempt: 1, timestamp: loop });
      const result = { isSuccess: true, content: "2", receivedAt: loop } as const;
      inputs.push({
        type: "tool-call-completed",
        toolCallId: id,
        key: `tool/${id}/1`,
        result,
        timestamp: loop,
      });
    }
  }
  return inputs.slice(0, count);
}
