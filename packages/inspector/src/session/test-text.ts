import { recordsToPortable } from "@moora/agent";
import { effectsAt } from "@moora/agent-core-effects";
import { controlName, defaultAgentConfig } from "@moora/agent-core-state-machine";
import type { LogRecord } from "@moora/event-log";
import type { HistoryRecord, SessionHistory } from "./session-history.ts";

/** The first `seq` records of a session as a test with a transcript, for `@moora/agent-testing`. */
export function transcriptTest(history: SessionHistory, seq: number): string {
  const state = history.stateAt(seq);
  const shown = [controlName(state.reActContext.control), ...Object.keys(effectsAt(state)).toSorted()];
  const inputs = history.inputs.slice(0, seq).map((input) => `    ${JSON.stringify(input)},`);
  const name = JSON.stringify(`${history.id} shows ${shown[0] ?? ""} after record ${seq}`);
  return [
    'import { givenAgent } from "@moora/agent-testing";',
    'import { it } from "vitest";',
    "",
    `const given = givenAgent(${JSON.stringify(optionsOf(history), null, 2)});`,
    "",
    `it(${name}, () => {`,
    "  given(",
    ...inputs,
    `  ).shows(${shown.map((text) => JSON.stringify(text)).join(", ")});`,
    "});",
    "",
  ].join("\n");
}

/** The options of the initial state: of the configuration only what differs from the default. */
function optionsOf({ header: { config, tools, data, activeAgent } }: SessionHistory): object {
  const defaults = new Map<string, unknown>(Object.entries(defaultAgentConfig));
  const changed = Object.entries(config).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(defaults.get(name)),
  );
  return {
    ...(changed.length === 0 ? {} : { config: Object.fromEntries(changed) }),
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    ...(data === undefined ? {} : { data }),
    ...(activeAgent === undefined ? {} : { activeAgent }),
  };
}

/** The first `seq` records as an exported session; undefined if some have no digests. */
export function goldenLog(history: SessionHistory, headerText: string, seq: number): string | undefined {
  const records = history.records.slice(0, seq).flatMap((record) => (isComplete(record) ? [record] : []));
  return records.length < seq
    ? undefined
    : recordsToPortable({ id: history.id, header: headerText, records });
}

const isComplete = (record: HistoryRecord): record is LogRecord =>
  record.digest !== undefined && record.changesDigest !== undefined;
