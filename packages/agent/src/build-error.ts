import { BuildError } from "@moora/agent-core-effects";
import { AgentError } from "./agent-error.ts";

/** Throws an `AgentError` of kind `BuildError`. */
export function refuse(message: string): never {
  throw new AgentError("BuildError", message);
}

/** The value, or the `BuildError` of a package below as an `AgentError`. */
export function built<Value>(make: () => Value): Value {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof BuildError) throw new AgentError("BuildError", cause.message, { cause });
    throw cause;
  }
}
