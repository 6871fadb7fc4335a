import { beginReplay, rulesVersion } from "@moora/agent-core-state-machine";
import { memoryLog } from "@moora/event-log";
import { wording } from "@moora/agent-core-state-machine/internal";
import { afterEach, describe, expect, it } from "vitest";
import { goldenPositions, goldenText, recordedNames, recordedRules } from "@moora/testbed/corpus/files";
import { foldedOf, positionsOf } from "@moora/testbed/corpus/positions";
import { headerToState, parsePortable, recordToInput, textToHeader, verifySession } from "../../src/index.ts";
import { importForReading } from "../../src/internal.ts";

const advice =
  "The reducer folds it to another state, or wants other effects, than when it was recorded. If that is meant, increase " +
  "`rulesVersion` in packages/agent-core-state-machine/src/rules.ts, run `node --conditions=@moora/source proofs/record-corpus.ts`, " +
  "and say in docs/decisions what has changed. If no release has these rules yet, run it with --again instead.";

/** The sessions that are folded to other states than recorded, with the first record of each. */
const foldedOtherwise = (rules: number): readonly string[] =>
  recordedNames(rules).flatMap((name) => {
    const [found, golden] = [
      positionsOf(goldenText(name, rules)).map(foldedOf),
      goldenPositions(name, rules),
    ];
    const seq = found.findIndex((line, index) => line !== golden[index]);
    return seq === -1 && found.length === golden.length ? [] : [`${name}, record ${seq}`];
  });

describe("the rules", () => {
  it("have a corpus, as those before have", () => {
    expect(recordedRules()).toEqual(Array.from({ length: rulesVersion }, (_, index) => index + 1));
    expect(recordedNames().length).toBeGreaterThanOrEqual(100);
  });

  it("fold every session of their corpus to the states and effects that were recorded (A01)", () => {
    expect(foldedOtherwise(rulesVersion), advice).toEqual([]);
  });

  it("fold a session of rules 2, whose configuration has no plan of the context, to the states of its time", () => {
    expect(foldedOtherwise(2)).toEqual([]);
  });
});

const earlierRules = recordedRules().filter((rules) => rules < rulesVersion);

describe.each(earlierRules)("a session that rules %i folded", (rules) => {
  it("is read, and its facts verify", async () => {
    for (const name of recordedNames(rules)) {
      const log = memoryLog();
      const id = await importForReading(log, goldenText(name, rules));
      const { length } = parsePortable(goldenText(name, rules)).records;
      const report = await verifySession(log, id);
      expect(report, name).toMatchObject({ ok: true, seq: length, foldedByOtherRules: length });
    }
  });

  it("has the same open work: every recorded input applies, and no key of an effect is another one (L4)", () => {
    for (const name of recordedNames(rules)) {
      const { header, records } = parsePortable(goldenText(name, rules));
      const replay = beginReplay(headerToState(textToHeader(header)));
      const refused = records.filter((record) => replay.apply(recordToInput(record)) === undefined);
      expect(
        refused.map(({ body }) => body),
        name,
      ).toEqual([]);
    }
  });
});

describe("the sentences of the reducer", () => {
  const texts = { ...wording };

  afterEach(() => {
    Object.assign(wording, texts);
  });

  it("belong to requests: where each is corrected, requests differ and states do not", () => {
    const names = recordedNames();
    const before = names.map((name) => positionsOf(goldenText(name)));
    const corrected = Object.keys(wording).map((name) => [name, `A better text of ${name}.`] as const);
    Object.assign(wording, Object.fromEntries(corrected));
    const after = names.map((name) => positionsOf(goldenText(name)));
    expect(after.map((lines) => lines.map(foldedOf))).toEqual(before.map((lines) => lines.map(foldedOf)));
    const changed = names.filter((_, index) => after[index]?.join() !== before[index]?.join());
    expect(changed.length).toBeGreaterThan(20);
  });
});
