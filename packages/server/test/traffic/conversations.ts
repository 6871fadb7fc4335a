import { askHuman, defineData, type Agent } from "@moora/agent";
import { answers, callsTools, fails } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "../support.ts";
import type { Recorder } from "./recorder.ts";

/** A conversation of a client: the agent at the other end, and what the client sends. Recorded ones stay as they are. */
interface Conversation {
  readonly agent: () => Agent<unknown>;
  readonly run: (recorder: Recorder) => Promise<void>;
}

export type ConversationName = "session" | "loops" | "chat" | "ag-ui";

const pay = () => toolOf("pay", () => "paid", { approval: "always" });
const paysOnce = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")];
const data = defineData({ schema: { type: "object" }, initial: { list: [] } });

async function create(recorder: Recorder): Promise<string> {
  const { id } = await recorder.exchange("POST", "/agents/helper/sessions", { body: {}, key: "create" });
  return `/sessions/${String(id)}`;
}

/** Posts, approvals, data, cancels and streams. */
const session: Conversation = {
  agent: () => agentOf(paysOnce, { tools: [pay()], data }),
  run: async (recorder) => {
    const path = await create(recorder);
    const post = (kind: string, body: object, key?: string) =>
      recorder.exchange("POST", `${path}/${kind}`, key === undefined ? { body } : { body, key });
    await recorder.exchange("GET", "/sessions?limit=10");
    await post("messages", { content: "Pay" }, "message");
    await post("messages", { content: "Pay" }, "message");
    await post("messages", { content: "Pay twice" }, "message");
    await recorder.stream(`${path}/events`, {}, "re-act-observed");
    const { questions } = await recorder.exchange("GET", path);
    const [{ toolCallId, digest }] = questions as [{ toolCallId: string; digest: string }];
    await post("decisions", { toolCallId, digest, decision: "approve" }, "decision");
    await recorder.stream(`${path}/events?after=2`, { "last-event-id": "3" }, "tool-call-completed");
    await recorder.stream(`${path}/events?after=5`, {}, "re-act-observed");
    await post("data", { patches: [{ op: "add", path: "/list/-", value: 1 }] }, "data");
    await post("data", { patches: [{ op: "remove", path: "/none" }] });
    await post("cancel", { reason: "Enough." });
    await recorder.exchange("GET", path);
    await recorder.exchange("GET", `${path}?at=2`);
    await recorder.exchange("GET", `${path}/events?after=99`);
    await recorder.exchange("GET", `${path}/events?after=x`);
    await post("messages", { text: "Hi" });
    await recorder.exchange("GET", "/sessions/missing");
    await recorder.exchange("DELETE", path);
    await recorder.exchange("GET", path);
  },
};

/** A retry, a pause, a fork and an export. */
const loops: Conversation = {
  agent: () => agentOf([fails("auth", { message: "The key is wrong." }), answers("Hello."), answers("Bye.")]),
  run: async (recorder) => {
    const path = await create(recorder);
    const post = (kind: string, body: object, key?: string) =>
      recorder.exchange("POST", `${path}/${kind}`, key === undefined ? { body } : { body, key });
    await post("retry", {});
    await post("messages", { content: "Hi" }, "message");
    await recorder.stream(`${path}/events`, {}, "llm-call-failed");
    await post("retry", {}, "retry");
    await recorder.stream(`${path}/events`, {}, "re-act-observed");
    await post("retry", {}, "retry");
    await post("pause", { reason: "maintenance" }, "pause");
    await post("pause", {});
    await post("messages", { content: "Goodbye" });
    await recorder.exchange("GET", path);
    await post("resume", {}, "resume");
    await recorder.stream(`${path}/events?after=5`, {}, "re-act-observed");
    await post("resume", {});
    await post("fork", { at: 2 }, "fork");
    await post("fork", { at: 99 });
    await recorder.lines("GET", `${path}/export`);
  },
};

/** Two questions, decided by a page with `useChat`, and the reading of the chat. */
const chat: Conversation = {
  agent: () =>
    agentOf(
      [
        callsTools([{ name: "pay", arguments: { cents: 5 } }], { reasoning: "I pay.", text: "Let me see." }),
        callsTools([{ name: "ask", arguments: { question: "Which?" } }]),
        answers("It is paid."),
      ],
      { tools: [pay(), askHuman({ name: "ask" })] },
    ),
  run: async (recorder) => {
    const api = "/agents/helper/chat";
    const send = (...messages: readonly object[]) =>
      recorder.lines("POST", api, { id: "chat-1", messages, trigger: "submit-message" });
    const assistant = (part: object) => ({ id: "loop_1", role: "assistant", parts: [part] });
    await recorder.exchange("GET", `${api}/chat-1`);
    await recorder.exchange("GET", `${api}/chat-1/stream`);
    const asked = await send({ id: "m1", role: "user", parts: [{ type: "text", text: "Pay" }] });
    const { approvalId } = asked.find((line) => "approvalId" in line) as { approvalId: string };
    await recorder.exchange("GET", `${api}/chat-1`);
    const call = { type: "dynamic-tool", toolName: "pay", toolCallId: "call_1", input: { cents: 5 } };
    const approval = { id: approvalId, approved: true, reason: "It is cheap." };
    await send(assistant({ ...call, state: "approval-responded", approval }));
    const question = { type: "dynamic-tool", toolName: "ask", toolCallId: "call_2" };
    await send(assistant({ ...question, state: "output-available", input: {}, output: "red" }));
    await recorder.exchange("GET", `${api}/chat-1`);
    await recorder.exchange("GET", `${api}/chat-1/stream`);
    await recorder.exchange("POST", api, { body: { id: "chat-1", messages: [] } });
  },
};

/** A run with an interrupt and a changed state, its continuation, and a refused run. */
const agUi: Conversation = {
  agent: () => agentOf([...paysOnce, answers("Welcome.")], { tools: [pay()], data }),
  run: async (recorder) => {
    const run = (runId: string, input: object) =>
      recorder.lines("POST", "/agents/helper/ag-ui", {
        threadId: "thread-1",
        runId,
        messages: [],
        tools: [],
        context: [],
        ...input,
      });
    const user = (id: string, content: string) => [{ id, role: "user", content }];
    const asked = await run("run-1", { messages: user("m1", "Pay") });
    const { outcome } = Object(asked.at(-1)) as { outcome: { interrupts: [{ id: string }] } };
    const [{ id: interruptId }] = outcome.interrupts;
    const payload = { approved: true, editedArgs: { cents: 4 } };
    await run("run-2", { resume: [{ interruptId, status: "resolved", payload }] });
    const state = { list: [1] };
    const forwardedProps = { "moora.base-state": { list: [] } };
    await run("run-3", { messages: user("m2", "Thanks"), state, forwardedProps });
    await run("run-4", { messages: user("m3", "Hi"), state: { list: [2] }, forwardedProps });
    await recorder.exchange("POST", "/agents/helper/ag-ui", { body: { threadId: "thread-1" } });
  },
};

export const conversations: Readonly<Record<ConversationName, Conversation>> = {
  session,
  loops,
  chat,
  "ag-ui": agUi,
};

/** The server of a conversation. */
export const trafficScene = (name: ConversationName): Scene =>
  new Scene(conversations[name].agent(), { clock: new TestClock(), owner: "server" });
