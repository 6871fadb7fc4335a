import { agentEventSchema, inputsIn, type AgentInput } from "@moora/agent-core-state-machine";
import {
  chunkEventSchema,
  inputEventSchema,
  type ChunkEvent,
  type InputEvent,
} from "@moora/agent-webui-protocol";

/** What a record says: its input, and the intents of what begins with it. */
export const inputsOf = ({ input }: InputEvent): readonly AgentInput[] =>
  inputsIn(agentEventSchema.parse(input));

export interface ReadEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Reads the events of a stream, one after the other, by the rules of server-sent events. */
export class EventReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";
  readonly inputs: InputEvent[] = [];
  readonly chunks: ChunkEvent[] = [];

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** The next event; undefined at the end. */
  async next(): Promise<ReadEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end < 0) {
        const { done, value } = await this.#reader.read();
        if (done) return undefined;
        this.#text += this.#decoder.decode(value, { stream: true });
        continue;
      }
      const lines = this.#text.slice(0, end).split("\n");
      this.#text = this.#text.slice(end + 2);
      const field = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data === undefined) continue;
      const event = { id: field("id"), event: field("event"), data };
      if (event.event === "input") this.inputs.push(inputEventSchema.parse(JSON.parse(data)));
      if (event.event === "chunk") this.chunks.push(chunkEventSchema.parse(JSON.parse(data)));
      return event;
    }
  }

  /** Reads until a record of this type, or of an input with which work of this type begins. */
  async until(type: string): Promise<InputEvent> {
    for (;;) {
      const before = this.inputs.length;
      if ((await this.next()) === undefined) throw new Error(`The stream ended before ${type}.`);
      const last = this.inputs.at(-1);
      if (this.inputs.length === before || last === undefined) continue;
      if (inputsOf(last).some((input) => input.type === type)) return last;
    }
  }

  /** Reads until a sub-agent asks. */
  async question(): Promise<Extract<ChunkEvent, { type: "question" }>> {
    for (;;) {
      const before = this.chunks.length;
      if ((await this.next()) === undefined) throw new Error("The stream ended before a question.");
      const last = this.chunks.at(-1);
      if (this.chunks.length > before && last?.type === "question") return last;
    }
  }

  /** Reads the whole stream. */
  async all(): Promise<readonly number[]> {
    while ((await this.next()) !== undefined);
    return this.seqs;
  }

  get seqs(): readonly number[] {
    return this.inputs.map(({ seq }) => seq);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}
