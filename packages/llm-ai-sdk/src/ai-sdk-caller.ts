import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import {
  LlmOptionError,
  type JsonObject,
  type LlmCallOptions,
  type LlmCaller,
  type LlmOutcome,
  type LlmRequest,
} from "@moora/llm";
import {
  callProvider,
  checkOptions,
  connectionForms,
  defined,
  isJsonObject,
  optionForms,
  resolveApiKey,
  type ConnectionOptions,
  type IdFormat,
  type OptionForms,
  type Protocol,
} from "@moora/llm/adapter";
import type { AiSdkConnection, AiSdkFactory, AiSdkModel } from "./ai-sdk-model.ts";
import { aiSdkErrors, errorToBody } from "./ai-sdk-failure.ts";
import { AiSdkReader } from "./ai-sdk-to-outcome.ts";
import { openStream, type ConnectedModel } from "./open-stream.ts";
import { requestToAiSdk, type AiSdkBody } from "./request-to-ai-sdk.ts";

/** The options of an `AiSdkCaller`. `apiKey`, `baseURL`, `fetch` and `model` apply to a factory only. */
export interface AiSdkOptions extends Omit<ConnectionOptions, "dangerouslyAllowBrowser"> {
  /** The name of the caller, in messages and origins. Default: the provider of a model, or `ai-sdk` for a factory. */
  readonly name?: string;
  /**
   * The environment variable with the API key. A call without a key fails without a request. Default: none, and the
   * provider resolves the key that the factory does not get.
   */
  readonly keyName?: string;
  /** Options of the AI SDK's providers for every request, by the provider's name: `{ google: { ... } }`. */
  readonly providerOptions?: { readonly [provider: string]: JsonObject };
  /** The format of tool call ids. Default: nine letters and digits for Mistral, `^[A-Za-z0-9_-]{1,64}$` for others. */
  readonly callIdFormat?: IdFormat;
}

const { dangerouslyAllowBrowser: _, ...commonForms } = connectionForms;

