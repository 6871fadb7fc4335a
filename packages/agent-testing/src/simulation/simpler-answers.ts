import type { Json } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import type { ModelAnswer } from "./model-answer.ts";

/** Plainer forms of an answer, the plainest first. */
export function* simplerModelAnswers(answer: ModelAnswer): Generator<ModelAnswer, void, undefined> {
  const { calls = [] } = answer;
  if (answer.kind !== "plain") yield { kind: "plain", text: "Yes." };
  if (answer.reasoning === true) {
    const { reasoning: _, ...without } = answer;
    yield without;
  }
  if (calls.length > 1)
    for (let at = calls.length - 1; at >= 0; at -= 1) yield { ...answer, calls: calls.toSpliced(at, 1) };
  for (const [at, call] of calls.entries()) {
    const { id: _, ...plain } = call;
    if (call.id !== undefined) yield { ...answer, calls: calls.with(at, plain) };
    for (const args of simplerTexts(call.arguments))
      yield { ...answer, calls: calls.with(at, { ...call, arguments: args }) };
  }
}

/** Simpler JSON for JSON text; nothing for other text. */
function* simplerTexts(text: string): Generator<string, void, undefined> {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  for (const simpler of simplerValues(value)) yield JSON.stringify(simpler);
}

function* simplerValues(value: Json): Generator<Json, void, undefined> {
  if (typeof value === "number") yield* simplerNumbers(value);
  else if (typeof value === "string" && value.length > 2)
    yield String.fromCodePoint(value.codePointAt(0) ?? 0);
  else if (Array.isArray(value))
    for (let at = value.length - 1; at >= 0; at -= 1) yield value.toSpliced(at, 1);
  else if (isJsonObject(value)) {
    for (const [key, field] of Object.entries(value))
      for (const simpler of simplerValues(field)) yield { ...value, [key]: simpler };
  }
}

/** Smaller ones with fewer digits. */
function* simplerNumbers(value: number): Generator<number, void, undefined> {
  const candidates = [1, Math.trunc(value / 2), Math.trunc(value), Math.trunc(value) - 1];
  for (const candidate of new Set(candidates))
    if (Math.abs(candidate) < Math.abs(value) && candidate >= 0) yield candidate;
}
