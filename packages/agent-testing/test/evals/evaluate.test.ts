import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent, defineTool, exportSession, openSession, type Agent } from "@moora/agent";
import {
  evaluate,
  judge,
  readDataset,
  VirtualClock,
  type EvalResults,
  type EvaluateOptions,
} from "@moora/agent-testing";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moora-evals-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (file: string, value: unknown): void =>
  writeFileSync(join(folder, file), typeof value === "string" ? value : JSON.stringify(value));

/** An agent with a tool that refunds, whose model says what is scripted. */
function shop(steps: ConstructorParameters<typeof MockLlmCaller>[0], more: Partial<Agent> = {}): Agent {
  const refund = defineTool({
    name: "refund",
    description: "Refunds an order.",
    input: z.object({ order: z.number() }),
    execute: ({ order }) => `order ${order} is refunded`,
  });
  const prices = { default: { input: 1_000, output: 1_000 } };
  return {
    ...defineAgent({ name: "shop", llm: new MockLlmCaller(steps), tools: [refund], prices }),
    ...more,
  };
}

const usage = { inputTokens: 90, outputTokens: 10 };

/** The export of a session: a greeting, and a refund. */
async function recorded(): Promise<string> {
  const log = memoryLog();
  const agent = shop([
    answers("Hello.", { usage }),
    callsTools([{ name: "refund", arguments: { order: 7 } }], { usage }),
    answers("It is refunded.", { usage }),
  ]);
  await using session = await openSession(agent, { log, id: "order-7" });
  await session.ask("Hi");
  await session.ask("Refund order 7.");
  return await exportSession(log, "order-7");
}

const capital = { name: "capital", input: "The capital of Norway?", expect: { contains: "oslo" } };

const capitals = (text: string, more: Partial<EvaluateOptions> = {}) =>
  evaluate({ agent: shop(() => answers(text, { usage })), dataset: [capital], ...more });

describe("a data set", () => {
  it("has cases of inputs, lines and sessions, which a person can read", async () => {
    write("hello.json", { input: "Hi", expect: { contains: ["hello", "there"] } });
    write(
      "many.jsonl",
      '{"input":"One?","expect":{"answer":"1"}}\n\n{"name":"two","input":["Two?","Why?"]}\n',
    );
    write("order-7.jsonl", await recorded());
    write("refund.json", { session: "order-7.jsonl", at: 5, expect: { tools: ["refund"] } });
    write("results.json", "not a case");
    write("README.md", "not a case");
    const cases = await readDataset(folder);
    expect(cases.map(({ name }) => name)).toEqual(["hello", "many:1", "two", "refund"]);
    expect(cases.at(-1)?.session).toContain("moora/session/1");
  });

  it("has a session that no case names as a case of its own", async () => {
    write("order-7.jsonl", await recorded());
    expect(await readDataset(folder)).toMatchObject([{ name: "order-7" }]);
  });

  it.each([
    ["a.json", "{", "The case a must be an object, as JSON"],
    ["a.json", { expect: { answer: "x" } }, "The case a needs either input or session."],
    ["a.json", { input: "Hi", session: "b.jsonl" }, "The case a needs either input or session."],
    ["a.json", { input: [] }, "input must be a message, or a list of messages"],
    ["a.json", { input: "Hi", at: 3 }, "The case a has at, and no session."],
    ["a.json", { input: "Hi", expected: {} }, 'Did you mean "expect"?'],
    ["a.json", { session: "b.jsonl" }, "The session b.jsonl of the case a is not in "],
    ["a.jsonl", '{"input":"1"}\n{"name":"a:1","input":"2"}\n', "The case a:1 is in the data set twice."],
  ])("with an invalid case in %s is refused: %j", async (file, value, message) => {
    write(file, value);
    await expect(readDataset(folder)).rejects.toMatchObject({ name: "BuildError" });
    await expect(readDataset(folder)).rejects.toThrow(message);
  });

  it("with a file of lines that has none is refused", async () => {
    write("hello.json", { input: "Hi" });
    write("many.jsonl", "\n");
    await expect(readDataset(folder)).rejects.toThrow("The file many.jsonl of the data set has no cases.");
  });

  it("with a case that expects undefined is refused: an answer that is not JSON would be equal to it", async () => {
    // Callers without types may pass any value.
    // oxlint-disable-next-line typescript/no-explicit-any
    const dataset: any = [{ name: "a", input: "Hi", expect: { answer: undefined } }];
    const message = "The case a expects answer to be undefined, which checks nothing.";
    await expect(evaluate({ agent: shop([]), dataset })).rejects.toThrow(message);
  });

  it("that is missing or empty is refused, so that no gate holds without a case", async () => {
    await expect(readDataset(join(folder, "nowhere"))).rejects.toThrow(
      /nowhere of the data set cannot be read/,
    );
    await expect(readDataset(folder)).rejects.toThrow("The data set has no cases.");
    await expect(evaluate({ agent: shop([]), dataset: [] })).rejects.toThrow("The data set has no cases.");
  });

  it("with a case that nothing scores, or that expects something of an unknown scorer, is refused", async () => {
    const agent = shop([]);
    const unscored = evaluate({ agent, dataset: [{ name: "a", input: "Hi" }] });
    await expect(unscored).rejects.toThrow("Nothing scores the case a.");
    const unknown = evaluate({ agent, dataset: [{ name: "a", input: "Hi", expect: { contain: "x" } }] });
    await expect(unknown).rejects.toThrow('expects contain, which is not a scorer. Did you mean "contains"?');
  });
});

