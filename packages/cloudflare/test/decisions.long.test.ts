import { readFileSync } from "node:fs";
import { decisionToInput, userMessage, type AgentState, type Decision, type Question } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { useWorkerd } from "./workerd.ts";

const workerd = useWorkerd("decision-worker");

interface View {
  readonly state: AgentState;
  readonly questions: readonly Question[];
}

const read = async (id: string): Promise<View> =>
  (await (await workerd.dispatchFetch(`http://localhost/sessions/${id}`)).json()) as View;

async function post(id: string, input: object): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await workerd.dispatchFetch(`http://localhost/sessions/${id}/inputs`, {
    method: "POST",
    body: JSON.stringify(input),
  });
  return { status: response.status, body: await response.json() };
}

/** Resolves with the session when it is as wanted, which is looked at after each message to a viewer. */
async function waitFor(id: string, isReached: (view: View) => boolean): Promise<View> {
  const { webSocket } = await workerd.dispatchFetch(`http://localhost/sessions/${id}/events`, {
    headers: { upgrade: "websocket" },
  });
  if (webSocket === null) throw new Error("The object accepts no socket.");
  let changed = Promise.withResolvers<void>();
  webSocket.addEventListener("message", () => changed.resolve());
  webSocket.accept();
  for (;;) {
    const next = changed.promise;
    const view = await read(id);
    if (isReached(view)) {
      webSocket.close();
      return view;
    }
    await next;
    changed = Promise.withResolvers<void>();
  }
}

/** Sends a task to a new session. Resolves with the question that it leads to. */
async function ask(id: string, task: string): Promise<Question> {
  await post(id, userMessage(task));
  const { questions } = await waitFor(id, (view) => view.questions.length > 0);
  const [question] = questions;
  if (question === undefined) throw new Error("The session asks nothing.");
  return question;
}

/** The input of a decision, as a client makes it that knows neither the agent nor the session. */
const decided = (question: Question, decision: Decision): object =>
  decisionToInput(question, decision, {
    by: "ada",
    timestamp: 1,
    digestOfChange: () => "unknown",
    maxResultLength: 1_000,
  });

const answerOf = async (id: string): Promise<string> => {
  const { state } = await waitFor(id, (view) => view.state.messages.at(-1)?.role === "assistant");
  return JSON.stringify(state.messages.at(-1)?.content);
};

const accepted = { status: 200, body: { status: "accepted" } };

const helperTask = `helper ${JSON.stringify({ task: 'pay {"euros":2}' })}`;

/** What the object answers to what it refuses. */
const refused = (detail: string) => ({
  status: 422,
  body: { code: "refused", detail: expect.stringContaining(detail) },
});

describe("the object of a session", () => {
  it.each(["with", "without"])("decides a question of a sub-agent %s its path", async (path) => {
    const id = `sub-${path}`;
    const question = await ask(id, helperTask);
    expect(question).toMatchObject({ name: "pay", path: [expect.any(String)] });
    const input = decided(question, "approve");
    expect(await post(id, path === "with" ? { ...input, path: question.path } : input)).toMatchObject(
      accepted,
    );
    expect(await answerOf(id)).toContain("paid 2 for ada");
  });

  it.each([
    ["a call of its own", "own", 'pay {"euros":2}'],
    ["a call of a sub-agent", "below", helperTask],
  ])("runs %s with changed arguments, which it checks", async (_, id, task) => {
    const question = await ask(id, task);
    const change = (value: object) =>
      post(id, { ...decided(question, { approve: value }), path: question.path });
    expect(await change({ euros: "many" })).toMatchObject(refused("decision.approve: "));
    expect(await change({ euros: 1, evil: 1 })).toMatchObject(refused("evil"));
    expect((await read(id)).questions).toEqual([question]);
    expect(await change({ euros: 1 })).toMatchObject(accepted);
    expect(await answerOf(id)).toContain("paid 1 for ada");
  });

  it.each([
    ["a number", "weigh", "heavy", 12],
    ["text that is also JSON", "choose", "3", "2"],
  ])("accepts %s as an answer only if it fits the schema", async (_, tool, wrong, right) => {
    const question = await ask(tool, tool);
    expect(await post(tool, decided(question, { answer: wrong }))).toMatchObject(
      refused("decision.answer: "),
    );
    expect((await read(tool)).questions).toEqual([question]);
    expect(await post(tool, decided(question, { answer: right }))).toMatchObject(accepted);
    expect(await answerOf(tool)).toContain("answered");
  });

  it.each([
    ["a path that is not a list of calls", { path: "call_1" }, "path: "],
    ["a decision of an unknown kind", { decision: { type: "maybe" } }, "decision"],
  ])("refuses %s", async (_, wrong, detail) => {
    const id = detail.slice(0, 4);
    const question = await ask(id, 'pay {"euros":2}');
    const input = { ...decided(question, "approve"), ...wrong };
    expect(await post(id, input)).toMatchObject(refused(detail));
  });

  it.each<[string, string, Decision, string]>([
    ["an approval", 'pay {"euros":2}', "approve", "paid 2 for ada"],
    ["an approval of a sub-agent's call", helperTask, "approve", "paid 2 for ada"],
    ["changed arguments", 'pay {"euros":2}', { approve: { euros: 1 } }, "paid 1 for ada"],
    ["an answer", "choose", { answer: "2" }, "answered"],
  ])("refuses a reason for %s, which it cannot record", async (about, task, decision, end) => {
    const id = about.replaceAll(" ", "-").replaceAll("'", "");
    const question = await ask(id, task);
    const input = decided(question, decision);
    expect(await post(id, { ...input, reason: "Fine." })).toEqual({
      status: 422,
      body: expect.objectContaining({
        detail: expect.stringMatching(/^reason: .*rejected, failed or unknown/),
      }),
    });
    expect((await read(id)).questions).toEqual([question]);
    expect(await post(id, input)).toMatchObject(accepted);
    expect(await answerOf(id)).toContain(end);
  });

  it("ignores a decision that it has received before, and names the reviewer", async () => {
    const question = await ask("rejected", 'pay {"euros":2}');
    const { toolCallId, digest } = question;
    const decision = { type: "rejected" };
    const input = { type: "tool-call-decided", toolCallId, digest, by: "ada", timestamp: 1, decision };
    expect(await post("rejected", input)).toMatchObject(accepted);
    expect(await post("rejected", input)).toMatchObject({
      status: 200,
      body: { status: "ignored", reason: "already-decided", decidedBy: "ada" },
    });
  });
});

describe("the line of the README", () => {
  it("sends a message", async () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, body = ""] = /curl -d '(.+)' http:/.exec(readme) ?? [];
    expect(await post("readme", JSON.parse(body))).toMatchObject(accepted);
  });
});
