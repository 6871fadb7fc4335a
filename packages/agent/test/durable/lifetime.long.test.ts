import { sqliteLog } from "@moora/event-log/sqlite";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { defineAgent, openSession } from "../../src/index.ts";
import { Place } from "@moora/testbed/durable/places";
import { Script } from "@moora/testbed/durable/script";

describe("a script that does not close its session", () => {
  it.each(["answer", "tool"])("ends by itself after its answer: %s", async (manner) => {
    using place = new Place();
    await using script = new Script(manner, place.path);
    expect(await script.ended()).toBe(0);
    expect(script.stdout).toMatch(/Done\.\n$/);
  });

  it("and asks a human whom nothing shows the question says so and ends, in memory", async () => {
    using place = new Place();
    await using script = new Script("memory-question", place.path);
    // What Node exits with when a top-level await is never settled.
    expect(await script.ended()).toBe(13);
    expect(script.stderr).toMatch(/The call of work waits for a human.*onApproval/);
  });

  it("and asks a human says so and waits, in a log: another process may answer", async () => {
    using place = new Place();
    await using script = new Script("question", place.path);
    await script.complained("The call of work waits for a human");
    const log = sqliteLog(place.file("log.db"));
    const agent = defineAgent({ llm: new MockLlmCaller([]) });
    const poster = await openSession(agent, { log, id: "ada", access: "post" });
    const [question] = poster.questions();
    if (question === undefined) throw new Error("Nothing is asked.");
    await poster.decide(question, "approve", "bob");
    expect(await script.ended()).toBe(0);
    expect(script.stdout).toMatch(/Done\.\n$/);
    await poster.close();
    await log.close();
  });

  it("and only posts stays until the answer to its message is there", async () => {
    using place = new Place();
    await using owner = new Script("tool", place.path);
    expect(await owner.ended()).toBe(0);
    await using poster = new Script("post", place.path);
    await poster.said("asked");
    const log = sqliteLog(place.file("log.db"));
    const agent = defineAgent({ llm: new MockLlmCaller([answers("Here.")]) });
    const session = await openSession(agent, { log, id: "ada" });
    expect(await poster.ended()).toBe(0);
    expect(poster.stdout).toMatch(/Here\.\n$/);
    await session.close();
    await log.close();
  });
});
