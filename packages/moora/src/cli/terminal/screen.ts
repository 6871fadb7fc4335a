import type { CliHost } from "../cli-host.ts";
import { SecretFilter } from "./secret-filter.ts";
import { escapeHiddenCharacters } from "@moora/agent";

const frames = ["|", "/", "-", "\\"];
const frameMs = 120;
/** Waits shorter than this show no time. */
const minShownSeconds = 2;
/** Characters of the status line. A line that wraps cannot be cleared: it has to fit into the terminal. */
const maxStatus = 70;

/** The input line of the terminal, with the text typed so far. */
export interface InputLine {
  /** Removes it from the terminal. */
  clear(): void;
  /** Draws it again, below the output written meanwhile. */
  redraw(): void;
}

/**
 * The output of a command. Answers go to stdout and everything else to stderr. On a terminal a status line at the
 * bottom shows what the command is waiting for. Secrets and control characters are removed from everything.
 */
export class Screen {
  readonly isInteractive: boolean;
  /** Whether the answer is shown while it is written: stdout is a terminal. */
  readonly isStreaming: boolean;
  readonly #host: CliHost;
  readonly #secretValues: readonly string[];
  readonly #secrets: SecretFilter;
  readonly #hasColors: boolean;
  #frame = 0;
  #status = "";
  #statusSince = 0;
  #cancelTimer: (() => void) | undefined;
  #input: InputLine | undefined;

  constructor(host: CliHost, secrets: readonly string[] = []) {
    this.#host = host;
    this.#secretValues = secrets;
    this.#secrets = this.filter();
    this.isStreaming = host.stdout.isTTY === true;
    this.isInteractive = host.stderr.isTTY === true;
    this.#hasColors = this.isInteractive && (host.env["NO_COLOR"] ?? "") === "";
  }

  /** Writes a piece of the answer. Its end may be buffered until the next piece shows that it is not part of a secret. */
  answer(piece: string): void {
    this.#write(() => this.#host.stdout.write(escapeControlCharacters(this.#secrets.push(piece))));
  }

  /** Writes the buffered rest of `answer`: the answer is complete. */
  endAnswer(): void {
    const rest = this.#secrets.flush();
    if (rest !== "") this.#write(() => this.#host.stdout.write(escapeControlCharacters(rest)));
  }

  /** Writes a complete text to stdout. */
  result(text: string): void {
    this.#write(() => this.#host.stdout.write(this.clean(text)));
  }

  /** Writes a line to stderr. */
  line(text: string): void {
    this.#write(() => this.#host.stderr.write(`${this.clean(text)}\n`));
  }

  /** Writes a less important line to stderr, dimmed in a terminal with colors. */
  dim(text: string): void {
    const clean = this.clean(text);
    this.#write(() =>
      this.#host.stderr.write(this.#hasColors ? `\u001b[2m${clean}\u001b[0m\n` : `${clean}\n`),
    );
  }

  /** Writes a JSON object as a line to stdout. */
  json(value: object): void {
    const text = this.jsonText(value);
    this.#write(() => this.#host.stdout.write(`${text}\n`));
  }

  /** An object as JSON without secrets. `indent`: the spaces of a level; default: it is one line. */
  jsonText(value: object, indent?: number): string {
    const fieldOf = (_: string, field: unknown): unknown =>
      typeof field === "string" ? this.withoutSecrets(field) : field;
    return this.withoutSecrets(JSON.stringify(value, fieldOf, indent));
  }

  withoutSecrets(text: string): string {
    return this.#secrets.clean(text);
  }

  /** A filter for another text that arrives in pieces. */
  filter(): SecretFilter {
    return new SecretFilter(this.#secretValues);
  }

  /** The text as `line` shows it. */
  clean(text: string): string {
    return escapeControlCharacters(this.#secrets.clean(text));
  }

  /** Shows what the command is waiting for, with the elapsed time, until other output is written. */
  showStatus(what: string): void {
    if (!this.isInteractive || this.#input !== undefined) return;
    const status = this.clean(what);
    if (this.#cancelTimer === undefined || status !== this.#status)
      this.#statusSince = this.#host.clock.now();
    this.#status = status;
    if (this.#cancelTimer === undefined) this.#drawStatus();
  }

  /** Reserves the bottom line for the input. Output written meanwhile appears above it. */
  async withInput<Result>(input: InputLine, typing: () => Promise<Result>): Promise<Result> {
    this.clearStatus();
    this.#input = input;
    try {
      return await typing();
    } finally {
      this.#input = undefined;
    }
  }

  /** Removes the status line. */
  clearStatus(): void {
    if (this.#cancelTimer === undefined) return;
    this.#cancelTimer();
    this.#cancelTimer = undefined;
    this.#host.stderr.write("\r\u001b[K");
  }

  #write(write: () => void): void {
    this.clearStatus();
    this.#input?.clear();
    write();
    this.#input?.redraw();
  }

  #drawStatus(): void {
    const sign = frames[this.#frame % frames.length] ?? "";
    this.#frame += 1;
    const seconds = Math.floor((this.#host.clock.now() - this.#statusSince) / 1_000);
    const time = seconds < minShownSeconds ? "" : ` ${seconds} s`;
    const width = Math.min(maxStatus, (this.#host.stderr.columns ?? 80) - 1) - sign.length - 1 - time.length;
    const status = this.#status.slice(0, Math.max(0, width)).replaceAll("\n", " ");
    this.#host.stderr.write(`\r\u001b[K${sign} ${status}${time}`);
    this.#cancelTimer = this.#host.clock.after(frameMs, () => this.#drawStatus());
  }
}

/**
 * The text with escapes in place of characters that a terminal interprets or hides: output of models and tools is untrusted,
 * and a question must show its real content. Line ends and tabs stay.
 */
export const escapeControlCharacters = (text: string): string =>
  escapeHiddenCharacters(text.replaceAll(/\r\n/g, "\n"));
