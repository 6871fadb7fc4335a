import type { AgentEvent } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { Screen } from "../../src/cli/terminal/screen.ts";
import { TextView } from "../../src/cli/terminal/text-view.ts";
import { TestHost } from "./test-host.ts";

const token = (text: string, messageId: string = "msg_1_1"): AgentEvent => ({
  type: "LlmToken",
  messageId,
  text,
  offset: 0,
});
const cut: AgentEvent = {
  type: "LlmRetryScheduled",
  messageId: "msg_1_1",
  due: 3_500,
  reason: "connection",
  message: "ECONNREFUSED",
};
const answer = (text: string): AgentEvent => ({ type: "FinalAnswer", answer: text, text });

function shown(...events: readonly AgentEvent[]): TestHost {
  const host = new TestHost();
  host.stdout.isTTY = true;
  return show(host, events);
}

function show(host: TestHost, events: readonly AgentEvent[]): TestHost {
  const view = new TextView(new Screen(host), {
    showsTrace: false,
    now: () => 1_000,
    retryReason: (kind, message) => `Cannot connect to ollama (${kind}). ${message}`,
  });
  for (const event of events) view.show(event);
  return host;
}

describe("the output of a run", () => {
  it("an answer as it streams, once, with a line end", () => {
    expect(shown(token("It "), token("is."), answer("It is.")).stdout.text).toBe("It is.\n");
    expect(shown(token("It is.\n"), answer("It is.\n")).stdout.text).toBe("It is.\n");
  });

  it("an answer that was not streamed", () => {
    expect(shown(answer("It is.")).stdout.text).toBe("It is.\n");
  });

  it("an interrupted message and the one that replaced it, in lines of their own, and why it was retried", () => {
    const host = shown(token("It i"), cut, token("It is."), answer("It is."));
    expect(host.stdout.text).toBe("It i\nIt is.\n");
    expect(host.stderr.text).toBe(
      "Cannot connect to ollama (connection). ECONNREFUSED Trying again in 3 s.\n",
    );
  });

  it("the answer and nothing else where stdout is not a terminal: no text that was cut or before a call", () => {
    const host = show(new TestHost(), [
      token("It i"),
      cut,
      token("Let me look.", "msg_1_1_2"),
      { type: "LlmToolCall", messageId: "msg_1_1_2", name: "read_file" },
      token("It is.", "msg_1_2"),
      answer("It is."),
    ]);
    expect(host.stdout.text).toBe("It is.\n");
  });

  it("the answers of two turns, in lines of their own", () => {
    const { stdout } = shown(token("One."), token("Two", "msg_1_2"), token(".", "msg_1_2"), answer("Two."));
    expect(stdout.text).toBe("One.\nTwo.\n");
  });

  it("what the model writes before it calls a tool, the call, and its result", () => {
    const host = shown(
      token("Let me look."),
      { type: "LlmToolCall", messageId: "msg_1_1", name: "read_file" },
      { type: "ToolCallStarted", toolCallId: "call_1", name: "read_file", parameters: '{"path":"a"}' },
      { type: "ToolCallProgress", toolCallId: "call_1", text: "half way" },
      {
        type: "ToolCallFinished",
        toolCallId: "call_1",
        name: "read_file",
        result: { isSuccess: true, content: "a\nb", receivedAt: 0 },
      },
      {
        type: "ToolCallFinished",
        toolCallId: "call_2",
        name: "read_file",
        result: { isSuccess: false, error: "no\nsuch file", receivedAt: 0 },
      },
      token("Done.", "msg_1_2"),
      answer("Done."),
    );
    expect(host.stdout.text).toBe("Let me look.\nDone.\n");
    expect(host.stderr.text).toBe(
      '-> read_file {"path":"a"}\n<- read_file 2 lines\n<- read_file failed: no such file\n',
    );
  });

  it("long arguments and results are cut", () => {
    const host = shown(
      { type: "ToolCallStarted", toolCallId: "call_1", name: "t", parameters: "x".repeat(500) },
      {
        type: "ToolCallFinished",
        toolCallId: "call_1",
        name: "t",
        result: { isSuccess: true, content: "\u{1f600}".repeat(500), receivedAt: 0 },
      },
    );
    for (const line of host.stderr.lines) {
      expect(line.length).toBeLessThan(140);
      expect(line.isWellFormed()).toBe(true);
    }
  });

  it("warnings, but no states and reasoning without a terminal", () => {
    const host = shown(
      { type: "StateStarted", state: "Planning", event: "Start", step: 1 },
      { type: "LlmReasoning", messageId: "msg_1_1", text: "hm", offset: 0 },
      { type: "StateStarted", state: "Reflecting", event: "NeedsReflection", step: 1 },
      { type: "LlmWarning", text: "temperature was left out" },
    );
    expect(host.stderr.text).toBe("warning: temperature was left out\n");
    expect(host.stdout.text).toBe("");
  });

  it("a repeated warning once for each text", () => {
    const host = shown(
      { type: "LlmWarning", text: "The server did not report its usage." },
      { type: "FinalAnswer", answer: "One.", text: "One." },
      { type: "LlmWarning", text: "temperature was left out" },
      { type: "LlmWarning", text: "The server did not report its usage." },
    );
    expect(host.stderr.text).toBe(
      "warning: The server did not report its usage.\nwarning: temperature was left out\n",
    );
  });
});
