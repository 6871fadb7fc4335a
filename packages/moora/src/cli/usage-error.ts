/** A command line that makes no sense, or an environment that it cannot work in. `hint` says what would. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint: string = "See moora help.") {
    super(message);
    this.hint = hint;
  }
}
