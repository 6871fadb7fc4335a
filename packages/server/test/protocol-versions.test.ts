import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

describe("a client of a version of the protocol", () => {
  it.each(["0", "2", "1.0", "one", "1, 2"])(
    "that is not served is refused, and posts nothing: %s",
    async (version) => {
      await using scene = new Scene(agentOf([answers("Hello.")]));
      const ada = scene.as("ada");
      const id = await ada.create();
      const before = (await ada.get(`/sessions/${id}`)).body.seq;
      const refused = await ada.post(
        `/sessions/${id}/messages`,
        { content: "Hi" },
        { "moora-protocol": version },
      );
      expect(refused.status).toBe(400);
      expect(refused.headers.get("moora-protocol")).toBe("1");
      expect(refused.body).toMatchObject({
        code: "unsupported-protocol",
        detail: `moora-protocol must be 1, the version that this server serves, got "${version}".`,
      });
      expect((await ada.get(`/sessions/${id}`)).body.seq).toBe(before);
    },
  );

  it.each([{}, { "moora-protocol": "1" }])("that is served gets it: %j", async (headers) => {
    await using scene = new Scene(agentOf([answers("Hello.")]));
    const response = await scene.as("ada").get("/sessions", headers);
    expect(response.status).toBe(200);
    expect(response.headers.get("moora-protocol")).toBe("1");
  });
});
