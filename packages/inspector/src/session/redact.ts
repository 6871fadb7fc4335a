import {
  headerToState,
  inputToRecord,
  recordsToPortable,
  type AgentInput,
  type SessionHeader,
} from "@moora/agent";
import { beginReplay } from "@moora/agent-core-state-machine";
import { parseStoredInput } from "@moora/agent-core-state-machine/internal";
import { chainStart, type ChainHead, type LogRecord } from "@moora/event-log";
import { DigestNames } from "./digest-names.ts";
import type { SessionHistory } from "./session-history.ts";

/**
 * What is removed before a session is shared. `texts`: every text of people, models, tools and data, with its length kept. `words`:
 * these words wherever they are, in any case, and the contents and digests of all files. A word in another encoding is not found.
 */
export type Redaction =
  | { readonly what: "texts" }
  | { readonly what: "words"; readonly words: readonly string[] };

/**
 * An exported session without private texts. It is a new chain of digests: the redacted session replays as the original one does,
 * and opens in every inspector. Digests in inputs, and ids of posts, which contain one, have other names. Names of tools, other ids,
 * keys of objects, schemas, times and numbers stay.
 */
export function redactedExport(history: SessionHistory, redaction: Redaction): string {
  const hide = redaction.what === "texts" ? hideText : hideWords(redaction.words);
  const redact = { hide, names: new DigestNames() };
  const header = redactedHeader(history.header, hide);
  const headerText = JSON.stringify(header);
  const replay = beginReplay(headerToState(header), { changes: true });
  const records: LogRecord[] = [];
  let head: ChainHead = chainStart(headerText);
  for (const input of history.inputs) {
    const redacted = redactedInput(input, redact);
    redact.names.learn(input, redacted);
    const record = inputToRecord(head, redacted, replay.apply(redacted)?.changes ?? []);
    records.push(record);
    head = record;
  }
  return recordsToPortable({
    id: redaction.what === "words" ? hide(history.id) : "redacted",
    header: headerText,
    records,
  });
}

/** Hides what is private in a text. */
type Hide = (text: string) => string;

interface Redact {
  readonly hide: Hide;
  readonly names: DigestNames;
}

/** Each character becomes a block, but blanks and line breaks stay, so that a text looks as it did. */
const hideText: Hide = (text) => text.replaceAll(/\S/gu, "▮");

/** The contents of a file in a text, where words are encoded, and the digest of a file, which names its content. */
const fileUrl = /\bdata:[\w.+-]+\/[^\s"'<>)]+|\bni:\/\/\/[\w;=-]+/giu;

function hideWords(words: readonly string[]): Hide {
  const given = words.filter((word) => word.trim() !== "");
  if (given.length === 0) return (text) => text;
  const escaped = given.map((word) => word.trim().replaceAll(/[$()*+.?[\\\]^{|}/-]/g, String.raw`\$&`));
  const form = new RegExp(escaped.join("|"), "giu");
  return (text) => text.replaceAll(fileUrl, hideText).replaceAll(form, (found) => "▮".repeat(found.length));
}

/** Fields whose text is a part of the machine: its types, ids, keys and names. */
const machineFields: ReadonlySet<string> = new Set([
  "type",
  "kind",
  "key",
  "toolCallId",
  "toolCallIds",
  "name",
  "event",
  "outcome",
  "code",
  "unified",
  "source",
  "op",
  "path",
  "to",
  "activeAgent",
  "agentVersion",
  "mediaType",
  "risk",
  "replay",
  "approval",
  "onUnknown",
  "schema",
  "answerSchema",
  "names",
  "scheduleId",
  "missed",
  "cron",
  "timeZone",
]);

/** Fields that are digests, or consist of them. */
const digestFields: ReadonlySet<string> = new Set(["digest", "requestId"]);

/** Fields that are JSON text: all texts in it are redacted, and they stay JSON. */
const jsonFields: ReadonlySet<string> = new Set(["parameters", "original", "arguments"]);

/** Fields with JSON of tools, providers, handlers and application data, in which no field is a part of the machine. */
const freeFields: ReadonlySet<string> = new Set(["value", "state", "raw", "trace"]);

/** Fields with files, whose names and URLs are texts of people and models. */
const fileFields: ReadonlySet<string> = new Set(["attachments", "files", "file"]);

function redactedInput(input: AgentInput, redact: Redact): AgentInput {
  const parsed = parseStoredInput(redactedFields(input, redact));
  if (parsed.ok) return parsed.input;
  // A redaction keeps the form of an input. If it did not, the input must not be shared as it is.
  throw new Error(`The redacted ${input.type} is not an input: ${parsed.problem.message}`);
}

/** A value whose texts are redacted; `ofField` redacts the fields of its objects. */
function redactedValue(
  value: unknown,
  hide: Hide,
  ofField: (key: string, field: unknown) => unknown,
): unknown {
  if (typeof value === "string") return hide(value);
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, hide, ofField));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, ofField(key, field)]));
}

