import type { LlmCallOptions, LlmCaller } from "./caller.ts";
import type { ConnectionOptions } from "./connection.ts";
import type { LlmOutcome } from "./outcome.ts";
import type { Protocol, WireCall } from "./protocol.ts";
import { callProvider } from "./provider-call.ts";
import type { LlmRequest } from "./request.ts";

/** A caller that sends requests by a protocol, with one connection. Its type has none of the types of an SDK. */
export class ProviderCaller implements LlmCaller {
  readonly name: string;
  readonly model?: string;
  readonly #send: LlmCaller["call"];

  constructor({ name, model, call }: LlmCaller) {
    this.name = name;
    this.#send = call;
    if (model !== undefined) this.model = model;
  }

  call(request: LlmRequest, options?: LlmCallOptions): Promise<LlmOutcome> {
    return this.#send(request, options);
  }
}

/** What a caller does with a protocol and one connection. */
export const callerOf = <Body, Event>(
  protocol: Protocol<Body, Event>,
  connection: ConnectionOptions,
): LlmCaller => ({
  name: protocol.provider,
  ...(connection.model === undefined ? {} : { model: connection.model }),
  call: (request, options) => callProvider(protocol, connection, request, options),
});

/** The options that the SDKs of OpenAI and Anthropic share. */
export interface SdkClientOptions extends Pick<WireCall, "baseURL" | "fetch"> {
  readonly maxRetries: number;
  readonly timeout: number;
  readonly logLevel: "off";
  readonly dangerouslyAllowBrowser: boolean;
}

/** The options of a client for one request: without retries and without logs. */
export const sdkClientOptions = (
  { baseURL, fetch }: WireCall,
  { dangerouslyAllowBrowser = false }: ConnectionOptions,
): SdkClientOptions => ({
  baseURL,
  fetch,
  maxRetries: 0,
  // The stream guard limits the silence. This timeout must not end a request earlier.
  timeout: 2 ** 31 - 1,
  logLevel: "off",
  dangerouslyAllowBrowser,
});
