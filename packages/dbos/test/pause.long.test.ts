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

  it.each(["llm-call-started", "tool-call-started"] as const)(
    "continues when it is resumed, although the pause came before an intent of the type %s",
    async (intent) => {
      await using scene = await Scene.start();
      const host = await scene.launch({ intendsLate: intent });
      const other = await scene.launch({ executor: "two" });
      await host.post("ada", message("begun begun begun"));
      await host.prints(/^intended ada$/m);
      await other.post("ada", { type: "session-paused", timestamp: Date.now() });
      await host.prints(/^debug input-ignored ada$/m);
      await host.post("ada", { type: "session-resumed", timestamp: Date.now() });
      await scene.until("ada", (state) => state.reActContext.control.type === "Done");
      expect(scene.runs("ada").filter((line) => line.includes("began"))).toHaveLength(3);
    },
  );
});
