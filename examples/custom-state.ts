// A custom state: every answer is checked before it is given. The rows are data, the handler is code.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/custom-state.ts
import { defineAgent, memoryAt, runTask } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";

const agent = defineAgent({
  llm: new MockLlmCaller([answers("It is about a dozen."), answers("It is 12.")]),
  config: {
    graph: {
      states: ["Checking"],
      rows: { Planning: { LlmFinalAnswer: "Checking" }, Checking: { Good: "Done", Vague: "Planning" } },
      terminals: [],
    },
  },
  states: {
    Checking: (state) => {
      const draft = state.messages.at(-1)?.content ?? "";
      return /\d/.test(draft) ? "Good" : { event: "Vague", note: "Give the number itself." };
    },
  },
});

const { answer, trace, state } = await runTask(agent, "How many eggs are in the box?");
console.log(trace.toText());
console.log(answer, `(step ${memoryAt(state).step})`);
