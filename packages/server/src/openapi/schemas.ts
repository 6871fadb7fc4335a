import {
  cancelBodySchema,
  chatViewSchema,
  chunkEventSchema,
  dataBodySchema,
  decisionBodySchema,
  emptyBodySchema,
  forkBodySchema,
  inputEventSchema,
  messageBodySchema,
  pauseBodySchema,
  problemSchema,
  receiptSchema,
  scheduleBodySchema,
  sessionPageSchema,
  sessionSummarySchema,
  sessionViewSchema,
  unscheduleBodySchema,
} from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { runInputSchema } from "../chat/ag-ui-request.ts";
import { chatBodySchema } from "../chat/chat-request.ts";
import { problems } from "../problem.ts";
import { schemaToJson } from "../schema-to-json.ts";

/** A message of JSON-RPC. The protocol is described by the Model Context Protocol. */
export const mcpMessageSchema = z.looseObject({ jsonrpc: z.literal("2.0") });

const agentListSchema = z.object({ agents: z.array(z.object({ name: z.string() })) });

const healthSchema = z.object({ status: z.string() });

/** The schemas of bodies and events, by the name that the description gives them. */
const schemas = {
  MessageBody: messageBodySchema,
  DecisionBody: decisionBodySchema,
  CancelBody: cancelBodySchema,
  DataBody: dataBodySchema,
  PauseBody: pauseBodySchema,
  ScheduleBody: scheduleBodySchema,
  UnscheduleBody: unscheduleBodySchema,
  EmptyBody: emptyBodySchema,
  ForkBody: forkBodySchema,
  ChatBody: chatBodySchema,
  ChatView: chatViewSchema,
  RunAgentInput: runInputSchema,
  Receipt: receiptSchema,
  AgentList: agentListSchema,
  SessionSummary: sessionSummarySchema,
  SessionPage: sessionPageSchema,
  SessionView: sessionViewSchema,
  InputEvent: inputEventSchema,
  ChunkEvent: chunkEventSchema,
  McpMessage: mcpMessageSchema,
  Health: healthSchema,
  Problem: z.extend(problemSchema, { code: z.enum(Object.keys(problems)) }),
} as const;

/** The name of a schema in the description. */
export type SchemaName = keyof typeof schemas;

/** A schema by reference: by its name, or itself. */
export function schemaRef(schema: SchemaName | z.ZodMiniType): object {
  const name = typeof schema === "string" ? schema : names.get(schema);
  if (name === undefined) throw new Error("The schema of a body is not in `schemas`. Add it there.");
  return { $ref: `#/components/schemas/${name}` };
}

const names = new Map<z.ZodMiniType, string>(Object.entries(schemas).map(([name, schema]) => [schema, name]));

/** All schemas as JSON Schema, draft 2020-12. */
export const schemaComponents = (): Readonly<Record<string, object>> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaToJson(schema)]));
