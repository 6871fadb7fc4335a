import { memoryLlmCache } from "@moora/llm";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { AgentBuilder } from "../../src/builder/agent-builder.ts";

const builder = new AgentBuilder("What is the capital of Norway?");

describe("the callers of a builder", () => {
  it("are tried after the model, in any order of the methods", async () => {
    const failing = () => new MockLlmCaller([fails("auth")]);
    const second = () => new MockLlmCaller([answers("It is Oslo.")]);
    expect(await builder.llm(failing()).fallback(second()).build().run()).toBe("It is Oslo.");
    expect(await builder.fallback(second()).llm(failing()).build().run()).toBe("It is Oslo.");
  });

  it("share a cache between runs", async () => {
    const llm = new MockLlmCaller([answers("It is Oslo.")]);
    const cached = builder.llm(llm).cached({ cache: memoryLlmCache() });
    expect(await cached.build().run()).toBe("It is Oslo.");
    expect(await cached.build().run()).toBe("It is Oslo.");
    expect(llm.callCount).toBe(1);
  });

  it("start within the limits of the model", async () => {
    const clock = new TestClock();
    const llm = new MockLlmCaller(() => answers("It is Oslo."));
    const engine = builder.llm(llm).rateLimited({ requestsPerMinute: 1, clock }).build();
    expect(await engine.run()).toBe("It is Oslo.");
    expect(clock.waiting).toBe(0);
  });
});
