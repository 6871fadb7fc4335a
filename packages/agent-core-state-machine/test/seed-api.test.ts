import { createMoorex } from "@moora/moorex";
import { describe, expect, it, vi } from "vitest";
import { agentTransition, createAgentTransition, initialAgentState } from "../src/index.ts";

describe("the first interface of the library", () => {
  it("works as it was written, all in one millisecond, with no tool configured, and nothing is lost", () => {
    vi.spyOn(Date, "now").mockReturnValue(1_700_000_000_000);
    const moorex = createMoorex({
      initial: initialAgentState,
      transition: agentTransition,
      effectsAt: () => ({}),
      runEffect: () => ({ start: () => Promise.resolve() }),
    });
    void moorex.dispatch({
      type: "user-message-received",
      messageId: "msg-1",
      content: "Hello, Agent!",
      timestamp: Date.now(),
    });
    void moorex.dispatch({ type: "llm-message-started", messageId: "msg-2", timestamp: Date.now() });
    void moorex.dispatch({
      type: "llm-message-completed",
      messageId: "msg-2",
      content: "Hello!",
      timestamp: Date.now(),
    });
    void moorex.dispatch({
      type: "re-act-observed",
      timestamp: Date.now(),
      calledLlmAt: Date.now(),
      observation: {
        type: "continue-re-act",
        toolCalls: {
          "tool-1": {
            name: "search",
            parameters: JSON.stringify({ query: "example" }),
            calledAt: Date.now(),
          },
        },
      },
    });
    void moorex.dispatch({
      type: "tool-call-completed",
      toolCallId: "tool-1",
      timestamp: Date.now(),
      result: { isSuccess: true, content: "Search results...", receivedAt: Date.now() },
    });
    const { messages, tools, toolCalls, reActContext } = moorex.current();
    expect(messages.map(({ id, role, content, streaming }) => ({ id, role, content, streaming }))).toEqual([
      { id: "msg-1", role: "user", content: "Hello, Agent!", streaming: false },
      { id: "msg-2", role: "assistant", content: "Hello!", streaming: false },
    ]);
    expect(tools).toEqual({});
    expect(toolCalls["tool-1"]).toMatchObject({
      name: "search",
      result: { isSuccess: true, content: "Search results..." },
    });
    expect(reActContext).toMatchObject({ toolCallIds: ["tool-1"], step: 2, control: { type: "Planning" } });
    vi.restoreAllMocks();
  });

  it("creates a transition in which an undefined option changes nothing", () => {
    const options: object = {
      limits: { maxSteps: undefined },
      budget: { maxTokens: undefined },
      systemPrompt: undefined,
    };
    const state = createAgentTransition(options)({
      type: "user-message-received",
      messageId: "m",
      content: "hi",
      timestamp: 1,
    })(initialAgentState());
    expect(state.config).toStrictEqual(initialAgentState().config);
    expect(state.reActContext.stepLimit).toBe(50);
  });

  it("takes a transition with options of its own", () => {
    const transition = createAgentTransition({ initialContextWindowSize: 7, expandContextWindowSize: 3 });
    const asked = transition({ type: "user-message-received", messageId: "m", content: "hi", timestamp: 1 })(
      initialAgentState(),
    );
    expect(asked.reActContext.contextWindowSize).toBe(7);
    expect(
      transition({ type: "context-window-expanded", timestamp: 1 })(asked).reActContext.contextWindowSize,
    ).toBe(10);
    expect(transition({ type: "deadline-passed", key: "none", timestamp: 1 })(asked)).toBe(asked);
  });
});
