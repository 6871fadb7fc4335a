import { canonicalJson } from "@moora/agent";

/** The state of a session at a record, as canonical JSON. */
export async function stateOf(url: string, id: string, seq: number): Promise<string> {
  const response = await fetch(`${url}/sessions/${id}?at=${seq}`);
  const { state } = (await response.json()) as { state: unknown };
  return canonicalJson(state);
}

/** The first inputs of a session, at least `count`. */
export async function inputsOf(
  url: string,
  id: string,
  count: number,
): Promise<readonly { readonly type: string }[]> {
  const ended = new AbortController();
  const response = await fetch(`${url}/sessions/${id}/events`, { signal: ended.signal });
  const inputs: { readonly type: string }[] = [];
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const [, data] = /^event: input\ndata: (.*)$/m.exec(frame) ?? [];
      if (data !== undefined) inputs.push((JSON.parse(data) as { input: { type: string } }).input);
    }
    if (inputs.length >= count) break;
  }
  ended.abort();
  return inputs;
}
