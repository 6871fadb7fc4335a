import type { AgentInput } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";

/** One event of a stream. `seq` is the record of a durable event; chunks have none. */
export interface StreamFrame {
  readonly seq: number | undefined;
  readonly text: string;
}

/** The JSON text of inputs: every stream of a session sends the same. */
const texts = new WeakMap<AgentInput, string>();

function inputText(input: AgentInput): string {
  const known = texts.get(input);
  if (known !== undefined) return known;
  const text = JSON.stringify(input);
  texts.set(input, text);
  return text;
}

// JSON text contains no line break, so that no content can end an event or begin another.

/** The event of a record: its sequence number is the id of the event. */
export const inputFrame = (seq: number, input: AgentInput): StreamFrame => ({
  seq,
  text: `id: ${seq}\nevent: input\ndata: {"seq":${seq},"input":${inputText(input)}}\n\n`,
});

/** The event of a chunk, without an id: it cannot be resumed after. */
export const chunkFrame = (chunk: ChunkEvent): StreamFrame => ({
  seq: undefined,
  text: `event: chunk\ndata: ${JSON.stringify(chunk)}\n\n`,
});

/** The beginning of a stream: after how many milliseconds a browser connects again. */
export const retryText = "retry: 1000\n\n";

export const keepAliveText = ": keep-alive\n\n";
