import { answers } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { agentOf, Scene } from "./support.ts";

describe("a schedule of a remote session", () => {
  it("is set and removed, and shows in the state", async () => {
    await using scene = new Scene(agentOf(() => answers("Yes.")));
    const { session } = await scene.connect();
    const id = await session.schedule({ at: new Date("2040-01-01T00:00:00Z"), message: "Happy new year." });
    expect(session.current().schedules?.open).toMatchObject([
      { id, due: 2_208_988_800_000, by: session.user },
    ]);
    expect(await session.schedule({ id, at: 2_208_988_800_000, message: "Happy new year." })).toBe(id);
    expect(await session.unschedule(id)).toMatchObject({ status: "accepted" });
    expect(session.current().schedules?.open).toEqual([]);
    await session.verify();
  });

  it("with an invalid time is refused by the server", async () => {
    await using scene = new Scene(agentOf(() => answers("Yes.")));
    const { session } = await scene.connect();
    await expect(session.schedule({ cron: "at nine", message: "Hi" })).rejects.toMatchObject({
      code: "Refused",
    });
    await expect(session.schedule({ at: 1, message: " " })).rejects.toMatchObject({ code: "blank" });
  });
});
