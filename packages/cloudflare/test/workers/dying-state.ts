import type { CommitDeath } from "@moora/agent-testing/hosts";
import type { ObjectState, ObjectStorage } from "@moora/cloudflare";

/**
 * The state of an object whose process dies at a record of any session: `die` asks for it. Until it does, a write of that record is
 * rolled back, or does not resolve.
 */
export function dyingState(state: ObjectState, death: CommitDeath, die: () => void): ObjectState {
  const { storage } = state;
  const { sql } = storage;
  const isReached = (): boolean => {
    const [tables] = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'moora_sessions'").toArray();
    if (tables === undefined) return false;
    return (
      Number(sql.exec("SELECT max(head) AS head FROM moora_sessions").toArray()[0]?.["head"]) >= death.seq
    );
  };
  const dying: ObjectStorage = {
    sql,
    transactionSync: (work) =>
      storage.transactionSync(() => {
        const value = work();
        if (death.when === "after" || !isReached()) return value;
        die();
        throw new Error("The process dies.");
      }),
    async sync() {
      await storage.sync();
      if (!isReached()) return;
      die();
      await Promise.race([]);
    },
    getAlarm: () => storage.getAlarm(),
    setAlarm: (time) => storage.setAlarm(time),
    deleteAlarm: () => storage.deleteAlarm(),
  };
  return {
    storage: dying,
    acceptWebSocket: (socket) => state.acceptWebSocket(socket),
    getWebSockets: () => state.getWebSockets(),
  };
}
