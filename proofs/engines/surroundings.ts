/** What is not the same everywhere, and must decide nothing: by the object that has it. */
const surroundings: readonly (readonly [unknown, readonly string[]])[] = [
  [
    globalThis,
    [
      "Date",
      "Intl",
      "crypto",
      "fetch",
      "navigator",
      "performance",
      "process",
      "queueMicrotask",
      "setImmediate",
      "setInterval",
      "setTimeout",
    ],
  ],
  [Math, ["random"]],
  [String.prototype, ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"]],
  [Number.prototype, ["toLocaleString"]],
  [Array.prototype, ["toLocaleString"]],
  [Object.prototype, ["toLocaleString"]],
];

/** Runs something while all of that throws; returns what was accessed nevertheless, also where the error was swallowed. */
export function withoutSurroundings<Result>(run: () => Result): {
  readonly result: Result;
  readonly touched: readonly string[];
} {
  const touched: string[] = [];
  const restores = surroundings.flatMap(([owner, names]) =>
    names.map((name) => takenAway(Object(owner), name, () => touched.push(name))),
  );
  try {
    return { result: run(), touched };
  } finally {
    for (const restore of restores) restore();
  }
}

/** Replaces a property by one that throws. Returns a function that restores it. */
function takenAway(owner: object, name: string, onAccess: () => void): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, name);
  if (own?.configurable !== true) return () => undefined;
  Object.defineProperty(owner, name, {
    configurable: true,
    get() {
      onAccess();
      throw new Error(`${name} was asked for.`);
    },
  });
  return () => void Object.defineProperty(owner, name, own);
}
