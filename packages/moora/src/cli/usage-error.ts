/** An invalid command line, or an environment that it cannot work in. `hint` is what to do. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly hint: string;

  constructor(message: string, hint: string = "Run: moora help") {
    super(message);
    this.hint = hint;
  }
}
