import { isDeepStrictEqual } from "node:util";
import { readSession, verifySession } from "@moora/agent";
import type { ClusterProcess } from "./cluster-process.ts";
import { Conversation } from "./load.ts";
import type { World } from "./world.ts";

export interface Rolling {
  readonly servers: number;
  readonly conversations: number;
  readonly messages: number;
  readonly records: number;
  readonly kills: number;
  readonly restarts: number;
  readonly connections: number;
  /** From the post of a message to its answer at the viewer, in milliseconds. */
  readonly answerMs: { readonly median: number; readonly longest: number };
  readonly problems: readonly string[];
}

export interface RollingOptions {
  readonly servers: number;
  readonly conversations: number;
  /** How many servers are ended, in turn by SIGKILL and by SIGTERM. */
  readonly ends: number;
  /** How many messages are answered after a server has begun, before the next one is ended. */
  readonly answersBetween: number;
  readonly leaseMs: number;
}

/**
 * Ends the servers of a cluster one after the other while clients post and watch, and starts each one again. Returns what was lost or
 * doubled: messages, effects, records at the viewers.
 */
export async function proveRolling(world: World, options: RollingOptions): Promise<Rolling> {
  const { leaseMs } = options;
  // Every process as if on a machine of its own: the worst case, in which only the end of a lease shows the end of a process.
  const orders = { leaseMs, pollMs: 200, modelMs: 20, isElsewhere: true };
  const servers: ClusterProcess[] = Array.from({ length: options.servers }, () => world.process(orders));
  await Promise.all(servers.map((server) => server.begin()));
  const conversations = await Promise.all(
    Array.from({ length: options.conversations }, (_, index) => Conversation.begin(servers, index)),
  );
  const over = new AbortController();
  const answerMs: number[] = [];
  const errors: string[] = [];
  const talk = async (conversation: Conversation): Promise<void> => {
    do {
      const start = performance.now();
      await conversation.say("pay");
      answerMs.push(performance.now() - start);
    } while (!over.signal.aborted);
  };
  const talking = Promise.all(conversations.map(talk));
  const endServers = async (): Promise<void> => {
    for (let end = 0; end < options.ends; end += 1) {
      const goal = answerMs.length + options.answersBetween;
      await world.until(() => answerMs.length >= goal);
      const index = end % servers.length;
      const [ended, next] = [servers[index], world.process(orders)];
      await next.ready();
      await (end % 2 === 0 ? ended?.kill() : ended?.stop());
      errors.push(...(ended?.reported ?? []));
      servers[index] = next;
      await next.begin();
    }
    over.abort();
  };
  await Promise.all([talking, endServers()]);
  for (const { viewer } of conversations) await viewer.close();
  for (const server of servers) await server.stop();
  errors.push(...servers.flatMap((server) => server.reported));

  const problems = [...errors, ...effectProblems(world, conversations)];
  for (const conversation of conversations) problems.push(...(await logProblems(world, conversation)));
  answerMs.sort((one, other) => one - other);
  return {
    servers: options.servers,
    conversations: conversations.length,
    messages: answerMs.length,
    records: conversations.reduce((sum, { viewer }) => sum + viewer.inputs.length, 0),
    kills: Math.ceil(options.ends / 2),
    restarts: Math.floor(options.ends / 2),
    connections: conversations.reduce((sum, { viewer }) => sum + viewer.connections, 0),
    answerMs: {
      median: Math.round(answerMs[Math.floor(answerMs.length / 2)] ?? 0),
      longest: Math.round(answerMs.at(-1) ?? 0),
    },
    problems,
  };
}

/** Every message is paid for once. */
function effectProblems({ effects }: World, conversations: readonly Conversation[]): readonly string[] {
  return conversations.flatMap(({ id, messages }) => {
    const own = effects.filter((line) => line.includes(id));
    const doubled = own.length - new Set(own).size;
    return [
      ...(doubled === 0 ? [] : [`${id}: ${doubled} effects happened twice`]),
      ...(own.length === messages ? [] : [`${id}: ${own.length} effects for ${messages} messages`]),
    ];
  });
}

/** The viewer has seen what is in the log, each message is in it once, and it replays. */
async function logProblems(world: World, { id, messages, viewer }: Conversation): Promise<readonly string[]> {
  const { inputs } = await readSession(world.log, id);
  const received = inputs.filter(({ type }) => type === "user-message-received").length;
  const seen = viewer.inputs.map(({ input }) => input);
  const report = await verifySession(world.log, id);
  return [
    ...viewer.problems,
    ...(received === messages ? [] : [`${id}: ${received} messages in the log, ${messages} were posted`]),
    ...(isDeepStrictEqual(seen, inputs.slice(0, seen.length)) ? [] : [`${id}: the viewer saw other records`]),
    ...(report.ok ? [] : [`${id}: its log does not replay`]),
  ];
}
