import { indexedDbStorage } from "@moora/testbed/indexeddb-storage";
import { type Ability, logConformance } from "../src/testing/index.ts";

declare global {
  /** Runs a case of the conformance suite on IndexedDB; rejects if it fails. */
  var runCase: (name: string, abilities: readonly Ability[]) => Promise<void>;
}

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
