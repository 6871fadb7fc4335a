import { defineAgent, type Guardrail, type GuardrailVerdict } from "@moora/agent";
import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { MockLlmCaller } from "@moora/llm/testing";
import { toolOf } from "@moora/testbed/tool-of";
import { expect, it } from "vitest";
import { simulate, type SimulateOptions } from "../../src/index.ts";

const mark = "(read) ";

const mayPass = (text: string): GuardrailVerdict | undefined =>
  text.startsWith(mark) ? undefined : { replace: mark + text };

/** Marks all that passes, after a moment in which more may arrive; asks a person about some of it. */
const reader: Guardrail = {
  name: "reader",
  async input(text) {
    await Promise.resolve();
    return text.length % 5 === 0 ? { ask: "five" } : mayPass(text);
  },
  result: (text) => (text.length % 7 === 0 ? { block: "seven" } : mayPass(text)),
};

const agent = defineAgent({
  llm: new MockLlmCaller([]),
  tools: [
    toolOf("look", () => "seen", { replay: "safe" }),
    toolOf("pay", () => "paid", { approval: "always" }),
  ],
  config: { reflection: { everyNSteps: 2 } },
  guardrails: [reader],
});

let requests = 0;

const invariants: NonNullable<SimulateOptions["invariants"]> = {
  "no request contains what no check has read"({ state }) {
    const wants = Object.values(effectsAt(state)).some(({ type }) => type === "call-llm");
    const request = wants ? llmRequestAt(state) : undefined;
    if (request === undefined) return true;
    requests += 1;
    const successes = new Set(
      Object.values(state.toolCalls).flatMap(({ result }) =>
        result?.isSuccess === true ? [result.content] : [],
      ),
    );
    if (request.purpose === "reflect") return [...successes].every(isRead);
    return request.messages.every((message) => {
      if (message.role === "user")
        return message.content.every((part) => part.type !== "text" || isRead(part.text));
      if (message.role !== "assistant") return true;
      return message.results.every(({ content }) => !successes.has(content) || isRead(content));
    });
  },
};

const isRead = (text: string): boolean =>
  text.startsWith(mark) || text.startsWith("[reader: ") || text.length % 5 === 0;

it("guardrails have read all that a model reads, whatever fails and arrives in between", async () => {
  requests = 0;
  const report = await simulate(agent, { runs: 100, invariants, execute: true });
  expect(report.failure).toBeUndefined();
  expect(requests).toBeGreaterThan(100);
});
