import { mapTexts, redactor, withoutScheme } from "@moora/llm/internal";
import { isHttp, type McpServerAddress, type ServerHeaders } from "./server-address.ts";

/** A text of an address, and whether its name says that it is secret. */
interface GivenText {
  readonly text: string;
  readonly isSecret: boolean;
}

type Redactor = (text: string) => string;

/** The names of secrets: of headers, environment variables, flags and parameters of a query. */
const secretName =
  /key|token|secret|pass|pwd|auth(?!or)|credential|cookie|signature|(?<![a-z])(?:pat|sig)(?![a-z])/i;

/** Shorter texts could be parts of words: of these, errors are without those of a secret name only. */
const minLength = 8;

/** How many texts of headers that a function returns are known: a server may quote those of an earlier request. */
const maxLatest = 100;

/**
 * Replaces what was given to connect to a server by `[secret]`: in errors all of it, since a server may quote any of it; in what the
 * server sends as its content what is secret by its name, since a result may well contain the other values, such as the name of a folder.
 */
export class SecretMask {
  readonly #fixed: readonly GivenText[];
  #latest: readonly GivenText[] = [];
  #inErrors: Redactor = (text) => text;
  #inContent: Redactor = (text) => text;

  constructor(address: McpServerAddress) {
    this.#fixed = [...addressTexts(address)];
    this.#use([]);
  }

  /** Adds the headers of a request. */
  addHeaders(headers: ServerHeaders): void {
    const texts = [...namedTexts(headers)];
    const known = new Set([...this.#latest, ...this.#fixed].map(({ text }) => text));
    if (!texts.every(({ text }) => known.has(text))) this.#use([...texts, ...this.#latest]);
  }

  /** Masks a text for people, or an error: in place, with its causes. */
  error<Failure>(failure: Failure): Failure {
    // Only the characters of its texts change.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return mapTexts(failure, this.#inErrors) as Failure;
  }

  /** A copy of a message of the server. */
  content<Message>(message: Message): Message {
    // Only the characters of its texts change.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return mapTexts(message, this.#inContent) as Message;
  }

  #use(latest: readonly GivenText[]): void {
    this.#latest = latest.slice(0, maxLatest);
    const all = [...this.#fixed, ...this.#latest];
    const redactorOf = (isRedacted: (given: GivenText) => boolean): Redactor =>
      redactor(all.filter(isRedacted).map(({ text }) => text));
    this.#inErrors = redactorOf(({ text, isSecret }) => isSecret || text.length >= minLength);
    this.#inContent = redactorOf(({ text, isSecret }) => isSecret && text.length >= minLength);
  }
}

function* addressTexts(address: McpServerAddress): Iterable<GivenText> {
  if (isHttp(address)) return yield* valueTexts("url", String(address.url));
  yield* namedTexts(address.env ?? {});
  let flag = "";
  for (const arg of address.args ?? []) {
    // `--token TEXT`, `--token=TEXT`, `TOKEN=TEXT` and `--header "Authorization: TEXT"`.
    const [, name = flag, value = arg] = /^([\w-]+)[=:]\s*(?!\/\/)(.*)$/s.exec(arg) ?? [];
    if (secretName.test(name) || URL.canParse(arg)) yield* valueTexts(name, value);
    flag = arg.startsWith("-") ? arg : "";
  }
}

function* namedTexts(values: Readonly<Record<string, string>>): Iterable<GivenText> {
  for (const [name, value] of Object.entries(values)) yield* valueTexts(name, value);
}

/** The texts of a value: the parts of a URL, and otherwise the whole, also without the scheme in front of credentials. */
function* valueTexts(name: string, value: string): Iterable<GivenText> {
  const isSecret = secretName.test(name);
  const { host = "", username = "", password = "", pathname = "", search = "" } = URL.parse(value) ?? {};
  if (isSecret || host === "")
    for (const text of [value.trim(), withoutScheme(value.trim())]) yield { text, isSecret };
  for (const text of [password, password === "" ? username : ""]) yield { text, isSecret: true };
  for (const text of pathname.split("/")) yield { text, isSecret: false };
  for (const part of search.slice(1).split("&")) {
    const [, key = "", given = part] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    for (const text of [given, given.replaceAll("+", " ")]) yield { text, isSecret: secretName.test(key) };
  }
}
