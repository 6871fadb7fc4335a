import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { casesOf } from "../../../../proofs/crash-matrix/cases.ts";
import { killed, unbroken, warmUp } from "../../../../proofs/crash-matrix/kill.ts";
import { Lane } from "../../../../proofs/crash-matrix/lane.ts";
import { bundled, root } from "../../../../proofs/parts/bundle.ts";
import { transcriptOf } from "@moora/testbed/durable/transcripts/index";

const bundle = mkdtempSync(join(tmpdir(), "moora-kills-"));
const child = join(root, "proofs/crash-matrix/child.ts");
const lane = new Lane(bundle, 0);

beforeAll(async () => {
  await bundled({ entries: { child }, folder: bundle });
  await warmUp({ store: "jsonl", url: "" }, lane, transcriptOf("an answer"));
});

afterAll(() => {
  lane[Symbol.dispose]();
  rmSync(bundle, { recursive: true });
});

/** The crash matrix takes all of them. */
const every = 3;

describe.each(["jsonl", "sqlite"] as const)("a real process that is killed with a log in %s", (store) => {
  it.each(["three parallel calls", "a change"])(
    "leaves a session of %s behind that another one brings to the same end (C01, C02, C03)",
    async (name) => {
      const ground = { store, url: "" };
      const transcript = transcriptOf(name);
      const whole = await unbroken(ground, "whole", transcript);
      const cases = casesOf(whole.inputs, whole.works).filter((_, index) => index % every === 0);
      expect(new Set(cases.map(({ phase }) => phase)).size).toBeGreaterThanOrEqual(3);
      for (const [index, one] of cases.entries()) {
        const outcome = await killed(ground, lane, `killed ${index}`, transcript, one, whole);
        expect(outcome, `${one.phase}${one.at}`).toEqual({ killed: true, losses: [] });
      }
    },
  );
});
