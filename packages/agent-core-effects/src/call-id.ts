/**
 * The id of the call with this number in its session, from 1: `call_7`. It is not the bare number because such a key is an
 * array index to JavaScript engines: an object with the one key 1000 reserves memory for a thousand entries.
 */
export const callId = (number: number): string => `call_${number}`;

/**
 * The id that a person or a model names. A bare number is short for the id of the call with this number, `7` for `call_7`,
 * unless a call has that text as its id.
 */
export function namedCallId(text: string, isCall: (id: string) => boolean): string {
  if (isCall(text) || !/^[1-9]\d{0,8}$/.test(text)) return text;
  return callId(Number(text));
}
