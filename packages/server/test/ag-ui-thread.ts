import type { HttpAgent } from "@ag-ui/client";
import {
  askHuman,
  defineTool,
  readSession,
  toolAsks,
  type Agent,
  type AgentConfigChange,
} from "@moora/agent";
import { answers, callsTools, type MockScript } from "@moora/llm/testing";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import type { SceneOptions } from "@moora/testbed/server/scene";
import { pay } from "./chat-scene.ts";

/** An answer to an interrupt, as a client of AG-UI sends it. */
export type Given =
  | { readonly status: "cancelled" }
  | { readonly status: "resolved"; readonly payload: Readonly<Record<string, unknown>> };

const resolved = (payload: Readonly<Record<string, unknown>>): Given => ({ status: "resolved", payload });
export const approval: Given = resolved({ approved: true });
export const rejection: Given = resolved({ approved: false });
export const cancellation: Given = { status: "cancelled" };
export const changed = (cents: number): Given => resolved({ approved: true, editedArgs: { cents } });
export const refusal = (reason: string): Given => resolved({ approved: false, reason });
export const reply = (answer: string): Given => resolved({ answer });

/** The model calls a tool that asks: before it pays, a person, or in its middle. */
export const paying = callsTools([{ name: "pay" }]);
export const asking = callsTools([{ name: "ask_human", arguments: { question: "Which?" } }]);
export const seating = callsTools([{ name: "seat" }]);

const seat = defineTool({
  name: "seat",
  description: "Books a seat.",
  input: { type: "object" },
  execute: (_, { asked }) =>
    asked === undefined ? toolAsks({ question: "Which seat?" }) : JSON.stringify(asked.reply),
});

interface ThreadOptions extends SceneOptions {
  readonly script?: MockScript;
  readonly config?: AgentConfigChange;
  /** An agent of the test's own, in place of one that pays. */
  readonly agent?: Agent;
}

/** A thread of an agent that pays, whose message "Pay" led to interrupts. Two windows show them. */
export class Thread implements AsyncDisposable {
  readonly paid: unknown[] = [];
  readonly scene: AgUiScene;
  readonly first: HttpAgent;
  readonly second: HttpAgent;
  /** The ids of the interrupts of the first run. */
  ids: readonly string[] = [];

  constructor({ script = [paying, answers("Done.")], config = {}, agent, ...options }: ThreadOptions) {
    const payer = agentOf(script, { tools: [pay(this.paid), askHuman(), seat], config });
    this.scene = new AgUiScene(agent ?? payer, options);
    this.first = this.scene.client();
    this.second = this.scene.client();
  }

  static async asked(options: ThreadOptions = {}): Promise<Thread> {
    const thread = new Thread(options);
    await say(thread.first, "Pay", "user_1");
    thread.ids = thread.scene.interrupts.map(({ id }) => id);
    thread.second.setMessages([...thread.first.messages]);
    return thread;
  }

  /** Answers the first interrupt in a window, more than once for several answers, and adds a new message. */
  async answer(
    window: HttpAgent,
    given: Given | readonly Given[],
    message?: string,
    base?: object,
  ): Promise<string> {
    const [interruptId = ""] = this.ids;
    return await this.resume(
      window,
      [given].flat().map((answer) => ({ interruptId, ...answer })),
      message,
      base,
    );
  }

  /** Sends answers, and resolves with how the run has ended: a type of event, or the code of its error. */
  async resume(
    window: HttpAgent,
    answersGiven: readonly (Given & { readonly interruptId: string })[],
    message?: string,
    base?: object,
  ): Promise<string> {
    if (message !== undefined) window.addMessage({ id: message, role: "user", content: message });
    const forwardedProps = base === undefined ? {} : { forwardedProps: { "moora.base-state": base } };
    await window.runAgent({ resume: [...answersGiven], ...forwardedProps }).catch(() => undefined);
    return this.end;
  }

  /** How the last run has ended. */
  get end(): string {
    const { type, code } = this.scene.events.at(-1) as unknown as Record<string, string>;
    return code ?? type ?? "";
  }

  /** The last event as text. */
  get lastEvent(): string {
    return JSON.stringify(this.scene.events.at(-1));
  }

  async cancel(): Promise<void> {
    const [session = ""] = await this.scene.sessionIds();
    await this.scene.scene.as("ada").post(`/sessions/${encodeURIComponent(session)}/cancel`);
  }

  /** What clients have posted: the texts of messages, the changes of the data, and the decisions. */
  async posts(): Promise<readonly string[]> {
    const [session = ""] = await this.scene.sessionIds();
    const { inputs } = await readSession(this.scene.scene.log, session);
    return inputs.flatMap((input) => {
      if (input.type === "user-message-received") return [input.content];
      if (input.type === "data-changed") return ["data"];
      return input.type === "tool-call-decided" ? [input.decision.type] : [];
    });
  }

  /** Sends an answer to an interrupt as a client could that checks nothing. */
  async post(given: object, interruptId = this.ids[0]): Promise<{ status: number; text: string }> {
    const resume = [{ interruptId, ...given }];
    const body = JSON.stringify({ threadId: "thread-1", runId: crypto.randomUUID(), messages: [], resume });
    const headers = { "content-type": "application/json" };
    const response = await this.scene.scene
      .as("ada")
      .send("/agents/helper/ag-ui", { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scene[Symbol.asyncDispose]();
  }
}

/** The roles of the messages that a window shows. */
export const roles = ({ messages }: HttpAgent): readonly string[] => messages.map(({ role }) => role);

/** The texts that a window shows, without those of tools. */
export const textsOf = ({ messages }: HttpAgent): readonly unknown[] =>
  messages.flatMap(({ role, content }) =>
    role === "tool" || content === undefined || content === "" ? [] : [content],
  );
