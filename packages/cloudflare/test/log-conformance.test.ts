import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { logConformance } from "@moora/event-log/testing";
import { bundleWorker, startWorkerd, StorageFolder } from "./workerd.ts";

let workerd: Miniflare;
const folder = new StorageFolder();

beforeAll(async () => {
  workerd = startWorkerd({
    code: await bundleWorker("log-worker"),
    objects: { CASES: "LogCase" },
    folder: folder.path,
  });
  await workerd.ready;
});

afterAll(async () => {
  await workerd.dispose();
  folder[Symbol.dispose]();
});

/** Runs a case in an object of its own. */
async function resultOf(name: string, index: number): Promise<string> {
  const response = await workerd.dispatchFetch(`http://localhost/case-${index}`, {
    method: "POST",
    body: name,
  });
  return await response.text();
}

const cases = logConformance(["rewrite", "damageHeader", "damageSnapshot", "raiseFormat"]);

describe("(B13) the durable-object log under workerd", () => {
  it.each(cases.map(({ name }, index) => ({ name, index })))("$name", async ({ name, index }) => {
    expect(await resultOf(name, index)).toBe("ok");
  });
});
