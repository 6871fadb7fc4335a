import type { Json, JsonObject } from "@moora/llm";
import { isJsonObject } from "@moora/llm/internal";
import { byName, candidatesFor, chooseCandidates } from "./candidates.ts";
import { clauseOf, refersBack, type Clause } from "./clause.ts";
import type { Field } from "./fields.ts";
import type { CallMark, PastCall, Progress } from "./progress.ts";
import type { RoutedClause } from "./request-to-clauses.ts";
import { roleOf, widening } from "./roles.ts";
import { routeTo, type Profile, type Route } from "./route.ts";

/** A call that the planner requests. */
export interface PlannedCall {
  readonly name: string;
  readonly values: JsonObject;
  readonly mark: CallMark;
}

/** The maximum number of clauses of one request that are worked on. */
const maxDone = 8;

/** The context in which the calls of one clause are planned. */
interface Plan {
  readonly index: number;
  readonly clause: Clause;
  readonly route: Route;
  readonly progress: Progress;
  readonly profiles: readonly Profile[];
}

/** The calls that can start now: those of every clause that does not wait for an earlier one. */
export function plannedCalls(
  clauses: readonly RoutedClause[],
  progress: Progress,
  profiles: readonly Profile[],
): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];
  for (const [index, { clause, route }] of clauses.slice(0, maxDone).entries()) {
    if (route === undefined) continue;
    const waits = clause.isLater || route.filled.missing.length > 0;
    if (waits && calls.length > 0) break;
    calls.push(...callsOf({ index, clause, route, progress, profiles }));
  }
  return calls;
}

/** The next calls of one clause. Empty when it is done, or when no call can help. */
function callsOf(plan: Plan): readonly PlannedCall[] {
  const { index, route, progress } = plan;
  const own = callsFor(progress, index, "own");
  const found = callsFor(progress, index, "find");
  if (own.some(({ isError }) => !isError) || own.length > 1) return [];
  if (own.length === 1) return own.some(isNotFound) ? again(plan, found) : [];
  if (route.filled.missing.length === 0) return [ownCall(plan, route.filled.values)];
  return completed(plan, found);
}

export const callsFor = (
  { calls }: Progress,
  index: number,
  purpose: CallMark["purpose"],
): readonly PastCall[] => calls.filter(({ mark }) => mark?.clause === index && mark.purpose === purpose);

const ownCall = ({ index, route }: Plan, values: JsonObject): PlannedCall => ({
  name: route.profile.tool.name,
  values,
  mark: { clause: index, purpose: "own" },
});

/** A call with arguments from earlier results, or the call of a tool that can find them. */
function completed(plan: Plan, found: readonly PastCall[]): readonly PlannedCall[] {
  const { clause, route, progress, index } = plan;
  const [field, ...others] = route.filled.missing;
  if (field === undefined || others.length > 0) return [];
  const before = progress.calls.filter(({ mark }) => mark === undefined || mark.clause < index);
  const isBack = refersBack(clause);
  const pool = isBack ? [...before.toReversed(), ...progress.earlier.toReversed()] : before;
  const known = chooseCandidates(clause, candidatesFor(field, pool.slice(0, 4)));
  // The value that it refers to was not found, and no other value can replace it.
  if (isBack && pool.length > 0 && known.length === 0) return [];
  const values = known.length > 0 ? known : [byName(clause, candidatesFor(field, found))].filter(isText);
  if (values.length > 0)
    return values.map((value) => ownCall(plan, withValue(route.filled.values, field, value)));
  return found.length > 0 ? [] : finding(plan, field, clause.text);
}

/** Whether a result reports that something was not found. A rejected call is not a missing value. */
const isNotFound = ({ content }: PastCall): boolean =>
  /\b(?:no|not|nothing|unknown|missing)\b/i.test(content) &&
  !/reject|refus|denied|allowed|forbidden|approv|cancel|leads out/i.test(content);

/** When a tool does not find a name, another tool that lists such values may find it. */
function again(plan: Plan, found: readonly PastCall[]): readonly PlannedCall[] {
  const { route } = plan;
  const field = route.profile.fields.find(
    (one) => one.isRequired && roleOf(one) === "path" && Object.hasOwn(route.filled.values, one.name),
  );
  const given = field === undefined ? undefined : route.filled.values[field.name];
  if (field === undefined || typeof given !== "string") return [];
  if (found.length === 0) return finding(plan, field, given);
  const value = byName(clauseOf(given), candidatesFor(field, found));
  return value === undefined || value === given
    ? []
    : [ownCall(plan, withValue(route.filled.values, field, value))];
}

/** The call of a tool that lists values for the field, with its widest options. */
function finding({ index, profiles, route }: Plan, field: Field, text: string): readonly PlannedCall[] {
  const wanted = field.words.length > 0 ? field.words : [field.name];
  const finder = profiles.find(({ tool, ownWords, fields }) => {
    const lists = ["list", "search"].some((word) => ownWords.has(word));
    const mentionsField =
      wanted.some((word) => ownWords.has(word)) || (roleOf(field) === "path" && ownWords.has("fil"));
    return (
      lists && mentionsField && tool !== route.profile.tool && fields.every(({ isRequired }) => !isRequired)
    );
  });
  if (finder === undefined) return [];
  const name = text.slice(text.lastIndexOf("/") + 1);
  const values = finder.fields.flatMap((one): readonly (readonly [string, Json])[] => {
    if (one.type === "boolean" && one.plain.some((word) => widening.has(word))) return [[one.name, true]];
    return roleOf(one) === "glob" && /^[\w.-]+$/.test(name) ? [[one.name, `*${name}*`]] : [];
  });
  const mark = { clause: index, purpose: "find" } as const;
  return [{ name: finder.tool.name, values: Object.fromEntries(values), mark }];
}

function withValue(values: JsonObject, field: Field, value: string): JsonObject {
  const isNumber = field.type === "number" || field.type === "integer";
  return { ...values, [field.name]: isNumber ? Number(value) : value };
}

const isText = (value: string | undefined): value is string => value !== undefined;

/** For `toolChoice: "required"`: the tool whose arguments the request contains, regardless of its words. */
export function forcedCall(text: string, profiles: readonly Profile[]): PlannedCall | undefined {
  const routes = profiles
    .map((profile) => routeTo(clauseOf(text), profile, profiles))
    .filter(({ filled }) => filled.missing.length === 0 && isJsonObject(filled.values))
    .toSorted((a, b) => b.score - a.score);
  const [best] = routes;
  return (
    best && { name: best.profile.tool.name, values: best.filled.values, mark: { clause: 0, purpose: "own" } }
  );
}
