import {
  AgentError,
  defineAgent,
  defineTool,
  startSession,
  type Agent,
  type Clock,
  type Session,
} from "@moora/agent";
import { answers, callsTools, fails, MockLlmCaller, type MockStep } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { requestProblems } from "../src/index.ts";

/** A clock that stands still: what is waited for is due at once, or never. */
const still: Clock = { now: () => 1_000, after: () => () => undefined };

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    input: { type: "object" },
    execute: async () => `${name} done`,
    ...more,
  });
const tools = [tool("search"), tool("pay", { approval: "always" }), tool("probe", { replay: "safe" })];
const call = (...names: readonly string[]): MockStep =>
  callsTools(
    names.map((name) => ({ name })),
    { text: "Let me see." },
  );
const graph = {
  states: ["Check"],
  rows: { Planning: { LlmFinalAnswer: "Check" }, Check: { Ok: "Done" } },
  terminals: [],
};

/** What happens without a cancel; the model answers at last in each. */
const transcripts: Readonly<
  Record<string, { readonly script: readonly MockStep[]; readonly config?: object }>
> = {
  "a plain answer": { script: [] },
  "one tool": { script: [call("search")] },
  "three tools at once": { script: [call("search", "search", "search")] },
  "eight tools in a row of slots": {
    script: [call(...Array.from({ length: 8 }, () => "search"))],
    config: { toolCalls: { maxParallel: 2 } },
  },
  "tools one by one": { script: [call("search", "search")], config: { toolCalls: { parallel: false } } },
  "an approval": { script: [call("pay")] },
  "an approval beside tools": { script: [call("search", "pay", "search")] },
  "unknown and blacklisted tools": {
    script: [call("none", "search", "probe")],
    config: { toolCalls: { blacklist: ["probe"] } },
  },
  "a retry": { script: [fails("server"), call("search"), fails("rate-limit", { retryAfterMs: 0 })] },
  "a cut stream": { script: [fails("interrupted", { partial: "It is" })] },
  "a reflection": {
    script: [call("search"), answers("All is known."), call("search"), answers("Still.")],
    config: { reflection: { everyNSteps: 1 } },
  },
  "low confidence": { script: [answers("perhaps", { confidence: 0.1 }), answers("Summary.")] },
  "a cut turn": { script: [callsTools([{ name: "search" }], { finish: "length" })] },
  "an answer that is too short": { script: [answers("4")], config: { limits: { minAnswerLength: 5 } } },
  "a context that is too long": {
    script: [call("search"), call("search"), fails("context-length"), answers("Summary.")],
  },
  "a state of one's own": { script: [call("search")], config: { graph } },
  "many steps": { script: Array.from({ length: 9 }, () => call("search")) },
};

interface Run {
  readonly agent: Agent;
  readonly llm: MockLlmCaller;
  readonly session: Session;
}

/** A session of a transcript; every question is approved. */
function begin(name: string): Run {
  const { script, config = {} } = transcripts[name] ?? { script: [] };
  let calls = 0;
  const llm = new MockLlmCaller(() => script[(calls += 1) - 1] ?? answers("That is all there is."));
  const own = "graph" in config ? { states: { Check: () => "Ok" } } : {};
  const agent = defineAgent({ llm, tools, config: { retries: { delayMs: 0 }, ...config }, ...own });
  return { agent, llm, session: startSession(agent, { clock: still, onApproval: () => "approve" }) };
}

async function inputsOf(name: string): Promise<number> {
  const { session } = begin(name);
  let count = 0;
  session.onInput((_input, _state, seq) => void (count = seq));
  await session.ask("What is there?");
  return count;
}

function checkClosed({ session, llm }: Run): void {
  const { reActContext, toolCalls, messages, transcript } = session.current();
  expect(["Done", "Error"]).toContain(reActContext.control.type);
  expect(messages.filter(({ streaming }) => streaming)).toEqual([]);
  for (const { result } of Object.values(toolCalls)) expect(result).not.toBeNull();
  const called = transcript.flatMap((entry) =>
    entry.type === "turn"
      ? entry.parts.flatMap((part) => (part.type === "call" ? [part.toolCallId] : []))
      : [],
  );
  expect(called).toEqual(Object.keys(toolCalls));
  expect(session.questions()).toEqual([]);
  for (const request of llm.requests) expect(requestProblems(request)).toEqual([]);
}

describe("a cancel at every position, then a message (G01)", () => {
  it.each(Object.keys(transcripts))("%s", async (name) => {
    const length = await inputsOf(name);
    expect(length).toBeGreaterThanOrEqual(3);
    for (let position = 1; position <= length; position += 1) {
      const run = begin(name);
      const { session } = run;
      let receipt: Promise<unknown> | undefined;
      const stop = session.onInput((_input, _state, seq) => {
        if (seq === position) receipt = session.cancel("enough");
      });
      const ended = await session.ask("What is there?").then(
        () => "Done",
        (error: unknown) => (error instanceof AgentError ? error.kind : "?"),
      );
      stop();
      await receipt;
      await session.settled();
      expect(ended).toBe(position === length ? "Done" : "Cancelled");
      checkClosed(run);
      const before = run.llm.callCount;
      expect((await session.ask("And now?")).text).not.toBe("");
      expect(run.llm.callCount).toBeGreaterThan(before);
      checkClosed(run);
      await session.close();
    }
  });
});
