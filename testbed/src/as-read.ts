import { failureText, type ToolCallResult } from "@moora/agent-core-state-machine";

/** A result whose `error` is what the model reads of it. */
export const asRead = (result: ToolCallResult | null | undefined): ToolCallResult | null | undefined =>
  result?.isSuccess === false ? { ...result, error: failureText(result) } : result;
