import { answers, callsTools, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  runTask,
  startSession,
  type AgentEvent,
  type AgentRun,
} from "../../src/index.ts";

async function statesOf(run: AgentRun): Promise<readonly string[]> {
  const states: string[] = [];
  for await (const event of run) states.push(event.type === "StateStarted" ? event.state : event.type);
  return states.filter((state) => !state.startsWith("Llm"));
}

describe("the events of a run", () => {
  it("have the state that ends it before its answer", async () => {
    const agent = defineAgent({ llm: new MockLlmCaller([answers("It is 4.")]) });
    expect(await statesOf(runTask(agent, "2+2?"))).toEqual(["Planning", "Done", "FinalAnswer"]);
  });

  it("have the result of a call that a cancel closed", async () => {
    const wait = defineTool({
      name: "wait",
      description: "Waits.",
      input: z.object({}),
      execute: () => {
        run.cancel();
        return new Promise(() => undefined);
      },
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
