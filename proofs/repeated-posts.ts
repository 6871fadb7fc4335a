/**
 * Posts with idempotency keys to several servers on one PostgreSQL, of which one is killed again and again: each post is sent
 * several times at the same moment and repeated later, and is applied once, with one receipt. `--seconds N`: how long (default: 40).
 */
import { parseArgs } from "node:util";
import { readSession, type AgentInput } from "@moora/agent";
import type { ClusterProcess } from "./cluster/cluster-process.ts";
import { send, type Answer } from "./cluster/load.ts";
import { World } from "./cluster/world.ts";
import { conclude } from "./parts/summary.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "40" } } });
const durationMs = Number(values.seconds) * 1_000;
const sessionsOfEachKind = 3;
const killEveryMs = 2_000;

const begun = performance.now();
const isOver = (): boolean => performance.now() - begun > durationMs;
const failures: string[] = [];
let posts = 0;

await using world = await World.start(false);
const newServer = (): ClusterProcess => world.process({ leaseMs: 1_000 });
const servers = Array.from({ length: 3 }, newServer);
await Promise.all(servers.map((server) => server.begin()));
let kills = 0;

/** Kills the oldest server, and starts another one. */
async function replaceServer(): Promise<void> {
  kills += 1;
  await servers.shift()?.kill();
  const next = newServer();
  await next.begin();
  servers.push(next);
}

/** A post of a session: where it goes, what it says, and the number of the loop that it belongs to. */
interface Post {
  readonly route: "data" | "messages" | "cancel" | "decisions";
  readonly body: object;
  readonly key: string;
}

/** Makes a post several times at once, and once more: all of them have to get the same receipt. */
async function postOnce(id: string, { route, body, key }: Post): Promise<void> {
  posts += 1;
  const path = `/sessions/${id}/${route}`;
  const sendIt = (): Promise<Answer> => send(servers, path, { body, key });
  const results = [...(await Promise.all([sendIt(), sendIt(), sendIt()])), await sendIt()];
  const receipts = new Set(results.map((result) => JSON.stringify(result)));
  if (receipts.size > 1) failures.push(`${id} ${route} ${key}: ${[...receipts].join(" and ")}`);
}

/** Changes a list, each time with another key. */
async function changeData(id: string): Promise<void> {
  for (let turn = 1; !isOver(); turn += 1) {
    const body = { patches: [{ op: "add", path: "/list/-", value: turn }] };
    await postOnce(id, { route: "data", body, key: `data-${turn}` });
  }
}

/** Lets the model wait, and cancels the loop. */
async function cancelLoops(id: string): Promise<void> {
  for (let turn = 1; !isOver(); turn += 1) {
    await postOnce(id, { route: "messages", body: { content: "wait" }, key: `message-${turn}` });
    await postOnce(id, { route: "cancel", body: {}, key: `cancel-${turn}` });
  }
}

/** Lets the model transfer, and approves it. */
async function decideQuestions(id: string): Promise<void> {
  for (let turn = 1; !isOver(); turn += 1) {
    await postOnce(id, { route: "messages", body: { content: "transfer" }, key: `message-${turn}` });
    const question = await questionOf(id);
    if (question === undefined) return;
    await postOnce(id, {
      route: "decisions",
      body: { ...question, decision: "approve" },
      key: `decision-${turn}`,
    });
  }
}

/** The next open question; undefined if the time is over before there is one. */
async function questionOf(id: string): Promise<{ toolCallId: unknown; digest: unknown } | undefined> {
  while (!isOver()) {
    const { body } = await send(servers, `/sessions/${id}`);
    const [question] = Array.isArray(body["questions"]) ? body["questions"] : [];
    if (question !== undefined) return { toolCallId: question.toolCallId, digest: question.digest };
  }
  return undefined;
}

/** The id under which an input was posted. */
const postOf = (input: AgentInput): string | undefined =>
  input.type === "user-message-received"
    ? input.messageId
    : "requestId" in input
      ? input.requestId
      : undefined;

const work = [changeData, cancelLoops, decideQuestions].flatMap((run) =>
  Array.from({ length: sessionsOfEachKind }, async () => {
    const { body } = await send(servers, "/agents/payer/sessions", { body: {} });
    const id = String(body["id"]);
    await run(id);
    return id;
  }),
);
const killing = (async () => {
  while (!isOver()) {
    await new Promise((resolve) => setTimeout(resolve, killEveryMs));
    await replaceServer();
  }
})();
const ids = await Promise.all(work);
await killing;

for (const id of ids) {
  const recorded = new Set<string>();
  for (const input of (await readSession(world.log, id)).inputs) {
    const post = postOf(input);
    if (post !== undefined && recorded.has(post)) failures.push(`${id}: a ${input.type} was recorded twice`);
    if (post !== undefined) recorded.add(post);
  }
}
for (const failure of failures) console.log(`FAILED  ${failure}`);
console.log(`${posts} posts, each sent four times, to three servers of which ${kills} were killed`);
conclude({ proof: "repeated posts", cases: posts, failures: failures.length, kills }, begun);
