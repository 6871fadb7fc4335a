import type { FoldedSession } from "@moora/agent";
import { partLength } from "./message-limits.ts";

/** The JSON of a snapshot, in parts that messages can contain. */
export function partsOf(snapshot: FoldedSession): readonly string[] {
  const text = JSON.stringify(snapshot);
  return Array.from({ length: Math.ceil(text.length / partLength) }, (_, index) =>
    text.slice(index * partLength, (index + 1) * partLength),
  );
}
