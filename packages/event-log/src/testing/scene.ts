import type { EventLog, LogRecord, SessionLog } from "../port.ts";
import { check } from "./expectations.ts";
import type { Ability, LogCase, LogStorage } from "./log-storage.ts";

/** The context of a running case: its storage, and a log that is open on it. */
export class Scene {
  readonly storage: LogStorage;
  readonly log: EventLog;

  constructor(storage: LogStorage, log: EventLog) {
    this.storage = storage;
    this.log = log;
  }

  async create(id = "a", header = '{"agent":"test"}'): Promise<SessionLog> {
    return this.log.create(id, header);
  }

  /** Opens a session that must exist, through this log or another. */
  async open(id = "a", log: EventLog = this.log): Promise<SessionLog> {
    const session = await log.open(id);
    check(session !== undefined, `the session ${JSON.stringify(id)} can be opened`);
    return session;
  }

  /** Opens a session as another process would. */
  async openElsewhere(id = "a"): Promise<SessionLog> {
    return this.open(id, await this.storage.open());
  }

  /** Opens a session as after a crash. */
  async openAgain(id = "a"): Promise<SessionLog> {
    return this.open(id, await this.storage.reopen());
  }

  async rewrite(id: string, edit: (records: readonly LogRecord[]) => readonly LogRecord[]): Promise<void> {
    check(this.storage.rewrite !== undefined, "the storage can be rewritten");
    await this.storage.rewrite(id, edit);
  }
}

/** Creates a case of the suite. */
export function logCase(name: string, act: (scene: Scene) => Promise<void>, needs?: Ability): LogCase {
  return {
    name,
    ...(needs === undefined ? {} : { needs }),
    run: async (storage) => act(new Scene(storage, await storage.open())),
  };
}
