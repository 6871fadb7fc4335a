import { describe, expect, it } from "vitest";
import { grow } from "../src/testing/index.ts";
import { relaxedStores } from "./stores.ts";

const watching = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "FSEvent" || name === "Timeout").length;

describe.each(relaxedStores)("(V13) watches of a $name log", ({ storageOf }) => {
  it("leave no handle behind, however they end", async () => {
    const storage = storageOf();
    const before = watching();
    const log = await storage.open();
    const sessions = await Promise.all(["a", "b", "c"].map(async (id) => log.create(id, "{}")));
    const stops = sessions.flatMap((session) => [
      session.watch(() => undefined),
      session.watch(() => undefined),
    ]);
    for (const session of sessions) await grow(session, "{}");
    for (const stop of stops.slice(0, 3)) stop();
    for (const stop of stops.slice(0, 3)) stop();
    await log.close();
    for (const stop of stops) stop();
    expect(watching()).toBe(before);
    await storage.dispose();
  });

  it("come and go without end", async () => {
    const storage = storageOf();
    const session = await (await storage.open()).create("a", "{}");
    const before = watching();
    for (let round = 0; round < 200; round += 1) session.watch(() => undefined)();
    expect(watching()).toBe(before);
    await storage.dispose();
  });
});