describe("an evaluation", () => {
  it("runs a new session with its tools, and reports scores, tokens, cost and latency", async () => {
    const agent = shop([
      callsTools([{ name: "refund", arguments: { order: 7 } }], { usage }),
      answers("Done: it is refunded.", { usage }),
    ]);
    const expected = { tools: ["refund"], contains: ["refunded", "sorry"] };
    const report = await evaluate({
      agent,
      dataset: [{ name: "refund", input: "Refund order 7.", expect: expected }],
      scorers: { short: ({ output, calls }) => output.length < 30 && calls.length === 1 },
      clock: new VirtualClock(),
    });
    expect(report).toMatchObject({ ok: false, scores: { tools: 1, contains: 0.5, short: 1 } });
    expect(report.usage.tokens).toBe(200);
    expect(report.usage.cost).toBeCloseTo(0.2);
    expect(report.cases[0]).toMatchObject({
      output: "Done: it is refunded.",
      problem: 'contains 0.5, lacks ["sorry"]',
    });
    expect(report.toText()).toBe(
      [
        "case       contains  tools  short  tokens   cost  ms",
        "refund          0.5      1      1     200  0.200   0",
        "mean, sum       0.5      1      1     200  0.200   0",
        'refund: contains 0.5, lacks ["sorry"]',
        "not ok: 0 of 1 cases passed, and 100 % must",
      ].join("\n"),
    );
  });

  it("holds when each score is high enough", async () => {
    const report = await capitals("Oslo.", { gate: { minScore: 0.5 } });
    expect(report).toMatchObject({ ok: true, problems: [] });
    expect(report.toText()).toContain("ok: 1 of 1 cases passed");
  });

  it("scores typed answers as JSON", async () => {
    const typed = defineAgent({ llm: new MockLlmCaller([answers('{"b":1,"a":2}')]) });
    const dataset = [{ name: "json", input: "?", expect: { answer: { a: 2, b: 1 } } }];
    expect(await evaluate({ agent: typed, dataset })).toMatchObject({ scores: { answer: 1 } });
  });

  it("runs a session again with its recorded results, and without its tools", async () => {
    const session = await recorded();
    let ran = 0;
    const answer = callsTools([{ name: "refund", arguments: { order: 7 } }], { usage });
    const agent = shop([answer, answers("All done.", { usage })]);
    const never = defineTool({
      name: "refund",
      description: "Refunds an order.",
      input: z.object({ order: z.number() }),
      execute: () => `${(ran += 1)}`,
    });
    const other = { ...agent, parts: { ...agent.parts, tools: new Map([["refund", never]]) } };
    const seen: (string | undefined)[] = [];
    const report = await evaluate({
      agent: other,
      dataset: [{ name: "refund", session, at: 4, expect: { tools: ["refund"], answer: "All done." } }],
      scorers: { said: ({ recorded: before }) => seen.push(before) > 0 },
    });
    expect(report).toMatchObject({ ok: true, usage: { tokens: 200 } });
    expect([ran, seen]).toEqual([0, ["It is refunded."]]);
  });

  it("notes calls without a recorded result, and another version of the agent", async () => {
    const agent = shop([callsTools([{ name: "refund", arguments: { order: 8 } }]), answers("No.")], {
      version: "2",
    });
    const dataset = [{ name: "a", session: await recorded(), at: 4, expect: { tools: ["refund"] } }];
    const { cases, ok } = await evaluate({ agent, dataset });
    expect(ok).toBe(true);
    expect(cases[0]?.notes).toEqual(["recorded by version 0, run by 2", "1 calls have no recorded result"]);
  });

  it("says whether the agent asks and wants what was recorded", async () => {
    const dataset = [{ name: "a", session: await recorded(), expect: { replays: true } }];
    const steps = () => answers("Hello.");
    expect(await evaluate({ agent: shop(steps), dataset })).toMatchObject({ ok: true });
    const agent = shop(steps);
    const changed = { ...agent, config: { ...agent.config, systemPrompt: "Be polite." } };
    const report = await evaluate({ agent: changed, dataset });
    expect(report.toText()).toContain('request.system: recorded "", now "Be polite."');
  });

  it("refuses a case that says neither true nor false about a replay", async () => {
    const dataset = [{ name: "a", session: await recorded(), expect: { replays: "yes" } }];
    const report = await evaluate({ agent: shop(() => answers("Hello.")), dataset });
    expect(report.ok).toBe(false);
    expect(report.toText()).toContain('expect.replays must be true or false, got "yes".');
  });

  it("makes the agent of each case from what was recorded", async () => {
    const report = await evaluate({
      agent: (each, was) => shop(() => answers(`${each.name} ${was?.agent.name}`)),
      dataset: [{ name: "a", session: await recorded(), at: 4, expect: { answer: "a shop" } }],
    });
    expect(report.ok).toBe(true);
  });

  it("asks a model for a score, whose usage counts", async () => {
    const verdict = answers('{"reason":"It is rude.","score":0.25}', { usage });
    const polite = judge(new MockLlmCaller(() => verdict), "It is polite.");
    const report = await capitals("Oslo, you fool.", { scorers: { polite } });
    expect(report.cases[0]?.problem).toBe("polite 0.25, It is rude.");
    expect(report.usage.tokens).toBe(200);
  });

  it("is a JUnit report of texts as they may be shown", async () => {
    const dataset = [{ ...capital, expect: { answer: "Oslo" } }];
    const report = await capitals("key<1>", { dataset });
    expect(report.toJUnit((text) => text.replaceAll("key<1>", "[secret]"))).toContain(
      "is &#34;[secret]&#34;",
    );
  });

  it("is compared with the last run, as JSON", async () => {
    const last: EvalResults = JSON.parse(JSON.stringify(await capitals("Oslo.")));
    const report = await capitals("Bergen.", { last, gate: { minPassRate: 0, maxDrop: 0.5 } });
    expect(report.problems).toEqual(["contains fell from 1 to 0, by more than 0.5"]);
    expect(report.toText()).toContain('capital: contains 0, lacks ["oslo"] (passed in the last run)');
    expect(report.toText()).toMatch(/^last run {3}\s+1 /m);
    expect((await capitals("Bergen.", { last, gate: { minPassRate: 0 } })).ok).toBe(true);
  });

  it("counts a case that got no score as 0 in the means, so that they fall with the cases that fail", async () => {
    const dataset = [capital, { ...capital, name: "other" }];
    const last: EvalResults = await capitals("Oslo.", { dataset });
    const gate = { minPassRate: 0, maxDrop: 0.2 };
    const problems = ["contains fell from 1 to 0.5, by more than 0.2"];
    const agent = shop([fails("auth"), answers("Oslo.")]);
    expect(await evaluate({ agent, dataset, last, gate })).toMatchObject({ ok: false, problems });
    const skipped = await capitals("Oslo.", { dataset, last, gate, budget: { maxTokens: 100 } });
    const notRun = "the budget is used up: 1 of 2 cases were not run";
    expect(skipped).toMatchObject({ ok: false, problems: [notRun, ...problems] });
  });

  it("says that there is no last run for a limit of drops", async () => {
    const report = await capitals("Oslo.", { gate: { maxDrop: 0.2 } });
    expect(report.toText()).toMatch(/\nok: 1 of 1 cases passed; no last run to compare with$/);
  });

  it("holds for exactly the part of the cases that must pass", async () => {
    const dataset = Array.from({ length: 100 }, (_, index) => ({
      ...capital,
      name: `${index}`,
      expect: { contains: index < 55 ? "Oslo" : "Bergen" },
    }));
    expect((await capitals("Oslo.", { dataset, gate: { minPassRate: 0.55 } })).ok).toBe(true);
    expect((await capitals("Oslo.", { dataset, gate: { minPassRate: 0.56 } })).ok).toBe(false);
  });

  it("has calls that the model has made after the record, not one that was open then", async () => {
    const dataset = [{ name: "a", session: await recorded(), at: 6, expect: { tools: [] } }];
    expect(await evaluate({ agent: shop(() => answers("Done.")), dataset })).toMatchObject({ ok: true });
  });

  it("is a JUnit report without what XML does not allow", async () => {
    const dataset = [capital, { name: 'a "case" <&>', input: "?", expect: { contains: "\u0000\n&" } }];
    const xml = (await capitals("Oslo.", { dataset, clock: new VirtualClock() })).toJUnit();
    expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="evals" tests="2" failures="1">
  <testcase name="capital" time="0"/>
  <testcase name="a &#34;case&#34; &#60;&#38;&#62;" time="0"><failure message="contains 0, lacks [&#34;\\u0000\\n&#38;&#34;]"/></testcase>
</testsuite>
`);
  });

  it("runs as many cases at a time as it may, and reports them in their order", async () => {
    const dataset = ["a", "b", "c"].map((name) => ({ ...capital, name }));
    const report = await capitals("Oslo.", { dataset, concurrency: 2 });
    expect(report.cases.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  });
});

describe("a case fails, and the others are run,", () => {
  const after = { ...capital, name: "after" };
  const problems = async (options: Partial<EvaluateOptions>): Promise<readonly unknown[]> => {
    const report = await capitals("Oslo.", { dataset: [capital, after], ...options });
    expect(report.ok).toBe(false);
    return report.cases.map(({ problem }) => problem);
  };

  it("for a scorer that throws", async () => {
    const flaky = ({ case: { name } }: { case: { name: string } }): number => {
      if (name === "capital") throw new Error("no words");
      return 1;
    };
    expect(await problems({ scorers: { flaky } })).toEqual(["The scorer flaky failed: no words", undefined]);
  });

  it.each([
    [7, "7"],
    [Number.NaN, "NaN"],
    ["good", "good"],
    [undefined, "undefined"],
    [null, "null"],
    [[0], "0"],
    [{ score: null }, "null"],
  ])("for a score that is not a number from 0 to 1: %o", async (score, shown) => {
    // Callers without types may return any value.
    // oxlint-disable-next-line typescript/no-explicit-any
    const odd = ({ case: { name } }: { case: { name: string } }): any => (name === "capital" ? score : 1);
    const message = `The scorer odd failed: a score must be a number from 0 to 1, got ${shown}.`;
    expect(await problems({ scorers: { odd } })).toEqual([message, undefined]);
  });

  it("for a loop that fails", async () => {
    const agent = shop([fails("auth"), answers("Oslo.")]);
    expect(await problems({ agent })).toEqual([expect.stringMatching(/^auth: /), undefined]);
  });

  it("for a loop that fails before its last message", async () => {
    const agent = shop([fails("auth"), answers("Oslo.")]);
    const dataset = [{ ...capital, input: ["Hi", "The capital of Norway?"] }, after];
    expect(await problems({ agent, dataset })).toEqual([expect.stringMatching(/^auth: /), undefined]);
  });

  it("for an agent that exceeds its own budget", async () => {
    const agent = shop(() => callsTools([{ name: "refund", arguments: { order: 7 } }], { usage }));
    const limited = { ...agent, config: { ...agent.config, budget: { maxTokens: 150 } } };
    const exceeded: unknown = expect.stringMatching(/^BudgetExceeded: /);
    expect(await problems({ agent: limited })).toEqual([exceeded, exceeded]);
  });

  it("for a session of another agent, and for one that is damaged", async () => {
    const text = await recorded();
    const damaged = text.replace("Refund order 7.", "Refund order 8.");
    const dataset = [
      { name: "a", session: text, expect: { answer: "x" } },
      { name: "b", session: damaged, expect: { answer: "x" } },
    ];
    const [other, broken] = await problems({ agent: shop([], { name: "store" }), dataset });
    expect(other).toBe('The session was recorded by the agent "shop", and this agent is "store".');
    expect(broken).toContain("The log is damaged: record 5");
  });

  it("for a record that the session does not have", async () => {
    const dataset = [{ name: "a", session: await recorded(), at: 99, expect: { answer: "x" } }];
    expect(await problems({ dataset })).toEqual([expect.stringContaining("no record 99")]);
  });

  it("for an expectation that its scorer cannot use", async () => {
    const message =
      "The scorer contains failed: expect.contains must be a text that is not empty, or a list of such texts.";
    for (const contains of [7, "", [], ["oslo", 7], ["oslo", ""]]) {
      const dataset = [{ ...capital, expect: { contains } }, after];
      expect(await problems({ dataset })).toEqual([message, undefined]);
    }
  });

  it.each([Number.NaN, -1, undefined])("for a usage with which no budget is used up: %s", async (tokens) => {
    // Callers without types may return any value.
    // oxlint-disable-next-line typescript/no-explicit-any
    const odd = ({ case: { name } }: { case: { name: string } }): any =>
      name === "capital" ? { score: 1, usage: { tokens, cost: 0 } } : 1;
    const message = "The scorer odd failed: usage must be { tokens, cost }.";
    expect(await problems({ scorers: { odd } })).toEqual([message, undefined]);
  });

  it("for a session that is paused, so that no earlier answer counts", async () => {
    const guardrails = [{ name: "a", input: (text: string) => (text === "b" ? { ask: "why" } : undefined) }];
    const llm = new MockLlmCaller(() => answers("Oslo."));
    const paused = "The last message has no answer: the session is paused (a: why).";
    for (const input of ["b", ["a", "b"], ["a", "b", "c"]]) {
      const dataset = [{ ...capital, input }, after];
      const agent = defineAgent({ llm, guardrails });
      expect(await problems({ agent, dataset, scorers: { any: () => true } })).toEqual([paused, undefined]);
    }
  });

  it("for a record after which no model is called, so that no recorded answer counts", async () => {
    const session = await recorded();
    const at = (record: number) => [{ name: "a", session, at: record, expect: { contains: "refunded" } }];
    const agent = shop(() => answers("No."));
    expect(await problems({ agent, dataset: at(8) })).toEqual([expect.stringMatching(/^contains 0/)]);
    expect(await problems({ agent, dataset: at(9) })).toEqual([
      "Nothing is run again after record 9: no model is called. Use an earlier record.",
    ]);
  });

  it("for a call that was rejected, where its tool should have run", async () => {
    const mail = defineTool({
      name: "mail",
      description: "Sends a mail.",
      approval: "always",
      input: z.object({}),
      execute: () => "sent",
    });
    const agent = (): Agent =>
      defineAgent({
        llm: new MockLlmCaller([callsTools([{ name: "mail" }]), answers("No.")]),
        tools: [mail],
      });
    const [problem] = await problems({
      agent,
      dataset: [{ name: "a", input: "Mail.", expect: { tools: ["mail"] } }],
    });
    expect(problem).toBe('tools 0, called [], not run: ["mail"]');
    const dataset = [{ name: "a", input: "Mail.", expect: { tools: [] } }];
    expect(await evaluate({ agent, dataset })).toMatchObject({ ok: true });
  });

  it("for a budget that is used up, also where no case must pass", async () => {
    const report = await capitals("Oslo.", {
      dataset: [capital, after],
      budget: { maxTokens: 100 },
      gate: { minPassRate: 0 },
    });
    expect(report.problems).toEqual(["the budget is used up: 1 of 2 cases were not run"]);
  });

  it("for a budget that is used up", async () => {
    const used = [undefined, "The budget is used up: it was not run."];
    expect(await problems({ budget: { maxTokens: 100 } })).toEqual(used);
    expect(await problems({ budget: { maxCost: 0.05 } })).toEqual(used);
  });
});

describe("options of an evaluation", () => {
  const someResults = { cases: [], scores: { contains: 1 }, usage: { tokens: 1, cost: 0 }, latencyMs: 0 };

  it.each([
    [{ scorer: {} }, 'Did you mean "scorers"?'],
    [{ gate: { minScores: 1 } }, 'Did you mean "minScore"?'],
    [{ gate: { minScore: 80 } }, "gate.minScore must be a number from 0 to 1, got 80."],
    [{ budget: { maxTokens: 0 } }, "budget.maxTokens must be a positive integer, got 0."],
    [{ concurrency: 0 }, "concurrency must be a positive integer, got 0."],
    [{ dataset: undefined }, "dataset"],
    [{ last: { cases: [], scores: {} } }, "last must be the results of a run"],
    [{ last: { ...someResults, scores: {} } }, "last must be the results of a run"],
    [{ last: { ...someResults, scores: { contains: null } } }, "last must be the results of a run"],
    [{ last: { ...someResults, usage: {} } }, "last must be the results of a run"],
    [{ agent: "shop" }, "agent must be an agent, or a function that returns one"],
  ])("are refused: %j", async (options: object, message) => {
    await expect(capitals("Oslo.", options)).rejects.toThrow(message);
  });
});
