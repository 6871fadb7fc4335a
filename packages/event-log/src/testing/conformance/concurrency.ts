import { LogError } from "../../log-error.ts";
import type { LogRecord, SessionLog } from "../../port.ts";
import { bodies, grow, headOf, recordsAfter } from "../chain-of.ts";
import { check, checkEqual, checkRefused } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase } from "../scene.ts";

export const concurrencyCases: readonly LogCase[] = [
  ...(["another handle", "another process"] as const).map((who) =>
    logCase(`a handle sees what ${who} appended`, async (scene) => {
      const one = await scene.create();
      const other = who === "another handle" ? await scene.open() : await scene.openElsewhere();
      const first = await grow(one, '{"by":"one"}');
      checkEqual(await other.head(), 1, "the head, seen by the other");
      const second = await grow(other, '{"by":"other"}', "{}");
      checkEqual(await one.head(), 3, "the head, seen by the one");
      checkEqual(await one.read(), [...first, ...second], "the records");
      checkEqual(await one.read(1), second, "the newest records");
    }),
  ),
  logCase("a writer that has not seen the newest record is refused", async (scene) => {
    const one = await scene.create();
    const other = await scene.openElsewhere();
    const late = recordsAfter(await headOf(other), '{"late":true}');
    const records = await grow(one, '{"first":true}');
    await checkRefused("Conflict", "append", () => other.append(0, late));
    checkEqual(await other.read(), records, "the records");
    await grow(other, '{"late":true}');
    checkEqual(await one.head(), 2, "the head, once the other has caught up");
  }),
  logCase("of many that append at the same place, one succeeds", async (scene) => {
    const session = await scene.create();
    const writers = [session, await scene.open(), await scene.openElsewhere(), await scene.openElsewhere()];
    const head = await headOf(session);
    const offers = Array.from({ length: 20 }, (_, index) => recordsAfter(head, JSON.stringify({ index })));
    const outcomes = await Promise.allSettled(
      offers.map(async (offer, index) => writers[index % writers.length]?.append(0, offer)),
    );
    const winners = offers.filter((_, index) => outcomes[index]?.status === "fulfilled");
    checkEqual(winners.length, 1, "how many succeed");
    checkEqual(await session.read(), winners[0], "whose record it is");
    const codes = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [codeOf(outcome.reason)] : [],
    );
    checkEqual(new Set(codes).size, 1, "the losers fail alike");
    checkEqual(codes[0], "Conflict", "how the losers fail");
  }),
  logCase("(D06) appends that nobody waits for land in the order in which they were made", async (scene) => {
    const session = await scene.create();
    const records = recordsAfter(await headOf(session), ...bodies(100));
    await Promise.all(records.map(async (record) => session.append(record.seq - 1, [record])));
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("writers that try again until they succeed lose nothing and repeat nothing", async (scene) => {
    await scene.create();
    const writers = [await scene.open(), await scene.openElsewhere(), await scene.openElsewhere()];
    const wanted = writers.map((_, writer) => bodies(10, `writer ${writer}`));
    await Promise.all(
      writers.map(async (session, writer) => {
        for (const body of wanted[writer] ?? []) await appendSomehow(session, body);
      }),
    );
    const found = (await (await scene.openAgain()).read()).map(({ body }) => body);
    checkEqual(found.toSorted(), wanted.flat().toSorted(), "the bodies");
    for (const mine of wanted) {
      checkEqual(
        found.filter((body) => mine.includes(body)),
        mine,
        "the bodies of one writer, in order",
      );
    }
  }),
  logCase("a batch is seen whole or not at all", async (scene) => {
    const session = await scene.create();
    const reader = await scene.openElsewhere();
    const writing = { isOver: false };
    const write = async (): Promise<void> => {
      for (let round = 0; round < 10; round += 1) await grow(session, ...bodies(8));
      writing.isOver = true;
    };
    const look = async (): Promise<void> => {
      do {
        checkEqual((await reader.head()) % 8, 0, "records beyond whole batches");
        checkEqual((await reader.read()).length % 8, 0, "records read beyond whole batches");
      } while (!writing.isOver);
    };
    await Promise.all([write(), look()]);
    checkEqual(await reader.head(), 80, "the head at the end");
  }),
  logCase("an append that races with the removal is acknowledged before it or refused", async (scene) => {
    for (let round = 0; round < 5; round += 1) {
      const session = await scene.create();
      const elsewhere = await scene.storage.open();
      const records = recordsAfter(await headOf(session), "{}");
      const [appended, removed] = await Promise.allSettled([
        (async () => session.append(0, records))(),
        (async () => elsewhere.remove("a"))(),
      ]);
      check(removed.status === "fulfilled" && removed.value, "the removal succeeds");
      if (appended.status === "rejected")
        checkEqual(codeOf(appended.reason), "LogRemoved", "how the append fails");
      checkEqual(await scene.log.open("a"), undefined, "the session is gone");
      checkEqual(await scene.log.list(), [], "nothing is left of it");
    }
  }),
];

const codeOf = (error: unknown): string => (error instanceof LogError ? error.code : String(error));

async function appendSomehow(session: SessionLog, body: string): Promise<readonly LogRecord[]> {
  for (;;) {
    try {
      return await grow(session, body);
    } catch (error) {
      if (!(error instanceof LogError && error.code === "Conflict")) throw error;
    }
  }
}
