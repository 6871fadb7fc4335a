import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

const decisions =
  '"approve" | { reject: string } | { approve: any } | { answer: any } | { outcome: "run-again" } | ' +
  '{ outcome: "worked", result: any } | { outcome: "failed" | "unknown", reason?: string }';
const question = { toolCallId: "call_1", digest: "d" };
const message = { id: "m1", role: "user", content: "Hi" };

/** A word that no answer may repeat. */
const secret = "hunter2";

const post = async (path: string, body: unknown) => {
  await using scene = new Scene(agentOf([answers("Hi.")]));
  const ada = scene.as("ada");
  const id = await ada.create();
  return await ada.post(path.replace(":id", id), body);
};

describe("a body of another form", () => {
  it.each<[string, unknown, string, string]>([
    ["/sessions/:id/decisions", { ...question, decision: secret }, "decision", decisions],
    ["/sessions/:id/decisions", { ...question, decision: { [secret]: 1 } }, "decision", decisions],
    ["/sessions/:id/decisions", { ...question, decision: { reject: 1 } }, "decision", decisions],
    [
      "/sessions/:id/decisions",
      { digest: "d", decision: "approve" },
      "toolCallId",
      "string of 1 to 200 characters",
    ],
    [
      "/sessions/:id/decisions",
      { ...question, decision: "approve", [secret]: true },
      "",
      `{ toolCallId: string, digest: string, path?: string[], decision: ${decisions} }`,
    ],
    ["/sessions/:id/messages", {}, "content", "string"],
    ["/sessions/:id/messages", { content: "Hi", [secret]: 1 }, "", "{ content: string, attachments?: "],
    ["/sessions/:id/cancel", { reason: 1 }, "reason", "string"],
    ["/sessions/:id/data", { patches: [] }, "patches", '({ op: "add", path: string, value: any } | '],
    ["/sessions/:id/data", { patches: [{ op: secret }] }, "patches.0.op", '{ op: "add", path: string, '],
    ["/sessions/:id/pause", { why: secret }, "", "{ reason?: string }"],
    ["/sessions/:id/retry", { why: secret }, "", "{}"],
    ["/sessions/:id/fork", { at: -1 }, "at", "integer of 0 or more"],
    ["/agents/helper/sessions", { id: secret }, "", "{}"],
    ["/agents/helper/chat", { id: "c", messages: secret }, "messages", "({ id: string, role: "],
    ["/agents/helper/ag-ui", { runId: "r", messages: [message] }, "threadId", "string of 1 to 200"],
    ["/agents/helper/ag-ui", [secret], "", "{ threadId: string, runId: string, messages: "],
  ])("is refused with the form that is accepted, and is not repeated: POST %s %j", async (...given) => {
    const [path, body, place, form] = given;
    const refused = await post(path, body);
    expect(refused).toMatchObject({ status: 400, body: { code: "invalid-request", path: place } });
    const { detail } = refused.body as { detail: string };
    expect(detail).toMatch(/^The body does not have the expected form\. .*Accepted(?: for [\w.]+)?: .*\.$/);
    expect(detail).toContain(`: ${form}`);
    expect(detail).not.toContain(secret);
  });

  it.each([
    ['{"order":9007199254740993}', { path: "decision.approve.order" }],
    ['{"euros":1,"euros":7}', { detail: "An object of the body has a key twice." }],
  ])("is refused where a number or a key of it would be lost: %s", async (approved, problem) => {
    await using scene = new Scene(agentOf([answers("Hi.")]));
    const ada = scene.as("ada");
    const id = await ada.create();
    const refused = await ada.send(`/sessions/${id}/decisions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"toolCallId":"call_1","digest":"d","decision":{"approve":${approved}}}`,
    });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: "invalid-request", ...problem });
  });
});
