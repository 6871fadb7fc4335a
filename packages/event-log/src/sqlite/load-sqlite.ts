import type * as NodeSqlite from "node:sqlite";
import { LogError } from "../log-error.ts";

let loaded: typeof NodeSqlite | undefined;

/**
 * Loads the module `node:sqlite` on first use. Throws `UnsupportedRuntime` before Node.js 22.13. Some versions warn that the
 * module is experimental; the file format is stable, so this warning is suppressed.
 */
export function loadSqlite(): typeof NodeSqlite {
  loaded ??= withoutWarning("ExperimentalWarning", /^SQLite /, () =>
    process.getBuiltinModule?.("node:sqlite"),
  );
  if (loaded !== undefined) return loaded;
  throw new LogError(
    "UnsupportedRuntime",
    `A SQLite log, and the lock of a JSONL log, need Node.js 22.13 or newer; this is ${process.version}, which has no ` +
      "node:sqlite. Update Node.js.",
  );
}

/** Runs synchronous work, and suppresses process warnings of this type and text meanwhile. */
function withoutWarning<T>(type: string, text: RegExp, work: () => T): T {
  const emitWarning = process.emitWarning;
  const filtered: typeof process.emitWarning = (...args: readonly unknown[]) => {
    const [warning, kind] = args;
    if (kind === type && text.test(String(warning))) return;
    Reflect.apply(emitWarning, process, args);
  };
  process.emitWarning = filtered;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
