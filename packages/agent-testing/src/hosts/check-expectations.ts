import { readSession, stateAt, verifySession, canonicalJson, type AgentState } from "@moora/agent";
import type { PreparedHost } from "./host.ts";
import { HostNotConforming, type HostExpectations } from "./host-case.ts";
import type { RecordedWorld } from "./world.ts";

/** What a run has left behind. */
interface Found {
  readonly state: AgentState;
  readonly world: RecordedWorld;
  readonly streamed: string;
}

/** Throws `HostNotConforming` for the first expectation that is not met. */
export function checkExpectations(
  { moments = {}, keys = {}, results = {}, ...expects }: HostExpectations,
  { state, world, streamed }: Found,
): void {
  const { control } = state.reActContext;
  const asked = state.messages.filter(({ role }) => role === "user").map(({ content }) => content);
  const found: Readonly<Record<keyof typeof expects, unknown>> = {
    control: control.type,
    failure: control.type === "Error" ? control.failure.kind : undefined,
    answer: control.type === "Done" ? control.answer : undefined,
    streamed,
    messages: asked.toSorted(),
    data: state.data,
    systemPrompt: state.config.systemPrompt,
  };
  for (const [what, expected] of Object.entries(expects)) equal(what, expected, Reflect.get(found, what));
  checkResults(results, state);
  checkMoments(moments, world);
  checkPolicies(world);
  checkKeys(keys, world);
}

function checkResults(results: NonNullable<HostExpectations["results"]>, state: AgentState): void {
  const calls = Object.values(state.toolCalls);
  for (const [tool, expected] of Object.entries(results)) {
    const result = calls.findLast(({ name }) => name === tool)?.result;
    const found = result?.isSuccess === true ? "success" : result?.code;
    equal(`the result of ${tool}`, expected, found);
  }
}

function checkMoments(expected: NonNullable<HostExpectations["moments"]>, world: RecordedWorld): void {
  for (const moment of ["begin", "end", "aborted", "undone"] as const) {
    for (const [work, times] of Object.entries(expected[moment] ?? {})) {
      const found = world.momentsAt({ work, moment }).length;
      equal(`the number of times that ${work} has reached "${moment}"`, times, found);
    }
  }
}

/** What holds in every case: a tool that runs `once` begins once. */
function checkPolicies(world: RecordedWorld): void {
  for (const work of ["pay", "transfer"]) {
    const begun = world.momentsAt({ work, moment: "begin" }).length;
    if (begun > 1) throw new HostNotConforming(`${work} runs once, and has begun ${begun} times.`);
  }
}

/** All runs of a call have one idempotency key, which no other call has. Unless the case expects other keys, `write` has one if it has begun. */
function checkKeys(expected: Readonly<Record<string, number>>, world: RecordedWorld): void {
  const keysOf = (work: string): number =>
    new Set(world.momentsAt({ work, moment: "begin" }).map(({ key }) => key)).size;
  const ofWrite = keysOf("write") === 0 ? {} : { write: 1 };
  for (const [work, count] of Object.entries({ ...ofWrite, ...expected })) {
    const size = keysOf(work);
    if (size !== count)
      throw new HostNotConforming(`The runs of ${work} have ${size} idempotency keys, not ${count}.`);
  }
}

function equal(what: string, expected: unknown, found: unknown): void {
  const [shownExpected, shownFound] = [canonicalJson(expected), canonicalJson(found ?? null)];
  if (shownExpected !== shownFound)
    throw new HostNotConforming(`Expected ${what} to be ${shownExpected}, got ${shownFound}.`);
}

/** Throws unless the records of a session are sound, and their fold is the state that the host has. */
export async function checkRecords(host: PreparedHost, id: string): Promise<void> {
  if (host.log === undefined) throw new HostNotConforming("The host has no log, and does not say why.");
  const log = await host.log(id);
  const report = await verifySession(log, id);
  if (!report.ok)
    throw new HostNotConforming(`Record ${report.seq} of the session is not sound: ${report.message}`);
  for (let round = 1; ; round += 1) {
    const { seq, state } = await stateAt(log, id);
    const live = await host.waitFor(id, () => true);
    if (canonicalJson(state) === canonicalJson(live)) return;
    // A record may have been added meanwhile, such as the usage of late work, or its state not be published yet.
    const { records } = await readSession(log, id);
    if (records.length === seq && round > rounds)
      throw new HostNotConforming("The replayed session differs from the live one.");
  }
}

/** How often the states of a session that does not grow are compared. */
const rounds = 100;
