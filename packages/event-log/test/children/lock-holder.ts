/** A process that takes the lock of a name, `lock-holder.ts DIRECTORY NAME`, says so, and holds it until it is killed. */
import { writeSync } from "node:fs";
import { FileLocks } from "../../src/jsonl/file-lock.ts";

const [, , directory = "", name = ""] = process.argv;
new FileLocks(directory, 5_000).withLock(name, () => {
  writeSync(1, "held\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
