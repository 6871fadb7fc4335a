import { askHuman, defineAgent, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/** An agent whose question has a field of each kind. */
export const askingAgent = (): Agent<unknown> =>
  defineAgent({
    name: "support",
    llm: new MockLlmCaller([
      callsTools([{ name: "ask_human", arguments: { question: "Which shirt?" } }]),
      answers("It is ordered."),
    ]),
    tools: [
      askHuman({
        answer: {
          type: "object",
          properties: {
            size: { type: "integer", minimum: 30, title: "Size", description: "As on the label." },
            color: { enum: ["red", "blue"] },
            gift: { type: "boolean" },
            note: { type: "string" },
            lines: { type: "array", items: { type: "string" } },
          },
          required: ["size", "color"],
        },
      }),
    ],
  });
