import { headerToState, inputToRecord, recordsToPortable, textToHeader, type AgentInput } from "@moora/agent";
import { answered, asked, callsMade, llmStarted, opened, started, succeeded } from "@moora/agent-testing";
import { beginReplay, defaultAgentConfig } from "@moora/agent-core-state-machine";
import { chainStart, type ChainHead, type LogRecord } from "@moora/event-log";

const header = JSON.stringify({
  format: 1,
  incarnation: "incarnation_1",
  agent: { name: "long", version: "0" },
  config: defaultAgentConfig,
  tools: { look: { description: "Looks something up.", schema: '{"type":"object"}', replay: "safe" } },
});

/** The records of one loop: a question, a call, an answer. */
const recordsOfLoop = 7;

const startsAt = Date.UTC(2026, 0, 1);

/** The inputs of a loop. */
function* loopInputs(loop: number): Generator<AgentInput> {
  const call = `call_${loop}`;
  yield asked(`Question ${loop}: what is in box ${loop % 97}?`, `user_${loop}`);
  yield llmStarted(`plan/${loop}/1/1`);
  yield callsMade(`plan/${loop}/1/1`, { [call]: { name: "look", parameters: { box: loop % 97 } } });
  yield started(call);
  yield succeeded(call, `A lamp, model ${loop}.`);
  yield llmStarted(`plan/${loop}/2/1`);
  yield answered(`plan/${loop}/2/1`, `In box ${loop % 97} there is a lamp, model ${loop}.`);
}

/** An exported session with about this number of records, at least. */
export function longSession(count: number): string {
  const replay = beginReplay(headerToState(textToHeader(header)), { changes: true });
  const records: LogRecord[] = [];
  let head: ChainHead = chainStart(header);
  const add = (input: AgentInput): void => {
    const timed = { ...input, timestamp: startsAt + records.length * 250 };
    const { changes } = replay.apply(timed) ?? {};
    if (changes === undefined) throw new Error(`The input does not apply: ${JSON.stringify(timed)}`);
    const record = inputToRecord(head, timed, changes);
    records.push(record);
    head = record;
  };
  add(opened("server-1"));
  for (let loop = 1; loop <= Math.ceil(count / recordsOfLoop); loop += 1)
    for (const input of loopInputs(loop)) add(input);
  return recordsToPortable({ id: "long", header, records });
}
