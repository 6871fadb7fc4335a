import { defineAgent, defineTeam, defineTool, type Agent } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { simulate } from "../../src/index.ts";

/** A team of three agents, each with a tool that only it has. */
function newTeam(): Agent {
  const agentOf = (name: string): Agent =>
    defineAgent({
      llm: new MockLlmCaller([]),
      systemPrompt: `You are ${name}.`,
      tools: [
        defineTool({
          name: `act_${name}`,
          description: "Acts.",
          input: z.object({ n: z.number() }),
          replay: "keyed",
          execute: () => "done",
        }),
      ],
    });
  return defineTeam({
    agents: {
      triage: { agent: agentOf("triage"), description: "Finds out what is needed." },
      billing: { agent: agentOf("billing"), description: "Invoices.", handsOffTo: ["triage"] },
      shipping: { agent: agentOf("shipping"), description: "Parcels." },
    },
    start: "triage",
    maxHandoffs: 2,
  });
}

describe("simulated sessions of a team", () => {
  it("have the prompt and the tools of the agent that has the conversation, and a bounded number of handoffs", async () => {
    let handoffs = 0;
    const report = await simulate(newTeam(), {
      runs: 150,
      seed: 1,
      invariants: {
        isOneAgent({ state }) {
          const { activeAgent = "", config, tools } = state;
          const names = Object.keys(tools).filter((name) => name.startsWith("act_"));
          return (
            (config.systemPrompt === `You are ${activeAgent}.` && names.join() === `act_${activeAgent}`) ||
            `${activeAgent} has the prompt "${config.systemPrompt}" and the tools ${names.join(", ")}`
          );
        },
        hasTheLastHandoff({ state }) {
          const last = state.transcript.findLast((entry) => entry.type === "handoff");
          if (last !== undefined) handoffs += 1;
          return (last?.to ?? "triage") === state.activeAgent || `The last handoff was to ${last?.to}.`;
        },
        isBounded({ state }) {
          const { loopStart } = state.reActContext;
          const count = state.transcript.slice(loopStart).filter(({ type }) => type === "handoff").length;
          return count <= 2 || `${count} handoffs in one loop`;
        },
      },
    });
    expect(report.ok, report.toText()).toBe(true);
    expect(handoffs).toBeGreaterThan(0);
  });
});
