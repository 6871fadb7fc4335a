import { fault, type Fault } from "./fault.ts";

const core = "packages/agent-core-state-machine/src";
const session = "packages/agent/src/session";
const team = ["packages/agent/test/team/handoffs.test.ts"];
const questions = ["packages/agent/test/session/sub-agent-questions.test.ts"];

/** Faults of teams and sub-agents: who has the conversation, what it sees, and whom a decision reaches. */
export const teamFaults: readonly Fault[] = [
  fault(
    140,
    "a handoff counts twice",
    {
      file: `${core}/inputs/handoff.ts`,
      text: 'edit.addEntry({ type: "handoff",',
      replacement: 'edit.addEntry({ type: "handoff", from, to });\n  edit.addEntry({ type: "handoff",',
    },
    team,
    /a handoff > back is possible/,
  ),
  fault(
    141,
    "a handoff runs in a turn with other calls",
    {
      file: `${core}/inputs/handoff.ts`,
      text: "callIdsOf(lastTurn(edit)).length > 1",
      replacement: "callIdsOf(lastTurn(edit)).length > 99",
    },
    team,
    /a handoff > does not run in a turn with other calls/,
  ),
  fault(
    142,
    "handoffs of a loop are not bounded",
    {
      file: `${core}/inputs/handoff.ts`,
      text: "handoffsOf(edit) < maxPerLoop",
      replacement: "handoffsOf(edit) < 1_000 * maxPerLoop",
    },
    team,
    /a handoff > of two agents forever is bounded/,
  ),
  fault(
    143,
    "an agent sees the tool calls of the one before it",
    {
      file: "packages/agent-core-state-machine/src/control/visible-entries.ts",
      text: '(type === "handoff" && isConversation(entry))',
      replacement: 'type === "handoff"',
    },
    team,
    /a handoff > (gives the conversation|keeps the answers)/,
  ),
  fault(
    144,
    "the agent that starts gets every session that is opened again",
    {
      file: "packages/agent/src/host/folded-session.ts",
      text: "const { config, tools } = member;",
      replacement: "const { config, tools } = agent;",
    },
    team,
    /a team in a log > continues with the agent that has the conversation/,
  ),
  fault(
    145,
    "a decision reaches the first sub-agent, whatever its path says",
    {
      file: `${session}/sub-agents.ts`,
      text: "const children = [...(this.#children.get(toolCallId) ?? [])];",
      replacement: "const children = [...([...this.#children.values()][0] ?? [])];",
    },
    questions,
    /a question of a sub-agent > is answered in the session that asked it/,
  ),
  fault(
    146,
    "of two agents in one call the first one gets every decision",
    {
      file: `${session}/sub-agents.ts`,
      text: "childThatAsks(children, asked) ?? children[0]",
      replacement: "children[0]",
    },
    questions,
    /of two agents that one call runs/,
  ),
  fault(
    147,
    "the time of a call passes while its sub-agent asks",
    {
      file: "packages/agent/src/session-of-call.ts",
      text: "release ??= callHostOf(context)?.holdTimeout();",
      replacement: "release ??= () => undefined;",
    },
    questions,
    /stops the time of the call/,
  ),
  fault(
    148,
    "sub-agents are nested without a bound",
    {
      file: "packages/agent/src/agent-tool.ts",
      text: "caller.depth >= maxDepth",
      replacement: "caller.depth >= maxDepth + 5",
    },
    questions,
    /are bounded: with maxDepth/,
  ),
];
