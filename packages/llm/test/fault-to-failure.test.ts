import { describe, expect, it } from "vitest";
import type { LlmFailure } from "@moora/llm";
import { faultToFailure, type FailureContext, type StreamFault } from "@moora/llm/adapter";

const context: FailureContext = {
  host: "api.test",
  secrets: ["key-canary"],
  errorCodes: [["billing", /^out_of_luck$/]],
  errorToBody: (error) =>
    error instanceof Error && error.message === "event" ? { error: { type: "out_of_luck" } } : undefined,
};

const failureOf = (fault: StreamFault): LlmFailure => faultToFailure(fault, context);
const response = (status: number, body: unknown, headers: Record<string, string> = {}): LlmFailure =>
  failureOf({
    type: "response",
    status,
    headers: new Headers({ "content-type": "application/json", ...headers }),
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const broken = (error: unknown, known: { sent?: boolean; answered?: boolean } = {}): LlmFailure =>
  failureOf({ type: "broken", error, sent: true, answered: false, ...known });

/** An error of `fetch`: its cause has the code. */
const transportError = (code: string): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(`${code} happened`), { code }) });

describe("an error of the transport", () => {
  it.each([
    ["ECONNREFUSED", "connection", true],
    ["ECONNRESET", "connection", true],
    ["ENOTFOUND", "connection", true],
    ["EAI_AGAIN", "connection", true],
    ["ETIMEDOUT", "timeout", true],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout", true],
    ["CERT_HAS_EXPIRED", "connection", false],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "connection", false],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "connection", false],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "connection", false],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "connection", false],
  ])("%s is %s, retryable: %s", (code, kind, retryable) => {
    expect(broken(transportError(code))).toMatchObject({ kind, retryable, raw: code });
  });

  it("is an interruption after the answer has started, and an invalid request before the request is sent", () => {
    expect(broken(new TypeError("terminated"), { answered: true })).toMatchObject({
      kind: "interrupted",
      retryable: true,
    });
    expect(broken(new TypeError("Invalid URL"), { sent: false })).toMatchObject({
      kind: "invalid-request",
      retryable: false,
      message: "Invalid request: Invalid URL",
    });
  });

  it("is a timeout by its name", () => {
    expect(broken(new DOMException("too slow", "TimeoutError"))).toMatchObject({
      kind: "timeout",
      raw: "TimeoutError",
    });
  });

  it("of a name with several addresses has the error of each of them", () => {
    const refused = ["::1", "127.0.0.1"].map((address) => new Error(`connect ECONNREFUSED ${address}:9`));
    const both = Object.assign(new AggregateError(refused, ""), { code: "ECONNREFUSED" });
    expect(broken(new TypeError("fetch failed", { cause: both }))).toMatchObject({
      raw: "ECONNREFUSED",
      message: "No response from api.test: connect ECONNREFUSED ::1:9, connect ECONNREFUSED 127.0.0.1:9",
    });
  });

  it("may be any value, also an error with circular causes", () => {
    const circle = new Error("round");
    circle.cause = circle;
    expect(broken(circle)).toMatchObject({ kind: "connection", message: "No response from api.test: round" });
    expect(broken("text")).toMatchObject({ kind: "connection", message: "No response from api.test: text" });
  });
});

