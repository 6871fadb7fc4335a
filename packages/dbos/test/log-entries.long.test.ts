import { describe, expect, it } from "vitest";
import { message, Scene } from "./support.ts";

describe("onLog of a host on DBOS", () => {
  it("receives the entries of the work in its process", async () => {
    await using scene = await Scene.start();
    const host = await scene.launch();
    expect(await host.post("ada", message("begun begun begun"))).toBe(true);
    expect(await host.post("ada", message("begun begun begun"))).toBe(false);
    expect(host.output).toMatch(/^debug input-ignored ada$/m);
  });
});
