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

function quoted(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  const isPlain = !/\p{Cc}/u.test(text);
  return isPlain
    ? `'${text.replaceAll("'", String.raw`'\''`)}'`
    : `$'${text.replaceAll(/[\p{Cc}'\\]/gu, escaped)}'`;
}

/** A control character must not reach the terminal that the command is pasted into: it could end the paste, and run the rest. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
