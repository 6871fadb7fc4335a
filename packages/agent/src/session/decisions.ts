import { callDigest } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { expiryWaitKey, openCallOf, recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import { digestOf } from "@moora/event-log";
import type { Decision, Question } from "../agent-event.ts";
import { decisionProblem, type DecisionProblem } from "../decision-problem.ts";
import { decisionToInput, fixedDecision } from "../decision-to-input.ts";
import type { Agent } from "../define-agent.ts";
import type { SessionBase } from "./create-session.ts";
import { parseOrRefuse } from "./parse-or-refuse.ts";
import {
  checkOptionalId,
  checkOptionalText,
  checkQuestion,
  checkSettlement,
  checkText,
} from "./session-arguments.ts";
import { codeAt } from "../team/member-at.ts";
import { InputRefused, type Receipt } from "./session.ts";
import type { SubAgents } from "./sub-agents.ts";
import { resultToDecision, settlementToResult, type Settlement } from "./settlement.ts";

export interface DecisionsHost {
  readonly state: () => AgentState;
  readonly dispatch: (...inputs: readonly AgentInput[]) => Promise<Receipt>;
  /** Throws if the session takes no inputs from outside. */
  readonly check: () => void;
  /** Gives a decision to a sub-agent. */
  readonly decideBelow: SubAgents["decide"];
}

type DecisionsBase = Pick<SessionBase, "id" | "identity" | "clock" | "reportsDeadlines">;

type QuestionRef = Pick<Question, "toolCallId" | "digest" | "path">;

type DecidingAgent = Pick<Agent<unknown>, "parts" | "runLimits" | "team">;

/** Answers the questions of a session, and settles its tool calls, from outside. */
export class Decisions {
  readonly #agent: DecidingAgent;
  readonly #base: DecisionsBase;
  readonly #host: DecisionsHost;

  constructor(agent: DecidingAgent, base: DecisionsBase, host: DecisionsHost) {
    this.#agent = agent;
    this.#base = base;
    this.#host = host;
  }

  /** The code of the agent that has the conversation. */
  get #code(): Pick<Agent<unknown>, "parts" | "runLimits"> {
    return codeAt(this.#agent, this.#host.state());
  }

  async decide(question: QuestionRef, value: Decision, by = "user", requestId?: string): Promise<Receipt> {
    checkQuestion(question);
    checkOptionalText("by", by);
    checkOptionalId("requestId", requestId);
    const decision = fixedDecision(value);
    const { path = [] } = question;
    if (path.length > 0) {
      this.#host.check();
      return await this.#host.decideBelow({ ...question, path }, decision, by);
    }
    const input = await decidedInput(this.#agent, this.#host.state, {
      question,
      decision,
      ...this.#about(by),
    });
    return await this.dispatch(requestId === undefined ? input : parseOrRefuse({ ...input, requestId }));
  }

  async settle(toolCallId: string, settlement: Settlement, by = "application"): Promise<Receipt> {
    checkText("toolCallId", toolCallId);
    checkSettlement(settlement);
    checkOptionalText("by", by);
    const timestamp = this.#base.clock.now();
    const result = settlementToResult(settlement, this.#code.runLimits.maxResultLength, timestamp);
    const asked = resultToDecision(this.#host.state(), toolCallId, result);
    if (asked !== undefined) return await this.decide(asked.question, asked.decision, by);
    const usageFollows = spendsAt(this.#host.state(), toolCallId) ? { usageFollows: true } : {};
    return await this.#host.dispatch(
      parseOrRefuse({ type: "tool-call-completed", toolCallId, result, ...usageFollows, timestamp }),
    );
  }

  /** Dispatches a decision. If its deadline has passed, dispatches that first, so that the reducer can ignore the decision. */
  async dispatch(input: AgentInput): Promise<Receipt> {
    const { clock, reportsDeadlines } = this.#base;
    const { dispatch, state } = this.#host;
    const key = passedDeadline(input, state(), clock.now());
    const mustReport = key !== undefined && (await (reportsDeadlines?.() ?? true));
    if (!mustReport) return await dispatch(input);
    return await dispatch({ type: "deadline-passed", key, timestamp: clock.now() }, input);
  }

  problemOf(
    { toolCallId }: QuestionRef,
    decision: Decision,
  ): DecisionProblem | undefined | Promise<DecisionProblem | undefined> {
    return decisionProblem(this.#code.parts, this.#host.state(), toolCallId, decision);
  }

  toInput(question: QuestionRef, decision: Decision, by: string): AgentInput {
    return toInput(this.#agent, this.#host.state(), { question, decision, ...this.#about(by) });
  }

  #about(by: string): Pick<DecisionAbout, "sessionId" | "by" | "timestamp"> {
    const { id, identity: sessionId = id, clock } = this.#base;
    return { sessionId, by, timestamp: clock.now() };
  }
}

/** A decision, and what its input says besides. `sessionId` is the identity of the session. */
export interface DecisionAbout {
  readonly question: Pick<Question, "toolCallId" | "digest">;
  readonly decision: Decision;
  readonly sessionId: string;
  readonly by: string;
  readonly timestamp: number;
}

/**
 * The input of a decision about a question of a session with these states. Rejects with `InputRefused` for one that does not fit the
 * question, the tool or its schema.
 */
export async function decidedInput(
  agent: DecidingAgent,
  state: () => AgentState,
  about: DecisionAbout,
): Promise<AgentInput> {
  checkQuestion(about.question);
  const { toolCallId } = about.question;
  const problem = await decisionProblem(codeAt(agent, state()).parts, state(), toolCallId, about.decision);
  if (problem !== undefined) throw new InputRefused(problem);
  return toInput(agent, state(), about);
}

function toInput(
  agent: DecidingAgent,
  state: AgentState,
  { question: { toolCallId, digest }, decision, sessionId, by, timestamp }: DecisionAbout,
): AgentInput {
  const name = recordOf(state, toolCallId)?.name ?? "";
  const digestOfChange = (parameters: string): string =>
    callDigest(state, { sessionId, digestOf }, { id: toolCallId, name, parameters });
  const { maxResultLength } = codeAt(agent, state).runLimits;
  const meta = { by, timestamp, digestOfChange, maxResultLength };
  return parseOrRefuse(decisionToInput({ toolCallId, digest }, decision, meta));
}

/** Whether the tool of a call may call models. */
const spendsAt = (state: AgentState, toolCallId: string): boolean =>
  toolOf(state, recordOf(state, toolCallId)?.name ?? "")?.spends !== undefined;

/** The key of the deadline of a question that is still open although the deadline passed before this decision. */
function passedDeadline(input: AgentInput, state: AgentState, now: number): string | undefined {
  if (input.type !== "tool-call-decided") return undefined;
  const call = openCallOf(state.reActContext.control, input.toolCallId);
  if (call?.status.type !== "asking") return undefined;
  const { due, digest } = call.status;
  return due !== null && due <= now && digest === input.digest ? expiryWaitKey(call, call.status) : undefined;
}
