import type { AgentInput } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { memoryLogStorage } from "@moora/event-log/testing";
import { createDatabase } from "@moora/testbed/postgres/database";
import { poolOn } from "@moora/testbed/postgres/server";
import { postgresStorage } from "@moora/testbed/postgres/storage";
import { jsonlStorage, sqliteStorage } from "@moora/testbed/stores";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  hostConformance,
  HostNotConforming,
  logHost,
  memoryHost,
  type ConformanceHost,
  type HostWorld,
  type WorkMoment,
  type HostCase,
  type PreparedHost,
} from "../../src/hosts.ts";

let url: string;
let pool: ReturnType<typeof poolOn>;

beforeAll(async () => {
  url = await createDatabase(inject("postgresUrl"));
  pool = poolOn(url);
});

afterAll(async () => {
  await pool.end();
});

const hosts = [
  memoryHost,
  logHost("memory log", () => memoryLogStorage()),
  logHost("JSONL", () => jsonlStorage({ durability: "relaxed" })),
  logHost("SQLite", () => sqliteStorage({ durability: "relaxed" })),
  logHost("PostgreSQL", () => postgresStorage(pool, url)),
];

const isRun = ({ reason }: HostCase): boolean => reason === undefined;

describe.each(hosts)("an agent on the host $name", (host) => {
  it.each(hostConformance(host).filter(isRun))("$group: $name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

/** A host with one fault. */
const broken = (alter: (prepared: PreparedHost) => Partial<PreparedHost>): ConformanceHost => {
  const sound = logHost("broken", () => memoryLogStorage());
  return {
    ...sound,
    async prepare(setup) {
      const prepared = await sound.prepare(setup);
      const { clock } = prepared;
      return {
        start: (options) => prepared.start(options),
        kill: async () => prepared.kill?.(),
        takeOver: async () => prepared.takeOver?.(),
        post: (id, input, from) => prepared.post(id, input, from),
        waitFor: (id, isReached) => prepared.waitFor(id, isReached),
        remove: async (id) => prepared.remove?.(id),
        watch: async (id, listener) => (await prepared.watch?.(id, listener)) ?? (() => undefined),
        log: async (id) => (await prepared.log?.(id)) ?? memoryLog(),
        ...(clock === undefined ? {} : { clock }),
        dispose: () => prepared.dispose(),
        ...alter(prepared),
      };
    },
  };
};

describe("the suite for hosts", () => {
  it("names each case once", () => {
    const names = hostConformance(memoryHost).map(({ name }) => name);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it("leaves a case out only with a reason", () => {
    const left = hostConformance(memoryHost).filter((hostCase) => !isRun(hostCase));
    expect(left.length).toBeGreaterThan(30);
    expect(left.filter(({ reason }) => reason === "")).toEqual([]);
  });

  /** Says of a pause and of a resume that they applied, and does neither. */
  const ignorePauses = (prepared: PreparedHost): Partial<PreparedHost> => ({
    post: async (id, input, from) =>
      input.type === "session-paused" || input.type === "session-resumed"
        ? true
        : await prepared.post(id, input, from),
  });

  /** Reports each input of a type as applied. */
  const reportsAsApplied =
    (type: AgentInput["type"]) =>
    (prepared: PreparedHost): Partial<PreparedHost> => ({
      post: async (id, input, from) => (await prepared.post(id, input, from)) || input.type === type,
    });

  const faults: readonly (readonly [string, string, (prepared: PreparedHost) => Partial<PreparedHost>])[] = [
    [
      "that reports every input as applied",
      "of the same decision sent three times, one applies",
      (prepared) => ({
        async post(id, input) {
          await prepared.post(id, input);
          return true;
        },
      }),
    ],
    [
      "that reports a repeated message as applied",
      "of the same message posted three times at once, one applies",
      reportsAsApplied("user-message-received"),
    ],
    [
      "that takes the message of a second poster for another one",
      "of the same message posted by two processes at once, one applies",
      (prepared) => ({
        post: (id, input, from) =>
          prepared.post(
            id,
            input.type === "user-message-received" && from === "elsewhere"
              ? { ...input, messageId: `${input.messageId}-elsewhere` }
              : input,
            from,
          ),
      }),
    ],
    ...(["user-message-received", "re-act-cancelled", "session-resumed", "tool-call-decided"] as const).map(
      (type) =>
        [
          `that reports a ${type} that does not apply as applied`,
          "an input that does not apply is not reported as applied",
          reportsAsApplied(type),
        ] as const,
    ),
    ...(["llm-call-failed", "tool-call-started", "user-message-received"] as const).map(
      (type) =>
        [
          `that reports a ${type} as applied that it has refused`,
          "an input that no caller may post is not reported as applied",
          (prepared: PreparedHost): Partial<PreparedHost> => ({
            post: (id, input, from) =>
              prepared.post(id, input, from).catch((error: unknown) => {
                if (input.type === type) return true;
                throw error;
              }),
          }),
        ] as const,
    ),
    [
      "that streams nothing",
      "a viewer receives the text while the model streams it",
      () => ({ watch: async () => () => undefined }),
    ],
    [
      "whose state is not that of its records",
      "a message is answered",
      (prepared) => ({
        async waitFor(id, isReached) {
          const state = await prepared.waitFor(id, isReached);
          return { ...state, opened: state.opened + 1 };
        },
      }),
    ],
    [
      "that loses a message of a second poster",
      "messages that two processes post at the same time are both answered",
      (prepared) => ({
        post: async (id, input, from) => (from === undefined ? await prepared.post(id, input) : false),
      }),
    ],
    [
      "that starts the next loop in a pause",
      "a paused session starts nothing until it is resumed",
      ignorePauses,
    ],
    [
      "that continues after the tools of a paused session",
      "a tool that runs when its session is paused ends, and what follows waits",
      ignorePauses,
    ],
    [
      "that takes the decision of one session for that of another",
      "a decision on a question of one session does not apply in another",
      (prepared) => ({
        post: async (id, input, from) =>
          (await prepared.post(id, input, from)) || input.type === "tool-call-decided",
      }),
    ],
    [
      "that streams the text of one session to the viewers of another",
      "a viewer of one session does not receive the text of another",
      (prepared) => ({
        async watch(_, listener) {
          const stops = ["case", "witness"].map(async (id) => prepared.watch?.(id, listener));
          for (const stop of stops) await stop;
          return () => undefined;
        },
      }),
    ],
    [
      "that does not remove a session",
      "the calls of a session have other idempotency keys than those of a removed one of its id",
      () => ({ remove: async () => undefined }),
    ],
    [
      "that applies the decision on a question of a removed session",
      "a decision on a question of a removed session does not apply in the next one of its id",
      (prepared) => ({
        post: async (id, input, from) =>
          (await prepared.post(id, input, from)) || input.type === "tool-call-decided",
      }),
    ],
    [
      "that continues with the earlier release",
      "a later release continues the open work of an earlier one",
      (prepared) => ({ start: (options) => prepared.start({ ...options, release: 1 }) }),
    ],
  ];

  it.each(faults)("refuses a host %s", async (_, name, alter) => {
    const found = hostConformance(broken(alter)).find((hostCase) => hostCase.name === name);
    await expect(found?.run()).rejects.toThrow(HostNotConforming);
  });

  /** The moments that a faulty host would let the agent report. */
  const worlds: readonly (readonly [string, string, (moment: WorkMoment) => readonly WorkMoment[]])[] = [
    [
      "that aborts tools that have succeeded",
      "the signal of a tool whose result is part of the session does not abort",
      (moment) => (moment.moment === "end" ? [moment, { ...moment, moment: "undone" }] : [moment]),
    ],
    [
      "that changes the data for a tool that was canceled",
      "a tool that runs on after a cancel cannot change the data",
      (moment) => (moment.work === "claim" && moment.moment === "aborted" ? [] : [moment]),
    ],
    [
      "whose sessions have an identity without an incarnation",
      "the calls of a session have other idempotency keys than those of a removed one of its id",
      (moment) => [{ ...moment, key: moment.key.replace(/^(case|witness)\/[^/]*/, "$1") }],
    ],
    [
      "whose sessions have the same idempotency keys",
      "calls of two sessions have different idempotency keys",
      (moment) => [{ ...moment, key: moment.key.replace(/^(case|witness)\/[^/]*/, "local") }],
    ],
    [
      "whose tool has no keys because it has never run",
      "calls of two sessions have different idempotency keys",
      (moment) => (moment.work === "write" ? [] : [moment]),
    ],
    [
      "whose tools run once more than they may",
      "a call that needs an approval waits for it, and runs once",
      (moment) => (moment.moment === "end" ? [moment, { ...moment, moment: "begin" }] : [moment]),
    ],
  ];

  it.each(worlds)("refuses a host %s", async (_, name, momentsOf) => {
    const sound = logHost("broken", () => memoryLogStorage());
    const reachAll = async (world: HostWorld, moment: WorkMoment): Promise<void> => {
      for (const reached of momentsOf(moment)) await world.reach(reached);
    };
    const found = hostConformance({
      ...sound,
      prepare: (setup) =>
        sound.prepare({ ...setup, world: { reach: (moment) => reachAll(setup.world, moment) } }),
    }).find((hostCase) => hostCase.name === name);
    await expect(found?.run()).rejects.toThrow(HostNotConforming);
  });
});
