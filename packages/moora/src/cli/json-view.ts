import type { AgentError, AgentEvent, RunResult } from "@moora/agent";
import type { RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";

/** A run for programs: each event as one line of JSON, and the result as the last one. */
export class JsonView implements RunView {
  private readonly screen: Screen;
  private readonly showsTrace: boolean;

  constructor(screen: Screen, showsTrace: boolean) {
    this.screen = screen;
    this.showsTrace = showsTrace;
  }

  show(event: AgentEvent): void {
    this.screen.json(event.type === "Error" ? { type: event.type, error: errorFields(event.error) } : event);
  }

  answered({ answer, text, steps, usage, trace }: RunResult): void {
    this.screen.json({ type: "Result", ok: true, answer, text, steps, usage, ...this.traceOf(trace) });
  }

  failed(error: AgentError, words: string): void {
    const { usage, trace } = error;
    this.screen.json({
      type: "Result",
      ok: false,
      error: { ...errorFields(error), explanation: words },
      ...(usage !== undefined && { usage }),
      ...this.traceOf(trace),
    });
  }

  private traceOf(trace: RunResult["trace"]): { readonly trace?: RunResult["trace"]["entries"] } {
    return this.showsTrace ? { trace: trace.entries } : {};
  }
}

/** An error without the state that it carries: that would be the whole conversation. */
const errorFields = ({ kind, reason, message }: AgentError): object => ({ kind, reason, message });
