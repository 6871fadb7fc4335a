/**
 * A language model of the AI SDK, version 4 of its specification: what the providers for `ai` 7 return. Declared by its
 * structure, so that this package compiles without the AI SDK.
 */
export interface AiSdkModel {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>;
  doStream(options: object): PromiseLike<{ readonly stream: ReadableStream<{ readonly type: string }> }>;
}

/** What a factory needs to create the model of one call. The fields have the names of the AI SDK's provider settings. */
export interface AiSdkConnection {
  /** The name of the model. */
  readonly model: string;
  /** Limits the silence of the provider, follows no redirects, and classifies failures. The model must use it. */
  readonly fetch: typeof globalThis.fetch;
  /** Missing if no key is configured: then the provider reads its own environment variable. */
  readonly apiKey?: string;
  /** Missing if no URL is configured: then the provider uses its own. */
  readonly baseURL?: string;
}

/** Creates the model of one call: `(connection) => createGoogle(connection)(connection.model)`. */
export type AiSdkFactory = (connection: AiSdkConnection) => AiSdkModel | PromiseLike<AiSdkModel>;
