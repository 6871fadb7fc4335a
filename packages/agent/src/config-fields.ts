import { didYouMean, nearest } from "@moora/agent-core-effects/internal";
import { agentConfigSchema, type Json } from "@moora/agent-core-state-machine";
import {
  approvalSchema,
  configGroups,
  budgetSchema,
  fieldsOfGroup,
  graphSchema,
  settingsSchema,
  toolSearchSchema,
} from "@moora/agent-core-state-machine/internal";

type Path = readonly (string | number)[];

/** The fields of the nested objects of a configuration, by their path. */
const nestedFields: Readonly<Record<string, readonly string[]>> = {
  settings: Object.keys(settingsSchema.shape),
  toolChoice: ["name"],
  toolSearch: Object.keys(toolSearchSchema.shape),
  approval: Object.keys(approvalSchema.shape),
  "approval.policy": ["above", "tools", "predicate"],
  budget: Object.keys(budgetSchema.shape),
  ...Object.fromEntries(configGroups.map((group) => [group, fieldsOfGroup(group)])),
  graph: Object.keys(graphSchema.shape),
};

/** The names of the fields of the object at a path of the configuration. */
const knownFieldsAt = (path: Path): readonly string[] =>
  path.length === 0 ? Object.keys(agentConfigSchema.shape) : (nestedFields[path.join(".")] ?? []);

/**
 * The path of each field of the configuration and of its groups, by the field's name: `maxSteps` has the path
 * `limits.maxSteps`.
 */
const pathsByName: ReadonlyMap<string, Path> = new Map([
  ...configGroups.flatMap((group) =>
    fieldsOfGroup(group).map((name): [string, Path] => [name, [group, name]]),
  ),
  ...Object.keys(agentConfigSchema.shape).map((name): [string, Path] => [name, [name]]),
]);

/** The path of the configuration field with this name, inside or outside a group; undefined for an unknown name. */
export const configPathOf = (name: string): Path | undefined => pathsByName.get(name);

/** A hint for an unknown field at a path, such as ` Did you mean "limits.maxSteps"?`; empty if no name is similar. */
export function configFieldHint(path: Path): string {
  const name = String(path.at(-1));
  if (path.length > 1) return didYouMean(name, knownFieldsAt(path.slice(0, -1)));
  const meant = nearest(name, [...pathsByName.keys()]);
  return meant === undefined ? "" : ` Did you mean "${pathsByName.get(meant)?.join(".")}"?`;
}

/**
 * The path of the first field that a configuration has and its schema has not. `parsed` is the configuration without
 * unknown fields; without it only the objects with a fixed set of fields are compared.
 */
export function unknownFieldOf(given: Json, parsed: unknown, path: Path = []): Path | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const known = knownFieldsAt(path);
  for (const [name, field] of Object.entries(given)) {
    const at = [...path, Array.isArray(given) ? Number(name) : name];
    const isKnown =
      parsed === undefined ? known.length === 0 || known.includes(name) : hasField(parsed, name);
    if (!isKnown) return at;
    const found = unknownFieldOf(field, parsed === undefined ? undefined : fieldOf(parsed, name), at);
    if (found !== undefined) return found;
  }
  return undefined;
}

const hasField = (value: unknown, name: string): boolean =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name);

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
