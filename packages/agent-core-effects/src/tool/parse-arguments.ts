import { jsonCopy } from "@moora/agent-core-state-machine";
import type { Json } from "@moora/llm";
import { shortened } from "../shortened.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };

/** The arguments of a call, strictly: one JSON object, no key twice. No arguments at all count as an empty object. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return wrong(
      `The arguments are not valid JSON: ${error instanceof Error ? error.message : "unreadable"}.`,
      text,
    );
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return wrong("The arguments are not a JSON object.", text);
  const copied = jsonCopy(value);
  if ("problem" in copied) return wrong(`The arguments cannot be used: ${copied.problem.message}`, text);
  const twice = repeatedKey(text);
  return twice === undefined
    ? { ok: true, value: copied.copy }
    : wrong(
        `The key ${JSON.stringify(shortened(twice.key, 100))} stands twice, at offset ${twice.offset}.`,
        text,
      );
}

const wrong = (problem: string, text: string): ParsedArguments => ({
  ok: false,
  problem: `${shortened(problem, 500)} You sent: ${shortened(text, 1_000)}`,
});

/** The first key that an object of this valid JSON text has twice. `JSON.parse` would silently keep the last. */
function repeatedKey(text: string): { readonly key: string; readonly offset: number } | undefined {
  const objects: (Set<string> | undefined)[] = [];
  const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/gsu;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [found, colon] = match;
    if (found === "{") objects.push(new Set());
    else if (found === "[") objects.push(undefined);
    else if (found === "}" || found === "]") objects.pop();
    else if (colon !== undefined) {
      const key = String(JSON.parse(found.slice(0, found.length - colon.length)));
      const keys = objects.at(-1);
      if (keys?.has(key)) return { key, offset: match.index };
      keys?.add(key);
    }
  }
  return undefined;
}
