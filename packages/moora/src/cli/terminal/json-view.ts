import { askedText, type AgentError, type AgentEvent, type Question, type RunResult } from "@moora/agent";
import type { RunView, Waiting } from "./run-view.ts";
import type { Screen } from "./screen.ts";
import type { SecretFilter } from "./secret-filter.ts";

/** What is streamed of a message: a piece could be a part of a secret. Text and reasoning are filtered as a whole. */
const streamed: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "LlmToken",
  "LlmReasoning",
  "LlmToolCallDelta",
  "LlmPartEnded",
]);

/** The events after which the message that streams does not continue. */
const endsText: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "LlmAttemptEnded",
  "LlmRetryScheduled",
  "StateStarted",
  "FinalAnswer",
  "Error",
]);

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
    if (event.type === "LlmToken" || event.type === "LlmReasoning") {
      if (event.messageId !== this.#messageId) this.#endText();
      this.#messageId = event.messageId;
      const filter = event.type === "LlmToken" ? this.#text : this.#reasoning;
      return this.#print(event.type, filter.push(event.text));
    }
    if (endsText.has(event.type)) this.#endText();
    const shown = event.type === "SubAgentEvent" ? event.event : event;
    if (!streamed.has(shown.type)) this.#screen.json(eventToJson(event));
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

  showWaiting({ questions, pause, resume }: Waiting): void {
    this.#endText();
    const open = questions.map(({ question, commands }) => ({ ...questionToJson(question), commands }));
    this.#screen.json({ type: "Result", ok: false, questions: open, ...(pause && { pause }), resume });
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

/** An event as a line of JSON shows it. */
function eventToJson(event: AgentEvent<unknown>): object {
  if (event.type === "Error") return { type: event.type, error: errorFields(event.error) };
  if (event.type === "ApprovalRequested") return questionToJson(event);
  return event.type === "SubAgentEvent" ? { ...event, event: eventToJson(event.event) } : event;
}

/** A question; one of the agent's own with its text. */
const questionToJson = (question: Question): object =>
  question.about === "answer" ? { ...question, question: askedText(question).text } : question;

/** An error without the state that it carries: that would be the whole conversation. */
const errorFields = ({ kind, reason, message }: AgentError): object => ({ kind, reason, message });
