import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileProblem } from "./session/use-file.ts";
import { UsageError } from "./usage-error.ts";

/** What `mcpOfServer` accepts as a key, in bytes. */
const minBytes = 32;

/**
 * The key in a file. A file that does not exist is created with a random key, for its owner only. `shown`: its name in messages. Throws
 * `UsageError`.
 */
export function secretIn(path: string, shown: string): string {
  try {
    const secret = existingOrNew(path).trim();
    if (Buffer.byteLength(secret) >= minBytes) return secret;
  } catch (error) {
    const problem = fileProblem(error);
    if (problem === undefined) throw error;
    throw new UsageError(`The key in ${shown} ${problem}.`, "Name another file with --secret-file.");
  }
  throw new UsageError(
    `The key in ${shown} is shorter than ${minBytes} bytes.`,
    "Remove the file to have a new key created.",
  );
}

function existingOrNew(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const secret = randomBytes(32).toString("hex");
    writeFileSync(path, `${secret}\n`, { flag: "wx", mode: 0o600 });
    return secret;
  } catch {
    return readFileSync(path, "utf8");
  }
}
