import { startSession, type Decision, type Question } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";
import { answer, movesOf, resultsIn, task } from "./support/runs.ts";
import { deleteTool, deletion, weatherIn, weatherTool } from "./support/tools.ts";

interface Scene {
  readonly llm: MockLlmCaller;
  readonly deleted: readonly string[];
  readonly builder: AgentBuilder;
}

/** A model that makes these calls, of which deletions need an approval, and then answers. */
function asking(...calls: Parameters<typeof callsTools>[0]): Scene {
  const deleted: string[] = [];
  const llm = new MockLlmCaller([callsTools(calls), answers(answer)]);
  const builder = new AgentBuilder(task)
    .llm(llm)
    .tool(weatherTool())
    .tool(deleteTool(deleted))
    .approvalPolicy({ above: "medium" });
  return { llm, deleted, builder };
}

const contents = (llm: MockLlmCaller): readonly string[] =>
  resultsIn(llm.requests[1]).map(({ content }) => content);

describe("an approval without a reviewer", () => {
  it("is a rejection, and the run continues", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    const engine = builder.build();
    expect(await engine.run()).toBe(answer);
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["Not run. No reviewer is available."]);
    expect(movesOf(engine)).toEqual([
      "Idle Start Planning",
      "Planning HumanApprovalRequired WaitingForHuman",
      "WaitingForHuman HumanRejected Observing",
      "Observing Continue Planning",
      "Planning LlmFinalAnswer Done",
    ]);
  });
});

describe("onApproval", () => {
  it("receives the question, and its approval lets the call run", async () => {
    const { deleted, builder } = asking(deletion("/a"));
    const questions: Question[] = [];
    const engine = builder
      .onApproval((question) => {
        questions.push(question);
        return "approve";
      })
      .build();
    await engine.run();
    expect(deleted).toEqual(["/a"]);
    expect(questions).toMatchObject([
      { toolCallId: "call_1", about: "approval", name: "delete_file", parameters: { path: "/a" }, due: null },
    ]);
    expect(movesOf(engine)).toContain("WaitingForHuman HumanApproved Acting");
    expect(engine.state.toolCalls["call_1"]?.decision).toMatchObject({ type: "approved", by: "host" });
  });
});

describe("a changed call", () => {
  it("is checked against the current blacklist", async () => {
    const { llm, deleted, builder } = asking(deletion("/a"));
    const session = startSession(builder.build().agent);
    for await (const event of session.ask(task)) {
      if (event.type !== "ApprovalRequested") continue;
      await session.configure({ toolCalls: { blacklist: ["delete_file"] } });
      await session.decide(event, { approve: { path: "/b" } });
    }
    expect(deleted).toEqual([]);
    expect(contents(llm)).toEqual(["The tool delete_file is not allowed here and was not run."]);
  });
});

describe("a policy", () => {
  it.each<[string, Parameters<AgentBuilder["approvalPolicy"]>[0], readonly string[]]>([
    ["never", "never", []],
    ["always", "always", ["weather", "delete_file"]],
    ["above its risk", { above: "low" }, ["weather", "delete_file"]],
    ["at its risk", { above: "high" }, ["delete_file"]],
    ["above all risks", { above: "critical" }, []],
    ["by name", { tools: ["weather"] }, ["weather"]],
    ["by a function", ({ parameters }) => parameters.includes("Oslo"), ["weather"]],
    ["by a function that answers later", async ({ name }) => name !== "weather", ["delete_file"]],
    ["by a function that throws", broken, ["weather", "delete_file"]],
  ])("asks %s", async (_, policy, expected) => {
    const { builder } = asking(weatherIn("Oslo"), deletion("/a"));
    const asked: string[] = [];
    const approve = ({ name }: Question): Decision => {
      asked.push(name);
      return "approve";
    };
    await builder.approvalPolicy(policy).onApproval(approve).build().run();
    expect(asked).toEqual(expected);
  });
});

function broken(): boolean {
  throw new Error("no policy");
}
