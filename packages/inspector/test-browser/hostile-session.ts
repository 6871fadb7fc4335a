import {
  headerToState,
  inputToRecord,
  parsePortable,
  recordsToPortable,
  textToHeader,
  type AgentInput,
} from "@moora/agent";
import { questionsAt } from "@moora/agent/internal";
import { beginReplay, type AgentState } from "@moora/agent-core-state-machine";
import { parseStoredInput } from "@moora/agent-core-state-machine/internal";
import { chainStart, type ChainHead, type LogRecord } from "@moora/event-log";

interface Session {
  readonly header: unknown;
  readonly inputs: readonly unknown[];
}

/** An exported session, and the texts of it that were replaced. */
export interface HostileSession {
  readonly exported: string;
  readonly replaced: ReadonlyMap<string, string>;
}

/**
 * The session with all of its texts replaced, values and keys, with one text for all places of one text. A text stays if the session
 * would be another one without it: its records must apply as they do in the original, and lead to the same kinds of states.
 */
export function hostileSession(
  exported: string,
  id: string,
  texts: Iterator<string, string>,
): HostileSession {
  const { header, records } = parsePortable(exported);
  const original: Session = {
    header: JSON.parse(header),
    inputs: records.map(({ body }): unknown => JSON.parse(body)),
  };
  const course = courseOf(original);
  const replaced = new Map<string, string>();
  const made = (): Session => mapSession(original, (text) => replaced.get(text) ?? text);
  for (const text of textsOf(original)) {
    replaced.set(text, texts.next().value);
    if (courseOf(made()) !== course) replaced.delete(text);
  }
  return { exported: exportOf(made(), id), replaced };
}

function textsOf(session: Session): ReadonlySet<string> {
  const found = new Set<string>();
  mapSession(session, (text) => {
    found.add(text);
    return text;
  });
  return found;
}

/** Fields in which no key is a part of the format. */
const freeFields: ReadonlySet<string> = new Set([
  "value",
  "state",
  "raw",
  "trace",
  "initial",
  "rows",
  "models",
]);

/** Fields whose keys are names or ids. */
const mapFields: ReadonlySet<string> = new Set(["tools", "toolCalls"]);

/** Where a value is: in a free field, directly in a map, in the configuration, or in another place. */
type Place = "free" | "map" | "config" | "fixed";

function placeOf(place: Place, key: string): Place {
  if (place === "free" || freeFields.has(key)) return "free";
  if (place === "config" || key === "config") return "config";
  return mapFields.has(key) ? "map" : "fixed";
}

/** A copy of a value with other texts, also in JSON texts. */
function mapTexts(value: unknown, map: (text: string) => string, place: Place = "fixed"): unknown {
  if (typeof value === "string") {
    const json = jsonIn(value);
    return json === undefined ? map(value) : JSON.stringify(mapTexts(json, map, "free"));
  }
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map, place));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, field]) => [
    place === "free" || place === "map" ? map(key) : key,
    mapTexts(field, map, placeOf(place, key)),
  ]);
  return Object.fromEntries(entries);
}

/** The object or list that a text is; undefined for any other text. */
function jsonIn(text: string): object | undefined {
  if (!/^[{[]/.test(text)) return undefined;
  try {
    // It begins as an object or a list does.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

const mapSession = ({ header, inputs }: Session, map: (text: string) => string): Session => ({
  header: mapTexts(header, map),
  inputs: inputs.map((input) => mapTexts(input, map)),
});

/** What the records of a session do, as text; the problem for a session that cannot be folded. */
function courseOf(session: Session): string {
  try {
    return JSON.stringify(
      fold(session, (state) => [
        state.reActContext.control.type,
        state.messages.length,
        Object.keys(state.toolCalls).length,
        questionsAt(state).length,
      ]),
    );
  } catch (error) {
    return String(error);
  }
}

type Folded = (state: AgentState, input: AgentInput, changes: Parameters<typeof inputToRecord>[2]) => unknown;

function fold({ header, inputs }: Session, visit: Folded): readonly unknown[] {
  const replay = beginReplay(headerToState(textToHeader(JSON.stringify(header))), { changes: true });
  return inputs.map((stored) => {
    const parsed = parseStoredInput(stored);
    if (!parsed.ok) throw new Error(parsed.problem.message);
    const input = answering(parsed.input, replay.state());
    const { changes } = replay.apply(input) ?? {};
    return changes === undefined ? "ignored" : visit(replay.state(), input, changes);
  });
}

/** A decision with the digest of the question that is open: the texts of the question have changed. */
function answering(input: AgentInput, state: AgentState): AgentInput {
  if (input.type !== "tool-call-decided") return input;
  const question = questionsAt(state).find(({ toolCallId }) => toolCallId === input.toolCallId);
  return question === undefined ? input : { ...input, digest: question.digest };
}

function exportOf(session: Session, id: string): string {
  const header = JSON.stringify(session.header);
  const records: LogRecord[] = [];
  let head: ChainHead = chainStart(header);
  fold(session, (_, input, changes) => {
    const record = inputToRecord(head, input, changes);
    records.push(record);
    head = record;
  });
  return recordsToPortable({ id, header, records });
}
