import type { AgentInput } from "@moora/agent";
import type { ChunkEvent } from "@moora/agent-webui-protocol";

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
export const inputFrame = (seq: number, input: AgentInput): string =>
  `id: ${seq}\nevent: input\ndata: {"seq":${seq},"input":${inputText(input)}}\n\n`;

/** The event of a chunk, without an id: it cannot be resumed after. */
export const chunkFrame = (chunk: ChunkEvent): string => `event: chunk\ndata: ${JSON.stringify(chunk)}\n\n`;
