import { answers } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { agentOf, Scene } from "./support.ts";

const talker = () => agentOf(() => answers("Hello there."));

describe("a session", () => {
  it("is created, answers a message, and is read", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const created = await ada.post("/agents/helper/sessions");
    expect(created).toMatchObject({ status: 201, body: { agent: "helper", seq: 1 } });
    expect(created.headers.get("location")).toBe(`/sessions/${created.body.id}`);
    const { id } = created.body;
    await using stream = await ada.events(id);
    expect(await ada.post(`/sessions/${id}/messages`, { content: "Hi" })).toMatchObject({
      status: 200,
      body: { status: "accepted", seq: 2 },
    });
    await stream.until("re-act-observed");
    const { body } = await ada.get(`/sessions/${id}`);
    expect(body.state.messages.map(({ content }: { content: string }) => content)).toEqual([
      "Hi",
      "Hello there.",
    ]);
    expect(body).toMatchObject({ id, agent: "helper", questions: [] });
    expect(scene.errors).toEqual([]);
  });
});
