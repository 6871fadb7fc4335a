import { changeConfig } from "@moora/agent-core-state-machine/internal";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { deniesCancelledRun, takesForgedDecision, takesLateResult } from "./defects.ts";
import { transitionWith, withPlanted, withPlantedHost, type Core, type Plant } from "./plant.ts";

const core = "@moora/agent-core-state-machine";
const internal = "@moora/agent-core-state-machine/internal";

/** The defect that the reducer has at present. */
let planted: Plant | undefined;
const plant: Plant = (input, state, transition) =>
  planted === undefined ? transition(input, state) : planted(input, state, transition);

// The modules are evaluated anew around a reducer with the defect, and once more without it for the files that follow.
vi.resetModules();
const sound = await vi.importActual<Core>(core);
vi.doMock(core, async (importOriginal) => withPlanted(await importOriginal(), plant));
vi.doMock(internal, async (importOriginal) =>
  withPlantedHost(await importOriginal(), plant, (input, state) => sound.step(input)(state)),
);
const { simulate } = await import("../../src/index.ts");
const { payingAgent } = await import("../paying-agent.ts");
const { shopAgent } = await import("../shop-agent.ts");

afterAll(() => {
  vi.doUnmock(core);
  vi.doUnmock(internal);
  vi.resetModules();
});

beforeEach(() => {
  planted = undefined;
});

/** Faults that the reducer survives without a defect. */
const faults = [
  "crash",
  "close",
  "cancel",
  "late-result",
  "double-answer",
  "forged-decision",
  "llm:unknown-tool",
];

describe("a simulation finds a defect that is planted in the reducer", () => {
  it.each([
    {
      defect: "the first, late result of a cancelled call is taken",
      plant: takesLateResult,
      agent: payingAgent("keyed"),
      found: /late result/,
    },
    {
      defect: "a call that was cancelled while it ran is reported as one that never ran",
      plant: deniesCancelledRun,
      agent: payingAgent("keyed"),
      found: /V15/,
    },
    {
      defect: "the digest of a decision is not compared",
      plant: takesForgedDecision,
      agent: shopAgent,
      found: /V9|L6/,
    },
    {
      defect: "a blacklisted tool runs",
      plant: transitionWith(({ config }) => ({
        config: changeConfig(config, { toolCalls: { blacklist: [] } }),
      })),
      agent: { ...shopAgent, config: changeConfig(shopAgent.config, { toolCalls: { blacklist: ["mail"] } }) },
      found: /V16.*blacklisted/,
    },
    {
      defect: "a tool that runs once runs again after a crash",
      plant: transitionWith(({ tools }) => ({
        tools: Object.fromEntries(
          Object.entries(tools).map(([name, tool]) => [name, { ...tool, replay: "keyed" }]),
        ),
      })),
      agent: payingAgent("once"),
      found: /V4.*runs once/,
    },
  ])("$defect: in at most 15 actions", async ({ plant: defect, agent, found }) => {
    planted = defect;
    const { failure } = await simulate(agent, { runs: 2_000, faults });
    expect(String(failure?.failure)).toMatch(found);
    expect(failure?.shrunk.session.actions.length).toBeLessThanOrEqual(15);
  });
});
