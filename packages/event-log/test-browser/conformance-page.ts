import { indexedDbStorage } from "@moora/testbed/indexeddb-storage";
import { logConformance } from "../src/testing/conformance/index.ts";
import type { Ability } from "../src/testing/log-storage.ts";

declare global {
  /** Runs a case of the conformance suite on IndexedDB; rejects if it fails. */
  var runCase: (name: string, abilities: readonly Ability[]) => Promise<void>;
}

const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.addEventListener("message", () => waiting.shift()?.());
port1.start();

/** A turn of the event loop, as the suite waits for it on Node. */
const nextTurn = (callback: () => void): void => {
  waiting.push(callback);
  port2.postMessage(undefined);
};
Reflect.set(globalThis, "setImmediate", nextTurn);

globalThis.runCase = async (name, abilities) => {
  const found = logConformance(abilities).find((logCase) => logCase.name === name);
  if (found === undefined) throw new Error(`There is no case ${JSON.stringify(name)}.`);
  const storage = indexedDbStorage();
  try {
    await found.run(storage);
  } finally {
    await storage.dispose();
  }
};
