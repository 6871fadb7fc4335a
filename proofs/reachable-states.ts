/** States that conversations get into: the next request of each is one that no provider would refuse. */
import {
  asked,
  cancelled,
  drawConfig,
  drawInput,
  drawTools,
  requestProblems,
  seededChoose,
  type Choose,
} from "@moora/agent-testing";
import { providerDialects } from "@moora/agent-testing/dialects";
import { llmRequestAt } from "@moora/agent-core-effects";
import {
  agentTransition,
  initialAgentState,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import type { LlmRequest } from "@moora/llm";
import { prove } from "./parts/in-chunks.ts";

const dialects = providerDialects("drawn");
const inputsEach = 100;

await prove({
  name: "reachable states",
  file: import.meta.filename,
  goal: 1_000_000,
  chunk: 5_000,
  run(first, size, seed) {
    const failures: string[] = [];
    let cases = 0;
    let messages = 0;
    for (let from = seed * 10_000_000 + first; cases < size; from += 1) {
      for (const { request, at } of conversation(from)) {
        if (cases === size) break;
        cases += 1;
        messages += request.messages.length;
        const problem = problemOf(request);
        if (problem !== undefined) failures.push(`conversation ${from}, input ${at}: ${problem}`);
      }
    }
    return { cases, failures, counts: { "messages in their requests": messages } };
  },
});

/** The states that drawn inputs lead to, one after the other, each with its next request. */
function* conversation(seed: number): Generator<{ readonly request: LlmRequest; readonly at: number }> {
  const choose: Choose = seededChoose(seed);
  const past: AgentInput[] = [];
  let state = initialAgentState({ config: drawConfig(choose), tools: drawTools(choose) });
  for (let at = 0; at < inputsEach; at += 1) {
    const input = drawInput(state, past, choose);
    const next = agentTransition(input)(state);
    past.push(input);
    if (next === state) continue;
    state = next;
    const request = nextRequest(state);
    if (request !== undefined) yield { request, at };
  }
}

/** What the model is asked now, or would be if the user spoke; nothing where a limit for good was reached. */
const nextRequest = (state: AgentState): LlmRequest | undefined =>
  llmRequestAt(state) ?? llmRequestAt([cancelled(), asked("And then?", "next")].reduce(applied, state));

const applied = (state: AgentState, input: AgentInput): AgentState => agentTransition(input)(state);

function problemOf(request: LlmRequest): string | undefined {
  const [problem] = requestProblems(request);
  if (problem !== undefined) return problem;
  for (const [name, dialect] of Object.entries(dialects)) {
    const [refusal] = dialect(request);
    if (refusal !== undefined) return `${name}: ${refusal}`;
  }
  return undefined;
}
