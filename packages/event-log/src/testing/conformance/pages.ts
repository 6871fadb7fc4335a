import { sessionsCalledBy, sessionsOf } from "../../list-sessions.ts";
import type { EventLog, PageQuery } from "../../port.ts";
import { appendBodies } from "../chain-of.ts";
import { check, checkEqual } from "../expectations.ts";
import { logCase, type Scene } from "../scene.ts";
import type { LogCase } from "../log-storage.ts";

/** A case for logs that list pages; it passes for those that do not. */
const pageCase = (name: string, act: (scene: Scene) => Promise<void>): LogCase =>
  logCase(name, async (scene) => {
    if (scene.log.page !== undefined) await act(scene);
  });

/** The ids of a page. */
async function idsOf(log: EventLog, query: Partial<PageQuery> = {}): Promise<readonly string[]> {
  check(log.page !== undefined, "the log lists pages");
  return (await log.page({ limit: 100, ...query })).map(({ id }) => id);
}

const calledIds = async (log: EventLog, prefix: string): Promise<readonly string[]> =>
  (await sessionsCalledBy(log, prefix)).map(({ id }) => id);

/** Creates a session with a user, or without one. */
const createFor = async (scene: Scene, id: string, user?: string): Promise<unknown> =>
  scene.create(id, JSON.stringify({ agent: "test", user }));

const createCalled = async (scene: Scene, id: string, caller: string): Promise<unknown> =>
  scene.create(id, JSON.stringify({ caller }));

const strangeTexts: readonly string[] = [
  "",
  "none",
  "null",
  "\0",
  "%_'\"\\",
  "~",
  "\u{10FFFF}/",
  "ä".repeat(3_000),
  "\u{1F600}",
];

export const pageCases: readonly LogCase[] = [
  pageCase("a page contains the entries of the list, ordered by id", async (scene) => {
    for (const id of ["b", "d", "a", "c"]) await createFor(scene, id);
    await appendBodies(await scene.open("b"), "{}", "{}");
    checkEqual(await scene.log.page?.({ limit: 9 }), await scene.log.list(), "the page");
    checkEqual(await idsOf(scene.log, { limit: 2 }), ["a", "b"], "the first page");
    checkEqual(await idsOf(scene.log, { limit: 2, after: "b" }), ["c", "d"], "the second page");
    checkEqual(await idsOf(scene.log, { limit: 2, after: "d" }), [], "the page after the last");
    checkEqual(
      await idsOf(scene.log, { after: "bb" }),
      ["c", "d"],
      "the page after an id that does not exist",
    );
  }),
  pageCase("a page of users contains only their sessions", async (scene) => {
    for (const [id, user] of [
      ["a", "ada"],
      ["b", "bob"],
      ["c", undefined],
      ["d", "ada"],
      ["e", undefined],
    ] as const)
      await createFor(scene, id, user);
    const { log } = scene;
    checkEqual(await idsOf(log, { users: ["ada"] }), ["a", "d"], "the sessions of a user");
    checkEqual(await idsOf(log, { users: [null] }), ["c", "e"], "the sessions without a user");
    checkEqual(await idsOf(log, { users: ["ada", null, "ada"] }), ["a", "c", "d", "e"], "those of both");
    checkEqual(await idsOf(log, { users: ["ada", null], limit: 2 }), ["a", "c"], "the first page");
    checkEqual(
      await idsOf(log, { users: ["ada", null], limit: 2, after: "c" }),
      ["d", "e"],
      "the second page",
    );
    checkEqual(await idsOf(log, { users: ["ad", "adab", "eve"] }), [], "the sessions of strangers");
    checkEqual(await idsOf(log, { users: [] }), [], "the sessions of no users");
  }),
  pageCase("a user may be any text", async (scene) => {
    for (const [index, user] of strangeTexts.entries()) await createFor(scene, `s${index}`, user);
    for (const [index, user] of strangeTexts.entries())
      checkEqual(await idsOf(scene.log, { users: [user] }), [`s${index}`], JSON.stringify(user.slice(0, 9)));
    checkEqual(await idsOf(scene.log, { users: [null] }), [], "the sessions without a user");
  }),
  pageCase("a header without a text as its user has no user", async (scene) => {
    for (const [index, header] of ["[]", '"user"', "null", '{"user":1}', "{", '{"user":null}'].entries())
      await scene.create(`s${index}`, header);
    checkEqual((await idsOf(scene.log, { users: [null] })).length, 6, "the sessions without a user");
    checkEqual(await idsOf(scene.log, { users: ["1", "null"] }), [], "the sessions of users");
  }),
  pageCase(
    "a walk lists each session that stays once, while others are created and removed",
    async (scene) => {
      for (const id of ["b1", "d1", "f1", "h1"]) await createFor(scene, id, "ada");
      for (const id of ["c", "e", "g"]) await createFor(scene, id, "ada");
      const listed: string[] = [];
      const elsewhere = await scene.storage.open();
      for await (const { id } of sessionsOf(scene.log, { users: ["ada"], limit: 1 })) {
        listed.push(id);
        await elsewhere.remove("c");
        await scene.log.remove(id === "d1" ? "e" : "unknown");
        if (id === "f1") await createFor(scene, "a", "ada");
        if (id === "f1") await createFor(scene, "f2", "bob");
        if (id === "f1") await createFor(scene, "f3", "ada");
        if (id === "g") await scene.log.remove("g");
      }
      checkEqual(listed, ["b1", "d1", "f1", "f3", "g", "h1"], "the listed sessions");
    },
  ),
  pageCase("pages survive a crash, and end with their sessions", async (scene) => {
    await createFor(scene, "a", "ada");
    await createFor(scene, "b", "ada");
    const again = await scene.storage.reopen();
    checkEqual(await idsOf(again, { users: ["ada"] }), ["a", "b"], "the page after a crash");
    await again.remove("a");
    await scene.create("a", '{"user":"bob"}');
    checkEqual(await idsOf(again, { users: ["ada"] }), ["b"], "the page after the removal");
    checkEqual(await idsOf(again, { users: ["bob"] }), ["a"], "the page of the new user");
  }),
  pageCase("ids of any characters are listed once", async (scene) => {
    const ids = ["\0", "\u0001", "a", "\uFFFD", "\u{1F600}", "é", "A"];
    for (const id of ids) await createFor(scene, id, "ada");
    const listed: string[] = [];
    for await (const { id } of sessionsOf(scene.log, { users: ["ada"], limit: 2 })) listed.push(id);
    checkEqual(listed.toSorted(), ids.toSorted(), "the listed sessions");
  }),
  logCase("the sessions of a caller are those whose caller begins with a text", async (scene) => {
    for (const text of strangeTexts) {
      await createCalled(scene, `first of ${text.length}`, `${text}/1`);
      await createCalled(scene, `last of ${text.length}`, `${text}/\u{10FFFF}`);
      await createCalled(scene, `other of ${text.length}`, `${text}-/1`);
      const ids = [`first of ${text.length}`, `last of ${text.length}`];
      checkEqual(await calledIds(scene.log, `${text}/`), ids, JSON.stringify(text.slice(0, 9)));
      for (const { id } of await scene.log.list()) await scene.log.remove(id);
    }
  }),
  logCase("a session without a caller is called by no session", async (scene) => {
    await scene.create("a", '{"user":"caller/"}');
    await createCalled(scene, "b", "a/1");
    checkEqual(await calledIds(scene.log, ""), ["b"], "the called sessions");
    checkEqual(await calledIds(await scene.storage.reopen(), "a/"), ["b"], "those after a crash");
  }),
];
