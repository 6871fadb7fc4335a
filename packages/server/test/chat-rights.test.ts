import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import type { Grant } from "../src/index.ts";
import { byName, Scene, type Answer, type Client } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

type Face = "chat" | "ag-ui";

const rights = ["create", "read", "post", "decide"] as const;

/** All sets of the rights that a chat needs. */
const sets = Array.from({ length: 2 ** rights.length }, (_, bits) =>
  rights.filter((_right, index) => (bits & (1 << index)) > 0),
);

/** The first of the needed rights that is missing, as the answer to a request names it. */
const forbiddenBy = (
  given: readonly string[],
  needed: readonly (keyof typeof details)[],
): string | undefined => {
  const missing = needed.find((right) => !given.includes(right));
  return missing && details[missing];
};

const details = {
  create: "You may not create this chat.",
  read: "You may not read this chat.",
  post: "You may not post to this chat.",
  decide: "You may not decide.",
};

/** A server on which ada may do everything as long as `given` is undefined, and rita what `foreign` has with the sessions of others. */
class RightsScene extends Scene {
  readonly paid: unknown[];
  given: readonly string[] | undefined;

  constructor(foreign: readonly string[] = []) {
    const paid: unknown[] = [];
    const pay = toolOf("pay", (input) => (paid.push(input), "paid"), { approval: "always" });
    const authorize = (request: Request): Grant | undefined => {
      const grant = byName(request);
      const may = (action: string): boolean => this.given?.includes(action) ?? true;
      if (grant?.user === "ada") return { ...grant, may: async (action) => may(action) };
      return grant && { ...grant, mayForeign: (action) => foreign.includes(action) };
    };
    const script = [callsTools([{ name: "pay" }]), answers("Paid."), answers("Yes.")];
    super(agentOf(script, { tools: [pay] }), { authorize });
    this.paid = paid;
  }
}

/** The reason why a request is refused; undefined if it is not. */
async function refusal(client: Client, path: string, body?: object): Promise<string | undefined> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await client.send(path, body === undefined ? {} : init);
  const text = await response.text();
  if (response.ok) return undefined;
  expect([response.status, JSON.parse(text)]).toMatchObject([403, { code: "forbidden" }]);
  return (JSON.parse(text) as { detail: string }).detail;
}

let count = 0;

/** Sends a message of the user. */
async function send(client: Client, face: Face, id: string): Promise<string | undefined> {
  count += 1;
  const message = { id: `message_${count}`, role: "user" };
  const body =
    face === "chat"
      ? { id, messages: [{ ...message, parts: [{ type: "text", text: "Pay" }] }] }
      : { threadId: id, runId: `run_${count}`, messages: [{ ...message, content: "Pay" }] };
  return await refusal(client, `/agents/helper/${face}`, body);
}

/** Approves the open question of a message, as the chat shows it. */
async function approve(client: Client, face: Face, id: string, message: Answer["body"]) {
  const asking = message.parts.at(-1);
  const approval = { ...asking.approval, approved: true };
  const parts = [...message.parts.slice(0, -1), { ...asking, state: "approval-responded", approval }];
  const resume = [{ interruptId: approval.id, status: "resolved", payload: { approved: true } }];
  const body =
    face === "chat"
      ? { id, messages: [{ ...message, parts }] }
      : { threadId: id, runId: "run_0", messages: [], resume };
  return await refusal(client, `/agents/helper/${face}`, body);
}

describe("a user of chats", () => {
  it.each((["chat", "ag-ui"] as const).flatMap((face) => sets.map((given) => ({ face, given }))))(
    "may do with $face what these rights allow: $given",
    async ({ face, given }) => {
      await using scene = new RightsScene();
      const ada = scene.as("ada");
      scene.given = given;
      const created = await send(ada, face, "chat-1");
      expect(created).toBe(forbiddenBy(given, ["create", "read", "post"]));
      expect(await scene.log.list()).toHaveLength(created === undefined ? 1 : 0);
      scene.given = undefined;
      await send(ada, face, "chat-2");
      scene.given = given;
      const path = "/agents/helper/chat/chat-2";
      expect(await refusal(ada, path)).toBe(forbiddenBy(given, ["read"]));
      expect(await refusal(ada, `${path}/stream`)).toBe(forbiddenBy(given, ["read"]));
      expect(await send(ada, face, "chat-2")).toBe(forbiddenBy(given, ["read", "post"]));
    },
  );

  it.each((["chat", "ag-ui"] as const).flatMap((face) => sets.map((given) => ({ face, given }))))(
    "may approve a call in $face with `read` and `decide`: $given",
    async ({ face, given }) => {
      await using scene = new RightsScene();
      const ada = scene.as("ada");
      await send(ada, face, "chat-1");
      const { messages } = (await ada.get("/agents/helper/chat/chat-1")).body;
      scene.given = given;
      const refused = forbiddenBy(given, ["read", "decide"]);
      expect(await approve(ada, face, "chat-1", messages.at(-1))).toBe(refused);
      expect(scene.paid).toHaveLength(refused === undefined ? 1 : 0);
    },
  );

  it("has a chat of its own where another user has a session with its id, unless it has the rights", async () => {
    await using scene = new RightsScene(["read"]);
    const [ada, rita] = [scene.as("ada"), scene.as("rita")];
    const id = await ada.create();
    await send(ada, "chat", id);
    const read = async (client: Client) => (await client.get(`/agents/helper/chat/${id}`)).body;
    expect((await read(rita)).session).toBe(id);
    expect(await send(rita, "chat", id)).toBeUndefined();
    expect((await read(rita)).session).not.toBe(id);
    expect((await read(ada)).messages).toHaveLength(2);
  });

  it("is refused a message to an own session that it may only read", async () => {
    await using scene = new RightsScene();
    const ada = scene.as("ada");
    const id = await ada.create();
    scene.given = ["create", "read"];
    expect(await send(ada, "chat", id)).toBe(details.post);
    expect(await scene.log.list()).toHaveLength(1);
  });
});
