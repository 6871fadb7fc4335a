import { changeConfig } from "@moora/agent-core-state-machine/internal";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { simulate } from "../../src/index.ts";
import { payingAgent } from "../paying-agent.ts";
import { shopAgent } from "../shop-agent.ts";
import { deniesCancelledRun, takesForgedDecision, takesLateResult } from "./defects.ts";
import { transitionWith, type Plant } from "./plant.ts";

/** The defect that the reducer has at present. */
const planted = vi.hoisted((): { plant: Plant | undefined } => ({ plant: undefined }));

vi.mock("@moora/agent-core-state-machine", async (importOriginal) => {
  const { withPlanted } = await import("./plant.ts");
  return withPlanted(await importOriginal(), (input, state, transition) =>
    planted.plant === undefined ? transition(input, state) : planted.plant(input, state, transition),
  );
});

beforeEach(() => {
  planted.plant = undefined;
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
  ])("$defect: in at most 15 actions", async ({ plant, agent, found }) => {
    planted.plant = plant;
    const { failure } = await simulate(agent, { runs: 2_000, faults });
    expect(String(failure?.failure)).toMatch(found);
    expect(failure?.shrunk.session.actions.length).toBeLessThanOrEqual(15);
  });
});
