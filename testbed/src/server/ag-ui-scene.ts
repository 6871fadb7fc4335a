import { HttpAgent, type BaseEvent } from "@ag-ui/client";
import type { Agent, AgentState } from "@moora/agent";
import { Scene } from "./scene.ts";

/** An official client of AG-UI, with its verification of events, at a server. */
export class AgUiScene implements AsyncDisposable {
  readonly scene: Scene;
  readonly events: BaseEvent[] = [];
  readonly failures: string[] = [];

  constructor(agent: Agent<unknown>, options: ConstructorParameters<typeof Scene>[1] = {}) {
    this.scene = new Scene(agent, options);
  }

  client(threadId = "thread-1", user = "ada"): HttpAgent {
    const client = new HttpAgent({
      url: "http://localhost/agents/helper/ag-ui",
      threadId,
      headers: { authorization: `Bearer ${user}` },
      fetch: (input, init) => this.scene.server.fetch(new Request(input, init)),
    });
    client.subscribe({
      onEvent: ({ event }) => void this.events.push(event),
      onRunFailed: ({ error }) => void this.failures.push(error.message),
    });
    return client;
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  get outcome(): Record<string, unknown> {
    return (this.events.at(-1) as unknown as { outcome: Record<string, unknown> }).outcome;
  }

  get interrupts(): readonly { id: string; reason: string; toolCallId: string; responseSchema: object }[] {
    return this.outcome["interrupts"] as never;
  }

  async sessionIds(): Promise<readonly string[]> {
    const { body } = await this.scene.as("ada").get("/sessions");
    return (body as { sessions: readonly { id: string }[] }).sessions.map(({ id }) => id);
  }

  async stateOf(id: string): Promise<AgentState> {
    const { body } = await this.scene.as("ada").get(`/sessions/${encodeURIComponent(id)}`);
    return (body as { state: AgentState }).state;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scene[Symbol.asyncDispose]();
  }
}

/** Sends a message, and resolves at the end of the run. */
export const say = (client: HttpAgent, content: string, id = `user_${client.messages.length}`) => {
  client.addMessage({ id, role: "user", content });
  return client.runAgent();
};
