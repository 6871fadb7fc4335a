import { memoryLog, type EventLog } from "@moora/event-log";
import { call } from "@moora/testbed/durable/counting-agent";
import { driveToEnd } from "@moora/testbed/durable/drive";
import { checkSound, sceneOf, type Scene } from "@moora/testbed/durable/scene";
import { describe, expect, it } from "vitest";
import {
  exportSession,
  forkSession,
  importSession,
  openSession,
  readSession,
  stateAt,
  verifySession,
  type AgentState,
  inputsIn,
} from "../../src/index.ts";
import { recordsOf, recordSession } from "./record-session.ts";

/** A batch with tools that are safe, keyed and run once, two of which need an approval. */
const script = [[call("look"), call("pay"), call("ship"), call("echo")]];
const config = { approval: { policy: { tools: ["pay", "ship"] } } } as const;

/** Where a copy is. */
interface Copy {
  readonly log: EventLog;
  readonly id: string;
}

/** The ways to copy the first records of a session. */
const ways: Readonly<Record<string, (scene: Scene, seq: number) => Promise<Copy>>> = {
  "a fork by reuse": async (scene, seq) => {
    const log = scene.log();
    return { log, id: (await forkSession(log, "ada", seq, { as: `fork ${seq}`, open: "reuse" })).id };
  },
  "an import under another id": async (scene, seq) => {
    const log = scene.log();
    const text = await exportSession(log, "ada", seq);
    return { log, id: (await importSession(log, text, `import ${seq}`)).id };
  },
  "an import under its own id": async (scene, seq) => {
    const log = memoryLog();
    return { log, id: (await importSession(log, await exportSession(scene.log(), "ada", seq))).id };
  },
};

/** The ids of the open calls of a state that a person has approved, and of those that have begun and are not safe. */
function spentCalls({ toolCalls, tools }: AgentState, begun: ReadonlySet<string>): ReadonlySet<string> {
  const isSpent = (id: string): boolean =>
    toolCalls[id]?.decision !== undefined ||
    (begun.has(id) && tools[toolCalls[id]?.name ?? ""]?.replay !== "safe");
  return new Set(Object.keys(toolCalls).filter((id) => toolCalls[id]?.result === null && isSpent(id)));
}

/** The ids of the calls that have begun in the first records of the session. */
async function begunIn(scene: Scene, seq: number): Promise<ReadonlySet<string>> {
  const { inputs } = await readSession(scene.log(), "ada");
  return new Set(
    inputs
      .slice(0, seq)
      .flatMap(inputsIn)
      .flatMap((input) => (input.type === "tool-call-started" ? [input.toolCallId] : [])),
  );
}

/** Opens a copy, and brings it to its end. Returns the runs of its tools. */
async function livedOn({ agent, clock, counter }: Scene, { log, id }: Copy) {
  const before = counter.runs.length;
  const session = await openSession(agent, { log, id, clock });
  await driveToEnd(session, { says: ["Please."], decide: () => "approve" }, clock);
  await checkSound(session, log);
  await session.close();
  return counter.runs.slice(before);
}

const callIdOf = ({ key }: { readonly key: string }): string => key.slice(key.lastIndexOf("/") + 1);

describe.each(Object.entries(ways))("%s of a session, at every record", (_, copyAt) => {
  it("uses no approval again, and runs no call under another idempotency key that has begun", async () => {
    const scene = sceneOf(script, config);
    await recordSession(scene);
    const keys = new Set(scene.counter.runs.map(({ key }) => key));
    let spent = 0;
    for (const { seq } of await recordsOf(scene.log())) {
      const { state } = await stateAt(scene.log(), "ada", seq);
      const isSpent = spentCalls(state, await begunIn(scene, seq));
      const copy = await copyAt(scene, seq);
      expect(await verifySession(copy.log, copy.id), `${seq}`).toMatchObject({ ok: true });
      const again = (await livedOn(scene, copy)).filter((run) => isSpent.has(callIdOf(run)));
      // A service that knows the key does the work once.
      expect(
        again.filter(({ key, tool }) => tool === "ship" || !keys.has(key)),
        `${seq}`,
      ).toEqual([]);
      spent += isSpent.size;
    }
    expect(spent).toBeGreaterThan(3);
  });
});
