import { context, trace, type SpanContext } from "@opentelemetry/api";
import { agentToolSessionId, type Agent, type LlmCaller, type Tool, type ToolContext } from "@moora/agent";
import { checkArgument, toolContextForm } from "./check-options.ts";
import { spanContextAt } from "./ids.ts";

type CallOfSession = Pick<ToolContext, "idempotencyKey" | "toolCallId" | "attempt" | "loop">;

/**
 * The context of the span of a tool call, which is known while the tool runs: for a `traceparent` of your own. For a session that
 * was attached with a `parent`, use `traced` and the active span instead. Undefined in a runner that does not report the loop of
 * a call. Throws `BuildError` for a value that is not such a context.
 */
export function toolSpanContext(call: CallOfSession): SpanContext | undefined {
  checkArgument("toolSpanContext", call, toolContextForm);
  return spanContextOf(call);
}

/** Returns the span that all loops of a session belong to, by the identity of the session. Default: none. */
export type ParentOf = (identity: string) => SpanContext | undefined;

/** The context of the span of a tool call, in the trace of its session. */
export function spanContextOf(call: CallOfSession, parentOf?: ParentOf): SpanContext | undefined {
  const { idempotencyKey, toolCallId, attempt, loop } = call;
  if (loop === undefined || !idempotencyKey.endsWith(`/${toolCallId}`)) return undefined;
  const identity = idempotencyKey.slice(0, -toolCallId.length - 1);
  const source = { identity, parent: parentOf?.(identity) };
  return spanContextAt(source, loop, keyOf(toolCallId, attempt));
}

/** The key of the work that a call belongs to. A call of the handler of a custom state belongs to its handler. */
function keyOf(toolCallId: string, attempt: number): string {
  const [, entry] = /^(state\/\d+\/\d+)\/1\/\d+$/.exec(toolCallId) ?? [];
  return `${entry ?? `tool/${toolCallId}`}/${attempt}`;
}

/**
 * The context of the span of a model call, by its idempotency key. An attempt that sends the request of an interrupted one
 * again has the key of that one.
 */
function modelSpanContext(idempotencyKey: string | undefined, parentOf: ParentOf): SpanContext | undefined {
  const [, identity, key, loop] =
    /^(.+)\/((?:plan|reflect)\/(\d+)\/\d+\/\d+)$/.exec(idempotencyKey ?? "") ?? [];
  if (identity === undefined || key === undefined) return undefined;
  return spanContextAt({ identity, parent: parentOf(identity) }, Number(loop), key);
}

const runUnder = <Result>(span: SpanContext | undefined, run: () => Result): Result =>
  span === undefined ? run() : context.with(trace.setSpanContext(context.active(), span), run);

/** The parents of sub-agents: the spans of the tool calls that run them. */
export interface SubAgents {
  readonly parentOf: ParentOf;
  /** Notes that a session belongs to a tool call, until the returned function is called. */
  begin(sessionId: string, parent: SpanContext): () => void;
}

interface Entry {
  readonly parent: SpanContext;
  count: number;
}

/** The sessions of sub-agents that run, with the spans that they belong to, by session id. */
export class SubAgentCalls implements SubAgents {
  readonly #entries = new Map<string, Entry>();

  begin(sessionId: string, parent: SpanContext): () => void {
    const entry = this.#entries.get(sessionId) ?? { parent, count: 0 };
    entry.count += 1;
    this.#entries.set(sessionId, entry);
    return () => {
      entry.count -= 1;
      if (entry.count === 0) this.#entries.delete(sessionId);
    };
  }

  /** The parent of a session, by its id or by its identity, which is the id and the incarnation. */
  readonly parentOf = (identity: string): SpanContext | undefined =>
    (
      this.#entries.get(identity) ??
      this.#entries.get(identity.slice(0, Math.max(0, identity.lastIndexOf("/"))))
    )?.parent;
}

/** The agent, whose tools and model run under the spans of their calls. */
export function tracedAgent<Traced extends Agent<unknown>>(agent: Traced, subAgents: SubAgents): Traced {
  const tools = new Map<string, Tool>();
  for (const [name, tool] of agent.parts.tools) tools.set(name, tracedTool(tool, subAgents));
  const llm = tracedLlm(agent.parts.llm, subAgents.parentOf);
  return { ...agent, parts: { ...agent.parts, llm, tools } };
}

function tracedTool(tool: Tool, subAgents: SubAgents): Tool {
  const { probe } = tool;
  return {
    ...tool,
    run(parameters, call) {
      const span = spanContextOf(call, subAgents.parentOf);
      const run = (): ReturnType<Tool["run"]> => runUnder(span, () => tool.run(parameters, call));
      // Only tools that call models run sub-agents.
      if (span === undefined || tool.definition.spends === undefined) return run();
      const end = subAgents.begin(agentToolSessionId(tool.name, call), span);
      const outcome = run();
      if (!(outcome instanceof Promise)) end();
      else void outcome.finally(end).catch(() => undefined);
      return outcome;
    },
    ...(probe === undefined
      ? {}
      : {
          probe: (parameters, call) =>
            runUnder(spanContextOf(call, subAgents.parentOf), () => probe.call(tool, parameters, call)),
        }),
  };
}

function tracedLlm(llm: LlmCaller, parentOf: ParentOf): LlmCaller {
  const traced: LlmCaller = {
    name: llm.name,
    call: (request, options) =>
      runUnder(modelSpanContext(options?.idempotencyKey, parentOf), () => llm.call(request, options)),
  };
  const { model } = llm;
  return Object.assign(
    traced,
    model === undefined ? undefined : { model },
    llm.callSync === undefined ? undefined : { callSync: llm.callSync.bind(llm) },
  );
}