describe("an error that the provider reports (F07)", () => {
  it.each([
    [
      "OpenAI",
      429,
      { error: { message: "m", type: "insufficient_quota", code: "insufficient_quota" } },
      "billing",
    ],
    ["Anthropic", 529, { type: "error", error: { type: "overloaded_error", message: "m" } }, "overloaded"],
    [
      "a flat one",
      400,
      { object: "error", message: "m", type: "invalid_request_error", code: 400 },
      "invalid-request",
    ],
    ["a sentence", 404, { error: "model not found" }, "invalid-request"],
    ["a detail", 422, { detail: [{ loc: ["body"], msg: "m" }] }, "invalid-request"],
    ["a list", 503, [{ error: { code: 503, message: "m", status: "UNAVAILABLE" } }], "overloaded"],
    ["a status in the body", 200, { error: { code: 502, message: "m" } }, "server"],
    [
      "an account without credit",
      429,
      { error: { message: "m", type: "exceeded_current_quota_error" } },
      "billing",
    ],
    ["a quota of tokens", 429, { error: { message: "m", code: "token_quota_exceeded" } }, "rate-limit"],
    ["a quota of requests", 429, { error: { message: "m", code: "request_quota_exceeded" } }, "rate-limit"],
    ["a number for no credit", 429, { error: { code: "1113", message: "Insufficient balance" } }, "billing"],
    ["a word of its own", 400, { error: { type: "out_of_luck", message: "m" } }, "billing"],
    [
      "words from a prototype",
      400,
      { error: { code: "constructor", type: "__proto__", message: "m" } },
      "invalid-request",
    ],
  ])("is recognized in the form of %s", (_, status, body, kind) => {
    expect(response(status, body).kind).toBe(kind);
  });

  it.each([
    [400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."],
    [400, "prompt is too long: 210000 tokens > 200000 maximum"],
    [400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"],
    [400, "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"],
    [413, "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000"],
    [429, "Request too large for x in organization y on tokens per min (TPM): Limit 30000, Requested 50000."],
    [400, "Please reduce the length of the messages or completion."],
    [400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."],
    [400, "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    [400, "prompt token count of 128001 exceeds the limit of 128000"],
    [400, "Your request exceeded model token limit: 262144 (requested: 262200)"],
    [400, "InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"],
    [400, "Prompt exceeds max length"],
    [400, "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens"],
  ])("%i is a too long context by its message: %s", (status, message) => {
    const failure = response(status, { error: { message, type: "invalid_request_error" } });
    expect(failure).toMatchObject({ kind: "context-length", retryable: false, status });
  });

  it.each([
    "max_tokens is too large: 6000. This model supports at most 4096 completion tokens, whereas you provided 6000.",
    "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 500000 instead.",
    "max_tokens: 250000 > 128000, which is the maximum allowed number of output tokens for claude-x",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
    "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
    "The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 12288, but got 32000 instead.",
    "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    "Unable to submit request because it has a maxOutputTokens value of 655360 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
    "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.",
    "max_tokens=20000 cannot be greater than max_model_len=8192",
    "'max_tokens' or 'max_completion_tokens' is too large: 16384. This model's maximum context length is 8192 tokens and your request has 100 input tokens (16384 > 8192 - 100).",
    "This endpoint's maximum context length is 40960 tokens. However, you requested about 45000 tokens (5000 of text input, 40000 in the output). Please reduce the length of either one.",
    "This model's maximum context length is 4097 tokens. However, you requested 4196 tokens (196 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    "`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 100 `inputs` tokens and 9000 `max_new_tokens`",
    "input length and `max_tokens` exceed context limit: 4000 + 200000 > 200000, decrease input length or `max_tokens` and try again",
  ])("is about maxOutputTokens, and neither about the context nor its content: %s", (message) => {
    const failure = response(400, { error: { message, type: "invalid_request_error", code: 400 } });
    expect(failure).toMatchObject({ kind: "invalid-request", retryable: false });
    expect(failure).not.toHaveProperty("refusedBy");
    expect(failure.message).toMatch(/ Lower maxOutputTokens\.$/);
  });

  it.each([
    "input length and `max_tokens` exceed context limit: 187254 + 20000 > 204798, decrease input length or `max_tokens` and try again",
    "This model's maximum context length is 196608 tokens. However, you requested 16384 output tokens and your prompt contains at least 180225 input tokens, for a total of at least 196609 tokens.",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
  ])(
    "is not about maxOutputTokens where the messages are the larger part, or its name is wrong: %s",
    (message) => {
      expect(response(400, { error: { message } }).message).not.toContain("Lower maxOutputTokens");
    },
  );

  it.each([
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64.",
    "Could not find context for this tool call.",
    "The image in the input exceeds the maximum size of 5 MB.",
    "prompt: image exceeds 5 MB",
  ])("is not a too long context with a similar message: %s", (message) => {
    expect(response(400, { error: { message, type: "invalid_request_error" } }).kind).toBe("invalid-request");
  });

  it.each([
    ["Your credit balance is too low to access the API.", "billing"],
    ["Output blocked by content filtering policy", "content-filter"],
    ["x requires moderation. Your input was flagged for violence.", "content-filter"],
    ["The response was filtered: it triggers our content management policy.", "content-filter"],
  ])("has the kind of its message if that is more specific than its code: %s", (message, kind) => {
    expect(response(400, { error: { message, type: "invalid_request_error" } })).toMatchObject({
      kind,
      retryable: false,
    });
  });

  const openAi = (param: string | null, message: string, code: string | null = null): object => ({
    error: { message, type: "invalid_request_error", param, code },
  });
  const anthropic = (message: string): object => ({
    type: "error",
    error: { type: "invalid_request_error", message },
  });
  const google = (message: string): object => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });

  it.each([
    [
      400,
      openAi("input[1].content[1].image_url", "Invalid 'input[1].content[1].image_url'.", "invalid_value"),
    ],
    [400, openAi("url", "Error while downloading https://a.example/b.png.", "invalid_image_url")],
    [400, openAi("messages[0].role", "Unsupported value: 'messages[0].role'", "unsupported_value")],
    [400, openAi(null, "You uploaded an unsupported image.", "unsupported_image")],
    [400, openAi(null, "The encrypted content gAAA could not be verified.", "invalid_encrypted_content")],
    [400, openAi(null, "This model does not support image input.")],
    [400, openAi(null, "The `reasoning_content` in the thinking mode must be passed back to the API.")],
    [
      400,
      openAi(
        null,
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
      ),
    ],
    [400, openAi(null, "stop is not allowed after an assistant message with tool calls")],
    [400, openAi(null, "Value at 'messages.3.member.content.1.member.toolUse.name' failed a constraint")],
    [
      400,
      openAi(null, "The toolConfig field must be defined when using toolUse and toolResult content blocks."),
    ],
    [
      400,
      openAi(
        null,
        "Failed to deserialize the JSON body into the target type: messages[3]: missing field `content`",
      ),
    ],
    [404, { error: { message: "No endpoints found that support image input", code: 404 } }],
    [415, openAi(null, "The model does not support audio.")],
    [400, anthropic("messages.1.content.0.image.source.base64: The image was specified using image/png")],
    [400, anthropic("messages.3.content.0: Invalid `signature` in `thinking` block")],
    [400, anthropic("image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes")],
    [400, anthropic("A maximum of 100 PDF pages may be provided.")],
    [400, google("Unable to process input image. Please retry.")],
    [400, google("* GenerateContentRequest.contents[2].parts: contents.parts must not be empty.")],
    [400, google("Unsupported MIME type: image/tiff")],
    [400, google("Request contains an invalid argument.")],
    [400, { object: "error", message: "m", type: "BadRequestError", param: null, code: 400 }],
    [422, { detail: [{ type: "x", loc: ["body", "messages", 1, "content"], msg: "Input should be valid" }] }],
    [
      413,
      { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
    ],
    [400, anthropic("prompt is too long: 210000 tokens > 200000 maximum")],
    [400, ""],
  ])("names who refused the content of a request: %i %j", (status, body) => {
    expect(response(status, body).refusedBy).toBe("api.test");
  });

  it.each([
    [404, openAi(null, "The model `x` does not exist or you do not have access to it.", "model_not_found")],
    [400, openAi("model", "invalid model ID")],
    [400, openAi(null, "The model `x` has been decommissioned and is no longer supported.")],
    [400, openAi("temperature", "Unsupported parameter: 'temperature'", "unsupported_parameter")],
    [
      400,
      openAi(
        "tools[0].function.parameters",
        "Invalid schema for function 'a'",
        "invalid_function_parameters",
      ),
    ],
    [400, openAi(null, "Invalid 'tools[0].function.name': string too long.")],
    [400, openAi(null, "Unrecognized request argument supplied: foo")],
    [400, openAi(null, "max_tokens is too large: 100000. This model supports at most 16384.")],
    [400, openAi("include", "Encrypted content is not supported with this model.")],
    [400, anthropic("tools.0.custom.input_schema: JSON schema is invalid.")],
    [400, anthropic("max_tokens: 100000 > 64000, which is the maximum for x")],
    [400, anthropic("`temperature` may only be set to 1 when thinking is enabled.")],
    [404, { type: "error", error: { type: "not_found_error", message: "model: x" } }],
    [400, google("* GenerateContentRequest.tools[0].function_declarations[0].name: Invalid function name.")],
    [
      400,
      google("Invalid JSON payload received. Unknown name \"x\" at 'generation_config': Cannot find field."),
    ],
    [400, google("API key not valid. Please pass a valid API key.")],
    [
      422,
      { detail: [{ type: "extra_forbidden", loc: ["body", "seed"], msg: "Extra inputs are not permitted" }] },
    ],
    [401, openAi(null, "wrong key", "invalid_api_key")],
    [429, openAi(null, "slow down", "rate_limit_exceeded")],
    [500, openAi(null, "sorry")],
  ])("names no origin for a refusal of the model, the key or a setting: %i %j", (status, body) => {
    expect(response(status, body)).not.toHaveProperty("refusedBy");
  });

  it("is the filter of OpenRouter, although its status is that of a wrong key", () => {
    const error = { code: 403, message: 'Your input was flagged for "violence".' };
    expect(response(403, { error })).toMatchObject({ kind: "content-filter", retryable: false });
  });

  it("says whether a refusal of the content speaks of files", () => {
    expect(response(400, anthropic("Could not process image")).blamesFiles).toBe(true);
    expect(response(400, anthropic("messages.1.content.0: Invalid `signature`"))).not.toHaveProperty(
      "blamesFiles",
    );
    expect(response(401, anthropic("no file"))).not.toHaveProperty("blamesFiles");
  });

  it("has the status, the code and the message of the response", () => {
    expect(response(403, { error: { code: "no_access", message: "not for you" } })).toEqual({
      kind: "auth",
      message: "403 no_access not for you",
      retryable: false,
      status: 403,
      raw: "no_access",
    });
  });

  it("is not retryable if the provider sends x-should-retry: false", () => {
    expect(response(500, "", { "x-should-retry": "false" }).retryable).toBe(false);
    expect(response(400, "", { "x-should-retry": "true" }).retryable).toBe(false);
  });

  it("is read from an event, too", () => {
    expect(broken(new Error("event"), { answered: true })).toMatchObject({
      kind: "billing",
      raw: "out_of_luck",
    });
  });

  it("has the text of an HTML page without markup", () => {
    const page =
      "<html><style>p { color: red }</style><body>\n<h1>502</h1>\n Bad   <b>Gateway</b></body></html>";
    expect(response(502, page).message).toBe("502 502 Bad Gateway");
  });
});

describe("a failure", () => {
  it("contains no secret, and no part of one at the end of a truncated message", () => {
    for (const message of ["key-canary is wrong", `${"x".repeat(2044)}key-canary`]) {
      const failure = response(401, { error: { code: "key-canary", message } });
      expect(JSON.stringify(failure)).not.toContain("key");
    }
    expect(broken(new Error("header Bearer key-canary is invalid"), { sent: false }).message).not.toContain(
      "key-canary",
    );
    expect(response(302, "", { location: "http://other.test/?key=key-canary" }).message).toContain(
      "other.test",
    );
  });
});

describe("an error of OpenRouter", () => {
  const passedOn = (raw: string): LlmFailure =>
    response(400, {
      error: { code: 400, message: "Provider returned error", metadata: { raw, provider_name: "x" } },
    });

  it("has the words of the provider behind it", () => {
    expect(passedOn('{"error":{"message":"messages.1: not so"}}')).toMatchObject({
      kind: "invalid-request",
      message: '400 Provider returned error {"error":{"message":"messages.1: not so"}}',
      refusedBy: "api.test",
    });
    expect(passedOn("Input length 9000 exceeds the maximum allowed input length").kind).toBe(
      "context-length",
    );
  });
});

describe("an error of Google", () => {
  const exhausted = (retryDelay: string): LlmFailure => {
    const retry = { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay };
    const error = { code: 429, status: "RESOURCE_EXHAUSTED", message: "m", details: [{ other: 1 }, retry] };
    return response(429, [{ error }]);
  };

  it("has the time to wait among its details", () => {
    expect(exhausted("45.837906927s")).toMatchObject({ kind: "rate-limit", retryAfterMs: 45_838 });
    expect(exhausted("58s").retryAfterMs).toBe(58_000);
    for (const unreadable of ["soon", "-1s", "1m", ""])
      expect(exhausted(unreadable)).not.toHaveProperty("retryAfterMs");
  });

  it("has the reason among its details as its code", () => {
    const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "out_of_luck" };
    const error = { code: 403, status: "PERMISSION_DENIED", message: "no", details: [{ other: 1 }, reason] };
    expect(response(403, { error })).toMatchObject({ kind: "billing", raw: "out_of_luck", status: 403 });
  });

  it("is about the length of the context where its message counts the tokens of the input", () => {
    const message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    expect(response(400, { error: { code: 400, status: "INVALID_ARGUMENT", message } })).toMatchObject({
      kind: "context-length",
      retryable: false,
    });
  });
});
