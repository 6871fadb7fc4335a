import type { HttpAgent } from "@ag-ui/client";
import { agentTool } from "@moora/agent";
import type { LlmMessage } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import { pay } from "./chat-scene.ts";
import { byName, type SceneOptions } from "@moora/testbed/server/scene";

const textOf = ({ content }: Extract<LlmMessage, { readonly role: "user" }>): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** Pays at the first message, and then answers with the texts of the user that it has read since. */
const script = () =>
  new MockLlmCaller(({ messages }) => {
    const texts = messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : []));
    if (texts.length === 1 && messages.at(-1)?.role === "user") return callsTools([{ name: "pay" }]);
    return answers(`Read: ${texts.slice(1).join(", ")}.`);
  });

/** A thread with one interrupt, and what its tool has paid. */
async function asked(agent?: ReturnType<typeof agentOf>, options: SceneOptions = {}) {
  const paid: unknown[] = [];
  const scene = new AgUiScene(agent ?? agentOf(script(), { tools: [pay(paid)] }), options);
  const client = scene.client();
  await say(client, "Pay", "user_1");
  const id = scene.interrupts[0]?.id ?? "";
  return { scene, client, id, paid, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

type Answer = { readonly status: "cancelled" } | { readonly status: "resolved"; readonly payload: object };

const approved: Answer = { status: "resolved", payload: { approved: true } };
const rejected: Answer = { status: "resolved", payload: { approved: false } };

/** Sends a message together with the answer to an interrupt. */
async function resume(client: HttpAgent, interruptId: string, answer: Answer, content?: string) {
  const id = `user_${content}`;
  if (content !== undefined) client.addMessage({ id, role: "user", content });
  await client.runAgent({ resume: [{ interruptId, ...answer }] }).catch(() => undefined);
}

/** The messages of the log. */
async function logged(scene: AgUiScene): Promise<readonly string[]> {
  const [id = ""] = await scene.sessionIds();
  const { messages } = await scene.stateOf(id);
  return messages.flatMap(({ content }) => (content === "" ? [] : [content]));
}

const shown = ({ messages }: HttpAgent): readonly unknown[] =>
  messages.flatMap(({ role, content }) => (role === "tool" || content === undefined ? [] : [content]));

describe("a message that is sent together with the answer to an interrupt", () => {
  it.each<[string, Answer]>([
    ["an approval", approved],
    ["a rejection", rejected],
    ["a cancellation", { status: "cancelled" }],
  ])("is recorded, and read together with the answer: %s", async (_, answer) => {
    await using thread = await asked();
    const { scene, client, id } = thread;
    await resume(client, id, answer, "Thanks");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(thread.paid).toHaveLength(answer === approved ? 1 : 0);
    expect(shown(client).filter(Boolean)).toEqual(["Pay", "Thanks", "Read: Thanks."]);
    expect(client.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    await say(client, "More", "user_3");
    expect(shown(client).at(-1)).toBe("Read: Thanks, More.");
    expect(await logged(scene)).toEqual(["Pay", "Thanks", "Read: Thanks.", "More", "Read: Thanks, More."]);
    expect(scene.failures).toEqual([]);
  });

  it("is answered if the interrupt has the same answer already", async () => {
    await using thread = await asked();
    const { scene, client, id } = thread;
    const other = scene.client();
    other.setMessages([...client.messages]);
    await resume(client, id, approved);
    await resume(other, id, approved, "Hello");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(shown(other).at(-1)).toBe("Read: Hello.");
    expect(await logged(scene)).toEqual(["Pay", "Read: .", "Hello", "Read: Hello."]);
  });

  it("is read together with the answer to a question of a sub-agent", async () => {
    const cashier = agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], {
      name: "cashier",
      tools: [pay()],
    });
    const call = callsTools([{ name: "cashier", arguments: { task: "Pay" } }]);
    const tools = [agentTool(cashier, { name: "cashier", description: "Pays." })];
    await using thread = await asked(agentOf([call, answers("Both.")], { tools }));
    const { scene, client, id } = thread;
    await resume(client, id, approved, "Thanks");
    expect(scene.outcome).toEqual({ type: "success" });
    expect(await logged(scene)).toEqual(["Pay", "Thanks", "Both."]);
  });

  it("is refused with its answer if its id is that of another message, and the interrupt stays open", async () => {
    await using thread = await asked();
    const { scene, id, paid } = thread;
    const post = async (message: object): Promise<number> => {
      const body = {
        threadId: "thread-1",
        runId: "run-1",
        messages: [message],
        resume: [{ interruptId: id, ...approved }],
      };
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      };
      const response = await scene.scene.as("ada").send("/agents/helper/ag-ui", init);
      await response.text();
      return response.status;
    };
    expect(await post({ id: "user_1", role: "user", content: "Do not pay" })).toBe(422);
    expect(await post({ id: "loop_1", role: "user", content: "Hello" })).toBe(422);
    expect(paid).toEqual([]);
    expect(await post({ id: "user_1", role: "user", content: "Pay" })).toBe(200);
    expect(paid).toHaveLength(1);
    expect(await logged(scene)).toEqual(["Pay", "Read: ."]);
  });

  it("is refused with its answer for a user who may decide, but not post", async () => {
    const mayForeign = (action: string): boolean => action === "read" || action === "decide";
    const authorize: SceneOptions["authorize"] = (request) => {
      const grant = byName(request);
      return grant && { ...grant, mayForeign };
    };
    await using thread = await asked(undefined, { authorize });
    const { scene, client, id, paid } = thread;
    const [session = ""] = await scene.sessionIds();
    const reviewer = scene.client(session, "rita");
    reviewer.setMessages([...client.messages]);
    await resume(reviewer, id, approved, "Thanks");
    expect(scene.failures.at(-1)).toContain("You may not post to this chat.");
    expect(paid).toEqual([]);
    reviewer.setMessages([...client.messages]);
    await resume(reviewer, id, approved);
    expect(paid).toHaveLength(1);
  });
});
