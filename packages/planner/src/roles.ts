import { textAt, type Field } from "./fields.ts";
import type { MentionKind } from "./mentions.ts";

/** The kind of text that an argument expects, by its name, format and description. */
export type Role =
  | "url"
  | "email"
  | "path"
  | "glob"
  | "date"
  | "time-zone"
  | "expression"
  | "id"
  | "phrase"
  | "plain";

/** How a role is recognized, by names and formats of arguments, and the kinds of mentions that can fill it, best first. */
interface RoleRow {
  readonly role: Role;
  readonly names: readonly string[];
  readonly formats: readonly string[];
  readonly kinds: readonly MentionKind[];
}

const rows: readonly RoleRow[] = [
  {
    role: "url",
    names: ["url", "uri", "link", "href", "website", "webpage"],
    formats: ["uri", "url", "iri"],
    kinds: ["url"],
  },
  { role: "email", names: ["email", "mail"], formats: ["email"], kinds: ["email"] },
  { role: "glob", names: ["glob"], formats: [], kinds: ["glob"] },
  {
    role: "path",
    names: ["path", "file", "filename", "filepath", "folder", "directory", "dir"],
    formats: [],
    kinds: ["path", "quoted"],
  },
  { role: "time-zone", names: ["timezone", "tz", "zone"], formats: [], kinds: ["time-zone", "name"] },
  {
    role: "date",
    names: ["date", "day", "datetime", "when", "deadline", "birthday"],
    formats: ["date", "date-time"],
    kinds: ["date"],
  },
  {
    role: "expression",
    names: ["expression", "formula", "calculation", "equation"],
    formats: [],
    kinds: ["expression"],
  },
  {
    role: "id",
    names: ["id", "identifier", "code", "sku", "reference"],
    formats: ["uuid"],
    kinds: ["code", "quoted"],
  },
  {
    role: "phrase",
    names: "query text search pattern keyword keywords term phrase q needle question".split(" "),
    formats: [],
    kinds: ["quoted"],
  },
];

/** Kinds with a distinctive form: if no argument accepts them, the tool is unlikely to match. */
export const distinctiveKinds: ReadonlySet<MentionKind> = new Set([
  "url",
  "email",
  "path",
  "glob",
  "expression",
  "json",
]);

export function roleOf({ plain, description, schema }: Field): Role {
  const format = textAt(schema, "format");
  const byFormat = rows.find(({ formats }) => formats.includes(format));
  if (byFormat !== undefined) return byFormat.role;
  // An example such as "*.ts" in the description is stronger evidence than a name.
  if (/\*\.\w/.test(description)) return "glob";
  const singular = plain.map((word) => word.replace(/(?<=..)s$/, ""));
  return rows.find(({ names }) => names.some((name) => singular.includes(name)))?.role ?? "plain";
}

export const kindsFor = (role: Role): readonly MentionKind[] =>
  rows.find((row) => row.role === role)?.kinds ?? ["quoted", "name"];

/** Prepositions that belong to arguments of these names. */
export const hints: ReadonlyMap<string, readonly string[]> = new Map([
  ["from", ["from"]],
  ["source", ["from"]],
  ["origin", ["from"]],
  ["departure", ["from"]],
  ["to", ["to", "into"]],
  ["target", ["to", "into"]],
  ["destination", ["to"]],
  ["recipient", ["to"]],
  ["language", ["to", "into", "in"]],
  ["city", ["in", "for", "at", "of"]],
  ["place", ["in", "for", "at", "of"]],
  ["location", ["in", "for", "at", "of"]],
  ["country", ["in", "for", "of"]],
]);

/** Names of arguments for a count. */
export const counting: ReadonlySet<string> = new Set(["limit", "count", "max", "number", "top", "size", "n"]);

/** Flags that let a tool find more. */
export const widening: ReadonlySet<string> = new Set(["recursive", "deep", "all"]);
