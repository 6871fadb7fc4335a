import { AgentError, type AgentEvent, type AgentState } from "@moora/agent";
import type { LlmRequest } from "@moora/llm";
import { AgentBuilder } from "../../../src/builder/agent-builder.ts";
import type { AgentEngine } from "../../../src/builder/agent-engine.ts";

export const task = "Do I need a coat in Oslo?";

/** Long enough for the minAnswerLength of the preset `hybrid`. */
export const answer = "Yes, take a coat: it is 3 degrees in Oslo.";

/** A builder with the limits that the specification of the hybrid state machine gives. */
export const hybridBuilder = (words: string): AgentBuilder => new AgentBuilder(words).preset("hybrid");

/** The error that a run ended in. */
export async function errorOf(run: Promise<unknown>): Promise<AgentError> {
  const [outcome] = await Promise.allSettled([run]);
  if (outcome.status === "rejected" && outcome.reason instanceof AgentError) return outcome.reason;
  throw new Error(`This run did not end in an AgentError: ${JSON.stringify(outcome)}`);
}

/** The same for a run without a promise. */
export function thrownBy(run: () => unknown): AgentError {
  try {
    run();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

export async function eventsOf(engine: AgentEngine): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of engine.runStreaming()) events.push(event);
  return events;
}

/** The walk as text: "Idle Start Planning". */
export const movesOf = (engine: AgentEngine): readonly string[] =>
  engine.trace().entries.map(({ from, event, to }) => `${from} ${event} ${to}`);

export const eventNamesOf = (engine: AgentEngine): readonly string[] =>
  engine.trace().entries.map(({ event }) => event);

/** The state that an error carries. */
export function stateOf(error: AgentError): AgentState {
  if (error.state === undefined) throw new Error("This error carries no state.");
  return error.state;
}

/** The results that a request shows the model, in the order of its turns. */
export const resultsIn = (
  request: LlmRequest | undefined,
): readonly { isError: boolean; content: string }[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === "assistant" ? message.results.map(({ isError, content }) => ({ isError, content })) : [],
  );

/** The words of the harness that a request shows the model. */
export const notesIn = (request: LlmRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) => (message.role === "note" ? [message.text] : []));
