import type { LlmCaller } from "@moora/llm";
import type { ConnectionOptions } from "@moora/llm/adapter";

/** A provider of models, and the variable of its API key. */
export interface Provider {
  readonly name: string;
  /** The environment variable of the API key; missing where none is needed. */
  readonly keyName?: string;
  /** Sets of environment variables that the package of the provider reads itself. One set must be complete. */
  readonly variables?: readonly (readonly string[])[];
  readonly needsModel: boolean;
  /** The package that its adapter loads at the first call: an optional peer dependency. */
  readonly sdk?: string;
  readonly callerOf: (connection: ConnectionOptions) => LlmCaller;
}
