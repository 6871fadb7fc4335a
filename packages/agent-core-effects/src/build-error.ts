/**
 * Thrown where something is defined that can never work. The message names the place, the value and the fix. `kind` is
 * the one that an `AgentError` of `@moora/agent` has for the same mistake in an agent.
 */
export class BuildError extends TypeError {
  override readonly name: string = "BuildError";
  readonly kind = "BuildError" as const;
}

export function refuse(message: string): never {
  throw new BuildError(message);
}
