import { readFileSync } from "node:fs";
import { userMessage, type AgentState, type Decision, type Question } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { useWorkerd } from "./workerd.ts";

const workerd = useWorkerd("decision-worker");

interface View {
  readonly state: AgentState;
  readonly questions: readonly Question[];
}

const read = async (id: string): Promise<View> =>
  (await (await workerd.dispatchFetch(`http://localhost/sessions/${id}`)).json()) as View;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function postTo(path: string, body: object): Promise<Answer> {
  const response = await workerd.dispatchFetch(`http://localhost/sessions/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const post = (id: string, input: object): Promise<Answer> => postTo(`${id}/inputs`, input);

/** Answers a question, with what a client has that knows neither the agent nor the session. */
const decide = (id: string, question: object, decision: Decision): Promise<Answer> =>
  postTo(`${id}/decisions`, { question, decision, by: "ada" });

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
  it("decides a question of a sub-agent", async () => {
    const question = await ask("sub", helperTask);
    expect(question).toMatchObject({ name: "pay", path: [expect.any(String)] });
    expect(await decide("sub", question, "approve")).toMatchObject(accepted);
    expect(await answerOf("sub")).toContain("paid 2 for ada");
  });

  it.each([
    ["a call of its own", "own", 'pay {"euros":2}'],
    ["a call of a sub-agent", "below", helperTask],
  ])("runs %s with changed arguments, which it checks", async (_, id, task) => {
    const question = await ask(id, task);
    const change = (value: object) => decide(id, question, { approve: value });
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
    expect(await decide(tool, question, { answer: wrong })).toMatchObject(refused("decision.answer: "));
    expect((await read(tool)).questions).toEqual([question]);
    expect(await decide(tool, question, { answer: right })).toMatchObject(accepted);
    expect(await answerOf(tool)).toContain("answered");
  });

  it.each([
    ["a decision of an unknown kind", { decision: "maybe" }, "decision"],
    ["a decision without a question", { question: null }, "question"],
    ["a reviewer without a name", { by: 1 }, "by"],
  ])("refuses %s", async (_, wrong, detail) => {
    const question = await ask(detail, 'pay {"euros":2}');
    const body = { question, decision: "approve", ...wrong };
    expect(await postTo(`${detail}/decisions`, body)).toMatchObject(refused(detail));
  });

  it("ignores a decision that it has received before, and names the reviewer", async () => {
    const question = await ask("rejected", 'pay {"euros":2}');
    expect(await decide("rejected", question, { reject: "" })).toMatchObject(accepted);
    expect(await decide("rejected", question, { reject: "" })).toMatchObject({
      status: 200,
      body: { status: "ignored", reason: "already-decided", decidedBy: "ada" },
    });
  });

  it("knows no question of a session that does not exist", async () => {
    const question = { toolCallId: "call_1_1_0", digest: "" };
    expect(await decide("unknown", question, "approve")).toMatchObject({ status: 404 });
  });
});

describe("the line of the README", () => {
  it("sends a message", async () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, body = ""] = /curl -d '(.+)' http:/.exec(readme) ?? [];
    expect(await post("readme", JSON.parse(body))).toMatchObject(accepted);
  });
});
