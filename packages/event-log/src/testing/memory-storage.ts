import { memoryLog, MemoryStorage } from "../memory.ts";
import type { MemoryGeneration } from "../memory-generation.ts";
import type { EventLog } from "../port.ts";
import { check } from "./expectations.ts";
import type { LogStorage } from "./log-storage.ts";

/** Creates storage in memory for the conformance suite. `wrap` wraps each log that is opened; `crash` runs on `reopen`. */
export function memoryLogStorage(
  wrap: (log: EventLog, storage: MemoryStorage) => EventLog = (log) => log,
  crash: (storage: MemoryStorage) => void = () => undefined,
): LogStorage {
  const storage = new MemoryStorage();
  const open = (): EventLog => wrap(memoryLog(storage), storage);
  const generationOf = (id: string): MemoryGeneration => {
    const found = storage.generations.get(id);
    check(found !== undefined, "the session that is to be damaged exists");
    return found;
  };
  return {
    open,
    reopen() {
      crash(storage);
      return open();
    },
    dispose: () => storage.generations.clear(),
    rewrite(id, edit) {
      generationOf(id).records = [...edit(generationOf(id).records)];
    },
    damageHeader(id) {
      storage.generations.set(id, { ...generationOf(id), header: '{"altered":true}' });
    },
  };
}
