import {
  askedText,
  type AgentError,
  type AgentEvent,
  type Question,
  type RunResult,
  type SubAgentEvent,
} from "@moora/agent";
import type { OpenQuestion, RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";
import type { SecretFilter } from "./secret-filter.ts";

const streamed: readonly AgentEvent["type"][] = [
  "LlmToken",
  "LlmReasoning",
  "LlmToolCallDelta",
  "LlmPartEnded",
];

/** A run for programs: each event as one line of JSON, and the result as the last one. */
export class JsonView implements RunView {
  readonly #screen: Screen;
  readonly #showsTrace: boolean;
  readonly #text: SecretFilter;
  readonly #reasoning: SecretFilter;
  #messageId = "";

  constructor(screen: Screen, showsTrace: boolean) {
    this.#screen = screen;
    this.#showsTrace = showsTrace;
    this.#text = screen.filter();
    this.#reasoning = screen.filter();
  }

  show(event: AgentEvent<unknown>): void {
    switch (event.type) {
      case "LlmToken":
      case "LlmReasoning":
        this.#beginAttempt(event.messageId);
        return this.#print(event.type, this.#filterOf(event.type).push(event.text));
      case "LlmAttemptEnded":
      case "StateStarted":
      case "FinalAnswer":
      case "LlmRetryScheduled":
        this.#endText();
        return this.#screen.json(event);
      case "Error":
        this.#endText();
        return this.#screen.json({ type: event.type, error: errorFields(event.error) });
      case "ApprovalRequested":
        return this.#screen.json({ ...event, ...questionFields(event) });
      case "SubAgentEvent":
        return this.#showBelow(event);
      // A piece of arguments could be a part of a secret. ToolCallStarted has all of them.
      case "LlmToolCallDelta":
      case "LlmPartEnded":
        return;
      case "LlmToolCall":
      case "LlmWarning":
      case "ToolCallStarted":
      case "ToolCallProgress":
      case "ToolCallFinished":
      case "ToolCallRetryScheduled":
      case "DataChanged":
      case "HandedOff":
      case "Paused":
      case "Resumed":
        return this.#screen.json(event);
    }
  }

  showResult({ answer, text, steps, usage, trace }: RunResult<unknown>): void {
    this.#screen.json({ type: "Result", ok: true, answer, text, steps, usage, ...this.#traceOf(trace) });
  }

  showFailure(error: AgentError, explanation: string): void {
    const { usage, trace } = error;
    this.#screen.json({
      type: "Result",
      ok: false,
      error: { ...errorFields(error), explanation },
      ...(usage !== undefined && { usage }),
      ...this.#traceOf(trace),
    });
  }

  showWaiting(questions: readonly OpenQuestion[], resume: string): void {
    this.#endText();
    const open = questions.map(({ question, commands }) => ({
      ...question,
      ...questionFields(question),
      commands,
    }));
    this.#screen.json({ type: "Result", ok: false, questions: open, resume });
  }

  #showBelow({ event, ...of }: SubAgentEvent): void {
    if (event.type === "Error")
      this.#screen.json({ ...of, event: { ...event, error: errorFields(event.error) } });
    else if (event.type === "ApprovalRequested")
      this.#screen.json({ ...of, event: { ...event, ...questionFields(event) } });
    // What is streamed could be a part of a secret.
    else if (!streamed.includes(event.type)) this.#screen.json({ ...of, event });
  }

  #beginAttempt(messageId: string): void {
    if (messageId !== this.#messageId) this.#endText();
    this.#messageId = messageId;
  }

  #filterOf(type: "LlmToken" | "LlmReasoning"): SecretFilter {
    return type === "LlmToken" ? this.#text : this.#reasoning;
  }

  /** Prints the buffered text, which could have been the beginning of a secret. */
  #endText(): void {
    this.#print("LlmToken", this.#text.flush());
    this.#print("LlmReasoning", this.#reasoning.flush());
  }

  #print(type: "LlmToken" | "LlmReasoning", text: string): void {
    if (text !== "") this.#screen.json({ type, messageId: this.#messageId, text });
  }

  #traceOf(trace: RunResult["trace"]): { readonly trace?: RunResult["trace"]["entries"] } {
    return this.#showsTrace ? { trace: trace.entries } : {};
  }
}

/** For a question of the agent's own: its text. */
const questionFields = (question: Question): object =>
  question.about === "answer" ? { question: askedText(question).text } : {};

/** An error without the state that it carries: that would be the whole conversation. */
const errorFields = ({ kind, reason, message }: AgentError): object => ({ kind, reason, message });
