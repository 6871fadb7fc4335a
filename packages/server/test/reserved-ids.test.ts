import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

const reserved = ["loop_1", "msg_1_1", "reasoning_1_1", "reasoning_1_1_1", "calls_call_1", "result_call_1"];

/** The body of a request with a message of this id. */
const bodies = {
  chat: (id: string) => ({
    id: "chat-1",
    messages: [{ id, role: "user", parts: [{ type: "text", text: "Hi" }] }],
  }),
  "ag-ui": (id: string) => ({
    threadId: "chat-1",
    runId: "run-1",
    messages: [{ id, role: "user", content: "Hi" }],
  }),
};

describe.each(["chat", "ag-ui"] as const)("a message to %s", (path) => {
  it.each(reserved)("is refused with the id %s, which the server gives itself", async (id) => {
    await using scene = new Scene(agentOf([answers("Hello.")]));
    const { status, body } = await scene.as("ada").post(`/agents/helper/${path}`, bodies[path](id));
    expect([status, body.code]).toEqual([422, "refused"]);
    expect(body.detail).toBe("The message was ignored: reserved-id.");
  });

  it.each(["loop", "my_loop_1", "reasoning_of_mine", "results"])("is answered with the id %s", async (id) => {
    await using scene = new Scene(agentOf([answers("Hello.")]));
    const init = { method: "POST", body: JSON.stringify(bodies[path](id)) };
    const headers = { "content-type": "application/json" };
    const response = await scene.as("ada").send(`/agents/helper/${path}`, { ...init, headers });
    expect(await response.text()).toContain("Hello.");
  });
});
