/**
 * A process that holds the lock of a name: `lock-holder.ts DIRECTORY NAME`. It prints a line when it holds the lock, and holds
 * it until it reads a line or is killed.
 */
import { readSync, writeSync } from "node:fs";
import { fileLock } from "../../src/lock/file-lock.ts";

const [, , directory = "", name = ""] = process.argv;
const lock = fileLock(directory);
lock.tryHold(name, () => {
  writeSync(1, "held\n");
  readSync(0, Buffer.alloc(1));
});
lock.close();
