import type { LogRecord } from "@moora/event-log";

const encoder = new TextEncoder();

/** The length of a text in UTF-8. */
export const byteLength = (text: string): number => encoder.encode(text).length;

/**
 * A server of Restate accepts messages of at most 32 MiB, unless it is configured otherwise, and repeats for ever what leads to a
 * longer one. So no answer of a handler and no value in the state of an object may be longer.
 */

/** The longest record, as JSON, and the longest body of a call, in bytes. */
export const longestMessageBytes = 25_165_824;

/** How many bytes of JSON an answer has, unless it has one record only. */
export const pageBytes = 2_097_152;

/** The length of the parts of a snapshot in characters, of which each has at most 3 bytes in an answer. */
export const partLength = 1_048_576;

/** The longest character in JSON, `\u0000`. */
const longestCharacter = 6;

/** Whether a record is longer than a message may be. */
export const isTooLong = (record: LogRecord): boolean =>
  record.body.length > longestMessageBytes / longestCharacter &&
  byteLength(JSON.stringify(record)) > longestMessageBytes;

/**
 * The longest input that a log appends, as its JSON in characters: as the JSON of a record, each has at most 3 bytes. One
 * MiB of that is for what is sent with the inputs of an append.
 */
export const longestLogRecord: number = Math.floor((longestMessageBytes - 1_048_576) / 3);
