import { shownValue } from "@moora/llm/internal";
import { truncated } from "./truncate.ts";

/** An issue that a schema library reports about one field, in the form of zod's issues. */
export interface FieldIssue {
  readonly code: string;
  readonly path: readonly PropertyKey[];
  readonly expected?: string | undefined;
  readonly values?: readonly unknown[] | undefined;
  readonly minimum?: number | bigint | undefined;
  readonly maximum?: number | bigint | undefined;
  readonly inclusive?: boolean | undefined;
  readonly errors?: readonly (readonly FieldIssue[])[] | undefined;
}

/** A sentence such as `config.settings.temperature must be a number, got "hot".` for an issue of the value at `place`. */
export function fieldProblem(place: string, value: unknown, issue: FieldIssue): string {
  const found = deepestIssue(value, issue);
  const field = valueIn(value, found.path);
  const where = fieldPath(place, found.path);
  return field === undefined
    ? `${where} is missing. It must be ${expectation(found)}.`
    : `${where} must be ${expectation(found)}, got ${shownValue(field)}.`;
}

/** Converts `config` and `["rows", 0, "a"]` to `config.rows[0].a`. */
export const fieldPath = (place: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}.${truncated(String(key), 60)}`),
    place,
  );

/** The issue of the intended branch of a union: the one whose field is present. */
function deepestIssue(value: unknown, issue: FieldIssue): FieldIssue {
  const own = valueIn(value, issue.path);
  const meant = (issue.errors ?? [])
    .flatMap((branch) => branch.slice(0, 1))
    .find(({ path }) => path.length > 0 && valueIn(own, path) !== undefined);
  return meant === undefined ? issue : { ...meant, path: [...issue.path, ...meant.path] };
}

function expectation({ code, expected, values, minimum, maximum, inclusive, errors }: FieldIssue): string {
  if (code === "invalid_union") {
    const choices = (errors ?? []).flatMap((branch) => branch.filter(({ path }) => path.length === 0));
    const texts = new Set(choices.map(expectation));
    return texts.size === 0 ? "of another form" : [...texts].join(" or ");
  }
  if (values !== undefined) {
    return values
      .map((value) => JSON.stringify(value))
      .join(", ")
      .replace(/, ([^,]*)$/, " or $1");
  }
  if (minimum !== undefined) return inclusive === false ? `greater than ${minimum}` : `at least ${minimum}`;
  if (maximum !== undefined) return inclusive === false ? `less than ${maximum}` : `at most ${maximum}`;
  return (expected === undefined ? undefined : types[expected]) ?? "of another form";
}

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a finite number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
};

function valueIn(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null) return undefined;
    at = Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at;
}
