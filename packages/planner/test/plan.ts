import { defineAgent, runTask, type Tool } from "@moora/agent";
import type { JsonObject, LlmMessage, LlmOutcome, LlmRequest, LlmTool } from "@moora/llm";
import { planner } from "../src/planner.ts";

export const toolOf = (
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[] = [],
): LlmTool => ({
  name,
  description,
  schema: { type: "object", properties, required },
});

/** Tools that the planner was not made for. */
export const shop: readonly LlmTool[] = [
  toolOf("weather", "The weather in a city now.", { city: { type: "string" } }, ["city"]),
  toolOf(
    "create_ticket",
    "Opens a new ticket for the support team.",
    {
      title: { type: "string" },
      priority: { enum: ["low", "normal", "urgent"] },
      seats: { type: "integer" },
    },
    ["title", "priority"],
  ),
  toolOf(
    "translate",
    "Translates a text into another language.",
    { text: { type: "string" }, target_language: { type: "string" } },
    ["text", "target_language"],
  ),
  toolOf(
    "list_orders",
    "Lists the orders of a customer.",
    { customer: { type: "string" }, limit: { type: "integer", minimum: 1 } },
    ["customer"],
  ),
  toolOf("refund_order", "Refunds an order.", { order_id: { type: "string" }, amount: { type: "number" } }, [
    "order_id",
  ]),
  toolOf(
    "book_flight",
    "Books a flight from one airport to another.",
    {
      from: { type: "string" },
      to: { type: "string" },
      date: { type: "string", format: "date" },
      seats: { type: "integer" },
      refundable: { type: "boolean" },
    },
    ["from", "to", "date"],
  ),
  toolOf(
    "send_email",
    "Sends an email.",
    { to: { type: "string", format: "email" }, subject: { type: "string" } },
    ["to"],
  ),
  toolOf(
    "average",
    "The average of some numbers.",
    { values: { type: "array", items: { type: "number" } } },
    ["values"],
  ),
];

export const user = (text: string): LlmMessage => ({ role: "user", content: [{ type: "text", text }] });

export const requestOf = (
  text: string,
  tools: readonly LlmTool[],
  change: Partial<LlmRequest> = {},
): LlmRequest => ({
  purpose: "plan",
  model: "",
  system: "",
  messages: [user(text)],
  tools,
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
  ...change,
});

/** The calls that the planner wants for a request, each as its name and arguments. */
export function callsIn(outcome: LlmOutcome): readonly (readonly [string, unknown])[] {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.turn.parts.flatMap((part) =>
    part.type === "tool-call" ? [[part.name, JSON.parse(part.arguments)] as const] : [],
  );
}

export const plannedFor = (
  text: string,
  tools: readonly LlmTool[],
  change: Partial<LlmRequest> = {},
): ReturnType<typeof callsIn> => callsIn(planner().callSync(requestOf(text, tools, change)));

export function answerIn(outcome: LlmOutcome): string {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.turn.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** A whole task: the calls in the order they were started, and the answer. */
export async function taskOf(
  text: string,
  tools: readonly Tool[],
): Promise<{ readonly calls: readonly (readonly [string, unknown])[]; readonly answer: string }> {
  const calls: (readonly [string, unknown])[] = [];
  const run = runTask(defineAgent({ llm: planner(), tools }), text);
  for await (const event of run)
    if (event.type === "ToolCallStarted") calls.push([event.name, JSON.parse(event.parameters)]);
  return { calls, answer: (await run).text };
}
