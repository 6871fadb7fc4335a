import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { chainStart, type ChainHead, type LogRecord } from "@moora/event-log";
import { headerToState, inputToRecord, recordsToPortable, textToHeader, type AgentInput } from "@moora/agent";
import { beginReplay, defaultAgentConfig, rulesVersion } from "@moora/agent-core-state-machine";
import { readExport } from "../src/session/read-export.ts";
import { SessionHistory } from "../src/session/session-history.ts";

const folder = join(import.meta.dirname, `../../../corpus/rules-${rulesVersion}/sessions`);

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

/** An exported session with these inputs, in which each call needs an approval. Throws for an input that does not apply. */
export function exportOfInputs(inputs: readonly AgentInput[]): string {
  const config = { ...defaultAgentConfig, approval: { policy: "always" } };
  const tools = {
    refund: { description: "Pays back.", schema: '{"type":"object"}', replay: "once", onUnknown: "ask" },
  };
  const header = JSON.stringify({ format: 1, agent: { name: "shop", version: "0" }, config, tools });
  const replay = beginReplay(headerToState(textToHeader(header)), { changes: true });
  const records: LogRecord[] = [];
  let head: ChainHead = chainStart(header);
  for (const input of inputs) {
    const { changes } = replay.apply(input) ?? {};
    if (changes === undefined) throw new Error(`The input does not apply: ${JSON.stringify(input)}`);
    const record = inputToRecord(head, input, changes);
    records.push(record);
    head = record;
  }
  return recordsToPortable({ id: "shop", header, records });
}
