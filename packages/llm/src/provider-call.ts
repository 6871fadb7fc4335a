import type { LlmCallOptions } from "./caller.ts";
import { chunkFeed } from "./chunk-feed.ts";
import {
  resolveApiKey,
  baseUrlProblem,
  headerValue,
  secretsOf,
  type ConnectionOptions,
} from "./connection.ts";
import { failedOutcome, redactedFailureOf, failureOf, withWarnings } from "./failure.ts";
import { faultToFailure, type FailureContext } from "./fault-to-failure.ts";
import { defined } from "./json.ts";
import { hostOf, originOf } from "./origin.ts";
import type { LlmFailure, LlmOutcome } from "./outcome.ts";
import type { Protocol, WireCall, WireRequest } from "./protocol.ts";
import type { LlmRequest } from "./request.ts";
import { readStream, type Wire } from "./stream-guard.ts";

/**
 * Sends a request by a protocol. Resolves the key, limits the silence of the provider, follows the signal, converts every
 * failure, and sends the request once more without asking for encrypted reasoning if the model has none. Never rejects.
 */
export async function callProvider<Body, Event>(
  protocol: Protocol<Body, Event>,
  connection: ConnectionOptions,
  original: LlmRequest,
  options: LlmCallOptions = {},
): Promise<LlmOutcome> {
  const request = original.model === "" ? { ...original, model: connection.model ?? "" } : original;
  if (options.signal?.aborted) return failedOutcome(failureOf("aborted", "The call was aborted."));
  if (request.model === "") {
    return failedOutcome(
      failureOf(
        "invalid-request",
        `${protocol.provider}: missing model. Set model in the request or options.`,
      ),
    );
  }
  const key = resolveApiKey(connection.apiKey, protocol.keyName);
  if (key.type === "invalid" || (key.type === "missing" && protocol.keyName !== undefined))
    return failedOutcome(failureOf("auth", keyMessage(key.type, protocol)));

  const apiKey = key.type === "key" ? key.key : undefined;
  const { baseURL } = protocol;
  const secrets = secretsOf({ ...connection, ...defined({ baseURL }) }, apiKey ?? "");
  const problem = baseURL === undefined ? undefined : baseUrlProblem(baseURL);
  if (problem !== undefined)
    return failedOutcome(redactedFailureOf(secrets)("invalid-request", `${protocol.provider}: ${problem}`));
  try {
    return await new ProviderCall(protocol, connection, options, { apiKey, secrets }).run(request);
  } catch (error) {
    // An error in the adapter must not become an exception in the application.
    return failedOutcome(redactedFailureOf(secrets)("unknown", `${protocol.provider}: ${String(error)}`));
  }
}

/** A request whose content was refused. */
interface Refusal {
  readonly cacheKey: string | undefined;
  readonly body: string;
  readonly failure: LlmFailure;
}

/**
 * The newest refusal of a caller. A request of the same conversation that is equal on the wire, because what was left out of it is not sent
 * anyway, is not sent again.
 */
const refusals = new WeakMap<ConnectionOptions, Refusal>();

const bodyText = ({ body }: WireRequest<unknown>): string => JSON.stringify(body);

/** Gives every tool call without an id one by its position. */
const withCallIds = (outcome: LlmOutcome): LlmOutcome =>
  outcome.ok
    ? {
        ...outcome,
        turn: {
          ...outcome.turn,
          parts: outcome.turn.parts.map((part, index) =>
            part.type === "tool-call" && part.id === "" ? { ...part, id: `call_${index}` } : part,
          ),
        },
      }
    : outcome;

const keyMessage = (
  type: "missing" | "invalid",
  { provider, keyName }: { readonly provider: string; readonly keyName?: string | undefined },
): string =>
  type === "missing"
    ? `${provider}: missing API key. Set ${keyName}, or pass apiKey.`
    : `${provider}: invalid API key. Remove spaces and non-ASCII characters.`;

class ProviderCall<Body, Event> {
  readonly #protocol: Protocol<Body, Event>;
  readonly #connection: ConnectionOptions;
  readonly #options: LlmCallOptions;
  readonly #apiKey: string | undefined;
  readonly #failure: FailureContext;

