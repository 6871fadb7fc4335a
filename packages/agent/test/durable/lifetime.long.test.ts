import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession } from "../../src/index.ts";
import { Place } from "@moora/testbed/durable/places";
import { script } from "@moora/testbed/durable/child";

describe("a script that does not close its session", () => {
  it.each(["answer", "tool"])("ends by itself after its answer: %s", async (manner) => {
    using place = new Place();
    await using child = script(manner, place.path);
    expect(await child.ended()).toBe(0);
    expect(child.output).toMatch(/Done\.\n$/);
  });

  it("and asks a human whom nothing shows the question says so and ends, in memory", async () => {
    using place = new Place();
    await using child = script("memory-question", place.path);
    // What Node exits with when a top-level await is never settled.
    expect(await child.ended()).toBe(13);
    expect(child.errors).toMatch(/The call of work waits for a human.*onApproval/);
  });

  it("and asks a human says so and waits, in a log: another process may answer", async () => {
    using place = new Place();
    await using child = script("question", place.path);
    await child.complained(/The call of work waits for a human/);
    await using log = sqliteLog(place.file("log.db"));
    const agent = defineAgent({ llm: new MockLlmCaller([]) });
    await using poster = await openSession(agent, { log, id: "ada", access: "post" });
    const [question] = poster.questions();
    if (question === undefined) throw new Error("Nothing is asked.");
    await poster.decide(question, "approve", "bob");
    expect(await child.ended()).toBe(0);
    expect(child.output).toMatch(/Done\.\n$/);
  });

  it("and only posts stays until the answer to its message is there", async () => {
    using place = new Place();
    await using owner = script("tool", place.path);
    expect(await owner.ended()).toBe(0);
    await using poster = script("post", place.path);
    await poster.printed(/asked/);
    await using log = sqliteLog(place.file("log.db"));
    const agent = defineAgent({ llm: new MockLlmCaller([answers("Here.")]) });
    const session = await openSession(agent, { log, id: "ada" });
    expect(await poster.ended()).toBe(0);
    expect(poster.output).toMatch(/Here\.\n$/);
    await session.close();
  });
});
