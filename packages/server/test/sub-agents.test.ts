import { agentTool, askHuman, defineTeam, readSession } from "@moora/agent";
import { chunkToQuestion } from "@moora/agent-webui-protocol";
import { memoryLog } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene, type SceneOptions } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

/** An agent whose sub-agent pays, and asks before. */
function payingScene(options: SceneOptions = {}) {
  const log = memoryLog();
  const paid: unknown[] = [];
  const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
  const cashier = agentOf([callsTools([{ name: "pay", arguments: { sum: 7 } }]), answers("It is paid.")], {
    name: "cashier",
    tools: [pay],
  });
  const boss = agentOf([callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")], {
    tools: [agentTool(cashier, { name: "cashier", description: "Pays.", log })],
  });
  return { scene: new Scene([boss, cashier], { log, ...options }), paid };
}

describe("a message to a sub-agent", () => {
  it("is refused after the task of the sub-agent has ended, since nothing would answer it", async () => {
    const { paid, ...paying } = payingScene({
      authorize: () => ({ user: "ada", mayForeign: () => true }),
    });
    await using scene = paying.scene;
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay 7" });
    const { toolCallId, digest, path } = await stream.question();
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, path, decision: "approve" });
    await stream.until("tool-call-completed");
    expect(paid).toHaveLength(1);
    const child = (await scene.log.list()).find((session) => session.id !== id)?.id ?? "";
    const { status, body } = await ada.post(`/sessions/${child}/messages`, { content: "And 8?" });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { status: "ignored", reason: "call-ended" },
    });
    expect(JSON.stringify(await readSession(scene.log, child))).not.toContain("And 8?");
  });
});

/** The removal of a session whose server was killed in its middle, so that the session of its sub-agent is left. */
async function leftBehind(options: SceneOptions): Promise<{ readonly scene: Scene; readonly id: string }> {
  const { scene } = payingScene(options);
  const ada = scene.as("ada");
  const id = await ada.create();
  await using stream = await ada.events(id);
  await ada.post(`/sessions/${id}/messages`, { content: "Pay 7" });
  await stream.question();
  await scene.server.close();
  await scene.log.remove(id);
  return { scene: new Scene(agentOf([answers("Hi.")]), { ...options, log: scene.log }), id };
}

describe("the removal of a session that was interrupted", () => {
  it.each([
    ["no users", { authorize: null }],
    [
      "a user who may remove sessions without a user",
      { authorize: () => ({ user: "ada", mayForeign: () => true }) },
    ],
  ] as const)("is completed by a repetition, at a server with %s", async (_, options) => {
    const { scene: next, id } = await leftBehind(options);
    await using scene = next;
    expect(await scene.log.list()).toHaveLength(1);
    expect((await scene.as("ada").delete("/sessions/other")).status).toBe(404);
    expect((await scene.as("ada").delete(`/sessions/${id}`)).status).toBe(204);
    expect(await scene.log.list()).toEqual([]);
    expect((await scene.as("ada").delete(`/sessions/${id}`)).status).toBe(404);
    expect(scene.errors).toEqual([]);
  });

  it("is not completed for a user who may not remove the sessions that it has left", async () => {
    const { scene: next, id } = await leftBehind({ authorize: () => ({ user: "ada" }) });
    await using scene = next;
    expect((await scene.as("ada").delete(`/sessions/${id}`)).status).toBe(404);
    expect(await scene.log.list()).toHaveLength(1);
  });
});

