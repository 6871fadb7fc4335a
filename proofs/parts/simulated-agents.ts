/** The agents that the proofs simulate: tools of every kind, and each way of ending a turn. */
import { defineAgent, defineTool, toolAsks, type Agent } from "@moora/agent";
import type { DrawResult } from "@moora/agent-testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import * as z from "zod";
import { graphOf } from "@moora/testbed/graph-of";

const execute = (): string => "The simulation answers for its tools.";
const llm = new MockLlmCaller(() => answers("The simulation answers for its models."));

const tools = [
  defineTool({
    name: "search",
    description: "Finds what was asked for.",
    replay: "safe",
    retries: 2,
    input: z.object({ query: z.string() }),
    execute,
  }),
  defineTool({
    name: "pay",
    description: "Pays.",
    risk: "high",
    input: z.object({ euros: z.number() }),
    execute,
  }),
  defineTool({
    name: "mail",
    description: "Sends a letter, one at a time.",
    replay: "keyed",
    retries: 1,
    maxParallel: 1,
    input: z.object({ to: z.string() }),
    execute,
  }),
  defineTool({ name: "book", description: "Books.", onUnknown: "ask", input: z.object({}), execute }),
  defineTool({
    name: "ship",
    description: "Ships, and can be asked later whether it did.",
    input: z.object({}),
    execute,
    probe: () => "unknown",
  }),
];

/** Approvals that expire, reminders, and every way in which a crash leaves a call. */
export const shopAgent: Agent<unknown> = defineAgent({
  name: "shop",
  llm,
  tools,
  config: {
    approval: { policy: { above: "high" }, expiresAfterMs: 60_000, remindAfterMs: 20_000 },
    limits: { maxSteps: 12 },
  },
});

/** Typed answers, reflections, and a state of its own between an answer and its end. */
export const checkedAgent: Agent<unknown> = defineAgent({
  name: "checked",
  llm,
  tools: tools.slice(0, 3),
  answer: z.object({ total: z.number() }),
  config: {
    reflection: { everyNSteps: 2 },
    approval: { policy: "always" },
    graph: graphOf({ Observing: { Continue: "Check" }, Check: { Fine: "Planning", Bad: "Error" } }),
  },
  states: { Check: () => ({ event: "Fine", note: "It was checked." }) },
});

/** A state whose handler calls tools, one after the other: a pause, a cancel and a crash come between them. */
export const handlerAgent: Agent<unknown> = defineAgent({
  name: "handler",
  llm,
  tools: tools.slice(0, 3),
  config: {
    limits: { maxSteps: 12 },
    graph: graphOf({ Observing: { Continue: "Check" }, Check: { Fine: "Planning", Bad: "Error" } }),
  },
  states: {
    Check: {
      replay: "keyed",
      async handle(_, { callTool }) {
        await callTool("search", { query: "what was found" });
        const { isSuccess } = await callTool("mail", { to: "ada" });
        return isSuccess ? "Fine" : { event: "Fine", note: "The letter was not sent." };
      },
    },
  },
});

/** A tool that runs once, and one that may run again, sometimes ask in the middle of their calls. */
export const drawResults: Readonly<Record<string, DrawResult>> = Object.fromEntries(
  ["book", "mail"].map((name) => [
    name,
    (choose) => (choose(3) === 0 ? toolAsks({ question: "Which one?", state: { asked: true } }) : "done"),
  ]),
);
