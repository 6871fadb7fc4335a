import { defineData } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene, type Client } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

/** An agent with data that calls a tool for each message. */
const helper = () =>
  agentOf(
    ({ messages }) => (messages.at(-1)?.role === "user" ? callsTools([{ name: "pay" }]) : answers("Done.")),
    {
      tools: [toolOf("pay", () => "paid", { approval: "always" })],
      data: defineData({ schema: { type: "object" }, initial: { list: [] } }),
    },
  );

const key = { "idempotency-key": "k" };
const bodies: Readonly<Record<string, object>> = {
  messages: { content: "Pay" },
  data: { patches: [{ op: "add", path: "/list/-", value: 1 }] },
  pause: { reason: "Wait." },
  resume: {},
};

const post = (client: Client, id: string, kind: string) =>
  client.post(`/sessions/${id}/${kind}`, bodies[kind] ?? {}, key);

const viewOf = async (client: Client, id: string) => (await client.get(`/sessions/${id}`)).body;

/** Approves the first open question. */
async function decide(client: Client, id: string) {
  const [{ toolCallId, digest }] = (await viewOf(client, id)).questions;
  return await client.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" }, key);
}

const saidIn = ({ messages }: { readonly messages: readonly { readonly role: string }[] }): number =>
  messages.filter(({ role }) => role === "user").length;

/** A session with a post of each kind, all with the same key. */
async function posted(scene: Scene): Promise<{ readonly id: string; readonly seq: number }> {
  const ada = scene.as("ada");
  const id = await ada.create();
  await using stream = await ada.events(id);
  await post(ada, id, "messages");
  await stream.until("re-act-observed");
  await decide(ada, id);
  await stream.until("re-act-observed");
  for (const kind of ["data", "pause", "resume"]) await post(ada, id, kind);
  return { id, seq: (await viewOf(ada, id)).seq };
}

/** Checks that posts to a fork are applied once each, whatever its records contain. */
async function checkPosts(client: Client, fork: string, last: number): Promise<void> {
  const before = (await viewOf(client, fork)).state;
  const kinds = before.paused ? ["resume", "pause"] : ["pause", "resume"];
  for (const kind of ["messages", "data", ...kinds]) {
    const { body } = await post(client, fork, kind);
    expect(body, kind).toMatchObject({ status: "accepted" });
    expect(body.seq, kind).toBeGreaterThan(last);
    expect((await post(client, fork, kind)).body, kind).toEqual(body);
  }
  const after = (await viewOf(client, fork)).state;
  expect(saidIn(after)).toBe(saidIn(before) + 1);
  expect(after.data.list).toHaveLength(before.data.list.length + 1);
}

describe("a post to a fork with the key of a post to its original", () => {
  it("is applied once, at every record, also in a fork of a fork", async () => {
    await using scene = new Scene(helper());
    const ada = scene.as("ada");
    const { id, seq } = await posted(scene);
    for (let at = 0; at <= seq; at += 1) {
      const { body: fork } = await ada.post(`/sessions/${id}/fork`, { at });
      await checkPosts(ada, fork.id, fork.seq);
      const { body: next } = await ada.post(`/sessions/${fork.id}/fork`, {});
      const messages = await Promise.all(
        [fork, next].map(async (each) => (await viewOf(ada, each.id)).state),
      );
      expect(saidIn(messages[1])).toBe(saidIn(messages[0]));
      await checkPosts(ada, next.id, next.seq);
    }
    expect(scene.errors).toEqual([]);
  });

  it("may have another content", async () => {
    await using scene = new Scene(helper());
    const ada = scene.as("ada");
    const { id } = await posted(scene);
    const { body: fork } = await ada.post(`/sessions/${id}/fork`, {});
    const { status, body } = await ada.post(`/sessions/${fork.id}/messages`, { content: "Other" }, key);
    expect([status, body.status]).toEqual([200, "accepted"]);
  });

  it("decides a question of the fork", async () => {
    await using scene = new Scene(helper());
    const ada = scene.as("ada");
    const { id } = await posted(scene);
    const { body: fork } = await ada.post(`/sessions/${id}/fork`, {});
    await using stream = await ada.events(fork.id, fork.seq);
    await post(ada, fork.id, "messages");
    await stream.until("re-act-observed");
    const { body } = await decide(ada, fork.id);
    expect(body).toMatchObject({ status: "accepted" });
    expect(body.seq).toBeGreaterThan(fork.seq);
  });
});
