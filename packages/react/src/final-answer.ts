import { answerTextAt, type AgentState } from "@moora/agent";
import { textToJson } from "./call-values.ts";

/** The answers of states: the same value until the answer changes. */
export class FinalAnswer {
  #text: string | undefined;
  #schema: string | null = null;
  #value: unknown;

  /** The answer of the newest loop of a state; undefined if it has not ended with one. */
  at(state: AgentState): unknown {
    if (state.reActContext.control.type !== "Done") return undefined;
    const text = answerTextAt(state);
    const { answerSchema } = state.config;
    if (text === this.#text && answerSchema === this.#schema) return this.#value;
    this.#text = text;
    this.#schema = answerSchema;
    this.#value = answerSchema === null ? text : textToJson(text);
    return this.#value;
  }
}
