import { AgentError } from "./agent-error.ts";

/**
 * The `AgentError` of kind `BuildError`, for invalid definitions and arguments: thrown by `defineAgent`, `defineTool` and
 * other functions that define something. The message names the field, the value and the fix.
 */
export class BuildError extends AgentError {
  override readonly name: string = "BuildError";
  override readonly kind: "BuildError" = "BuildError" as const;

  /** `reason` is a more exact reason, if there is one. Default: "BuildError". */
  constructor(message: string, details: { readonly reason?: string; readonly cause?: unknown } = {}) {
    super("BuildError", message, details);
  }
}

/** Throws a `BuildError`. */
export function refuse(message: string): never {
  throw new BuildError(message);
}
