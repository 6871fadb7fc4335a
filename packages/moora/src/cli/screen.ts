import type { CliHost } from "./cli-host.ts";

const frames = ["|", "/", "-", "\\"];
const frameMs = 120;

/**
 * What a person sees. Answers go to stdout and everything else to stderr. While somebody looks, a line at the bottom
 * says what is waited for; it is wiped before anything else is written. No secret and no control character gets through.
 */
export class Screen {
  readonly isInteractive: boolean;
  private readonly host: CliHost;
  private readonly secrets: readonly string[];
  private readonly hasColours: boolean;
  private frame = 0;
  private waitingFor = "";
  private callOff: (() => void) | undefined;
  private isHeld = false;

  constructor(host: CliHost, secrets: readonly string[] = []) {
    this.host = host;
    this.secrets = secrets;
    this.isInteractive = host.stderr.isTTY === true;
    this.hasColours = this.isInteractive && (host.env["NO_COLOR"] ?? "") === "";
  }

  /** A piece of an answer. */
  answer(text: string): void {
    this.wipe();
    this.host.stdout.write(visible(text));
  }

  /** A line beside the answer. */
  note(text: string): void {
    this.wipe();
    this.host.stderr.write(`${visible(this.withoutSecrets(text))}\n`);
  }

  /** A line beside the answer that matters less. */
  aside(text: string): void {
    const clean = visible(this.withoutSecrets(text));
    this.wipe();
    this.host.stderr.write(this.hasColours ? `\u001b[2m${clean}\u001b[0m\n` : `${clean}\n`);
  }

  /** A line for programs: a JSON object. */
  json(value: object): void {
    this.wipe();
    this.host.stdout.write(`${this.withoutSecrets(JSON.stringify(value))}\n`);
  }

  /** Shows that something is waited for, until something else is written. */
  wait(what: string): void {
    if (!this.isInteractive || this.isHeld) return;
    this.waitingFor = what;
    if (this.callOff === undefined) this.draw();
  }

  /** Keeps the bottom line free for somebody who types there. */
  async held<Result>(typing: () => Promise<Result>): Promise<Result> {
    this.wipe();
    this.isHeld = true;
    try {
      return await typing();
    } finally {
      this.isHeld = false;
    }
  }

  /** Nothing is waited for any more. */
  wipe(): void {
    if (this.callOff === undefined) return;
    this.callOff();
    this.callOff = undefined;
    this.host.stderr.write("\r\u001b[K");
  }

  private draw(): void {
    const sign = frames[this.frame % frames.length] ?? "";
    this.frame += 1;
    this.host.stderr.write(
      `\r\u001b[K${sign} ${visible(this.waitingFor).slice(0, 70).replaceAll("\n", " ")}`,
    );
    this.callOff = this.host.clock.after(frameMs, () => this.draw());
  }

  private withoutSecrets(text: string): string {
    return this.secrets.flatMap(formsOf).reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
  }
}

/** A secret as it is, and as it looks in an address, in base64 and in JSON. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  JSON.stringify(secret).slice(1, -1),
];

/**
 * The text without what a terminal would obey or hide: models and tools pass on anybody's text, and a question must be
 * what it looks like. Line ends and tabs stay.
 */
export const visible = (text: string): string =>
  text
    .replaceAll(/\r\n/g, "\n")
    .replaceAll(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\x${code.toString(16).padStart(2, "0")}`;
    });
