/// <reference lib="dom" />
/** A page with the official client of AG-UI, which verifies the events of each run, opened as `docs/ag-ui.md` says. */
import type { BaseEvent, HttpAgent, RunAgentParameters } from "@ag-ui/client";

/** What the client shows. JSON. */
export interface ThreadView {
  readonly messages: readonly { readonly role: string; readonly content: string; readonly calls: unknown }[];
  readonly state: unknown;
  /** The events of the newest run. */
  readonly events: readonly BaseEvent[];
  /** Why runs have failed. */
  readonly failures: readonly string[];
  readonly isRunning: boolean;
}

/** The function of the documentation. */
export interface Documented {
  readonly openThread: (
    server: string,
    agent: string,
    threadId: string,
  ) => { readonly client: HttpAgent; readonly cancel: () => Promise<void> };
}

/** A conversation with an agent. */
class Thread {
  readonly #client: HttpAgent;
  #events: BaseEvent[] = [];
  readonly #failures: string[] = [];
  #isRunning = false;

  /** Cancels what the agent does. */
  readonly cancel: () => Promise<void>;

  constructor({ client, cancel }: ReturnType<Documented["openThread"]>) {
    this.#client = client;
    this.cancel = cancel;
    this.#client.subscribe({
      onEvent: ({ event }) => void this.#events.push(event),
      onRunFailed: ({ error }) => void this.#failures.push(error.message),
    });
  }

  /** Sends a message, and resolves at the end of the run. */
  async say(content: string, id: string): Promise<void> {
    this.#client.addMessage({ id, role: "user", content });
    await this.run({});
  }

  async run(parameters: RunAgentParameters): Promise<void> {
    this.#events = [];
    this.#isRunning = true;
    // A run that fails is reported to `onRunFailed` as well.
    await this.#client.runAgent(parameters).catch(() => undefined);
    this.#isRunning = false;
  }

  /** Changes the state of the page, as a form does. It is posted with the next run. */
  change(state: unknown): void {
    this.#client.setState(state);
  }

  abort(): void {
    this.#client.abortRun();
  }

  view(): ThreadView {
    const { messages, state } = this.#client;
    return {
      messages: messages.map((message) => ({
        role: message.role,
        content: "content" in message && typeof message.content === "string" ? message.content : "",
        calls: "toolCalls" in message ? (message.toolCalls ?? []).map((call) => call.function) : [],
      })),
      state,
      events: this.#events,
      failures: this.#failures,
      isRunning: this.#isRunning,
    };
  }
}

declare global {
  var openThread: (server: string, threadId: string) => void;
  /** The newest thread that was opened. */
  var thread: Thread;
}

/** Makes a page that opens threads of the agent `helper` with this function. The server has another origin than the page. */
export function pageWith({ openThread }: Documented): void {
  globalThis.openThread = (server, threadId) => {
    globalThis.thread = new Thread(openThread(server, "helper", threadId));
  };
}
