import { askHuman, defineTool, type Tool } from "@moora/agent";

const nothing = { type: "object", properties: {} } as const;

/** Tools whose calls are questions, and one that needs approval. */
export const tools: readonly Tool[] = [
  askHuman(),
  askHuman({ name: "ask_number", answer: { type: "number" } }),
  askHuman({
    name: "ask_form",
    input: { type: "object", properties: { fields: { type: "array", items: { type: "string" } } } },
  }),
  defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object", properties: { euros: { type: "number" }, to: { type: "string" } } },
    approval: "always",
    execute: (payment) => `paid ${JSON.stringify(payment)}`,
  }),
  defineTool({ name: "quick", description: "Is quick.", input: nothing, execute: () => "quickly done" }),
];
