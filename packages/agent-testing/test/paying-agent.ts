import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";

/** An agent that pays, with a payment tool that may be run again after a crash, or may not. */
export const payingAgent = (replay: "safe" | "keyed" | "once"): Agent =>
  defineAgent({
    name: "paying",
    llm: new MockLlmCaller(() => answers("The simulation answers instead.")),
    tools: [
      defineTool({
        name: "pay",
        description: "Pays an amount in euros.",
        replay,
        input: z.object({ euros: z.number() }),
        execute: ({ euros }) => `${euros} euros paid`,
      }),
    ],
  });
