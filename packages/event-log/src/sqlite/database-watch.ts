import { watch } from "node:fs";
import { basename, dirname } from "node:path";
import { Listeners } from "../listeners.ts";
import type { Connection } from "./connection.ts";

/** How often to ask the database where the system tells nothing of changes to its files. */
const pollMs = 1_000;

/** Who listens to which session of a database. While somebody does, other connections' commits are looked for. */
export class DatabaseWatch {
  readonly #connection: Connection;
  readonly #listeners = new Listeners();
  #stopLooking: (() => void) | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  add(life: number, listener: () => void): () => void {
    const stopListening = this.#listeners.add(String(life), listener);
    this.#stopLooking ??= this.#look();
    return () => {
      stopListening();
      if (this.#listeners.keys.length === 0) this.#stop();
    };
  }

  notify(life: number): void {
    this.#listeners.notify(String(life));
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #stop(): void {
    this.#stopLooking?.();
    this.#stopLooking = undefined;
  }

  /** SQLite's data version changes when another connection commits: to whatever session, so all are told. */
  #look(): () => void {
    const { file, isInMemory } = this.#connection;
    if (isInMemory) return () => undefined;
    let seen = this.#version();
    const look = (): void => {
      const now = this.#version();
      if (now === seen) return;
      seen = now;
      for (const key of this.#listeners.keys) this.#listeners.notify(key);
    };
    const timer = setInterval(look, pollMs).unref();
    const stopWatching = watchFiles(file, look);
    return () => {
      clearInterval(timer);
      stopWatching();
    };
  }

  /** Undefined when the database does not answer; listeners then find out why when they read. */
  #version(): unknown {
    try {
      return this.#connection.one("PRAGMA data_version")?.["data_version"];
    } catch {
      return undefined;
    }
  }
}

/** Watches a database and the files beside it that SQLite makes and removes. */
function watchFiles(file: string, look: () => void): () => void {
  const name = basename(file);
  try {
    const watcher = watch(dirname(file), { persistent: false }, (_event, changed) => {
      if (changed === null || changed.startsWith(name)) look();
    });
    watcher.on("error", () => undefined);
    return () => watcher.close();
  } catch {
    // There is a limit to how many directories one may watch: then the slow look has to do.
    return () => undefined;
  }
}
