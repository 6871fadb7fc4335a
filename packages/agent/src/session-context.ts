import type { HostContext } from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import { isObject } from "./check-options.ts";
import type { Agent } from "./define-agent.ts";

/** The parameter with the options of a function, which may be left out where the agent needs no context. */
export type OptionsParameter<Options, Context> = unknown extends Context
  ? [options?: Options]
  : [options: Options & HostContext<NoInfer<Context>>];

/** What the options of an opening must have beside those of all: a context, if the agent needs one and is run. */
export type OpeningContext<Context> = unknown extends Context
  ? unknown
  : HostContext<Context> | { readonly access: "post" | "read" };

type Code = Pick<Agent<unknown>, "parts" | "team">;

/** Why a session of this agent cannot run with this context; undefined if it can. `caller` is the function that was called. */
export function contextProblem(caller: string, agent: Code, context: unknown): string | undefined {
  if (context !== undefined && !isObject(context))
    return `context must be an object, got ${shownValue(context)}.`;
  const needs = context === undefined ? needOf(agent) : undefined;
  return needs === undefined ? undefined : `${needs} needs a context. Give ${caller} the option context.`;
}

/** Throws `BuildError` for a session of this agent that cannot run with this context. */
export function checkContext(caller: string, agent: Code, context: unknown): void {
  const problem = contextProblem(caller, agent, context);
  if (problem !== undefined) refuse(problem);
}

/** Whether tools or handlers of an agent need a context, so that its sessions cannot run without the option `context`. */
export const needsContext = (agent: Code): boolean => needOf(agent) !== undefined;

/** The first part of an agent that needs a context; undefined if none does. */
function needOf({ parts, team }: Code): string | undefined {
  for (const member of team?.agents.values() ?? []) {
    const need = needOf({ parts: member.parts });
    if (need !== undefined) return need;
  }
  if (parts.context !== undefined) return "A handler of the agent";
  for (const { name, context } of parts.tools.values()) if (context !== undefined) return `The tool ${name}`;
  return undefined;
}
