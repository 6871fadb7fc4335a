import { defineTool, type Tool } from "@moora/agent";

/** What was paid. */
export const paid: unknown[] = [];

export const pay: Tool = defineTool({
  name: "pay",
  description: "Pays.",
  input: { type: "object" },
  approval: "always",
  execute: (input) => (paid.push(input), "paid"),
});

export const add: Tool = defineTool({
  name: "add",
  description: "Adds.",
  input: { type: "object" },
  execute: ({ of }) => ({ doubled: 2 * Number(of) }),
});
