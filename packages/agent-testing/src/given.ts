import { initialStateOf, type Agent } from "@moora/agent";
import { llmRequestAt } from "@moora/agent-core-effects";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import {
  agentTransition,
  ignoredReason,
  initialAgentState,
  memoryAt,
  type AgentInput,
  type AgentMemory,
  type AgentState,
  type InitialAgentOptions,
  type ToolCallRecord,
} from "@moora/agent-core-state-machine";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import type { LlmRequest } from "@moora/llm";
import { keepLaws, lawsForms, type LawsOptions } from "./laws/keep-laws.ts";
import { notShown } from "./shown.ts";

/** The result of a transcript. All laws were checked at every step. */
export interface Transcript {
  readonly state: AgentState;
  readonly memory: AgentMemory;
  /** The edges that were walked, as `Planning --LlmToolCall--> Acting`. */
  readonly walk: readonly string[];
  readonly request: LlmRequest | undefined;
  call(id: string): ToolCallRecord | undefined;
  /** Applies more inputs. */
  and(...inputs: readonly AgentInput[]): Transcript;
  /** Passes if the agent is in this control state and wants exactly these effects, in any order. Throws otherwise. */
  shows(control: string, ...effectKeys: readonly string[]): Transcript;
}

/** Thrown when a transcript does not show the expected control state and effects. */
export class NotShown extends Error {
  override readonly name = "NotShown";
}

const agentForms: OptionForms<InitialAgentOptions> = {
  config: "object",
  tools: "object",
  data: "object",
  activeAgent: "string",
};

/**
 * An agent's transcripts: `given(asked("2+2?")).shows("Planning", "plan/1/1/1")`. Those of an agent that is defined:
 * `givenAgent(agent)`. Also takes the state to begin with, such as `initialStateOf(agent)`. Throws `BuildError` for an unknown or
 * invalid option.
 */
export function givenAgent(
  options: InitialAgentOptions | AgentState | Agent<unknown> = {},
  laws: Omit<LawsOptions, "from"> = {},
): (...inputs: readonly AgentInput[]) => Transcript {
  checkOptions("givenAgent", laws, lawsForms);
  const from = "transcript" in options ? options : initialStateFor(options);
  const transcript = (inputs: readonly AgentInput[]): Transcript => {
    const keeper = keepLaws({ ...laws, from });
    for (const input of inputs) keeper.apply(input);
    const { state } = keeper;
    const made: Transcript = {
      state,
      get memory() {
        return memoryAt(state);
      },
      walk: keeper.moves.map((move) => `${move.from} --${move.event}--> ${move.to}`),
      get request() {
        return llmRequestAt(state);
      },
      call: (id) => recordOf(state, id),
      and: (...more) => transcript([...inputs, ...more]),
      shows(control, ...effectKeys) {
        checkShown(state, control, effectKeys, () => inputsToText(from, keeper.inputs));
        return made;
      },
    };
    return made;
  };
  return (...inputs) => transcript(inputs);
}

function initialStateFor(options: InitialAgentOptions | Agent<unknown>): AgentState {
  if ("parts" in options) return initialStateOf(options);
  checkOptions("givenAgent", options, agentForms);
  return initialAgentState(options);
}

/** Starts a transcript of an agent with the default configuration and no tools. */
export const given: (...inputs: readonly AgentInput[]) => Transcript = givenAgent();

function checkShown(
  state: AgentState,
  control: string,
  effectKeys: readonly string[],
  inputsText: () => string,
): void {
  const problem = notShown(state, control, effectKeys);
  if (problem !== undefined) throw new NotShown(`${problem}\nafter ${inputsText()}`);
}

/** The types of the inputs, with those that did not apply. */
function inputsToText(from: AgentState, inputs: readonly AgentInput[]): string {
  let state = from;
  const types = inputs.map((input) => {
    const reason = ignoredReason(input)(state);
    state = agentTransition(input)(state);
    return reason === undefined ? input.type : `${input.type} (ignored: ${reason})`;
  });
  return types.join(", ");
}
