import { describe, expect, it } from "vitest";
import {
  agentTransition,
  initialAgentState,
  replay,
  ignoredReason,
  type AgentInput,
  type AgentState,
  type IgnoredReason,
} from "../src/index.ts";
import { answered, asked, restingIn, start, succeeded, wants } from "./walk.ts";

const planning = restingIn["Planning"] ?? start;
const acting = restingIn["Acting"] ?? start;
const after = (state: AgentState, ...inputs: readonly AgentInput[]): AgentState => replay(inputs, state);

const message = (messageId: string, content: string): AgentInput => ({
  type: "user-message-received",
  messageId,
  content,
  timestamp: 1,
});
const messageStarted = (messageId: string): AgentInput => ({
  type: "llm-message-started",
  messageId,
  timestamp: 1,
});
const messageCompleted = (messageId: string): AgentInput => ({
  type: "llm-message-completed",
  messageId,
  content: "a",
  timestamp: 1,
});
const answeredAs = (messageId: string): AgentInput => ({
  type: "re-act-observed",
  messageId,
  calledLlmAt: 1,
  timestamp: 1,
  observation: { type: "complete-re-act" },
});
const completedAs = (key: string, toolCallId = "call_1"): AgentInput => ({
  type: "tool-call-completed",
  key,
  toolCallId,
  timestamp: 1,
  result: { isSuccess: true, content: "r", receivedAt: 1 },
});
const approved = {
  type: "tool-call-decided",
  toolCallId: "call_1",
  digest: "d",
  by: "ada",
  decision: { type: "approved" },
  timestamp: 1,
} satisfies AgentInput;
const opened: AgentInput = { type: "session-opened", owner: "host", timestamp: 1 };
const started: AgentInput = { type: "tool-call-started", toolCallId: "call_1", attempt: 1, timestamp: 1 };

const failedForNow: AgentInput = {
  type: "llm-call-failed",
  key: "plan/1/1/1",
  failure: { kind: "server", message: "Down.", retryable: true },
  timestamp: 1,
};
const daily = { when: { everyMs: 86_400_000 }, due: 5, message: "Hi", missed: "once" } as const;
const scheduled = (
  scheduleId: string,
  schedule: Extract<AgentInput, { type: "schedule-changed" }>["schedule"] = daily,
): AgentInput => ({ type: "schedule-changed", scheduleId, schedule, by: "ada", timestamp: 1 });
const crowded = after(start, ...Array.from({ length: 100 }, (_, index) => scheduled(`s${index}`)));
const waiting = after(planning, failedForNow);
const streaming = after(planning, messageStarted("a"));
const replanning = after(acting, succeeded, {
  type: "history-reflected",
  key: "reflect/1/1/1",
  summary: "Done so far.",
  timestamp: 1,
});
const oneSlot = after(
  initialAgentState({ config: { toolCalls: { maxParallel: 1 } }, tools: start.tools }),
  asked,
  wants("search", "search"),
);
const probing = after(
  initialAgentState({ tools: { search: { description: "", schema: "{}", probe: true } } }),
  asked,
  wants("search"),
  started,
  opened,
);

