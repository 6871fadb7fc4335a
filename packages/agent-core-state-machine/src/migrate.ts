import { frozen } from "./data/frozen.ts";
import { dataOf } from "./inputs/data.ts";
import { graphProblems } from "./control/graph.ts";
import { jsonCopy, pathToText } from "./json-copy.ts";
import { agentStateSchema, type AgentState } from "./state.ts";

/** The version of the states that this release writes. */
export const stateVersion = 1;

/** One function for each older version, which converts a state of it to the next version. */
const migrations: Readonly<
  Record<number, (state: Readonly<Record<string, unknown>>) => Record<string, unknown>>
> = {};

/** The result of `parseState`: a state, or why the value is not one that this release reads. */
export type ParsedState =
  | { readonly ok: true; readonly state: AgentState }
  | {
      readonly ok: false;
      readonly problem: {
        readonly code: "unsupported-version" | "not-a-state";
        readonly path: string;
        readonly message: string;
      };
    };

/** Parses a stored state. Older versions are migrated; newer versions and other values are refused. Does not throw. */
export function parseState(value: unknown): ParsedState {
  const copied = jsonCopy(value, Number.POSITIVE_INFINITY);
  if ("problem" in copied) return refused("not-a-state", copied.problem.path, copied.problem.message);
  const { copy } = copied;
  if (typeof copy !== "object" || copy === null || Array.isArray(copy))
    return refused("not-a-state", "", "A state is an object.");
  let stored: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(copy));
  while (stored["version"] !== stateVersion) {
    const { version } = stored;
    const migrate =
      typeof version === "number" && Object.hasOwn(migrations, version) ? migrations[version] : undefined;
    if (migrate === undefined) {
      return refused(
        "unsupported-version",
        "version",
        `This release reads states up to version ${stateVersion}.`,
      );
    }
    stored = migrate(stored);
  }
  const parsed = agentStateSchema.safeParse(stored);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return refused("not-a-state", pathToText(issue?.path ?? []), issue?.message ?? "Wrong shape.");
  }
  const [problem] = graphProblems(parsed.data.config.graph);
  return problem === undefined
    ? { ok: true, state: frozen({ ...parsed.data, data: dataOf(parsed.data) }) }
    : refused("not-a-state", "config.graph", problem);
}

const refused = (
  code: "unsupported-version" | "not-a-state",
  path: string,
  message: string,
): ParsedState => ({ ok: false, problem: { code, path, message } });
