import {
  failureText,
  type AgentError,
  type AgentEvent,
  type RunResult,
  type SubAgentEvent,
  type ToolCallResult,
  type Trace,
} from "@moora/agent";
import { oneLine, resultSummary } from "@moora/agent-core-effects/internal";
import { questionText } from "../questions/question-text.ts";
import type { OpenQuestion, RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";

export interface TextViewOptions {
  readonly showsTrace: boolean;
  readonly now: () => number;
  /** Why a model call failed, for people. */
  readonly retryReason: (kind: string, message: string) => string;
}

/**
 * A run as text: the answer, tools as they start and finish, and what the run is waiting for. On a terminal the answer
 * streams; anything else gets it when it is known to be the answer, since what was written cannot be taken back.
 */
export class TextView implements RunView {
  readonly #screen: Screen;
  readonly #options: TextViewOptions;
  /** The message that is being written, and the part of it on the screen. */
  #messageId = "";
  #streamed = "";
  #isLineOpen = false;
  /** The warnings that were shown: most of them come with every model call. */
  readonly #warnings = new Set<string>();

  constructor(screen: Screen, options: TextViewOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  show(event: AgentEvent<unknown>): void {
    switch (event.type) {
      case "StateStarted":
        if (event.state === "Planning") this.#screen.showStatus("thinking");
        if (event.state === "Reflecting") this.#screen.showStatus("summarizing");
        return;
      case "LlmReasoning":
        return this.#screen.showStatus("thinking");
      case "LlmToken":
        return this.#screen.isStreaming ? this.#write(event.text, event.messageId) : undefined;
      case "LlmToolCall":
        this.#endLine();
        return this.#screen.showStatus(`preparing a call of ${event.name}`);
      case "LlmToolCallDelta":
      case "LlmPartEnded":
        return;
      case "LlmWarning":
        return this.#showWarning(event.text);
      case "LlmRetryScheduled":
        return this.#showRetry(event);
      case "LlmAttemptEnded":
        return this.#endLine();
      case "ToolCallStarted":
        this.#endLine();
        this.#screen.dim(`-> ${event.name} ${oneLine(event.parameters)}`);
        return this.#screen.showStatus(event.name);
      case "ToolCallProgress":
        return this.#screen.showStatus(oneLine(event.text));
      case "ToolCallFinished": {
        const { name, result } = event;
        const summary = resultText(result);
        return this.#screen.dim(`<- ${name} ${summary}`);
      }
      case "ToolCallRetryScheduled": {
        const { name, error, due } = event;
        const wait = seconds(due - this.#options.now());
        return this.#screen.dim(`<- ${name} failed: ${oneLine(error)} Trying again in ${wait}.`);
      }
      case "SubAgentEvent":
        return this.#showBelow(event);
      case "HandedOff":
        this.#endLine();
        return this.#screen.dim(`${event.from} hands over to ${event.to}`);
      case "Paused":
      case "Resumed":
        return this.#showPause(event);
      case "DataChanged":
        return this.#screen.dim(`data ${oneLine(JSON.stringify(event.patches))}`);
      case "ApprovalRequested":
      case "Error":
        return this.#endLine();
      case "FinalAnswer":
        if (this.#streamed.trim() !== event.text.trim()) {
          this.#endLine();
          this.#write(event.text, "");
        }
        return this.#endLine();
    }
  }

  showResult({ trace }: RunResult<unknown>): void {
    this.#screen.clearStatus();
    this.#showTrace(trace);
  }

  showFailure({ trace }: AgentError, explanation: string): void {
    this.#endLine();
    this.#screen.line(explanation);
    this.#showTrace(trace);
  }

  showWaiting(questions: readonly OpenQuestion[], resume: string): void {
    this.#endLine();
    for (const { question, commands } of questions)
      this.#screen.line([questionText(question), ...commands.map((command) => `  ${command}`)].join("\n"));
    this.#screen.line(`Waiting for a decision. Use one of the commands above, then resume with\n  ${resume}`);
  }

  #showPause(event: EventOf<"Paused" | "Resumed">): void {
    this.#endLine();
    const reason = event.type === "Paused" ? event.reason : undefined;
    this.#screen.dim(`${event.type.toLowerCase()}${reason === undefined ? "" : `: ${oneLine(reason)}`}`);
  }

  /** The calls and questions of sub-agents; what they say is for their callers. */
  #showBelow({ path, event }: SubAgentEvent): void {
    const indent = "  ".repeat(path.length);
    if (event.type === "ApprovalRequested") return this.#endLine();
    if (event.type === "ToolCallStarted")
      this.#screen.dim(`${indent}-> ${event.name} ${oneLine(event.parameters)}`);
    if (event.type === "ToolCallFinished")
      this.#screen.dim(`${indent}<- ${event.name} ${event.result.isSuccess ? "done" : "failed"}`);
  }

  #showWarning(text: string): void {
    if (this.#warnings.has(text)) return;
    this.#warnings.add(text);
    this.#endLine();
    this.#screen.dim(`warning: ${text}`);
  }

  #showRetry({ due, reason, message }: EventOf<"LlmRetryScheduled">): void {
    this.#endLine();
    this.#messageId = "";
    const { now, retryReason } = this.#options;
    this.#screen.dim(`${retryReason(reason, message)} Trying again in ${seconds(due - now())}.`);
    this.#screen.showStatus("waiting to try again");
  }

  #showTrace(trace: Trace): void {
    if (this.#options.showsTrace) this.#screen.line(`\n${trace.toText()}`);
  }

  #write(text: string, messageId: string): void {
    if (messageId !== this.#messageId) {
      this.#endLine();
      this.#streamed = "";
    }
    this.#messageId = messageId;
    this.#streamed += text;
    this.#isLineOpen = !text.endsWith("\n");
    this.#screen.answer(text);
  }

  /** Ends the line of the answer, so that the next output begins on a new line. */
  #endLine(): void {
    if (this.#isLineOpen) this.#screen.answer("\n");
    else this.#screen.clearStatus();
    this.#screen.endAnswer();
    this.#isLineOpen = false;
  }
}

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent<unknown>, { readonly type: Type }>;

const seconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1_000))} s`;

const resultText = (result: ToolCallResult): string =>
  result.isSuccess ? resultSummary(result.content) : `failed: ${oneLine(failureText(result))}`;