/** JSON of tools, providers and application data: all of its texts are redacted, whatever their fields are called. */
const redactedFree = (value: unknown, hide: Hide): unknown =>
  redactedValue(value, hide, (_, field) => redactedFree(field, hide));

/** Files. Their URLs have their contents or digests, in which no word is found: they are hidden as a whole. */
const redactedFiles = (files: unknown, hide: Hide): unknown =>
  redactedValue(files, hide, (key, field) => {
    if (key === "mediaType") return field;
    return redactedFree(field, key === "url" ? hideText : hide);
  });

/** An input, or an object in one. */
const redactedFields = (value: unknown, redact: Redact): unknown =>
  redactedValue(value, redact.hide, (key, field) => redactedField(key, field, redact));

/** A field of an input. */
function redactedField(key: string, field: unknown, redact: Redact): unknown {
  if (typeof field === "string" && key === "messageId") return redact.names.messageIdOf(field);
  if (typeof field === "string" && digestFields.has(key)) return redact.names.nameOf(field);
  if (typeof field === "string" && jsonFields.has(key)) return redactedJson(field, redact);
  if (freeFields.has(key)) return redactedFree(field, redact.hide);
  if (fileFields.has(key)) return redactedFiles(field, redact.hide);
  if (machineFields.has(key)) return field;
  if (key === "config" && isFields(field)) return redactedConfig(field, redact);
  if (key === "tools" && isFields(field)) return redactedTools(field, redact);
  return redactedFields(field, redact);
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** A configuration, or a change of one. */
const redactedConfig = (config: Fields, redact: Redact): Fields =>
  typeof config["systemPrompt"] === "string"
    ? { ...config, systemPrompt: redact.hide(config["systemPrompt"]) }
    : config;

const redactedTools = (tools: Fields, redact: Redact): Fields =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      isFields(tool) ? { ...tool, description: redact.hide(String(tool["description"])) } : tool,
    ]),
  );

function redactedJson(text: string, redact: Redact): string {
  try {
    return JSON.stringify(redactedFree(JSON.parse(text), redact.hide));
  } catch {
    return redact.hide(text);
  }
}

function redactedHeader(header: SessionHeader, hide: Hide): SessionHeader {
  const { user, caller, parent, data, config, tools, ...rest } = header;
  const hidden = redactedFree(data?.initial ?? null, hide);
  return {
    ...rest,
    ...(user === undefined ? {} : { user: hide(user) }),
    ...(caller === undefined ? {} : { caller: hide(caller) }),
    ...(parent === undefined ? {} : { parent: { ...parent, id: hide(parent.id) } }),
    ...(data === undefined
      ? {}
      : { data: { version: data.version, initial: JSON.parse(JSON.stringify(hidden)) } }),
    config: { ...config, systemPrompt: hide(config.systemPrompt) },
    tools: Object.fromEntries(
      Object.entries(tools).map(([name, tool]) => [name, { ...tool, description: hide(tool.description) }]),
    ),
  };
}
