import { memoryLog, type MemoryGeneration, MemoryStorage } from "../memory.ts";
import type { EventLog } from "../port.ts";
import { check } from "./expectations.ts";
import type { LogStorage } from "./log-storage.ts";

/** Storage in memory for a suite. `wrap` may put something between, `crash` do something on `reopen`, as the broken logs do. */
export function memoryLogStorage(
  wrap: (log: EventLog, storage: MemoryStorage) => EventLog = (log) => log,
  crash: (storage: MemoryStorage) => void = () => undefined,
): LogStorage {
  const storage = new MemoryStorage();
  const open = (): EventLog => wrap(memoryLog(storage), storage);
  const life = (id: string): MemoryGeneration => {
    const found = storage.lives.get(id);
    check(found !== undefined, "the session that is to be damaged exists");
    return found;
  };
  return {
    open,
    reopen() {
      crash(storage);
      return open();
    },
    dispose: () => storage.lives.clear(),
    rewrite(id, edit) {
      life(id).records = [...edit(life(id).records)];
    },
    damageHeader(id) {
      storage.lives.set(id, { ...life(id), header: '{"altered":true}' });
    },
  };
}
