import { runInNewContext } from "node:vm";
import { BuildError } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { simulate, simulateActions, type Invariant, type SimulateOptions } from "../../src/index.ts";
import { payingAgent } from "../paying-agent.ts";

const runsOnce: Invariant = ({ toolRuns }) =>
  new Set(toolRuns.map(({ toolCallId }) => toolCallId)).size === toolRuns.length || "a call ran twice";

const options: SimulateOptions = { runs: 300, faults: ["crash", "close"], invariants: { runsOnce } };

describe("what reproduces a failure", () => {
  it("prints options that are data and names options that are code", async () => {
    const { failure } = await simulate(payingAgent("safe"), { ...options, length: 30, texts: ['Say "hi".'] });
    expect(failure?.reproduce).toBe(
      `await simulate(agent, { invariants, seed: ${failure?.seed}, runs: 1, length: 30, faults: ["crash", "close"], texts: ['Say "hi".'] })`,
    );
    expect(failure?.test).toBeUndefined();
  });

  it("takes code from the module that exports it, by its names there", async () => {
    const source = { module: "src/agents.ts", agent: "paying", options: "checks" };
    const { failure } = await simulate(payingAgent("safe"), { ...options, source });
    expect(failure?.reproduce).toContain("await simulate(paying, { ...checks, seed: ");
    expect(failure?.test).toContain('import { paying, checks } from "./src/agents.ts";');
    expect(failure?.test).toContain('needs: ["invariants.runsOnce"]');
  });

  it("is the same failure, from the seed and from the actions", async () => {
    const { failure } = await simulate(payingAgent("safe"), options);
    const again = await simulate(payingAgent("safe"), { ...options, seed: failure?.seed ?? 0, runs: 1 });
    expect(again.failure?.shrunk.session).toEqual(failure?.shrunk.session);
    const session = failure?.shrunk.session ?? { actions: [] };
    const replayed = await simulateActions(payingAgent("safe"), session, { invariants: { runsOnce } });
    expect(replayed.failure).toMatchObject({ invariant: "runsOnce" });
    expect(replayed).toMatchObject({ skipped: 0, session });
  });

  it("does not depend on the faults that were allowed, nor on the tools of the agent that is simulated again", async () => {
    const { failure } = await simulate(payingAgent("safe"), options);
    const session = failure?.shrunk.session ?? { actions: [] };
    const fixed = await simulateActions(payingAgent("once"), session, { invariants: { runsOnce } });
    expect(fixed).toMatchObject({ failure: undefined, skipped: 0 });
  });

  it("cannot be written as a test without a module to import from", async () => {
    await expect(simulate(payingAgent("safe"), { writeTo: "found" })).rejects.toThrow(
      new BuildError("writeTo needs source: the module that exports the agent and its options."),
    );
  });

  it("refuses to run without the promise that found it", async () => {
    const needs = ["invariants.runsOnce"];
    await expect(simulateActions(payingAgent("safe"), { actions: [] }, { needs })).rejects.toThrow(
      "The options lack invariants.runsOnce, which found this failure. Pass them.",
    );
  });

  it("is code that gives the very actions, whatever text they hold", async () => {
    const texts = [`x "quotes" and 'quotes'`, 'x\\"', "x\ud800", "x\nb\u2028`\\`"];
    const source = { module: "agents.ts" };
    for (const text of texts) {
      const never: Invariant = ({ state }) => !state.messages.some(({ content }) => content.startsWith("x"));
      const report = await simulate(payingAgent("safe"), {
        runs: 5,
        faults: [],
        texts: [text],
        source,
        invariants: { never },
      });
      const { test = "", shrunk } = report.failure ?? {};
      const literal = /const session: SimulatedSession = (\{[\s\S]*?\n\});/.exec(test)?.[1] ?? "";
      expect(runInNewContext(`(${literal})`)).toEqual(shrunk?.session);
    }
  });
});
