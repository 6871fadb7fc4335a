import type {
  CallToolResult,
  InputRequiredResult,
  McpServer,
  ServerContext,
} from "@modelcontextprotocol/server";
import { isJsonObject } from "@moora/llm/internal";
import type { FormAnswer } from "./question-form.ts";
import type { CallRunner } from "./run-call.ts";
import {
  toRef,
  type AnsweredQuestion,
  type AskedQuestion,
  type CallEnd,
  type QuestionRef,
} from "./run-round.ts";
import type { ServedAgent } from "./served-agent.ts";
import type { ServerSdk } from "./server-sdk.ts";
import type { User } from "./session-access.ts";

/** The state that a client keeps between the rounds of a call. It is signed. */
export interface WaitingCall {
  readonly session: string;
  readonly questions: readonly QuestionRef[];
}

/** What the handler of one connection or request needs. */
export interface HandlerParts {
  readonly sdk: ServerSdk;
  readonly server: McpServer;
  readonly runner: CallRunner;
  readonly user: User;
  readonly mint: (state: WaitingCall, context: ServerContext) => Promise<string>;
}

/** Handles calls of the tool of an agent. */
export const agentToolHandler =
  ({ agent }: ServedAgent, parts: HandlerParts) =>
  async (
    input: { readonly task?: string; readonly session?: string },
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> => {
    const waiting = context.mcpReq.requestState<WaitingCall>();
    const end = await parts.runner.run({
      agent,
      user: parts.user,
      task: input.task,
      session: waiting?.session ?? input.session,
      answers: waiting && answersOf(parts.sdk, waiting, context),
      signal: context.mcpReq.signal,
      // The newer protocol, which has an envelope in each request, ends the request with the questions.
      outlivesRounds: context.mcpReq.envelope === undefined && canAsk(parts, context),
      progress: progressOf(context),
    });
    return await endToResult(end, parts, context);
  };

function answersOf(
  sdk: ServerSdk,
  { questions }: WaitingCall,
  context: ServerContext,
): readonly AnsweredQuestion[] {
  return questions.flatMap((question) => {
    const response = sdk.inputResponse(context.mcpReq.inputResponses, question.digest);
    if (response.kind !== "elicit") return [];
    const content = isJsonObject(response.content) ? response.content : {};
    const answer: FormAnswer =
      response.action === "accept" ? { action: "accept", content } : { action: response.action };
    return [{ ...question, answer }];
  });
}

/** Reports progress, if the client has asked for it. What cannot be sent is dropped. */
function progressOf({ mcpReq }: ServerContext): (message: string) => void {
  // oxlint-disable-next-line no-underscore-dangle -- the name of the protocol
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (message) => {
    if (progressToken === undefined) return;
    progress += 1;
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}

async function endToResult(
  end: CallEnd,
  parts: HandlerParts,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  switch (end.type) {
    case "answered":
      return {
        content: [{ type: "text", text: end.text }],
        structuredContent: { answer: end.text, session: end.session },
      };
    case "failed":
      return errorResult(end.text);
    case "asks":
      return end.wasDismissed || !canAsk(parts, context)
        ? errorResult(waitingText(end))
        : await inputRequired(end, parts, context);
  }
}

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

const waitingText = ({ questions, session }: Asks): string =>
  [
    `The agent waits for the decision of a person, in the session ${session}:`,
    ...questions.map(({ form }) => `- ${form.message}`),
    "This client did not ask a person, and only a person may decide. After the decision, call this tool again with this " +
      "session and without a task.",
  ].join("\n");

async function inputRequired(
  { questions, session }: Asks,
  { mint, sdk }: HandlerParts,
  context: ServerContext,
): Promise<InputRequiredResult> {
  const asked = questions.map(toRef);
  return sdk.inputRequired({
    inputRequests: Object.fromEntries(
      questions.map((question) => [question.digest, requestOf(sdk, question)] as const),
    ),
    requestState: await mint({ session, questions: asked }, context),
  });
}

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
