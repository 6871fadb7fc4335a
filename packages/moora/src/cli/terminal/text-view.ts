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
import { pauseText, type RunView, type Waiting } from "./run-view.ts";
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
    if (event.type === "LlmToken") {
      if (this.#screen.isStreaming) this.#write(event.text, event.messageId);
      return;
    }
    if (event.type === "FinalAnswer" && this.#streamed.trim() !== event.text.trim()) {
      this.#endLine();
      this.#write(event.text, "");
    }
    // The attempt after it writes a message of its own.
    if (event.type === "LlmRetryScheduled") this.#messageId = "";
    const { endsLine = false, line, status } = readingOf(event, this.#options);
    const isKnown = event.type === "LlmWarning" && this.#warnings.has(event.text);
    if (event.type === "LlmWarning") this.#warnings.add(event.text);
    if (endsLine && !isKnown) this.#endLine();
    if (line !== undefined && !isKnown) this.#screen.dim(line);
    if (status !== undefined) this.#screen.showStatus(status);
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

  showWaiting({ questions, pause, resume }: Waiting): void {
    this.#endLine();
    for (const { question, commands } of questions)
      this.#screen.line([questionText(question), ...commands.map((command) => `  ${command}`)].join("\n"));
    if (pause !== undefined) this.#screen.line(pauseText(pause));
    const what =
      questions.length === 0 ? "to be resumed. Use the command" : "for a decision. Use one of the commands";
    this.#screen.line(`Waiting ${what} above, then resume with\n  ${resume}`);
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

/** How an event reads. */
interface Reading {
  /** Whether the line of the answer ends with it. */
  readonly endsLine?: boolean;
  /** The line about it. */
  readonly line?: string;
  /** What the run waits for from then on. */
  readonly status?: string | undefined;
}

function readingOf(event: AgentEvent<unknown>, { now, retryReason }: TextViewOptions): Reading {
  switch (event.type) {
    case "StateStarted":
      return { status: statusOfState[event.state] };
    case "LlmReasoning":
      return { status: "thinking" };
    case "LlmToolCall":
      return { endsLine: true, status: `preparing a call of ${event.name}` };
    case "LlmWarning":
      return { endsLine: true, line: `warning: ${event.text}` };
    case "LlmRetryScheduled": {
      const line = `${retryReason(event.reason, event.message)} Trying again in ${seconds(event.due - now())}.`;
      return { endsLine: true, line, status: "waiting to try again" };
    }
    case "ToolCallStarted":
      return { endsLine: true, line: `-> ${event.name} ${oneLine(event.parameters)}`, status: event.name };
    case "ToolCallProgress":
      return { status: oneLine(event.text) };
    case "ToolCallFinished":
      return { line: `<- ${event.name} ${resultText(event.result)}` };
    case "ToolCallRetryScheduled": {
      const wait = seconds(event.due - now());
      return { line: `<- ${event.name} failed: ${oneLine(event.error)} Trying again in ${wait}.` };
    }
    case "SubAgentEvent":
      return readingBelow(event);
    case "HandedOff":
      return { endsLine: true, line: `${event.from} hands over to ${event.to}` };
    case "Paused":
      return {
        endsLine: true,
        line: `paused${event.reason === undefined ? "" : `: ${oneLine(event.reason)}`}`,
      };
    case "Resumed":
      return { endsLine: true, line: "resumed" };
    case "DataChanged":
      return { line: `data ${oneLine(JSON.stringify(event.patches))}` };
    case "LlmAttemptEnded":
    case "ApprovalRequested":
    case "Error":
    case "FinalAnswer":
      return { endsLine: true };
    case "LlmToken":
    case "LlmToolCallDelta":
    case "LlmPartEnded":
      return {};
  }
}

const statusOfState: Readonly<Record<string, string>> = { Planning: "thinking", Reflecting: "summarizing" };

/** The calls and questions of sub-agents; what they say is for their callers. */
function readingBelow({ path, event }: SubAgentEvent): Reading {
  const indent = "  ".repeat(path.length);
  if (event.type === "ApprovalRequested") return { endsLine: true };
  if (event.type === "ToolCallStarted")
    return { line: `${indent}-> ${event.name} ${oneLine(event.parameters)}` };
  if (event.type !== "ToolCallFinished") return {};
  return { line: `${indent}<- ${event.name} ${event.result.isSuccess ? "done" : "failed"}` };
}

const seconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1_000))} s`;

const resultText = (result: ToolCallResult): string =>
  result.isSuccess ? resultSummary(result.content) : `failed: ${oneLine(failureText(result))}`;
