import { expect } from "vitest";
import type { EventReader } from "@moora/testbed/server/event-reader";

/** The text that the chunks of a stream show; each must continue the one before, or begin anew. */
export function shownText({ chunks }: EventReader): string {
  let shown = "";
  for (const chunk of chunks) {
    if (chunk.type !== "text") continue;
    expect([0, shown.length]).toContain(chunk.offset);
    shown = shown.slice(0, chunk.offset) + chunk.text;
  }
  return shown;
}

export async function untilShown(reader: EventReader, text: string): Promise<void> {
  while (shownText(reader) !== text)
    if ((await reader.next()) === undefined) throw new Error("The stream ended.");
}
