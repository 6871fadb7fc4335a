import { controlEdges, controlName } from "@moora/agent-core-state-machine";
import { defineAgent, defineTool } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { missedPairs } from "@moora/testbed/missed-pairs";
import * as z from "zod";
import manifest from "../../package.json" with { type: "json" };
import {
  faultNames,
  identityOf,
  kitVersion,
  simulate,
  type Invariant,
  type SimulateOptions,
} from "../../src/index.ts";
import { payingAgent } from "../paying-agent.ts";
import { shopAgent } from "../shop-agent.ts";

/** A promise of an agent that pays: no call of `pay` reaches the bank twice. */
const paysOnce: Invariant = ({ toolRuns }) => {
  const ids = toolRuns.filter(({ name }) => name === "pay").map(({ toolCallId }) => toolCallId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  return twice === undefined || `call ${twice} was paid twice`;
};
const invariants = { paysOnce };

const searching = {
  ...shopAgent,
  config: { ...shopAgent.config, toolSearch: { always: ["search"], maxFound: 2 } },
};

describe("simulated sessions", () => {
  it.each([
    { name: "of an agent that pays", agent: payingAgent("once") },
    { name: "of an agent with tools of every kind", agent: shopAgent },
    { name: "of one that searches for them", agent: searching },
  ])("with every fault, $name, break no law and no invariant", async ({ agent }) => {
    const report = await simulate(agent, { seed: 1, runs: 150, invariants });
    expect(report.failure, report.toText()).toBeUndefined();
  });

  it("are the same for the same seed, and others for another one", async () => {
    const options: SimulateOptions = { runs: 5, faults: ["crash", "tool:failure", "llm:refusal"] };
    const one = await simulate(payingAgent("keyed"), { ...options, seed: 7 });
    expect((await simulate(payingAgent("keyed"), { ...options, seed: 7 })).toText()).toBe(one.toText());
    expect((await simulate(payingAgent("keyed"), { ...options, seed: 8 })).toText()).not.toBe(one.toText());
  });

  it("come with no other faults than those that are asked for", async () => {
    const { coverage } = await simulate(payingAgent("keyed"), {
      runs: 30,
      faults: ["crash", "tool:failure", "llm:refusal"],
    });
    const seen = new Set(Object.values(coverage).flatMap((row) => Object.keys(row)));
    const usual = ["llm:plain", "llm:calls", "llm:chunk", "tool:success"];
    const asked = ["crash", "crash:appended", "tool:failure", "llm:refusal"];
    expect([...seen].toSorted()).toEqual([...asked, ...usual].toSorted());
  });

  it.each(faultNames)("come with %s alone where it alone is asked for", async (fault) => {
    const { coverage } = await simulate(shopAgent, { runs: 2, faults: [fault] });
    const usual = ["llm:plain", "llm:calls", "llm:chunk", "tool:success"];
    // A family has the name of its own fault, too.
    const asked = faultNames.filter((name) => name === fault || name.startsWith(`${fault}:`));
    const others = Object.values(coverage)
      .flatMap((row) => Object.keys(row))
      .filter((name) => ![...usual, ...asked].includes(name));
    expect(others).toEqual([]);
  });

  it("count an approval of everything from the beginning", async () => {
    const report = await simulate(payingAgent("keyed"), { runs: 20, faults: ["blanket-approval"] });
    expect(report.neverCame).toEqual([]);
  });

  it("accept every name that a report counts", async () => {
    const { coverage } = await simulate(shopAgent, { runs: 20 });
    const names = [...new Set(Object.values(coverage).flatMap((row) => Object.keys(row)))];
    expect(names).toEqual(expect.arrayContaining(["llm:chunk", "tool:success", "crash"]));
    const report = await simulate(shopAgent, { runs: 1, faults: names });
    expect(report.ok).toBe(true);
  });

  it("ask the probe of a tool that is executed, and find one that reports what is not so", async () => {
    const liar = defineTool({
      name: "pay",
      description: "Pays.",
      replay: "once",
      input: z.object({}),
      probe: () => "not-run",
      execute: () => "paid",
    });
    const agent = defineAgent({ name: "liar", llm: new MockLlmCaller([]), tools: [liar] });
    const report = await simulate(agent, { runs: 60, execute: true, faults: ["crash"], invariants });
    expect(String(report.failure?.failure)).toContain("was paid twice");
  });

  it("refuse an unknown fault, and name the known ones", async () => {
    await expect(simulate(payingAgent("keyed"), { faults: ["crsh"] })).rejects.toThrow(
      'faults: "crsh" is not a fault. Known: llm, tool, release, write, lease, crash,',
    );
  });

  it("look at promises of the user's own after every action", async () => {
    const seen = new Set<string>();
    const watch: Invariant = ({ state }) => seen.add(controlName(state.reActContext.control)).size > 0;
    await simulate(payingAgent("keyed"), { runs: 20, faults: ["crash"], invariants: { watch } });
    expect(seen).toContain("Acting");
    expect(seen).toContain("Planning");
  });
});

describe("a report", () => {
  it("is ok when nothing was broken, for one session as for many, and names the faults that never came", async () => {
    const one = await simulate(payingAgent("keyed"), { runs: 1, length: 3, faults: ["crash", "tool"] });
    expect(one.ok).toBe(true);
    expect(one.neverCame).toContain("tool:lie");
    expect(one.toText()).toContain(`never came: ${one.neverCame.join(", ")}`);
    const many = await simulate(payingAgent("keyed"), { runs: 30, faults: ["crash", "tool:failure"] });
    expect(many).toMatchObject({ ok: true, neverCame: [] });
  });

  it("names a fault that this agent can never meet as one that never came", async () => {
    const report = await simulate(payingAgent("keyed"), { runs: 20, faults: ["forged-decision", "crash"] });
    expect(report).toMatchObject({ ok: true, neverCame: ["forged-decision"] });
  });

  it("counts how often each fault came in each control state", async () => {
    const { coverage } = await simulate(payingAgent("keyed"), {
      runs: 30,
      faults: ["crash", "tool:failure"],
    });
    expect(coverage["Planning"]?.["crash"]).toBeGreaterThan(0);
    expect(coverage["Acting"]?.["tool:failure"]).toBeGreaterThan(0);
  });

  it("counts how often each edge of the control graph was walked, and lists the others", async () => {
    const report = await simulate(payingAgent("keyed"), { runs: 30, faults: ["crash", "tool:failure"] });
    expect(report.edges["Planning --LlmToolCall--> Acting"]).toBeGreaterThan(0);
    expect(report.edges["Acting --ToolFailure--> Observing"]).toBeGreaterThan(0);
    expect(report.unwalked).toContain("Planning --HumanApprovalRequired--> WaitingForHuman");
    expect(report.unwalked).not.toContain("Idle --Start--> Planning");
    expect([...report.unwalked, ...Object.keys(report.edges)]).toHaveLength(controlEdges().length);
    expect(report.toText()).toMatch(/\n\d+ of 39 edges of the control graph were walked\n/);
  });

  it("says whose rules the requests were held to", async () => {
    const report = await simulate(payingAgent("keyed"), { runs: 1, faults: [] });
    expect(report.dialects).toEqual([
      "OpenAI Responses",
      "OpenAI Chat Completions",
      "Mistral Chat Completions",
      "Anthropic Messages",
    ]);
    expect(report.toText()).toContain("Anthropic Messages");
  });

  it("identifies the agent by name, version, and a digest of its config and tools", async () => {
    const { identity } = await simulate(payingAgent("keyed"), { runs: 1 });
    expect(identity).toMatch(
      /^agent "paying" version 0, config and tools \S{12}; @moora\/agent-testing 0\.1\.0$/,
    );
    expect(identityOf(payingAgent("keyed"))).toBe(identity);
    expect(identityOf(payingAgent("once"))).not.toBe(identity);
    expect(kitVersion).toBe(manifest.version);
  });
});

describe("a promise that is broken", () => {
  const options: SimulateOptions = { runs: 500, faults: ["crash", "close", "takeover"], invariants };

  it("is found, and the way to it is shrunk to at most 8 actions", async () => {
    const { failure } = await simulate(payingAgent("safe"), options);
    expect(failure?.failure).toMatchObject({ invariant: "paysOnce" });
    expect(failure?.shrunk.failure).toMatchObject({ invariant: "paysOnce" });
    expect(failure?.shrunk.session.actions.length).toBeLessThanOrEqual(8);
  });

  it("is found with every fault, and the way to it is shrunk to at most 8 actions", async () => {
    const { failure } = await simulate(payingAgent("safe"), { runs: 500, invariants });
    expect(failure?.failure).toMatchObject({ invariant: "paysOnce" });
    expect(failure?.shrunk.session.actions.length).toBeLessThanOrEqual(8);
  });
});

describe("pairs of a control state and a fault that were missed", () => {
  it("are those of states that were hit often enough, for all faults that can come there", () => {
    const row = { crash: 1_999, cancel: 1 };
    const faults = ["crash", "cancel"];
    expect(missedPairs({ Planning: row, Acting: { crash: 2_000 } }, faults)).toEqual(["Acting cancel"]);
    expect(missedPairs({ Planning: row, Acting: { crash: 1_000 } }, faults)).toEqual([]);
  });

  it("include those of faults that came nowhere, when all faults are given", () => {
    const missed = missedPairs({ Planning: { crash: 2_000 } }, faultNames);
    expect(missed).toContain("Planning release:description");
    expect(missed).not.toContain("Planning tool:lie");
  });
});
