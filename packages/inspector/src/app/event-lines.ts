/** A server-sent event. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

/** The events of a response with server-sent events. */
export async function* readEvents(response: Response): AsyncGenerator<StreamEvent> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = blockToEvent(block);
      if (event !== undefined) yield event;
    }
  }
}

/** The event of a block of lines; undefined for a comment. */
export function blockToEvent(block: string): StreamEvent | undefined {
  let type = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) type = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length === 0 ? undefined : { type, data: data.join("\n") };
}
