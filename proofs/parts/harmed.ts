/** Inputs with harm done to them: a field is gone, doubled, of another kind, hostile, or no JSON at all. */
import type { Choose } from "@moora/agent-testing";

const hostileKeys = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "then",
  "toJSON",
  "length",
  "",
  "\ud800",
];

function deep(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { value };
  return value;
}

const tooDeep = deep(10_000);
const longText = "x".repeat(20_000);

function cycle(): unknown {
  const ring: Record<string, unknown> = {};
  ring["again"] = { ring };
  return ring;
}

const hostileValues: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -0,
  () => 1e308,
  () => -1,
  () => 1.5,
  () => "",
  () => "7",
  () => "\ud800 half",
  () => "__proto__",
  () => longText,
  () => true,
  () => [],
  () => ({}),
  () => () => undefined,
  () => Symbol("symbol"),
  () => 10n,
  () => new Date(0),
  () => new Map([["a", 1]]),
  () => Promise.resolve(1),
  // oxlint-disable-next-line no-sparse-arrays -- holes are what is offered here
  () => [1, , 3],
  () => Object.create(null),
  () => JSON.parse('{"__proto__":{"polluted":true}}'),
  () => cycle(),
  () => tooDeep,
  () =>
    Object.defineProperty({}, "trap", {
      enumerable: true,
      get() {
        throw new Error("A getter that throws.");
      },
    }),
  () =>
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("A proxy that throws.");
        },
      },
    ),
];

const pick = <T>(choose: Choose, items: readonly T[]): T | undefined => items[choose(items.length)];

/** A copy of an input with some harm in it; a few are left whole, and a few are not inputs at all. */
export function harmed(input: object, choose: Choose): unknown {
  const dice = choose(20);
  if (dice === 0) return pick(choose, hostileValues)?.();
  const copy: unknown = structuredClone(input);
  if (dice < 4) return copy;
  harmSomewhere(copy, choose);
  return copy;
}

/** Goes down into a value and changes one of its fields. */
function harmSomewhere(value: unknown, choose: Choose): void {
  if (typeof value !== "object" || value === null) return;
  const keys = Reflect.ownKeys(value).filter((key) => typeof key === "string");
  const key = pick(choose, keys) ?? "";
  const field: unknown = Reflect.get(value, key);
  if (typeof field === "object" && field !== null && choose(3) > 0) return harmSomewhere(field, choose);
  const define = (name: string, to: unknown): void => {
    if (Array.isArray(value) && name === "length") return;
    Reflect.defineProperty(value, name, { value: to, enumerable: true, configurable: true, writable: true });
  };
  switch (choose(5)) {
    case 0:
      return void Reflect.deleteProperty(value, key);
    case 1:
      return define(pick(choose, hostileKeys) ?? "", pick(choose, hostileValues)?.());
    case 2:
      return define(key, typeof field === "string" ? `${field}${pick(choose, hostileKeys)}` : field);
    default:
      return define(key, pick(choose, hostileValues)?.());
  }
}
