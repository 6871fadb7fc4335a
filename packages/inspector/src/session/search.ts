import { hasMark, marks, type Mark } from "./marks.ts";
import type { SessionHistory } from "./session-history.ts";

/** What is searched for. All parts that are given must match. */
export interface Query {
  /** Words of the text, in any case. They are found in the description and in the whole record. */
  readonly text: string;
  /** A part of the type of the input, such as `tool-call`. */
  readonly type?: string;
  /** The name of a tool. */
  readonly tool?: string;
  /** The control state after the record. */
  readonly state?: string;
  readonly mark?: Mark;
}

/** Parses what a user typed: words, and the filters `type:`, `tool:`, `state:` and `is:`, such as `is:failure`. */
export function parseQuery(typed: string): Query {
  const query: { -readonly [Name in keyof Query]: Query[Name] } = { text: "" };
  const words: string[] = [];
  for (const word of typed.trim().split(/\s+/)) {
    const [, name, value = ""] = /^(type|tool|state|is):(\S+)$/.exec(word) ?? [];
    if (name === "type" || name === "tool" || name === "state") query[name] = value.toLowerCase();
    else if (name === "is" && isMark(value)) query.mark = value;
    else words.push(word);
  }
  query.text = words.join(" ");
  return query;
}

const isMark = (text: string): text is Mark => marks.some((mark) => mark === text);

export const isEmptyQuery = ({ text, type, tool, state, mark }: Query): boolean =>
  text === "" && type === undefined && tool === undefined && state === undefined && mark === undefined;

/** The sequence numbers of the records that match, in order. */
export function search(history: SessionHistory, query: Query): readonly number[] {
  const matches = matcherOf(query, toolCallsOf(history, query.tool));
  const found: number[] = [];
  for (let index = 0; index < history.length; index += 1) if (matches(history, index)) found.push(index + 1);
  return found;
}

type Matcher = (history: SessionHistory, index: number) => boolean;

function matcherOf({ text, type, state, mark, tool }: Query, calls: ReadonlySet<string>): Matcher {
  // Escaped as the body has it, then for the expression.
  const inBody = expression(JSON.stringify(text).slice(1, -1));
  const inText = expression(text);
  return ({ rows, records, inputs }, index) => {
    const row = rows[index];
    const input = inputs[index];
    if (row === undefined || input === undefined) return false;
    if (mark !== undefined && !hasMark(row.marks, mark)) return false;
    if (type !== undefined && !row.type.includes(type)) return false;
    if (state !== undefined && row.state.toLowerCase() !== state) return false;
    if (tool !== undefined && !mentionsCall(input, calls, tool)) return false;
    return text === "" || inText.test(row.text) || inBody.test(records[index]?.body ?? "");
  };
}

const expression = (text: string): RegExp =>
  new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`), "i");

type Input = SessionHistory["inputs"][number];

/** The ids of the calls of a tool. */
function toolCallsOf({ inputs }: SessionHistory, tool: string | undefined): ReadonlySet<string> {
  const ids = new Set<string>();
  if (tool === undefined) return ids;
  for (const input of inputs)
    for (const [id, name] of callsIn(input)) if (name.toLowerCase() === tool) ids.add(id);
  return ids;
}

const callsIn = (input: Input): readonly (readonly [id: string, name: string])[] =>
  input.type === "re-act-observed" && input.observation.type === "continue-re-act"
    ? Object.entries(input.observation.toolCalls).map(([id, { name }]) => [id, name] as const)
    : [];

const mentionsCall = (input: Input, calls: ReadonlySet<string>, tool: string): boolean =>
  ("toolCallId" in input && input.toolCallId !== undefined && calls.has(input.toolCallId)) ||
  callsIn(input).some(([, name]) => name.toLowerCase() === tool);