  constructor(
    protocol: Protocol<Body, Event>,
    connection: ConnectionOptions,
    options: LlmCallOptions,
    { apiKey, secrets }: { readonly apiKey: string | undefined; readonly secrets: readonly string[] },
  ) {
    this.#protocol = protocol;
    this.#connection = connection;
    this.#options = options;
    this.#apiKey = apiKey;
    const { errorCodes, errorToBody, baseURL, provider } = protocol;
    this.#failure = { host: hostOf(baseURL ?? "") || provider, secrets, errorCodes, errorToBody };
  }

  /** Sends the request, and once more in its neutral form if the model has no encrypted reasoning. */
  async run(request: LlmRequest): Promise<LlmOutcome> {
    const { provider, api, baseURL, requestToBody, rejectsEncryption } = this.#protocol;
    const origin = originOf(provider, api, baseURL, request.model);
    const { cacheKey } = this.#options;
    const wire = requestToBody(request, { origin, cacheKey });
    const refused = refusals.get(this.#connection);
    if (cacheKey !== undefined && refused?.cacheKey === cacheKey && refused.body === bodyText(wire))
      return failedOutcome(refused.failure);
    const outcome = await this.#send(wire, origin, "");
    const failure = outcome.ok ? undefined : outcome.failure;
    if (failure?.refusedBy !== undefined)
      refusals.set(this.#connection, { cacheKey, body: bodyText(wire), failure });
    if (failure === undefined || rejectsEncryption?.(failure) !== true)
      return withWarnings(outcome, ...wire.warnings);
    const neutral = requestToBody(request, { origin, cacheKey, neutral: true });
    return withWarnings(
      await this.#send(neutral, origin, "-neutral"),
      ...neutral.warnings,
      `reasoning was rejected and left out: ${failure.message}`,
    );
  }

  async #send(wire: WireRequest<Body>, origin: string, attempt: string): Promise<LlmOutcome> {
    const { normalized } = wire;
    const feed = chunkFeed(this.#options.onChunk);
    const failure = { ...this.#failure, origin };
    const reader = this.#protocol.reader({ origin, feed, normalized, failure });
    let body: Body | undefined = wire.body;
    for (let part = 0; body !== undefined; part += 1) {
      const currentBody: Body = body;
      const fault = await readStream(
        this.#limits(),
        (transport) =>
          this.#protocol.open(
            currentBody,
            this.#wireCall(transport, part === 0 ? attempt : `${attempt}-${part}`),
          ),
        reader,
      );
      feed.end();
      if (fault) return failedOutcome(faultToFailure(fault, failure), reader.partial(), reader.usage());
      body = reader.continuation?.(currentBody);
    }
    return withCallIds(reader.outcome());
  }

  #limits(): Parameters<typeof readStream>[0] {
    const own = this.#connection;
    const firstChunkTimeoutMs = this.#options.firstChunkTimeoutMs ?? own.firstChunkTimeoutMs ?? 300_000;
    const idleTimeoutMs = this.#options.idleTimeoutMs ?? own.idleTimeoutMs ?? 120_000;
    return {
      signal: this.#options.signal,
      firstChunkTimeoutMs,
      idleTimeoutMs,
      contentTimeoutMs: own.contentTimeoutMs ?? Math.max(firstChunkTimeoutMs, 5 * idleTimeoutMs),
      callTimeoutMs: own.callTimeoutMs ?? 3_600_000,
      fetch: own.fetch,
    };
  }

  /** A changed body must not be sent with the idempotency key of the previous one. */
  #wireCall(wire: Wire, attempt: string): WireCall {
    const { idempotencyKey } = this.#options;
    const sendsKey = this.#protocol.sendsIdempotencyKey && idempotencyKey !== undefined;
    return {
      ...wire,
      apiKey: this.#apiKey,
      baseURL: this.#protocol.baseURL,
      headers: {
        ...this.#connection.headers,
        ...(sendsKey && { "idempotency-key": headerValue(`${idempotencyKey}${attempt}`) }),
      },
    };
  }
}
