import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReadEvent } from "@moora/testbed/server/event-reader";
import type { ConversationName } from "./conversations.ts";

/** A request of a client and what it got: a JSON body, the lines of one, or the events of a stream up to where the client left. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
  readonly lines?: readonly unknown[];
  readonly events?: readonly ReadEvent[];
}

/** The file with a conversation in a version of the protocol. It is written once, and never again. */
export const trafficFile = (version: number, name: ConversationName): string =>
  join(import.meta.dirname, `protocol-${version}${name === "session" ? "" : `-${name}`}.json`);

/** The names of the recorded files, of all versions. */
export const recordedFiles = (): readonly string[] =>
  readdirSync(import.meta.dirname).filter((file) => file.endsWith(".json"));

/** The conversation in a file of this name. Throws for a name that `trafficFile` does not make. */
export function conversationIn(file: string): string {
  const [, name = "session"] = /^protocol-\d+(?:-([a-z-]+))?\.json$/.exec(file) ?? [undefined, file];
  return name;
}

export const readTraffic = (file: string): readonly Exchange[] =>
  JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8"));

/** The fields of a state that clients read. The others depend on the configuration. */
const fields = ["messages", "toolCalls", "data", "transcript"];

/** The part of an answer that does not depend on the configuration of the agent. */
function comparedPart(answer: unknown): unknown {
  const { state, ...others } = Object(answer);
  if (state === undefined) return answer;
  return { ...others, state: Object.fromEntries(fields.map((field) => [field, state[field]])) };
}

/** Reads the whole body of a response: a JSON value, the values of its lines, or nothing. */
export async function readAnswer(response: Response): Promise<Pick<Exchange, "answer" | "lines">> {
  const text = await response.text();
  if (text === "") return {};
  const type = response.headers.get("content-type") ?? "";
  if (/^application\/(problem\+)?json(;|$)/.test(type)) return { answer: comparedPart(JSON.parse(text)) };
  return { lines: joinedDeltas(text.split("\n").flatMap(lineValue)) };
}

/** The value of a line of JSON, or of the data of an event. */
function lineValue(line: string): readonly unknown[] {
  const text = line.replace(/^data: /, "");
  if (text === "[DONE]") return [text];
  return /^[[{]/.test(text) ? [JSON.parse(text)] : [];
}

/** Joins the pieces of each text: how a text is cut is not part of the protocol. */
function joinedDeltas(values: readonly unknown[]): readonly unknown[] {
  const joined: unknown[] = [];
  for (const value of values) {
    const { delta, ...others } = Object(value);
    const { delta: before, ...othersBefore } = Object(joined.at(-1));
    const continues = typeof delta === "string" && JSON.stringify(others) === JSON.stringify(othersBefore);
    if (continues) joined[joined.length - 1] = { ...others, delta: `${before}${delta}` };
    else joined.push(value);
  }
  return joined;
}
