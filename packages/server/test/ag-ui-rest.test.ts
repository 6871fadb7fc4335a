import type { HttpAgent } from "@ag-ui/client";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { HandModel } from "@moora/testbed/server/hand-model";
import { agentOf } from "@moora/testbed/server/agent-of";
import { pay } from "./chat-scene.ts";
import { toolOf } from "./support.ts";

const shown = ({ messages }: HttpAgent): readonly unknown[] =>
  messages.map(({ role, content }) => [role, content ?? ""]);

/** A client that has lost its connection in the middle of a text, and what the model writes. */
async function cutOff(text: string) {
  const model = new HandModel();
  const scene = new AgUiScene(agentOf(model, { tools: [toolOf("add", () => "4")] }));
  const client = scene.client();
  const run = say(client, "Hi");
  const attempt = await model.attempt(1);
  attempt.write(text);
  await untilPasses(() =>
    expect(shown(client)).toEqual([
      ["user", "Hi"],
      ["assistant", text],
    ]),
  );
  client.abortRun();
  await run;
  scene.failures.length = 0;
  return { scene, client, model, attempt, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

describe("a client of AG-UI that runs again after its connection was lost", () => {
  it("gets the rest of a text that is still written", async () => {
    await using page = await cutOff("Once ");
    const again = page.client.runAgent();
    await untilPasses(() => expect(page.scene.types.at(-1)).toBe("TEXT_MESSAGE_CONTENT"));
    page.attempt.write("upon a time.");
    page.attempt.end();
    await again;
    expect(shown(page.client)).toEqual([
      ["user", "Hi"],
      ["assistant", "Once upon a time."],
    ]);
    expect(page.scene.outcome).toEqual({ type: "success" });
    expect(page.scene.failures).toEqual([]);
  });

  it("gets the rest of a text that has ended", async () => {
    await using page = await cutOff("Once ");
    page.attempt.write("upon a time.");
    page.attempt.end();
    const [id = ""] = await page.scene.sessionIds();
    await expect.poll(async () => (await page.scene.stateOf(id)).reActContext.control.type).toBe("Done");
    await page.client.runAgent();
    expect(shown(page.client).at(-1)).toEqual(["assistant", "Once upon a time."]);
    expect(page.client.messages).toHaveLength(2);
    expect(page.scene.failures).toEqual([]);
  });

  it("gets the call, the result and the text that followed", async () => {
    await using page = await cutOff("Let me ");
    page.attempt.write("see.");
    page.attempt.begin("add", "{}");
    page.attempt.end();
    const next = await page.model.attempt(2);
    next.write("It is ");
    const again = page.client.runAgent();
    await untilPasses(() => expect(shown(page.client).at(-1)).toEqual(["assistant", "It is "]));
    next.write("four.");
    next.end();
    await again;
    expect(shown(page.client)).toEqual([
      ["user", "Hi"],
      ["assistant", "Let me see."],
      ["tool", "4"],
      ["assistant", "It is four."],
    ]);
    expect(page.scene.failures).toEqual([]);
  });

  it("gets the error of a loop that has failed", async () => {
    await using page = await cutOff("Once ");
    page.attempt.fail("auth");
    const [id = ""] = await page.scene.sessionIds();
    await expect.poll(async () => (await page.scene.stateOf(id)).reActContext.control.type).toBe("Error");
    await page.client.runAgent().catch(() => undefined);
    expect(page.scene.types.at(-1)).toBe("RUN_ERROR");
    expect(shown(page.client).at(-1)).toEqual(["assistant", "Once "]);
  });
});

describe("a client of AG-UI without messages", () => {
  it("gets the conversation of its thread, and the open interrupts", async () => {
    const script = [callsTools([{ name: "pay" }], { text: "I ask." }), answers("Paid.")];
    await using scene = new AgUiScene(agentOf(script, { tools: [pay()] }));
    const first = scene.client();
    await say(first, "Pay");
    const asked = scene.interrupts;
    const fresh = scene.client();
    await fresh.runAgent();
    expect(scene.interrupts).toEqual(asked);
    expect(shown(fresh)).toEqual(shown(first));
    const [{ id } = { id: "" }] = asked;
    await fresh.runAgent({ resume: [{ interruptId: id, status: "resolved", payload: { approved: true } }] });
    expect(shown(fresh).at(-1)).toEqual(["assistant", "Paid."]);
    expect(scene.failures).toEqual([]);
  });

  it("is refused for a thread that does not exist, and with a last message of its own", async () => {
    await using scene = new AgUiScene(agentOf([answers("Hello."), fails("auth")]));
    await scene
      .client()
      .runAgent()
      .catch(() => undefined);
    expect(scene.failures.at(-1)).toContain("404");
    const client = scene.client();
    await say(client, "Hi");
    client.addMessage({ id: "own", role: "assistant", content: "I say." });
    await client.runAgent().catch(() => undefined);
    expect(scene.failures.at(-1)).toContain("422");
  });
});
