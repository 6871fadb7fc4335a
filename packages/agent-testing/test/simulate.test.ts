import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controlName } from "@moora/agent-core-state-machine";
import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { missedPairs, simulate, simulateChoices, simulationVersion, type Invariant } from "../src/index.ts";
import { payingAgent } from "./paying-agent.ts";

/** A promise of an agent that pays: no call of `pay` reaches the bank twice. */
const paysOnce: Invariant = ({ toolRuns }) => {
  const ids = toolRuns.filter(({ name }) => name === "pay").map(({ toolCallId }) => toolCallId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  return twice === undefined || `call ${twice} was paid twice`;
};
const invariants = { paysOnce };

describe("simulated sessions", () => {
  it("of an agent whose tools are honest about being run again break nothing", async () => {
    const report = await simulate(payingAgent("once"), { seed: 1, runs: 60, invariants });
    expect(report.failure, report.print()).toBeUndefined();
    expect(report).toMatchObject({ runs: 60, ok: true, missed: [] });
  });

  it("are the same for the same seed, and others for another one", async () => {
    const one = await simulate(payingAgent("keyed"), { seed: 7, runs: 5 });
    expect((await simulate(payingAgent("keyed"), { seed: 7, runs: 5 })).print()).toBe(one.print());
    expect((await simulate(payingAgent("keyed"), { seed: 8, runs: 5 })).print()).not.toBe(one.print());
  });

  it("tell how often each fault came in each control state", async () => {
    const { coverage } = await simulate(payingAgent("keyed"), { seed: 1, runs: 30 });
    expect(coverage["Planning"]?.["crash"]).toBeGreaterThan(0);
    expect(coverage["Acting"]?.["tool:failure"]).toBeGreaterThan(0);
  });

  it("come with no other faults than those that are asked for", async () => {
    const { coverage } = await simulate(payingAgent("keyed"), {
      seed: 1,
      runs: 30,
      faults: ["crash", "tool", "llm:refusal"],
    });
    const seen = new Set(Object.values(coverage).flatMap((row) => Object.keys(row)));
    const others = [...seen].filter(
      (fault) => !/^(?:crash|tool:.*|llm:(?:plain|calls|refusal|chunk))$/.test(fault),
    );
    expect(others).toEqual([]);
    expect(seen).toContain("crash");
  });

  it("find a promise that is broken, and shrink the way to it to a few happenings", async () => {
    const { failure } = await simulate(payingAgent("safe"), { seed: 1, runs: 500, invariants });
    expect(failure?.failure).toMatchObject({ invariant: "paysOnce" });
    expect(failure?.shrunk.choices.length).toBeLessThan(9);
    const story = failure?.shrunk.once.story.map(({ what }) => what).join("\n");
    expect(story).toMatch(/crash|closes|takes over/);
  });

  it("give a test that fails again, and does not when the fault is mended", async () => {
    const folder = mkdtempSync(join(tmpdir(), "moora-found-"));
    const report = await simulate(payingAgent("safe"), {
      seed: 1,
      runs: 500,
      invariants,
      writeTo: folder,
    });
    const { failure } = report;
    if (failure === undefined) throw new Error("The fault was not found.");
    expect(report.print()).toContain(
      `await simulate(agent, { seed: ${failure.seed}, runs: 1 }) with version ${simulationVersion}`,
    );
    const text = readFileSync(join(folder, `simulated-${failure.seed}.test.ts`), "utf8");
    const choices: number[][] = JSON.parse(/choices = (.*);/.exec(text)?.[1] ?? "[]");
    expect(choices).toEqual(failure.shrunk.choices);
    const again = await simulateChoices(payingAgent("safe"), choices, { invariants });
    expect(again.failure).toMatchObject({ invariant: "paysOnce" });
    const mended = await simulateChoices(payingAgent("once"), choices, { invariants });
    expect(mended.failure).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it("look at promises of the user's own after every step", async () => {
    const seen = new Set<string>();
    const watch: Invariant = ({ state }) => seen.add(controlName(state.reActContext.control)).size > 0;
    await simulate(payingAgent("keyed"), { seed: 1, runs: 20, invariants: { watch } });
    expect(seen).toContain("Acting");
    expect(seen).toContain("Planning");
  });

  it("tell of what could have come and never came, once a state was seen often enough", () => {
    const row = { crash: 1_999, cancel: 1 };
    expect(missedPairs({ Planning: row, Acting: { crash: 2_000 } })).toEqual(["Acting cancel"]);
    expect(missedPairs({ Planning: row, Acting: { crash: 1_000 } })).toEqual([]);
    expect(missedPairs({ Planning: { ...row, "tool:lie": 1 }, Idle: { ...row } })).toEqual([]);
  });

  it("name the version whose seeds they are", () => {
    expect(simulationVersion).toBe(manifest.version);
  });
});
