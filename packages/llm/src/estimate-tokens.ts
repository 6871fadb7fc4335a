import { isJsonObject } from "./json.ts";
import type { LlmUsage } from "./outcome.ts";
import type { LlmRequest, LlmTurn } from "./request.ts";

const charactersPerToken = 4;

/** Stands in for a file, whose tokens do not depend on its bytes: 1,000 tokens. */
const anyFile = "x".repeat(1_000 * charactersPerToken);

/** An estimate of the tokens of a request: a quarter of its characters, and 1,000 for each file. */
export const requestTokens = (request: LlmRequest): number => tokensOf({ ...request, settings: {} });

/** An estimate of the usage of a request and its answer, by their sizes alone. */
export const estimateUsage = (request: LlmRequest, { parts }: LlmTurn): LlmUsage => ({
  inputTokens: requestTokens(request),
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: tokensOf(parts),
  reasoningTokens: 0,
});

const tokensOf = (value: object): number =>
  Math.ceil(JSON.stringify(value, sizedField).length / charactersPerToken);

/** The raw form of a part has what the part has. */
const sizedField = (name: string, field: unknown): unknown =>
  name === "raw" ? undefined : isFile(field) ? anyFile : field;

const isFile = (value: unknown): boolean =>
  isJsonObject(value) && typeof value["mediaType"] === "string" && ("url" in value || "data" in value);
