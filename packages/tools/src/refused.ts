/** Why a tool does not do what it is asked for. The message is for the model: it has no path but the one that was requested. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code:
    | "outside"
    | "excluded"
    | "missing"
    | "not-a-file"
    | "not-a-folder"
    | "unreadable"
    | "not-fetched"
    | "invalid-expression";

  constructor(code: Refused["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export const notFetched = (message: string): Refused => new Refused("not-fetched", message);
