/** The id of the message of a turn without text, which only contains calls. */
export const callsMessageId = (firstCallId: string): string => `calls_${firstCallId}`;

/** The id of the message with the result of a call. */
export const resultMessageId = (toolCallId: string): string => `result_${toolCallId}`;

/** The id of the message with the text of a model call, by the key of the call; undefined for a call that writes none. */
export function textMessageId(key: string): string | undefined {
  const [, loop, step, attempt] = /^plan\/(\d+)\/(\d+)\/(\d+)$/.exec(key) ?? [];
  if (attempt === undefined) return undefined;
  return attempt === "1" ? `msg_${loop}_${step}` : `msg_${loop}_${step}_${attempt}`;
}
