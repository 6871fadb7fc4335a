/**
 * The base of every error that agents, tools and sessions throw or reject with. `code` names the reason for programs and stays the
 * same across releases; the message is for people and may change. Errors of a log (`LogError` of `@moora/event-log`)
 * have the same field.
 */
export abstract class MooraError extends Error {
  abstract readonly code: string;

  /** What may be logged or sent: the message, and no stack, state or conversation. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message } = this;
    return { name, code, message, ...this.about(), ...causeOf(this) };
  }

  /** The fields of a subclass that belong to its JSON. */
  protected about(): Readonly<Record<string, unknown>> {
    return {};
  }
}

/** The text of an error's cause, as a field: whatever else a cause holds may be private. */
export function causeOf({ cause }: Error): { readonly cause?: string } {
  if (cause instanceof MooraError) return { cause: String(cause.toJSON()["message"]) };
  if (cause instanceof Error) return { cause: cause.message };
  return typeof cause === "string" ? { cause } : {};
}
