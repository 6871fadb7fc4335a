import { describe, expect, it } from "vitest";
import type { InitialAgentOptions } from "@moora/agent-core-state-machine";
import {
  answered,
  asked,
  callFailed,
  callsMade,
  cancelled,
  decided,
  failed,
  given,
  givenAgent,
  handled,
  interrupted,
  llmStarted,
  opened,
  started,
  succeeded,
  summarized,
  timePassed,
} from "../src/index.ts";

const tool = (more = {}) => ({ description: "A tool.", schema: '{"type":"object"}', ...more });
const withTools = (config: InitialAgentOptions["config"] = {}, more: Record<string, object> = {}) =>
  givenAgent({
    config,
    tools: {
      search: tool(),
      pay: tool({ risk: "high" }),
      ...Object.fromEntries(Object.entries(more).map(([name, fields]) => [name, tool(fields)])),
    },
  });
const P1 = "plan/1/1/1";

describe("a question and its answer", () => {
  it("plans when asked", () => given(asked("hi")).shows("Planning", P1));
  it("is done when the model answers", () => {
    const done = given(asked("hi"), answered(P1, "hello")).shows("Done");
    expect(done.memory.finalAnswer).toBe("hello");
    expect(done.state.messages.map((message) => [message.id, message.content])).toEqual([
      ["m-hi", "hi"],
      ["answer-plan/1/1/1", "hello"],
    ]);
  });
  it("opens the next loop with the next message", () => {
    const next = given(asked("hi"), answered(P1, "hello"), asked("and?")).shows("Planning", "plan/2/1/1");
    expect(next.request?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  });
});

describe("tools", () => {
  const one = callsMade(P1, { call_1: { name: "search" } });
  const three = callsMade(P1, {
    call_1: { name: "search" },
    call_2: { name: "search" },
    call_3: { name: "search" },
  });
  it("acts on one call", () => withTools()(asked("q"), one).shows("Acting", "tool/call_1/1"));
  it("continues to plan with its result", () => {
    const next = withTools()(asked("q"), one, started("call_1"), succeeded("call_1", "found")).shows(
      "Planning",
      "plan/1/2/1",
    );
    expect(next.walk).toEqual([
      "Idle --Start--> Planning",
      "Planning --LlmToolCall--> Acting",
      "Acting --ToolSuccess--> Observing",
      "Observing --Continue--> Planning",
    ]);
    expect(next.memory.lastObservation).toBe("SUCCESS: found");
    expect(next.request?.messages.at(-1)).toMatchObject({
      role: "assistant",
      results: [{ isError: false, content: "found" }],
    });
  });
  it("runs several at once", () =>
    withTools()(asked("q"), three).shows(
      "ParallelActing",
      "tool/call_1/1",
      "tool/call_2/1",
      "tool/call_3/1",
    ));
  it("fails when all fail", () =>
    expect(
      withTools()(asked("q"), three, failed("call_1"), failed("call_3"), failed("call_2")).walk,
    ).toContain("ParallelActing --ToolFailure--> Observing"));
  it("succeeds when one of them does", () =>
    expect(
      withTools()(asked("q"), three, failed("call_1"), succeeded("call_3"), failed("call_2")).walk,
    ).toContain("ParallelActing --ToolSuccess--> Observing"));
  it("runs one after the other without parallelTools", () => {
    const serial = withTools({ toolCalls: { parallel: false } });
    serial(asked("q"), three).shows("Acting", "tool/call_1/1");
    serial(asked("q"), three, succeeded("call_1")).shows("Acting", "tool/call_2/1");
  });
  it("keeps to the slots", () =>
    withTools({ toolCalls: { maxParallel: 2 } })(asked("q"), three, succeeded("call_2")).shows(
      "ParallelActing",
      "tool/call_1/1",
      "tool/call_3/1",
    ));
  it("refuses blacklisted calls each for itself", () => {
    const mixed = callsMade(P1, { call_1: { name: "pay" }, call_2: { name: "search" } });
    const state = withTools({ toolCalls: { blacklist: ["pay"] } })(asked("q"), mixed).shows(
      "Acting",
      "tool/call_2/1",
    );
    expect(state.call("call_1")?.result).toMatchObject({ isSuccess: false, code: "blacklisted" });
  });
  it("plans again when all are blacklisted", () =>
    expect(
      withTools({ toolCalls: { blacklist: ["search"] } })(asked("q"), one).shows("Planning", "plan/1/2/1")
        .walk,
    ).toContain("Planning --ToolBlacklisted--> Planning"));
  it("does not run the calls of a cut turn, and ends after three", () => {
    const cut = (n: number) => callsMade(`plan/1/${n}/1`, { [n]: { name: "search" } }, { cut: true });
    withTools()(asked("q"), cut(1), cut(2)).shows("Planning", "plan/1/3/1");
    expect(withTools()(asked("q"), cut(1), cut(2), cut(3)).shows("Error").memory.error?.kind).toBe(
      "Truncated",
    );
  });
  it("runs the first of too many calls", () => {
    const state = withTools({ toolCalls: { maxPerTurn: 2 } })(asked("q"), three).shows(
      "ParallelActing",
      "tool/call_1/1",
      "tool/call_2/1",
    );
    expect(state.call("call_3")?.result).toMatchObject({ code: "too-many-calls" });
  });
});

describe("humans", () => {
  const ask = withTools({ approval: { policy: "always" } });
  const two = callsMade(P1, { call_1: { name: "search" }, call_2: { name: "pay" } });
  it("asks for each call", () =>
    ask(asked("q"), two).shows("WaitingForHuman", "ask/call_1/1/1/0", "ask/call_2/1/1/0"));
  it("lets safe siblings run", () =>
    withTools({ approval: { policy: { above: "high" } } })(asked("q"), two).shows(
      "WaitingForHuman",
      "tool/call_1/1",
      "ask/call_2/1/1/0",
    ));
  it("takes decisions in any order", () =>
    ask(asked("q"), two, decided("call_2", "approved"), decided("call_1", "rejected")).shows(
      "Acting",
      "tool/call_2/1",
    ));
  it("observes when all are rejected", () =>
    expect(
      ask(asked("q"), two, decided("call_2", "rejected"), decided("call_1", "rejected")).shows(
        "Planning",
        "plan/1/2/1",
      ).walk,
    ).toContain("WaitingForHuman --HumanRejected--> Observing"));
  it("runs both when both are approved", () =>
    ask(asked("q"), two, decided("call_2", "approved"), decided("call_1", "approved")).shows(
      "ParallelActing",
      "tool/call_1/1",
      "tool/call_2/1",
    ));
  it("ignores a decision about something else", () =>
    ask(asked("q"), two, decided("call_1", "approved", { digest: "other" })).shows(
      "WaitingForHuman",
      "ask/call_1/1/1/0",
      "ask/call_2/1/1/0",
    ));
  it("runs changed arguments and keeps the original", () => {
    const state = ask(
      asked("q"),
      callsMade(P1, { call_1: { name: "pay", parameters: { sum: 9 } } }),
      decided("call_1", { modified: '{"sum":1}' }),
    ).shows("Acting", "tool/call_1/1");
    expect(state.walk).toContain("WaitingForHuman --HumanModified--> Acting");
    expect(state.call("call_1")).toMatchObject({ parameters: '{"sum":1}', original: '{"sum":9}' });
  });
  it("expires", () => {
    const hasty = withTools({ approval: { policy: "always", expiresAfterMs: 5, remindAfterMs: 2 } });
    const one = callsMade(P1, { call_1: { name: "pay" } });
    hasty(asked("q"), one).shows(
      "WaitingForHuman",
      "ask/call_1/1/1/0",
      "wait/ask/call_1/1/expiry",
      "wait/ask/call_1/1/reminder/1",
    );
    hasty(asked("q"), one, timePassed("wait/ask/call_1/1/reminder/1")).shows(
      "WaitingForHuman",
      "ask/call_1/1/1/1",
      "wait/ask/call_1/1/expiry",
      "wait/ask/call_1/1/reminder/2",
    );
    hasty(asked("q"), one, timePassed("wait/ask/call_1/1/expiry")).shows("Planning", "plan/1/2/1");
  });
  it("answers questions of the model", () => {
    const human = withTools({}, { askHuman: { asksHuman: true } });
    const question = callsMade(P1, { call_1: { name: "askHuman", parameters: { question: "Which?" } } });
    human(asked("q"), question).shows("WaitingForHuman", "ask/call_1/1/1/0");
    expect(
      human(asked("q"), question, decided("call_1", { answered: "the red one" })).shows(
        "Planning",
        "plan/1/2/1",
      ).walk,
    ).toContain("WaitingForHuman --HumanAnswered--> Observing");
  });
});

describe("the model fails", () => {
  it("waits and tries again", () => {
    const waiting = given(
      asked("q"),
      llmStarted(P1),
      callFailed(P1, "rate-limit", { retryable: true, retryAfterMs: 2000 }),
    ).shows("Planning", "wait/plan/1/1/2");
    waiting
      .and(timePassed("wait/plan/1/1/2"))
      .shows("Planning", "plan/1/1/2")
      .and(answered("plan/1/1/2", "ok"))
      .shows("Done");
  });
  it("gives up when a retry cannot help", () => given(asked("q"), callFailed(P1, "auth")).shows("Error"));
  it("withholds what was refused", () => {
    const next = given(asked("bad"), callFailed(P1, "refusal"))
      .shows("Error")
      .and(asked("good"))
      .shows("Planning", "plan/2/1/1");
    expect(next.request?.messages).toHaveLength(1);
    expect(next.state.messages[0]?.status).toBe("withheld");
  });
});

describe("reflection", () => {
  const steps = (n: number) =>
    Array.from({ length: n }, (_, i) => [
      callsMade(`plan/1/${i + 1}/1`, { [i + 1]: { name: "search" } }),
      succeeded(String(i + 1)),
    ]).flat();
  it("comes every n steps and hides what it covers, except what the model has not read", () => {
    const g = withTools({ reflection: { everyNSteps: 2 } });
    g(asked("q"), ...steps(2)).shows("Reflecting", "reflect/1/2/1");
    const after = g(asked("q"), ...steps(2), summarized("reflect/1/2/1", "all known")).shows(
      "Planning",
      "plan/1/3/1",
    );
    expect(after.request?.messages.map((message) => message.role)).toEqual(["user", "note", "assistant"]);
  });
  it("keeps everything when it fails", () =>
    expect(
      withTools({ reflection: { everyNSteps: 2 } })(
        asked("q"),
        ...steps(2),
        callFailed("reflect/1/2/1", "server", { retryable: true }),
      ).request?.messages,
    ).toHaveLength(3));
  it("follows a context that is too long", () =>
    withTools()(asked("q"), ...steps(2), callFailed("plan/1/3/1", "context-length")).shows(
      "Reflecting",
      "reflect/1/3/1",
    ));
  it("does not hide the only result, which the model has not read", () => {
    const tooLong = withTools()(asked("q"), ...steps(1), callFailed("plan/1/2/1", "context-length"));
    expect(tooLong.shows("Error").state.reActContext.control).toMatchObject({
      failure: {
        kind: "context-length",
        message: expect.stringContaining("messages 1, turns 27, results 1"),
      },
    });
  });
  it("drops a turn of low confidence", () => {
    const low = given(asked("q"), answered(P1, "maybe", { confidence: 0.1 })).shows("Planning", "plan/1/2/1");
    expect(low.state.messages[1]?.status).toBe("dropped");
  });
});

describe("whatever happens meanwhile", () => {
  it("a user message waits for the turn and is answered after it", () => {
    const state = given(asked("one"), asked("two"), answered(P1, "1")).shows("Planning", "plan/1/2/1");
    expect(state.walk).toContain("Planning --UserInterjected--> Planning");
    expect(state.state.messages.map((message) => message.content)).toEqual(["one", "1", "two"]);
    expect(state.request?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
  });
  it("a message restarts under restart", () => {
    const state = withTools({ interjection: "restart" })(
      asked("one"),
      callsMade(P1, { call_1: { name: "pay" } }),
      started("call_1"),
      asked("two"),
    ).shows("Planning", "plan/2/1/1");
    expect(state.call("call_1")?.result).toMatchObject({ code: "cancelled-after-start" });
  });
  it("a cancel ends the loop", () =>
    withTools()(asked("q"), callsMade(P1, { call_1: { name: "pay" } }), cancelled()).shows("Error"));
  it("steps have a limit", () => {
    const state = withTools({ limits: { maxSteps: 2 } })(
      asked("q"),
      callsMade(P1, { call_1: { name: "search" } }),
      succeeded("call_1"),
      callsMade("plan/1/2/1", { call_2: { name: "search" } }),
      succeeded("call_2"),
    ).shows("Error");
    expect(state.memory.error?.kind).toBe("MaxSteps");
  });
});

describe("a crash", () => {
  const g = withTools(
    {},
    {
      safe: { replay: "safe" },
      keyed: { replay: "keyed" },
      once: {},
      probed: { probe: true },
      asks: { onUnknown: "ask" },
    },
  );
  const run = (name: string) => [asked("q"), callsMade(P1, { call_1: { name } }), started("call_1")];
  it("runs safe and keyed calls again", () => {
    g(...run("safe"), opened()).shows("Acting", "tool/call_1/2");
    g(...run("keyed"), opened(), started("call_1", 2), opened(), started("call_1", 3), opened()).shows(
      "Planning",
      "plan/1/2/1",
    );
  });
  it("never runs a once call again", () =>
    expect(
      g(...run("once"), opened())
        .shows("Planning", "plan/1/2/1")
        .call("call_1")?.result,
    ).toMatchObject({ code: "outcome-unknown" }));
  it("asks the probe", () => {
    g(...run("probed"), opened())
      .shows("Acting", "probe/call_1/2")
      .and(interrupted("call_1", "not-run", 2))
      .shows("Acting", "tool/call_1/3");
  });
  it("asks a human", () => {
    g(...run("asks"), opened())
      .shows("WaitingForHuman", "ask/call_1/1/1/0")
      .and(decided("call_1", { worked: "it was paid" }))
      .shows("Planning", "plan/1/2/1");
    g(...run("asks"), opened(), decided("call_1", "run-again")).shows("Acting", "tool/call_1/2");
    g(...run("asks"), opened(), decided("call_1", "approved")).shows("WaitingForHuman", "ask/call_1/1/1/0");
  });
  it("makes a model call again", () =>
    given(asked("q"), llmStarted(P1), opened()).shows("Planning", "plan/1/1/2"));
});

describe("a state of one's own", () => {
  const config = {
    graph: {
      states: ["Checking", "Escalated"],
      rows: {
        Planning: { LlmFinalAnswer: "Checking" },
        Checking: { Ok: "Done", Again: "Planning", Up: "Escalated" },
      },
      terminals: ["Escalated"],
    },
  };
  const g = withTools(config);
  it("is run, and its event leads on", () => {
    const checking = g(asked("q"), answered(P1, "draft")).shows("Checking", "state/1/1/1");
    checking.and(handled("state/1/1/1", "Ok")).shows("Done");
    checking.and(handled("state/1/1/1", "Again")).shows("Planning", "plan/1/2/1");
    checking
      .and(handled("state/1/1/1", "Up"))
      .shows("Escalated")
      .and(asked("more"))
      .shows("Planning", "plan/2/1/1");
    checking.and(handled("state/1/1/1", "Nonsense")).shows("Error");
  });
});
