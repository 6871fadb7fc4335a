import type { AgentEvent, AgentInput, AgentState, LoggedInput } from "@moora/agent";
import type { ObjectSocket, ObjectState } from "./platform.ts";

/**
 * A message to a viewer, as JSON:
 * - `state`: the first message to a viewer without a position: the state after the record `seq`;
 * - `input`: a record of the session. `agentTransition` folds it into the state. Each once, in order;
 * - `event`: an event that no record shows, such as a part of the text that the model is writing. It is not repeated;
 * - `removed`: the session was removed. The last message: the object closes the socket.
 */
export type ViewerMessage =
  | { readonly type: "state"; readonly id: string; readonly seq: number; readonly state: AgentState }
  | { readonly type: "input"; readonly seq: number; readonly input: AgentInput }
  | { readonly type: "event"; readonly event: AgentEvent<unknown> }
  | { readonly type: "removed"; readonly id: string };

/** The part of a Durable Object that viewers use. */
type SocketHost = Pick<ObjectState, "acceptWebSocket" | "getWebSockets">;

/** Reads the records of the session after a position. */
export type ReadInputs = (afterSeq: number) => Promise<readonly LoggedInput[]>;

/** The events that no record shows. */
const streamed: ReadonlySet<AgentEvent["type"]> = new Set<AgentEvent["type"]>([
  "LlmToken",
  "LlmReasoning",
  "LlmToolCall",
  "LlmToolCallDelta",
  "LlmPartEnded",
  "LlmWarning",
  "ToolCallProgress",
  "SubAgentEvent",
]);

/**
 * The viewers of an object. Their sockets stay open while the object is not in memory: each one carries the number of the last
 * record that was sent to it.
 */
export class Viewers {
  readonly #state: SocketHost;
  readonly #read: ReadInputs;
  /** Messages are sent one after the other, since a gap is read from the log. */
  #sending: Promise<void> = Promise.resolve();

  constructor(state: SocketHost, read: ReadInputs) {
    this.#state = state;
    this.#read = read;
  }

  /** Adds a viewer of a session that does not exist yet. Its first message is the state after the first record. */
  await(socket: ObjectSocket): void {
    this.#accept(socket, "none");
  }

  /** Adds a viewer that has the records up to `afterSeq`, or receives the state after them first. */
  async add(socket: ObjectSocket, afterSeq: number, first?: ViewerMessage): Promise<void> {
    this.#accept(socket, afterSeq);
    if (first !== undefined) send(socket, first);
    await this.#queue(() => this.#catchUp(socket));
  }

  /** Sends a record to all viewers, with those that they miss. `first` is the message for those that have no state yet. */
  async input({ seq, input }: LoggedInput, first: ViewerMessage): Promise<void> {
    await this.#queue(async () => {
      for (const socket of this.#state.getWebSockets()) {
        const sent = sentTo(socket);
        if (sent === "none") send(socket, first);
        else if (sent === seq - 1) send(socket, { type: "input", seq, input });
        else if (sent < seq) await this.#catchUp(socket);
      }
    });
  }

  async event(event: AgentEvent<unknown>): Promise<void> {
    if (!streamed.has(event.type)) return;
    await this.#queue(async () => {
      for (const socket of this.#state.getWebSockets()) send(socket, { type: "event", event });
    });
  }

  /** Sends all viewers their last message, and closes their sockets. */
  close(last: ViewerMessage): void {
    for (const socket of this.#state.getWebSockets()) {
      // A connection can end seconds after the close of its socket, so that the close alone would be noticed late.
      send(socket, last);
      closeSocket(socket, 1000, "The session was removed.");
    }
  }

  #accept(socket: ObjectSocket, seq: number | "none"): void {
    socket.serializeAttachment({ seq });
    this.#state.acceptWebSocket(socket);
  }

  /** Sends a viewer the records that it misses now: work that waited before may have sent some. */
  async #catchUp(socket: ObjectSocket): Promise<void> {
    const sent = sentTo(socket);
    if (sent === "none") return;
    for (const { seq, input } of await this.#read(sent)) send(socket, { type: "input", seq, input });
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#sending.then(work);
    this.#sending = done.catch(() => undefined);
    return done;
  }
}

/** The last record that was sent to a viewer; "none" if it has no state yet. */
function sentTo(socket: ObjectSocket): number | "none" {
  const attachment: unknown = socket.deserializeAttachment();
  const isPosition = typeof attachment === "object" && attachment !== null && "seq" in attachment;
  return isPosition && typeof attachment.seq === "number" ? attachment.seq : "none";
}

function send(socket: ObjectSocket, message: ViewerMessage): void {
  try {
    socket.send(JSON.stringify(message));
    if ("seq" in message) socket.serializeAttachment({ seq: message.seq });
  } catch {
    // It has been closed meanwhile. Its reader connects again, after the last record that it has.
  }
}

/** Closes a socket that may be closed already. */
export function closeSocket(socket: ObjectSocket, code: number, reason?: string): void {
  try {
    socket.close(code, reason);
  } catch {
    // The platform has closed it already.
  }
}
