import { describe, expect, it } from "vitest";
import { message, Scene } from "./support.ts";

describe("a session that is paused while its work begins", () => {
  it("continues when it is resumed, whether or not a workflow has looked at it meanwhile", async () => {
    await using scene = await Scene.start();
    const host = await scene.launch();
    const ids = Array.from({ length: 8 }, (_, index) => `paused-${index}`);
    for (const id of ids) {
      await host.post(id, message("begun begun begun"));
      await host.post(id, { type: "session-paused", timestamp: Date.now() });
    }
    for (const id of ids) await host.post(id, { type: "session-resumed", timestamp: Date.now() });
    for (const id of ids) {
      await scene.until(id, (state) => state.reActContext.control.type === "Done");
      expect(scene.runs(id).filter((line) => line.includes("began"))).toHaveLength(3);
    }
  });
});
