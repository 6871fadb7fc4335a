/** A complete adapter for a small API, and its conformance test. */
import { noUsage, type LlmCaller, type LlmOutcome, type LlmPart, type LlmUsage } from "@moora/llm";
import {
  OutcomeBuilder,
  callProvider,
  fileToFallbackText,
  normalizeRequest,
  unknownSettingWarnings,
  type AnswerReader,
  type ConnectionOptions,
  type Protocol,
  type ReaderContext,
} from "@moora/llm/adapter";
import {
  calledToolName,
  llmConformance,
  openHarness,
  serverSentEvent,
  type ServerDialect,
} from "@moora/llm/testing";

// The API: POST /generate returns a stream of these events.
type Event =
  | { type: "text"; text: string }
  | { type: "call"; id: string; name: string; arguments: string }
  | { type: "end"; model: string; reason: "stop" | "length"; usage?: LlmUsage }
  | { type: "error"; error: { code: string; message: string } };

class ErrorEvent extends Error {
  readonly body: { readonly error: { readonly code: string; readonly message: string } };

  constructor({ error }: Extract<Event, { type: "error" }>) {
    super(error.message);
    this.body = { error };
  }
}

async function* eventsOf(response: Response): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const bytes of response.body ?? []) {
    const lines = (buffer + decoder.decode(bytes, { stream: true })).split("\n");
    buffer = lines.pop() ?? "";
    for (const line of lines.filter((text) => text.startsWith("data: "))) {
      const event: Event = JSON.parse(line.slice("data: ".length));
      if (event.type === "error") throw new ErrorEvent(event);
      yield event;
    }
  }
}

/** Where the usage of the API has its counts. */
const usageFields = {
  inputTokens: "inputTokens",
  cachedInputTokens: "cachedInputTokens",
  cacheWriteTokens: "cacheWriteTokens",
  outputTokens: "outputTokens",
  reasoningTokens: "reasoningTokens",
};

class Reader implements AnswerReader<object, Event> {
  readonly #context: ReaderContext;
  readonly #builder: OutcomeBuilder;
  readonly #calls: LlmPart[] = [];
  #end: Extract<Event, { type: "end" }> | undefined;

  constructor(context: ReaderContext) {
    this.#context = context;
    this.#builder = new OutcomeBuilder(context, usageFields);
  }

  add(event: Event): boolean {
    const { feed, normalized } = this.#context;
    if (event.type === "text") {
      this.#builder.text += event.text;
      feed.text(event.text);
    } else if (event.type === "call") {
      const name = normalized.nameOf(event.name);
      this.#calls.push({ type: "tool-call", id: event.id, name, arguments: event.arguments || "{}" });
      feed.toolCall(name, event.id, event.id);
      feed.toolArguments(event.arguments, event.id);
      feed.endPart(event.id);
    } else if (event.type === "end") this.#end = event;
    return this.#end !== undefined;
  }

  partial(): string {
    return this.#builder.text;
  }

  usage(): LlmUsage | undefined {
    return this.#builder.usage();
  }

  outcome(): LlmOutcome {
    const { model = "", reason = "stop", usage } = this.#end ?? {};
    this.#builder.model = model;
    this.#builder.report(usage);
    const text: LlmPart = { type: "text", text: this.#builder.text.toWellFormed() };
    return this.#builder.end({ parts: [text, ...this.#calls], raw: reason });
  }
}

const protocolAt = (baseURL: string): Protocol<object, Event> => ({
  provider: "tiny",
  api: "generate",
  baseURL,
  keyName: "TINY_API_KEY",
  sendsIdempotencyKey: true,
  requestToBody(request, context) {
    const warnings = unknownSettingWarnings(request.settings);
    const normalized = normalizeRequest(request, context);
    const { model, system, tools, toolChoice, answerSchema, settings } = normalized;
    const messages = normalized.messages.map((message) =>
      message.role === "user"
        ? {
            role: "user",
            text: message.content
              .map((piece) =>
                piece.type === "text"
                  ? piece.text
                  : fileToFallbackText(piece.file, (warning) => warnings.push(warning)),
              )
              .join("\n"),
          }
        : message,
    );
    const body = {
      model,
      system,
      messages,
      tools,
      toolChoice,
      answerSchema,
      limit: settings.maxOutputTokens,
    };
    return { body, normalized, warnings };
  },
  async open(body, { apiKey, headers, fetch, signal }) {
    const response = await fetch(`${baseURL}/generate`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
    return eventsOf(response);
  },
  reader: (context) => new Reader(context),
  errorCodes: [["overloaded", /^busy$/]],
  errorToBody: (error) => (error instanceof ErrorEvent ? error.body : undefined),
});

const tiny = (options: ConnectionOptions): LlmCaller => ({
  name: "tiny",
  call: (request, callOptions) =>
    callProvider(protocolAt(options.baseURL ?? "https://tiny.example"), options, request, callOptions),
});

// The test: the API from the side of a server.
const codes: Readonly<Record<string, string>> = {
  auth: "invalid_api_key",
  billing: "insufficient_quota",
  "rate-limit": "rate_limit_exceeded",
  overloaded: "busy",
  server: "server_error",
  "context-length": "context_length_exceeded",
};
const dialect: ServerDialect = {
  path: "/generate",
  requestProblem: ({ model, messages }) =>
    typeof model === "string" && Array.isArray(messages) ? undefined : "model and messages are required",
  events: ({ text = [], calls = [], finish = "stop", usage = noUsage }, body) => [
    ...text.map((chunk) => ({ text: serverSentEvent(undefined, { type: "text", text: chunk }) })),
    ...calls.map((call, index) => ({
      text: serverSentEvent(undefined, {
        type: "call",
        id: call.id ?? `call_${index}`,
        name: calledToolName(call, body, (tool) => tool["name"]),
        arguments: call.arguments.join(""),
      }),
    })),
    {
      text: serverSentEvent(undefined, { type: "end", model: body["model"], reason: finish, usage }),
      isLast: true,
    },
  ],
  errorBody: (error, message) => ({ error: { code: codes[error] ?? "invalid_request", message } }),
  errorEvent: (error) =>
    serverSentEvent(undefined, { type: "error", ...dialect.errorBody(error, `This is ${error}.`) }),
};

const cases = llmConformance({
  features: ["http", "cache-writes", "loose-ids"],
  keyName: "TINY_API_KEY",
  open: (setup) => openHarness(dialect, setup, (baseURL, apiKey) => tiny({ baseURL, apiKey })),
});
for (const { name, run } of cases) {
  await run();
  console.log("ok", name);
}
