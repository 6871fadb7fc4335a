// An agent without a runner: effects are computed from the state, and their results are dispatched as inputs.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/by-hand.ts
import {
  agentTransition,
  applyInputs,
  defineAgent,
  defineTool,
  effectsAt,
  initialStateOf,
  performEffect,
  userMessage,
  type DispatchBatch,
} from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { z } from "zod";

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const llm = new MockLlmCaller([
  callsTools([{ name: "add", arguments: { a: 2, b: 2 } }]),
  answers("2 + 2 is 4."),
]);

const agent = defineAgent({ llm, tools: [add] });

let state = agentTransition(userMessage("What is 2 + 2?"))(initialStateOf(agent));
/** A part of idempotency keys: no other session has it. */
const sessionId = crypto.randomUUID();
/** Applies inputs, and returns whether they applied: an effect runs only if its intent did. */
const dispatch: DispatchBatch = (...inputs) => {
  for (const input of inputs) if (typeof input === "object") console.log("  input", input.type);
  const { state: next, applied } = applyInputs(state, inputs);
  state = next;
  return applied > 0;
};

/** The keys of the effects that were started: one that has ended can still be wanted, such as a question. */
const started = new Set<string>();
const next = () => Object.values(effectsAt(state)).find(({ key }) => !started.has(key));
for (let effect = next(); effect; effect = next()) {
  console.log("wants", effect.key);
  started.add(effect.key);
  await performEffect(agent, effect, state, { dispatch, sessionId });
}

const { control } = state.reActContext;
console.log(control.type === "Done" ? control.answer : control);