describe("an input that does not apply changes nothing and says why", () => {
  it.each<[IgnoredReason, string, AgentState, AgentInput]>([
    ["duplicate-id", "a message comes twice", planning, asked],
    ["blank", "a message is blank", planning, message("m2", " \n")],
    ["reserved-id", "a message has the id of an answer", planning, message("msg_1_1", "x")],
    [
      "wrong-key",
      "another call starts",
      planning,
      { type: "llm-call-started", key: "plan/9/9/9", timestamp: 1 },
    ],
    [
      "notice",
      "a chunk is only shown",
      planning,
      { type: "llm-chunk-received", messageId: "m", text: "t", offset: 0, timestamp: 1 },
    ],
    ["unknown-call", "a result has no call", planning, succeeded],
    ["unknown-call", "a decision has no call", planning, { ...approved, toolCallId: "__proto__" }],
    ["unknown-schedule", "a schedule is removed that is not open", planning, scheduled("b", null)],
    ["blank", "a schedule has a blank message", planning, scheduled("b", { ...daily, message: " " })],
    ["nothing-new", "a schedule is set as it is", after(start, scheduled("a")), scheduled("a")],
    ["too-many-schedules", "there are 100 schedules", crowded, scheduled("b")],
    ["wrong-key", "another wait ends", planning, { type: "deadline-passed", key: "wait/x", timestamp: 1 }],
    [
      "nothing-new",
      "a configuration is the same",
      planning,
      {
        type: "agent-configured",
        config: { limits: { maxSteps: start.config.limits.maxSteps } },
        timestamp: 1,
      },
    ],
    [
      "unknown-call",
      "a call to show is unknown",
      planning,
      { type: "history-tool-calls-added", toolCallIds: ["call_7"], timestamp: 1 },
    ],
    ["not-planning", "a message begins while a tool runs", acting, messageStarted("a")],
    ["waiting", "an answer comes while another try is waited for", waiting, answeredAs("a")],
    ["duplicate-id", "a message begins by the id of another one", planning, messageStarted("m1")],
    ["duplicate-id", "an answer has the id of another message", planning, answeredAs("m1")],
    ["already-started", "a second message begins", streaming, messageStarted("b")],
    ["wrong-message", "another message than the open one ends", streaming, messageCompleted("b")],
    ["wrong-message", "an answer is that of another message", streaming, answeredAs("b")],
    [
      "already-started",
      "a message ends twice",
      after(streaming, messageCompleted("a")),
      messageCompleted("a"),
    ],
    ["duplicate-id", "a call has the id of an earlier one", replanning, wants("search")],
    ["wrong-key", "a result is that of another attempt", acting, completedAs("tool/call_1/9")],
    [
      "wrong-key",
      "a result comes before its call has a slot",
      oneSlot,
      completedAs("tool/call_2/1", "call_2"),
    ],
    ["wrong-key", "a run ends whose probe is asked", probing, completedAs("tool/call_1/1")],
    ["not-asking", "a call is decided that has no question", acting, approved],
    ["not-open", "a call is decided that has its result", replanning, approved],
  ])("%s: %s", (reason, _, state, input) => {
    expect(ignoredReason(input)(state)).toBe(reason);
    expect(agentTransition(input)(state)).toBe(state);
  });

  it("turn-mismatch: a turn has other calls than its observation", () => {
    const observed: AgentInput = {
      ...(wants("search") as Extract<AgentInput, { type: "re-act-observed" }>),
      turn: { origin: "", parts: [{ type: "call", toolCallId: "call_2" }] },
    };
    expect(ignoredReason(observed)(planning)).toBe("turn-mismatch");
  });

  it("unknown-input: its type is unknown", () => {
    const unknown = JSON.parse('{"type":"constructor","timestamp":1}') as AgentInput;
    expect(ignoredReason(unknown)(planning)).toBe("unknown-input");
  });
});

describe("a change of data that names its call or handler", () => {
  const withData = initialAgentState({
    tools: start.tools,
    data: { version: 1, initial: {} },
    config: {
      graph: {
        states: ["Check"],
        replay: { Check: "safe" },
        rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Checked: "Done" } },
        terminals: [],
      },
    },
  });
  const change = (author: { readonly toolCallId?: string; readonly key?: string }): AgentInput => ({
    type: "data-changed",
    patches: [{ op: "add", path: "/n", value: 1 }],
    by: "search",
    ...author,
    timestamp: 1,
  });
  const ofCall = change({ toolCallId: "call_1" });
  const ofHandler = change({ key: "state/1/1/1" });
  const called = after(withData, asked, wants("search"));
  const running = after(called, started);
  const checking = after(withData, asked, answered);
  const handling = after(checking, { type: "state-handler-started", key: "state/1/1/1", timestamp: 1 });

  it.each([
    ["a call that runs", running, ofCall],
    ["a handler that runs", handling, ofHandler],
    ["neither", called, change({})],
  ])("applies for %s", (_, state, input) => {
    expect(after(state, input).data).toEqual({ n: 1 });
  });

  it.each<[string, IgnoredReason, AgentState, AgentInput]>([
    ["of a call that does not run: not started", "not-open", called, ofCall],
    ["of a call that does not run: it has its result", "not-open", after(running, succeeded), ofCall],
    ["of a call that does not run: unknown", "unknown-call", running, change({ toolCallId: "call_9" })],
    ["of a handler that does not run: not started", "wrong-key", checking, ofHandler],
    ["of a handler that does not run: another entry", "wrong-key", handling, change({ key: "state/1/2/1" })],
    ["of a handler that does not run: no custom state", "wrong-key", running, ofHandler],
  ])("is ignored %s", (_, reason, state, input) => {
    expect(ignoredReason(input)(state)).toBe(reason);
    expect(agentTransition(input)(state)).toBe(state);
  });
});

describe("the result of a probe", () => {
  it("is taken by the key of the probe", () => {
    expect(after(probing, completedAs("probe/call_1/2")).toolCalls["call_1"]?.result).toMatchObject({
      isSuccess: true,
    });
  });
});
