import { answers, callsTools, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, runTask, startSession, type AgentEvent, type AgentRun } from "../../src/index.ts";
import { toolOf } from "../support.ts";

async function statesOf(run: AgentRun): Promise<readonly string[]> {
  const states: string[] = [];
  for await (const event of run) states.push(event.type === "StateStarted" ? event.state : event.type);
  return states.filter((state) => !state.startsWith("Llm"));
}

describe("the events of a run", () => {
  it("have the result of a call that a cancel closed", async () => {
    const wait = toolOf("wait", () => {
      run.cancel();
      return new Promise(() => undefined);
    });
    const agent = defineAgent({ llm: new MockLlmCaller([callsTools([{ name: "wait" }])]), tools: [wait] });
    const run: AgentRun = startSession(agent).ask("Wait.");
    expect((await statesOf(run)).slice(-3)).toEqual(["ToolCallFinished", "Error", "Error"]);
  });

  it("belong to the loop that they report, also where one input ends a loop and opens the next", async () => {
    const llm = new MockLlmCaller([hangs("Well"), answers("It is 4.")]);
    const session = startSession(defineAgent({ llm, config: { interjection: "restart" } }));
    const [first, second]: [AgentEvent["type"][], AgentEvent["type"][]] = [[], []];
    for await (const event of session.ask("3+3?")) {
      first.push(event.type);
      if (event.type !== "LlmToken") continue;
      for await (const later of session.ask("2+2?")) second.push(later.type);
    }
    expect(first).toEqual(["StateStarted", "LlmToken", "LlmAttemptEnded", "StateStarted", "Error"]);
    expect([second[0], ...second.slice(-2)]).toEqual(["StateStarted", "StateStarted", "FinalAnswer"]);
    expect(session.trace().entries.map(({ to }) => to)).toEqual(["Planning", "Error", "Planning", "Done"]);
  });
});

describe("the text of a run", () => {
  const textOf = async (run: AgentRun): Promise<string> => {
    let text = "";
    for await (const piece of run.textStream) text += piece;
    return text;
  };

  it("is the answer as it streams, in pieces", async () => {
    const pieces: string[] = [];
    const agent = defineAgent({ llm: new MockLlmCaller([answers("It is 4.")]) });
    for await (const piece of runTask(agent, "2+2?").textStream) pieces.push(piece);
    expect(pieces).toEqual(["It ", "is ", "4."]);
  });

  it("has the answer on a line of its own, below what was cut off and what precedes a tool call", async () => {
    const llm = new MockLlmCaller([
      fails("connection", { partial: "It i", retryAfterMs: 0 }),
      callsTools([{ name: "look" }], { text: "Let me look." }),
      answers("It is 4."),
    ]);
    const look = toolOf("look", () => "4");
    const text = await textOf(runTask(defineAgent({ llm, tools: [look] }), "2+2?"));
    expect(text).toBe("It i\nLet me look.\nIt is 4.");
  });

  it("ends with the answer for a reader that begins late", async () => {
    const session = startSession(defineAgent({ llm: new MockLlmCaller([answers("It is 4.")]) }));
    const run = session.ask("2+2?");
    const result = run.then(({ text }) => text);
    for await (const event of run) {
      if (event.type !== "LlmToken" || event.text !== "is ") continue;
      expect(await textOf(run)).toBe("4.\nIt is 4.");
    }
    expect(await result).toBe("It is 4.");
  });

  it("is the whole answer for a reader that begins after the end, as a second one does", async () => {
    const session = startSession(
      defineAgent({ llm: new MockLlmCaller([answers("It is 4."), answers("5.")]) }),
    );
    const read = session.ask("2+2?");
    expect([await textOf(read), await textOf(read), await textOf(read)]).toEqual(Array(3).fill("It is 4."));
    const awaited = session.ask("2+3?");
    await awaited;
    expect(await textOf(awaited)).toBe("5.");
  });

  it("ends with a run that fails, and a question is refused: its reader does not answer", async () => {
    const pay = toolOf("pay", () => "paid", { approval: "always" });
    const llm = new MockLlmCaller([callsTools([{ name: "pay" }], { text: "I pay." }), fails("auth")]);
    const run = runTask(defineAgent({ llm, tools: [pay] }), "Pay.");
    expect(await textOf(run)).toBe("I pay.");
    await expect(run).rejects.toMatchObject({ kind: "LlmError", reason: "auth" });
  });
});
