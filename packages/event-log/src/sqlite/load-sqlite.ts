import type * as NodeSqlite from "node:sqlite";
import { LogError } from "../log-error.ts";

let loaded: typeof NodeSqlite | undefined;

/**
 * The module `node:sqlite`, loaded when it is first needed: Node.js has it from 22.13 on. Without it, `UnsupportedRuntime`.
 * Some of these versions warn once that the module is experimental; the format of the files is not, so only that warning
 * is left out.
 */
export function loadSqlite(): typeof NodeSqlite {
  loaded ??= withoutWarning("ExperimentalWarning", /^SQLite /, () =>
    process.getBuiltinModule?.("node:sqlite"),
  );
  if (loaded !== undefined) return loaded;
  throw new LogError(
    "UnsupportedRuntime",
    `A SQLite log needs Node.js 22.13 or newer; this is ${process.version}, which has no node:sqlite. Use jsonlLog, ` +
      "or update Node.js.",
  );
}

/** Runs synchronous work; warnings of this type and text that the process emits meanwhile are left out. */
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
