import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** What the provider does with one request. */
export type ProviderStep =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly calls: readonly (readonly [name: string, input: object])[] }
  /** Streams a text and then nothing more. */
  | { readonly type: "hang"; readonly text: string }
  | { readonly type: "status"; readonly status: number; readonly body: (request: IncomingMessage) => object };

export const says = (text: string): ProviderStep => ({ type: "text", text });
export const calls = (...list: readonly (readonly [name: string, input: object])[]): ProviderStep => ({
  type: "call",
  calls: list,
});
export const hangs = (text: string): ProviderStep => ({ type: "hang", text });
export const refuses = (
  status: number,
  body: object | ((request: IncomingMessage) => object),
): ProviderStep => ({
  type: "status",
  status,
  body: typeof body === "function" ? (request) => body(request) as object : () => body,
});

/** A server that speaks Chat Completions, and does at each request the next step of its script. */
export class FakeProvider implements AsyncDisposable {
  readonly bodies: unknown[] = [];
  readonly #script: readonly ProviderStep[];
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  private constructor(script: readonly ProviderStep[]) {
    this.#script = script;
  }

  static async start(...script: readonly ProviderStep[]): Promise<FakeProvider> {
    const provider = new FakeProvider(script);
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve));
    return provider;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/v1`;
  }

  /** The options of a command that let it use this provider. */
  get options(): readonly string[] {
    return ["--provider", "local", "--model", "fake", "--base-url", this.url];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const step = this.#script[this.bodies.length] ?? says("The script is over.");
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    this.bodies.push(JSON.parse(Buffer.concat(chunks).toString()));
    if (step.type === "status") {
      response
        .writeHead(step.status, { "content-type": "application/json" })
        .end(JSON.stringify(step.body(request)));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const delta of deltasOf(step)) send(response, { delta, finish_reason: null });
    if (step.type === "hang") return;
    const finish_reason = step.type === "call" ? "tool_calls" : "stop";
    send(
      response,
      { delta: {}, finish_reason },
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    );
    response.end("data: [DONE]\n\n");
  }
}

function deltasOf(step: Exclude<ProviderStep, { type: "status" }>): readonly object[] {
  if (step.type !== "call")
    return step.text.split(/(?<=\s)/).map((content) => ({ role: "assistant", content }));
  const tool_calls = step.calls.map(([name, input], index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  return [{ role: "assistant", tool_calls }];
}

function send(response: ServerResponse, choice: object, usage?: object): void {
  const chunk = {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "fake",
    choices: [{ index: 0, ...choice }],
    ...(usage && { usage }),
  };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}
