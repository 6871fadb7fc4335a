/**
 * The base class of the errors that agents, tools and sessions throw or reject with. `code` is for programs and stable
 * across releases; the message is for people and may change. Errors of a log (`LogError` of `@moora/event-log`) have the
 * same field.
 */
export abstract class MooraError extends Error {
  abstract readonly code: string;

  /** The fields that are safe to log or send: the message, but no stack, state or conversation. */
  toJSON(): Readonly<Record<string, unknown>> {
    const { name, code, message } = this;
    return { name, code, message, ...this.about(), ...causeOf(this) };
  }

  /** The further fields of a subclass for its JSON. */
  protected about(): Readonly<Record<string, unknown>> {
    return {};
  }
}

/** The message of an error's cause, as a field for JSON. Other fields of a cause may be private. */
export function causeOf({ cause }: Error): { readonly cause?: string } {
  if (cause instanceof MooraError) return { cause: String(cause.toJSON()["message"]) };
  if (cause instanceof Error) return { cause: cause.message };
  return typeof cause === "string" ? { cause } : {};
}
