import type { BlobStore, EventLog } from "../../port.ts";
import { check, checkEqual, checkRejected } from "../expectations.ts";
import type { LogCase } from "../log-storage.ts";
import { logCase, type Scene } from "../scene.ts";

/** A case for logs that store bytes; it passes for those that do not. */
const blobCase = (name: string, act: (scene: Scene, blobs: BlobStore) => Promise<void>): LogCase =>
  logCase(name, async (scene) => {
    if (scene.log.blobs !== undefined) await act(scene, scene.log.blobs);
  });

/** Every byte, a length that three does not divide, and zeros at both ends. */
const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => (index < 999 ? (index * 7) % 256 : 0));

const textOf = (read: Uint8Array | undefined): string | undefined =>
  read === undefined ? undefined : [...read].join();

const stored = async (log: EventLog, url: string): Promise<string | undefined> =>
  textOf(await log.blobs?.get(url));

export const blobCases: readonly LogCase[] = [
  blobCase("bytes are read as they were stored, also none and many", async (_scene, blobs) => {
    const many = new Uint8Array(3_000_001).fill(7);
    for (const some of [bytes, new Uint8Array(), many]) {
      const url = await blobs.put(some, "image/png");
      const read = await blobs.get(url);
      check(read !== undefined && read.length === some.length, `${some.length} bytes are read`);
      check(
        read.every((byte, index) => byte === some[index]),
        `${some.length} bytes are the same`,
      );
    }
  }),
  blobCase("equal bytes have one URL, and others another", async (_scene, blobs) => {
    const url = await blobs.put(bytes, "image/png");
    checkEqual(await blobs.put(bytes.slice(), "image/png"), url, "the URL of equal bytes");
    check((await blobs.put(bytes.slice(1), "image/png")) !== url, "other bytes have another URL");
  }),
  blobCase(
    "bytes that change after they were stored or read do not change the store",
    async (scene, blobs) => {
      const own = bytes.slice();
      const url = await blobs.put(own, "image/png");
      own.fill(1);
      (await blobs.get(url))?.fill(2);
      checkEqual(await stored(scene.log, url), textOf(bytes), "the bytes");
    },
  ),
  blobCase("a URL that the store has not made has no bytes", async (_scene, blobs) => {
    const unknown = `ni:///sha-256;${"A".repeat(43)}`;
    for (const url of [unknown, "", "https://files.test/a.png", "ni:///sha-256;../a", "data:,a"])
      checkEqual(await blobs.get(url), undefined, `the bytes of ${url}`);
  }),
  blobCase("bytes are there for other processes, and after a crash", async (scene, blobs) => {
    const url = await blobs.put(bytes, "image/png");
    const other = await scene.storage.open();
    checkEqual(await stored(other, url), textOf(bytes), "the bytes in another process");
    checkEqual(await stored(await scene.storage.reopen(), url), textOf(bytes), "the bytes after a crash");
  }),
  blobCase("two processes store the same bytes at once", async (scene, blobs) => {
    const other = (await scene.storage.open()).blobs;
    check(other !== undefined, "the other log stores bytes");
    const put = async (store: BlobStore): Promise<string> => store.put(bytes, "image/png");
    const [url] = await Promise.all([put(blobs), put(other), put(blobs)]);
    checkEqual(await stored(scene.log, url), textOf(bytes), "the bytes");
  }),
  blobCase("bytes outlive the sessions, and are not listed with them", async (scene, blobs) => {
    await scene.create("blobs");
    const url = await blobs.put(bytes, "image/png");
    checkEqual(
      (await scene.log.list()).map(({ id }) => id),
      ["blobs"],
      "the sessions",
    );
    await scene.log.remove("blobs");
    checkEqual(await stored(scene.log, url), textOf(bytes), "the bytes");
  }),
  blobCase("a value that is not bytes is refused", async (_scene, blobs) => {
    const text: unknown = "AAAA";
    // Callers without types may pass any value.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const put = async (): Promise<string> => blobs.put(text as Uint8Array, "image/png");
    await checkRejected("InvalidRecord", "the value", put);
  }),
  blobCase("removed bytes are gone, and can be stored again", async (scene, blobs) => {
    const url = await blobs.put(bytes, "image/png");
    await blobs.remove(url);
    await blobs.remove(url);
    checkEqual(await blobs.get(url), undefined, "the removed bytes");
    await blobs.put(bytes, "image/png");
    checkEqual(await stored(scene.log, url), textOf(bytes), "the bytes");
  }),
];