const aiSdkForms: OptionForms<AiSdkOptions> = {
  ...commonForms,
  name: optionForms.string,
  keyName: optionForms.string,
  providerOptions: {
    expectation: "an object of options by provider, such as { google: { ... } }",
    fits: (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  },
  callIdFormat: optionForms.idFormat,
};

/** Options that only a factory receives. A model that was created with others would not use them. */
const factoryOptions = ["apiKey", "baseURL", "fetch", "keyName", "model"] as const;

function checkModelOptions(options: AiSdkOptions): void {
  const useless = factoryOptions.find((name) => options[name] !== undefined);
  if (useless === undefined) return;
  throw new LlmOptionError(
    `aiSdk: ${useless} applies to a factory only: a model has its own. Pass ({ model, fetch, apiKey, baseURL }) => createGoogle({ fetch, apiKey, baseURL })(model), with your provider.`,
  );
}

/**
 * Calls a language model of the AI SDK. With a factory, the model is created anew for each call with a guarded `fetch`, so that
 * failures and limits of silence are those of every other caller. A ready model has its own transport: failures are read
 * from the errors of the AI SDK, and the limits of silence apply to the parts of its stream.
 */
export class AiSdkCaller implements LlmCaller {
  readonly name: string;
  readonly model?: string;
  readonly #source: AiSdkModel | AiSdkFactory;
  readonly #options: AiSdkOptions;

  /**
   * Throws `LlmOptionError` for an unknown option, for a value of the wrong form, for a model of another version of the
   * specification, and for an option of a factory beside a model.
   */
  constructor(source: AiSdkModel | AiSdkFactory, options: AiSdkOptions = {}) {
    checkOptions("aiSdk", options, aiSdkForms);
    checkSource(source);
    if (typeof source !== "function") checkModelOptions(options);
    this.#source = source;
    const model = typeof source === "function" ? options.model : source.modelId;
    const provider = typeof source === "function" ? "ai-sdk" : source.provider.split(".", 1).join("");
    this.name = options.name ?? provider;
    this.#options = { ...options, ...defined({ model }) };
    if (model !== undefined) this.model = model;
  }

  async call(request: LlmRequest, options: LlmCallOptions = {}): Promise<LlmOutcome> {
    const name = request.model === "" ? (this.model ?? "") : request.model;
    const isOpen = !(options.signal?.aborted ?? false) && name !== "";
    const connected = isOpen ? await this.#connectedModel(name).catch(failingModel) : failingModel();
    const protocol = this.#protocol(connected, name, options);
    return callProvider(protocol, this.#options, request, options);
  }

  async #connectedModel(name: string): Promise<ConnectedModel> {
    const source = this.#source;
    if (typeof source !== "function") {
      if (name === source.modelId) return { model: source, supportedUrls: await source.supportedUrls };
      throw new Error(
        `This caller has the model ${source.modelId}, and the request names ${name}. Pass a factory instead of a model.`,
      );
    }
    const { apiKey, baseURL, keyName, fetch = globalThis.fetch } = this.#options;
    const key = resolveApiKey(apiKey, keyName);
    let current = fetch;
    const connection: AiSdkConnection = {
      model: name,
      fetch: (input, init) => current(input, init),
      ...(key.type === "key" && { apiKey: key.key }),
      ...defined({ baseURL }),
    };
    const model = await source(connection);
    checkSource(model);
    const supportedUrls = await model.supportedUrls;
    return { model, supportedUrls, connect: (guarded) => void (current = guarded) };
  }

  #protocol(
    connected: ConnectedModel,
    name: string,
    { idleTimeoutMs = this.#options.idleTimeoutMs ?? 120_000 }: LlmCallOptions,
  ): Protocol<AiSdkBody, LanguageModelV4StreamPart> {
    const { baseURL, keyName, providerOptions, callIdFormat } = this.#options;
    const { supportedUrls } = connected;
    const { provider } = connected.model;
    return {
      provider: this.name,
      api: `ai-sdk:${provider}`,
      baseURL,
      keyName,
      sendsIdempotencyKey: true,
      requestToBody: (request, context) =>
        requestToAiSdk(request, { ...context, provider, supportedUrls, providerOptions, callIdFormat }),
      open: (body, call) => openStream(connected, body, call, idleTimeoutMs),
      reader: (context) => new AiSdkReader(context, name),
      errorCodes: aiSdkErrors,
      errorToBody,
    };
  }
}

/**
 * A caller for a language model of the AI SDK: a model, or a factory that creates one with the connection of a call. A request
 * with its own `model` overrides that of a factory. Throws `LlmOptionError` for an unknown option, for a value of the wrong
 * form, and for a model of another version of the specification.
 */
export const aiSdk = (source: AiSdkModel | AiSdkFactory, options: AiSdkOptions = {}): LlmCaller =>
  new AiSdkCaller(source, options);

function checkSource(source: unknown): void {
  if (typeof source === "function") return;
  const isObject = typeof source === "object" && source !== null;
  const version: unknown = isObject ? Reflect.get(source, "specificationVersion") : undefined;
  if (version === undefined)
    throw new LlmOptionError("aiSdk needs a language model of the AI SDK, or a function that creates one.");
  if (version !== "v4") {
    throw new LlmOptionError(
      `aiSdk needs a model with specificationVersion "v4", got ${JSON.stringify(version)}. Install the provider for AI SDK 7.`,
    );
  }
  if (isObject && typeof Reflect.get(source, "doStream") === "function") return;
  const modelId: unknown = isObject ? Reflect.get(source, "modelId") : undefined;
  throw new LlmOptionError(
    `aiSdk needs a language model, got ${JSON.stringify(modelId)}, which is a model of another kind, such as for embeddings or images.`,
  );
}

/** A model whose call fails with this error: what a factory throws is a failure of the call. */
const failingModel = (error?: unknown): ConnectedModel => ({
  model: {
    specificationVersion: "v4",
    provider: "unknown",
    modelId: "",
    supportedUrls: {},
    // The error of a factory may be any value.
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    doStream: () => Promise.reject(error),
  },
  supportedUrls: {},
  connect: () => undefined,
});
