import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readExport } from "../src/session/read-export.ts";
import { SessionHistory } from "../src/session/session-history.ts";

const folder = join(import.meta.dirname, "../../../corpus/sessions");

/** The names of the golden logs. */
export const corpus: readonly string[] = readdirSync(folder).map((file) => file.replace(".jsonl", ""));

/** The text of a golden log, an exported session. */
export const exportOf = (name: string): string => readFileSync(join(folder, `${name}.jsonl`), "utf8");

/** The history of an exported session. */
export function historyOf(text: string): SessionHistory {
  const reader = readExport(text);
  const history = new SessionHistory(reader.id, reader.header);
  for (const record of reader.next(Number.MAX_SAFE_INTEGER)) history.append(record);
  return history;
}
