import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import type { UserSessions } from "@moora/agent/internal";
import { isJsonObject } from "@moora/llm/internal";
import { askInRequest, toFormAnswer } from "./ask-in-request.ts";
import { CallProgress, type ReportedProgress } from "./call-progress.ts";
import type { CallRunner } from "./run-call.ts";
import {
  toRef,
  type AnsweredQuestion,
  type AskedQuestion,
  type CallEnd,
  type Connection,
  type QuestionRef,
} from "./run-round.ts";
import type { ServedAgent } from "./served-agent.ts";
import type { ServerSdk } from "./server-sdk.ts";

/** The state that a client keeps between the rounds of a call. It is signed. */
export interface WaitingCall {
  readonly session: string;
  readonly questions: readonly QuestionRef[];
  /** The number of rounds that have ended with questions. */
  readonly rounds: number;
  readonly reported: ReportedProgress;
}

/** The most rounds of questions of one call: what the clients of the protocol allow. */
const maxRounds = 10;

/** What the handler of one connection or request needs. */
export interface HandlerParts {
  readonly sdk: ServerSdk;
  readonly server: McpServer;
  readonly runner: CallRunner;
  readonly sessions: UserSessions;
  readonly connection: Connection | undefined;
  readonly mint: (state: WaitingCall, context: ServerContext) => Promise<string>;
}

/** Handles calls of the tool of an agent. */
export const agentToolHandler =
  ({ agent }: ServedAgent, parts: HandlerParts) =>
  async (
    { session, task }: { readonly task?: string; readonly session?: string },
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const { runner, sdk, sessions, connection } = parts;
    const { signal, envelope } = context.mcpReq;
    const isAsking = canAsk(parts, context);
    const call = { agent, sessions, task, connection, signal };
    let waiting = context.mcpReq.requestState<WaitingCall>();
    let answers = waiting && answersOf(sdk, waiting, context);
    for (;;) {
      const progress = progressOf(context, waiting?.reported);
      const end = await runner.run({ ...call, session: waiting?.session ?? session, answers, progress });
      if (end.type === "answered") return answerResult(end);
      if (end.type === "failed") return errorResult(end.text);
      const rounds = (waiting?.rounds ?? 0) + 1;
      if (end.wasDismissed || !isAsking) return errorResult(waitingText(end, notAsked));
      if (rounds > maxRounds) return errorResult(waitingText(end, tooManyRounds));
      const questions = end.questions.map(toRef);
      waiting = { session: end.session, questions, rounds, reported: progress.reported() };
      // The newer protocol, which has an envelope in each request, ends the request with the questions.
      if (envelope !== undefined) return inputRequired(end, await parts.mint(waiting, context), sdk);
      answers = await runner.whileWatched(end.session, call, () => askInRequest(end.questions, context));
      if (answers === undefined) return errorResult(waitingText(end, notAsked));
    }
  };

function answersOf(
  sdk: ServerSdk,
  { questions }: WaitingCall,
  context: ServerContext,
): readonly AnsweredQuestion[] {
  return questions.flatMap((question) => {
    const response = sdk.inputResponse(context.mcpReq.inputResponses, question.digest);
    if (response.kind !== "elicit") return [];
    const { action } = response;
    return [
      { ...question, answer: toFormAnswer(action, action === "accept" ? response.content : undefined) },
    ];
  });
}

/** Reports progress, if the client has asked for it. What cannot be sent is dropped. */
function progressOf({ mcpReq }: ServerContext, reported?: ReportedProgress): CallProgress {
  // oxlint-disable-next-line no-underscore-dangle -- the name of the protocol
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return new CallProgress(undefined, reported);
  return new CallProgress((progress, message) => {
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  }, reported);
}

const answerResult = ({
  session,
  text,
}: Extract<CallEnd, { readonly type: "answered" }>): CallToolResult => ({
  content: [{ type: "text", text }],
  structuredContent: { answer: text, session },
});

const errorResult = (text: string): CallToolResult => ({ isError: true, content: [{ type: "text", text }] });

/** Whether the client can ask a person with a form. */
function canAsk({ sdk, server }: HandlerParts, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  // In the older protocol the capabilities are those of the connection, which only this accessor has.
  // oxlint-disable-next-line typescript/no-deprecated
  const ofConnection = server.server.getClientCapabilities();
  const capabilities = envelope[sdk.CLIENT_CAPABILITIES_META_KEY] ?? ofConnection;
  const elicitation = isJsonObject(capabilities) ? capabilities["elicitation"] : undefined;
  return isJsonObject(elicitation) && ("form" in elicitation || !("url" in elicitation));
}

type Asks = Extract<CallEnd, { readonly type: "asks" }>;

const notAsked =
  "This client did not ask a person, and only a person may decide. Over HTTP, only a client of the newer protocol can be asked to.";
const tooManyRounds = `A call has at most ${maxRounds} rounds of questions, and this one has had them.`;

const waitingText = ({ questions, session }: Asks, reason: string): string =>
  [
    `The agent waits for the decision of a person, in the session ${session}:`,
    ...questions.map(({ form }) => `- ${form.message}`),
    `${reason} ${reason === notAsked ? "After the decision, call" : "Call"} this tool again with this session and without a task.`,
  ].join("\n");

const inputRequired = ({ questions }: Asks, requestState: string, sdk: ServerSdk): InputRequiredResult =>
  sdk.inputRequired({
    inputRequests: Object.fromEntries(
      questions.map((question) => [question.digest, requestOf(sdk, question)] as const),
    ),
    requestState,
  });

function requestOf(
  sdk: ServerSdk,
  { form }: AskedQuestion,
): ReturnType<ServerSdk["inputRequired"]["elicit"]> {
  const { message, schema } = form;
  // The form has fields of simple types only, as the protocol demands.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const requestedSchema = schema as unknown as Parameters<
    ServerSdk["inputRequired"]["elicit"]
  >[0]["requestedSchema"];
  return sdk.inputRequired.elicit({ message, requestedSchema });
}
