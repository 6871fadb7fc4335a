/** The id of reasoning in a message: the same in each stream, and for each attempt of its turn. `ordinal` counts from 1; "" for the beginning of all ids of a turn. */
export const reasoningId = (turnId: string, ordinal: number | ""): string => `reasoning_${turnId}_${ordinal}`;
