/** A test that replays a golden log, the file with an exported session. */
export const goldenTest = (id: string, file: string): string =>
  [
    'import { replayLog } from "@moora/agent-testing";',
    'import { it } from "vitest";',
    "",
    `it(${JSON.stringify(`${id} still replays`)}, () => replayLog(${JSON.stringify(file)}));`,
    "",
  ].join("\n");

/** The command that makes a new session from the first `seq` records. */
export const forkCommand = (id: string, seq: number): string =>
  `moora fork ${quoted(id)} --at ${seq} --to ${quoted(`${id}-fork`)}`;

const quoted = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
