import { describe, it } from "vitest";
import { logConformance } from "../src/testing/index.ts";
import { checkCase, relaxedStores } from "./stores.ts";

describe.each(relaxedStores)("(B13) the $name log", ({ storageOf, abilities }) => {
  it.each(logConformance(abilities))("$name", async (logCase) => checkCase(logCase, storageOf()));
});
