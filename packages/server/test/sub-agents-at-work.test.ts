import { agentTool, type Tool } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { ChatScene, textOf } from "@moora/testbed/server/chat-scene";
import { TestClock, turn, untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { pay } from "./chat-scene.ts";
import { toolOf } from "./support.ts";

/** A sub-agent, as a tool, that calls these tools at once and is done when it has their results. */
function subAgent(name: string, tools: readonly Tool[]): Tool {
  const calls = tools.map((tool) => ({ name: tool.name, arguments: { task: "Pay" } }));
  const agent = agentOf([callsTools(calls), answers(`${name} is done.`)], { name, tools });
  return agentTool(agent, { name, description: "Has its tools do it." });
}

/** A tool that works until it is ended. */
function slowTool() {
  const { promise, resolve: end } = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const tool = toolOf("slow", async () => {
    started.resolve();
    return await promise;
  });
  return { tool, started: started.promise, end: () => end("slow is done") };
}

/** A tool that calls two others in one call. */
const both = (one: Tool, other: Tool): Tool =>
  toolOf("both", async (_, context) => {
    await Promise.all([one, other].map(async (tool) => await tool.run('{"task":"Pay"}', context)));
    return "both are done";
  });

const cashier = () => subAgent("cashier", [pay()]);

/** The tools of an agent, by where the slow one is. A sub-agent asks about `pay`. */
const shapes: Readonly<Record<string, (slow: Tool) => readonly Tool[]>> = {
  "that asks": (slow) => [subAgent("cashier", [pay(), slow])],
  "above the one that asks": (slow) => [subAgent("clerk", [cashier(), slow])],
  "of the same call": (slow) => [both(cashier(), subAgent("clerk", [slow]))],
  "beside the one that asks": (slow) => [cashier(), subAgent("clerk", [slow])],
};

const names = Object.keys(shapes);

/** An agent that calls the tools of a shape at once. */
function scripted(name: string) {
  const slow = slowTool();
  const tools = shapes[name]?.(slow.tool) ?? [];
  const calls = tools.map((tool) => ({ name: tool.name, arguments: { task: "Pay" } }));
  return { agent: agentOf([callsTools(calls), answers("Done.")], { tools }), slow };
}

/** Waits until a sub-agent asks, and the slow tool works. */
async function untilAsked(
  { scene }: ChatScene | AgUiScene,
  slow: ReturnType<typeof slowTool>,
): Promise<void> {
  await slow.started;
  const ada = scene.as("ada");
  const questions = async () => {
    const [{ id }] = (await ada.get("/sessions")).body.sessions;
    return (await ada.get(`/sessions/${id}`)).body.questions;
  };
  await expect.poll(questions).toHaveLength(1);
  for (let turns = 0; turns < 20; turns += 1) await turn();
}

describe("a sub-agent that works while a question of a sub-agent is open", () => {
  it.each(names)("keeps the stream of a chat open until its tool has ended: one %s", async (name) => {
    const { agent, slow } = scripted(name);
    await using scene = new ChatScene(agent);
    const chat = scene.chat();
    const sent = chat.sendMessage({ text: "Pay" });
    await untilAsked(scene, slow);
    expect(chat.status).toBe("streaming");
    slow.end();
    await sent;
    const asked = chat.lastMessage?.parts as unknown as { approval?: { id: string } }[];
    const id = asked.find(({ approval }) => approval)?.approval?.id ?? "";
    await chat.addToolApprovalResponse({ id, approved: true });
    await untilPasses(() => expect(textOf(chat)).toBe("Done."));
    expect(scene.errors).toEqual([]);
  });

  it.each(names)("keeps a run of AG-UI open until its tool has ended: one %s", async (name) => {
    const { agent, slow } = scripted(name);
    await using scene = new AgUiScene(agent);
    const client = scene.client();
    const said = say(client, "Pay");
    await untilAsked(scene, slow);
    expect(scene.types).not.toContain("RUN_FINISHED");
    slow.end();
    await said;
    expect(scene.interrupts).toHaveLength(1);
    const answer = { status: "resolved", payload: { approved: true } } as const;
    await client.runAgent({ resume: scene.interrupts.map(({ id }) => ({ interruptId: id, ...answer })) });
    expect(scene.outcome).toEqual({ type: "success" });
  });
});

describe("a call that waits for its next attempt", () => {
  it("keeps a run of AG-UI open although a question is open beside it", async () => {
    let attempts = 0;
    const flaky = toolOf(
      "flaky",
      () => {
        attempts += 1;
        if (attempts === 1) throw new Error("Try later.");
        return "ok";
      },
      { retries: 2, replay: "safe" },
    );
    const calls = [{ name: "pay" }, { name: "flaky" }];
    const clock = new TestClock();
    const agent = agentOf([callsTools(calls), answers("Done.")], { tools: [pay(), flaky] });
    await using scene = new AgUiScene(agent, { clock });
    const said = say(scene.client(), "Pay");
    const statuses = async () => {
      const [id = ""] = await scene.sessionIds();
      return JSON.stringify((await scene.stateOf(id)).reActContext.control);
    };
    await expect.poll(statuses).toContain("retrying");
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(scene.types).not.toContain("RUN_FINISHED");
    await clock.advanceAsync(600_000);
    await said;
    expect(attempts).toBe(2);
    expect(scene.interrupts).toHaveLength(1);
  });
});
