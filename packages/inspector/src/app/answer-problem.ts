import { schemaCheckOf } from "@moora/agent-core-effects/internal";

/** Why an answer does not match the JSON Schema of its question; undefined if it does, or if only the server can say. */
export function answerProblem(schema: string | undefined, answer: unknown): string | undefined {
  if (schema === undefined) return undefined;
  try {
    const checked = schemaCheckOf(JSON.parse(schema), undefined).check(answer);
    return "ok" in checked && !checked.ok ? checked.problem : undefined;
  } catch {
    return undefined;
  }
}
