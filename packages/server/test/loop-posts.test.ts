import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, fails } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

const failing = () => agentOf([fails("auth"), answers("It works again.")]);

describe("a post that steers the loop", () => {
  it("retries a failed loop once for each key, also after a restart of the server", async () => {
    const storage = new MemoryStorage();
    const key = { "idempotency-key": "again" };
    let id = "";
    let first: unknown;
    {
      await using scene = new Scene(failing(), { log: memoryLog(storage) });
      const ada = scene.as("ada");
      id = await ada.create();
      expect((await ada.post(`/sessions/${id}/retry`)).body).toEqual({
        status: "ignored",
        reason: "not-failed",
      });
      await using stream = await ada.events(id);
      await ada.post(`/sessions/${id}/messages`, { content: "Work" });
      await stream.until("llm-call-failed");
      const { body } = await ada.post(`/sessions/${id}/retry`, {}, key);
      first = body;
      expect(first).toMatchObject({ status: "accepted" });
      await stream.until("re-act-observed");
    }
    await using scene = new Scene(failing(), { log: memoryLog(storage) });
    const ada = scene.as("ada");
    expect((await ada.post(`/sessions/${id}/retry`, {}, key)).body).toEqual(first);
    const { state } = (await ada.get(`/sessions/${id}`)).body;
    expect(state.reActContext.control).toEqual({ type: "Done", answer: "It works again." });
  });

  it("pauses a session, and resumes it", async () => {
    await using scene = new Scene(agentOf([answers("Hello.")]));
    const ada = scene.as("ada");
    const id = await ada.create();
    await using stream = await ada.events(id);
    const post = async (route: string, body = {}) => (await ada.post(`/sessions/${id}/${route}`, body)).body;
    expect(await post("pause", { reason: "maintenance" })).toMatchObject({ status: "accepted" });
    expect(await post("pause")).toEqual({ status: "ignored", reason: "already-paused" });
    await post("messages", { content: "Hi" });
    const paused = (await ada.get(`/sessions/${id}`)).body.state;
    expect(paused.paused.reason).toBe("maintenance");
    expect(paused.reActContext.control).toMatchObject({ type: "Planning", started: false });
    expect(await post("resume")).toMatchObject({ status: "accepted" });
    expect((await stream.until("re-act-observed")).input.type).toBe("re-act-observed");
    expect(await post("resume")).toEqual({ status: "ignored", reason: "not-paused" });
  });
});
