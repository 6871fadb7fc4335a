import type { LlmChunk } from "../../caller.ts";
import { check, equal, type Call } from "./scene.ts";

/** A call as its chunks show it. */
interface Draft {
  readonly name: string;
  readonly id: string | undefined;
  arguments: string;
}

/**
 * Throws a `ConformanceError` unless the chunks of an answer show the calls of its turn, in their order and with their whole
 * arguments, and every part ends once, after its last piece.
 */
export function checkDrafts(chunks: readonly LlmChunk[], calls: readonly Call[]): void {
  const drafts = draftsOf(chunks);
  equal(
    drafts.map(({ name, arguments: text }) => `${name}(${text})`),
    calls.map(({ name, arguments: text }) => `${name}(${text})`),
    "The streamed calls",
  );
  for (const [at, { id }] of drafts.entries())
    if (id !== undefined) equal(id, calls[at]?.id, `The streamed id of call ${at + 1}`);
}

function draftsOf(chunks: readonly LlmChunk[]): readonly Draft[] {
  const drafts = new Map<number, Draft>();
  const open = new Set<number>();
  const ended = new Set<number>();
  for (const chunk of chunks) {
    const { type, index } = chunk;
    if (index === undefined) continue;
    check(!ended.has(index), `Part ${index} continues after its end with ${JSON.stringify(chunk)}.`);
    if (type === "part-end") ended.add(index);
    else open.add(index);
    if (type === "tool-call") drafts.set(index, { name: chunk.name, id: chunk.id, arguments: "" });
    if (type !== "tool-call-delta") continue;
    const draft = drafts.get(index);
    check(draft !== undefined, `Part ${index} has arguments before its tool-call chunk.`);
    draft.arguments += chunk.text;
  }
  const left = [...open].filter((index) => !ended.has(index));
  equal(left, [], "The parts that have not ended");
  return [...drafts.values()];
}
