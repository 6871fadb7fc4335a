import { describe, expect, it } from "vitest";
import { Place } from "./world/places.ts";
import { Script } from "./world/script.ts";

describe("a script that does not close its session", () => {
  it.each(["answer", "tool"])("ends by itself after its answer: %s", async (manner) => {
    using place = new Place();
    await using script = new Script(manner, place.path);
    expect(await script.ended()).toBe(0);
    expect(script.stdout).toMatch(/Done\.\n$/);
  });

  it.each(["question", "memory-question"])(
    "does not hang without a word where a human is asked whom nothing shows the question: %s",
    async (manner) => {
      using place = new Place();
      await using script = new Script(manner, place.path);
      // What Node exits with when a top-level await is never settled.
      expect(await script.ended()).toBe(13);
      expect(script.stderr).toMatch(/The call of work waits for a human.*onApproval/);
    },
  );
});