describe("a question of a sub-agent", () => {
  it.each(["with", "without"])("is streamed, and decided %s its path", async (how) => {
    const { paid, ...paying } = payingScene();
    await using scene = paying.scene;
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay 7" });
    const { toolCallId, digest, path, name, parameters } = await stream.question();
    expect({ name, parameters }).toEqual({ name: "pay", parameters: { sum: 7 } });
    expect((await ada.get(`/sessions/${id}`)).body.questions).toMatchObject([{ toolCallId, digest, path }]);
    const decision = { toolCallId, digest, decision: "approve", ...(how === "with" ? { path } : {}) };
    const { body } = await ada.post(`/sessions/${id}/decisions`, decision);
    expect(body.status).toBe("accepted");
    await stream.until("tool-call-completed");
    expect(stream.chunks).toContainEqual({ type: "question-closed", path, toolCallId });
    expect(paid).toEqual([{ sum: 7 }]);
    const below = (await scene.log.list()).find((session) => session.id !== id);
    const { inputs } = await readSession(scene.log, below?.id ?? "");
    expect(inputs).toContainEqual(expect.objectContaining({ type: "tool-call-decided", by: "ada" }));
    expect((await ada.post(`/sessions/${id}/decisions`, { ...decision, path })).body.status).toBe("ignored");
  });

  it("has the schema of its answer, in the stream and among the questions of the session", async () => {
    const log = memoryLog();
    const answer = { type: "object", properties: { size: { type: "integer" } }, required: ["size"] } as const;
    const ask = callsTools([{ name: "ask_human", arguments: { question: "Which size?" } }]);
    const shop = agentOf([ask, answers("Ordered.")], { name: "shop", tools: [askHuman({ answer })] });
    const boss = agentOf([callsTools([{ name: "shop", arguments: { task: "A shirt" } }]), answers("Done.")], {
      tools: [agentTool(shop, { name: "shop", description: "Buys.", log })],
    });
    await using scene = new Scene(boss, { log });
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "A shirt" });
    const chunk = await stream.question();
    expect(JSON.parse(chunk.answerSchema ?? "")).toMatchObject(answer);
    expect(chunkToQuestion(chunk).answerSchema).toBe(chunk.answerSchema);
    const [question] = (await ada.get(`/sessions/${id}`)).body.questions;
    expect(question).toEqual(chunkToQuestion(chunk));
    const { answerSchema: _, ...earlier } = chunk;
    expect(chunkToQuestion(earlier)).not.toHaveProperty("answerSchema");
  });

  it("is decided in a team, whose own calls have the same ids", async () => {
    const paid: unknown[] = [];
    const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
    const cashier = agentOf([callsTools([{ name: "pay", arguments: { sum: 7 } }]), answers("Paid.")], {
      tools: [pay],
    });
    const triage = agentOf([callsTools([{ name: "hand_off", arguments: { agent: "billing" } }])]);
    const billing = agentOf(
      [callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")],
      {
        tools: [agentTool(cashier, { name: "cashier", description: "Pays." })],
      },
    );
    const team = defineTeam({
      name: "helper",
      start: "triage",
      agents: {
        triage: { agent: triage, description: "Decides who helps." },
        billing: { agent: billing, description: "Pays." },
      },
    });
    await using scene = new Scene(team);
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay" });
    const { toolCallId, digest, path } = await stream.question();
    expect({ toolCallId, path }).toEqual({ toolCallId: "call_1", path: ["call_2"] });
    const decision = { toolCallId, digest, path, decision: "approve" };
    expect((await ada.post(`/sessions/${id}/decisions`, decision)).body).toMatchObject({
      status: "accepted",
    });
    await untilPasses(() => expect(paid).toEqual([{ sum: 7 }]));
  });
});

describe("a session that is removed", () => {
  it("is not that of a sub-agent alone whose call is open: the call would begin anew", async () => {
    const { paid, ...paying } = payingScene({
      authorize: () => ({ user: "ada", mayForeign: () => true }),
    });
    await using scene = paying.scene;
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay 7" });
    const { toolCallId, digest, path } = await stream.question();
    const child = (await scene.log.list()).find((session) => session.id !== id)?.id ?? "";
    await using childStream = await ada.events(child);
    expect(await ada.delete(`/sessions/${child}`)).toMatchObject({
      status: 422,
      body: { code: "refused", detail: expect.stringContaining(`is that of a sub-agent of "${id}"`) },
    });
    await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, path, decision: "approve" });
    await stream.until("tool-call-completed");
    expect(paid).toHaveLength(1);
    await childStream.until("tool-call-completed");
    expect((await ada.delete(`/sessions/${child}`)).status).toBe(204);
  });

  it("takes the sessions of its sub-agents with it, and no other", async () => {
    await using scene = payingScene().scene;
    const ada = scene.as("ada");
    const [id, other] = [await ada.create(), await ada.create()];
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Pay 7" });
    await stream.question();
    expect(await scene.log.list()).toHaveLength(3);
    expect((await ada.delete(`/sessions/${id}`)).status).toBe(204);
    expect((await scene.log.list()).map((session) => session.id)).toEqual([other]);
  });
});
