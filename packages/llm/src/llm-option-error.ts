/**
 * The error of a caller that is created with an unknown option or a value of the wrong form. The message names the option, the
 * value unless it may be a secret, and what to do. `code` is stable.
 */
export class LlmOptionError extends Error {
  override readonly name = "LlmOptionError";
  readonly code = "InvalidOption";
}
