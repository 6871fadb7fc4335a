import type { AgentError, AgentEvent, RunResult, Trace } from "@moora/agent";
import { oneLine, summaryOf } from "./one-line.ts";
import type { RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";

/** A run for people: the answer as it is written, tools as they start and finish, and what is waited for. */
export class TextView implements RunView {
  private readonly screen: Screen;
  private readonly showsTrace: boolean;
  private readonly now: () => number;
  /** The message that is being written, and what of it is on the screen. */
  private messageId = "";
  private streamed = "";
  private isLineOpen = false;

  constructor(screen: Screen, showsTrace: boolean, now: () => number) {
    this.screen = screen;
    this.showsTrace = showsTrace;
    this.now = now;
  }

  show(event: AgentEvent): void {
    switch (event.type) {
      case "StateStarted":
        if (event.state === "Planning") this.screen.wait("thinking");
        if (event.state === "Reflecting") this.screen.wait("summing up");
        return;
      case "LlmReasoning":
        return this.screen.wait("thinking");
      case "LlmToken":
        return this.write(event.text, event.messageId);
      case "LlmToolCall":
        this.endLine();
        return this.screen.wait(`asking for ${event.name}`);
      case "LlmWarning":
        this.endLine();
        return this.screen.aside(`warning: ${event.text}`);
      case "LlmRetryScheduled":
        this.endLine();
        this.messageId = "";
        return this.screen.aside(
          `The model did not answer; trying again in ${seconds(event.due - this.now())}.`,
        );
      case "ToolCallStarted":
        this.endLine();
        this.screen.aside(`-> ${event.name} ${oneLine(event.parameters)}`);
        return this.screen.wait(event.name);
      case "ToolCallProgress":
        return this.screen.wait(oneLine(event.text));
      case "ToolCallFinished": {
        const { name, result } = event;
        const said = result.isSuccess ? summaryOf(result.content) : `failed: ${oneLine(result.error)}`;
        return this.screen.aside(`<- ${name} ${said}`);
      }
      case "ApprovalRequested":
        return this.endLine();
      case "FinalAnswer":
        if (this.streamed.trim() !== event.text.trim()) {
          this.endLine();
          this.write(event.text, "");
        }
        return this.endLine();
      case "Error":
        return this.endLine();
    }
  }

  answered({ trace }: RunResult): void {
    this.screen.wipe();
    this.showTrace(trace);
  }

  failed({ trace }: AgentError, words: string): void {
    this.endLine();
    this.screen.note(words);
    this.showTrace(trace);
  }

  private showTrace(trace: Trace): void {
    if (this.showsTrace) this.screen.note(`\n${trace.print()}`);
  }

  private write(text: string, messageId: string): void {
    if (messageId !== this.messageId) this.streamed = "";
    this.messageId = messageId;
    this.streamed += text;
    this.isLineOpen = !text.endsWith("\n");
    this.screen.answer(text);
  }

  /** What was streamed so far stands alone in its lines. */
  private endLine(): void {
    if (this.isLineOpen) this.screen.answer("\n");
    else this.screen.wipe();
    this.isLineOpen = false;
  }
}

const seconds = (ms: number): string => `${Math.max(1, Math.ceil(ms / 1_000))} s`;
