import { LogError } from "../../log-error.ts";
import type { LogRecord, SessionLog } from "../../port.ts";
import { bodies, appendBodies, headOf, recordsAfter } from "../chain-of.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { nextTurn } from "../next-turn.ts";
import { logCase } from "../scene.ts";

export const concurrencyCases: readonly LogCase[] = [
  ...(["another handle", "another process"] as const).map((writer) =>
    logCase(`a handle sees what ${writer} appended`, async (scene) => {
      const one = await scene.create();
      const other = writer === "another handle" ? await scene.open() : await scene.openElsewhere();
      const first = await appendBodies(one, '{"by":"one"}');
      checkEqual(await other.head(), 1, "the head, read by the other");
      const second = await appendBodies(other, '{"by":"other"}', "{}");
      checkEqual(await one.head(), 3, "the head, read by the one");
      checkEqual(await one.read(), [...first, ...second], "the records");
      checkEqual(await one.read(1), second, "the newest records");
    }),
  ),
  logCase("rejects a writer that has not read the newest record", async (scene) => {
    const one = await scene.create();
    const other = await scene.openElsewhere();
    const late = recordsAfter(await headOf(other), '{"late":true}');
    const records = await appendBodies(one, '{"first":true}');
    await checkRejected("Conflict", "append", () => other.append(0, late));
    checkEqual(await other.read(), records, "the records");
    await appendBodies(other, '{"late":true}');
    checkEqual(await one.head(), 2, "the head, after the other has caught up");
  }),
  logCase("of many appends at the same head, one succeeds", async (scene) => {
    const session = await scene.create();
    const writers = [session, await scene.open(), await scene.openElsewhere(), await scene.openElsewhere()];
    const head = await headOf(session);
    const candidates = Array.from({ length: 20 }, (_, index) =>
      recordsAfter(head, JSON.stringify({ index })),
    );
    const outcomes = await Promise.allSettled(
      candidates.map(async (records, index) => writers[index % writers.length]?.append(0, records)),
    );
    const winners = candidates.filter((_, index) => outcomes[index]?.status === "fulfilled");
    checkEqual(winners.length, 1, "how many appends succeed");
    checkEqual(await session.read(), winners[0], "the record of the winner");
    const codes = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [codeOf(outcome.reason)] : [],
    );
    checkEqual(new Set(codes).size, 1, "the number of error codes of the losers");
    checkEqual(codes[0], "Conflict", "the error of the losers");
  }),
  logCase("(D06) appends that are not awaited are stored in the order of the calls", async (scene) => {
    const session = await scene.create();
    const records = recordsAfter(await headOf(session), ...bodies(100));
    await Promise.all(records.map(async (record) => session.append(record.seq - 1, [record])));
    checkEqual(await session.read(), records, "the records");
  }),
  logCase("writers that retry until they succeed lose and repeat no record", async (scene) => {
    await scene.create();
    const writers = [await scene.open(), await scene.openElsewhere(), await scene.openElsewhere()];
    const wanted = writers.map((_, writer) => bodies(10, `writer ${writer}`));
    await Promise.all(
      writers.map(async (session, writer) => {
        for (const body of wanted[writer] ?? []) await appendWithRetry(session, body);
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
  logCase("readers see a whole batch or none of it", async (scene) => {
    const session = await scene.create();
    const reader = await scene.openElsewhere();
    const writing = { isDone: false };
    const write = async (): Promise<void> => {
      for (let count = 0; count < 10; count += 1) await appendBodies(session, ...bodies(8));
      writing.isDone = true;
    };
    const checkWholeBatches = async (): Promise<void> => {
      do {
        checkEqual((await reader.head()) % 8, 0, "records beyond whole batches");
        checkEqual((await reader.read()).length % 8, 0, "records read beyond whole batches");
        // A log may answer reads at once, and appends only after a turn.
        await nextTurn();
      } while (!writing.isDone);
    };
    await Promise.all([write(), checkWholeBatches()]);
    checkEqual(await reader.head(), 80, "the head at the end");
  }),
  logCase("an append that races with the removal is acknowledged before it or rejected", async (scene) => {
    for (let count = 0; count < 5; count += 1) {
      const session = await scene.create();
      const elsewhere = await scene.storage.open();
      const records = recordsAfter(await headOf(session), "{}");
      const [appended, removed] = await Promise.allSettled([
        (async () => session.append(0, records))(),
        (async () => elsewhere.remove("a"))(),
      ]);
      check(removed.status === "fulfilled" && removed.value, "the removal succeeds");
      if (appended.status === "rejected")
        checkEqual(codeOf(appended.reason), "LogRemoved", "the error of the append");
      checkEqual(await scene.log.open("a"), undefined, "the session is removed");
      checkEqual(await scene.log.list(), [], "the list is empty");
    }
  }),
];

const codeOf = (error: unknown): string => (error instanceof LogError ? error.code : String(error));

async function appendWithRetry(session: SessionLog, body: string): Promise<readonly LogRecord[]> {
  for (;;) {
    try {
      return await appendBodies(session, body);
    } catch (error) {
      if (!(error instanceof LogError && error.code === "Conflict")) throw error;
    }
  }
}
