import {
  keysToPointer,
  type AgentInput,
  type AgentState,
  type DataPatch,
  type InputOf,
  type Json,
} from "@moora/agent-core-state-machine";
import { dataOf, openCallsOf, stateKey } from "@moora/agent-core-state-machine/internal";
import type { Choose } from "./choose.ts";
import { oneOf } from "./simulation/choices.ts";

/** Draws a change of the application data, which may not fit. Gives data to a session that has none. */
export function drawDataChange(state: AgentState, choose: Choose): AgentInput {
  const { dataStatus, updatedAt: timestamp } = state;
  const isNew = dataStatus === null ? choose(4) > 0 : choose(8) === 0;
  const patches: readonly DataPatch[] = isNew
    ? [{ op: "replace", path: "", value: drawValue(choose) }]
    : drawPatches(state, choose);
  const extra = isNew ? { version: (dataStatus?.version ?? 0) + choose(2) } : drawAuthor(state, choose);
  return { type: "data-changed", patches, by: oneOf(choose, ["a", "b"]), ...extra, timestamp };
}

/** Draws the call or handler that changes data while it runs, or does not run; mostly neither. */
function drawAuthor(
  { reActContext: context }: AgentState,
  choose: Choose,
): Pick<InputOf<"data-changed">, "toolCallId" | "key"> {
  const { control } = context;
  if (choose(3) > 0) return {};
  if (control.type === "Custom" && choose(2) === 0) return { key: stateKey(context, control) };
  if (choose(4) === 0) return { key: "state/1/1/1" };
  return { toolCallId: oneOf(choose, ["call_1", "call_99", ...openCallsOf(control).map(({ id }) => id)]) };
}

/** Draws patches for the data of a state; none of them for a state without data. */
export const drawPatches = (state: AgentState, choose: Choose): readonly DataPatch[] =>
  Array.from({ length: choose(3) }, () => drawPatch(dataOf(state), choose));

function drawPatch(data: Json, choose: Choose): DataPatch {
  const path = drawPath(data, choose);
  const op = oneOf<DataPatch["op"]>(choose, ["add", "add", "replace", "remove"]);
  return op === "remove" ? { op, path } : { op, path, value: drawValue(choose) };
}

function drawPath(data: Json, choose: Choose): string {
  if (choose(8) === 0) return oneOf(choose, ["", "x", "/none/x", "/__proto__/x", "/items/-1", "/items/01"]);
  let path = "";
  let value = data;
  for (let depth = 0; depth < 3 && typeof value === "object" && value !== null; depth += 1) {
    const keys: readonly string[] = Object.keys(value);
    const key =
      choose(3) === 0 ? newKey(value, choose) : (keys[choose(keys.length + 1)] ?? newKey(value, choose));
    path += keysToPointer([key]);
    const child: unknown = Reflect.get(value, key);
    if (child === undefined || choose(3) === 0) break;
    // A field of JSON is JSON.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    value = child as Json;
  }
  return path;
}

const newKey = (value: object, choose: Choose): string =>
  Array.isArray(value)
    ? oneOf(choose, ["-", String(value.length)])
    : oneOf(choose, ["items", "a/b", "~c", "n"]);

const drawValue = (choose: Choose): Json =>
  oneOf<() => Json>(choose, [
    () => null,
    () => choose(10),
    () => "text",
    () => ({ items: [] }),
    () => ({ items: [1, { n: 2 }] }),
    () => [],
  ])();
