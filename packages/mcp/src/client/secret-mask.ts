import { mapTexts, redactor, withoutScheme } from "@moora/llm/internal";
import { isHttp, type McpServerAddress, type ServerHeaders, type StdioServer } from "./server-address.ts";

/** A text of an address, and whether its name says that it is secret. */
type GivenText = readonly [text: string, isSecret: boolean];

/** The names of secrets: of headers, environment variables, flags and parameters of a query. */
const secretName =
  /keys?(?![a-z])|token(?!iz)|secret|pass(?!ive|age)|pwd|auth(?!or)|credential|cookie|signature|(?<![a-z])(?:pat|sig)(?![a-z])/i;

/** Shorter texts could be parts of words: of these, errors are without those of a secret name only. */
const minLength = 8;

/** The headers of how many requests are known: a server may quote those of an earlier one. */
const maxHeaders = 8;

/**
 * Replaces what was given to connect to a server by `[secret]`: in errors all of it, since a server may quote any of it; in what the
 * server sends as its content what is secret by its name, since a result may well contain the other values, such as the name of a folder.
 */
export class SecretMask {
  readonly #fixed: readonly GivenText[];
  #headers: readonly ServerHeaders[] = [];

  constructor(address: McpServerAddress) {
    this.#fixed = isHttp(address) ? valueTexts("url", String(address.url)) : commandTexts(address);
  }

  /** Adds the headers of a request. */
  addHeaders(headers: ServerHeaders): void {
    this.#headers = [headers, ...this.#headers].slice(0, maxHeaders);
  }

  /** Masks a text for people, or an error: in place, with its causes. */
  error<Failure>(failure: Failure): Failure {
    return mapTexts(failure, this.#redactor(false));
  }

  /** A copy of what a server has sent. */
  content<Content>(content: Content): Content {
    return mapTexts(content, this.#redactor(true));
  }

  #redactor(isContent: boolean): (text: string) => string {
    const given = [...this.#fixed, ...this.#headers.flatMap(namedTexts)];
    const hidden = given.filter(([text, isSecret]) =>
      text.length < minLength ? isSecret && !isContent : isSecret || !isContent,
    );
    return redactor(hidden.map(([text]) => text));
  }
}

function commandTexts({ args = [], env = {} }: StdioServer): readonly GivenText[] {
  const ofArgs = args.flatMap((arg, index) => {
    // `--token=TEXT`, `TOKEN=TEXT`, `--header "Authorization: TEXT"` and `--token TEXT`.
    const flag = /^-.*/.exec(args[index - 1] ?? "")?.[0] ?? "";
    const [, name = "", value = ""] = /^([\w-]+)[=:] *(.*)$/s.exec(arg) ?? ["", flag, arg];
    if (secretName.test(name)) return valueTexts(name, value);
    return URL.parse(arg)?.host ? valueTexts("", arg) : [];
  });
  return [...ofArgs, ...namedTexts(env)];
}

const namedTexts = (values: Readonly<Record<string, string>>): readonly GivenText[] =>
  Object.entries(values).flatMap(([name, value]) => valueTexts(name, value.trim()));

/** The texts of a value: the parts of a URL, and otherwise the whole, also without the scheme in front of credentials. */
function valueTexts(name: string, value: string): readonly GivenText[] {
  const isSecret = secretName.test(name);
  const { host = "", username = "", password = "", pathname = "", search = "" } = URL.parse(value) ?? {};
  const whole = isSecret || host === "" ? [value, withoutScheme(value)] : [];
  return [
    [password === "" ? username : password, true],
    ...[...whole, ...pathname.split("/")].map((text): GivenText => [text, isSecret]),
    ...search
      .split(/[?&]/)
      .map((part): GivenText => [part.slice(part.indexOf("=") + 1), secretName.test(part)]),
  ];
}
