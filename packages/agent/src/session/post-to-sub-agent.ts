import type { Tool, ToolContext } from "@moora/agent-core-effects";
import type { Agent } from "../define-agent.ts";
import type { DurableSession } from "../durable/durable-session.ts";

/** The session of a sub-agent in a log, opened to post to it. */
export interface PostedSubAgent {
  readonly agent: Agent<unknown>;
  readonly session: DurableSession<unknown>;
}

/** Opens the session of a call in a log, to post to it. Resolves with undefined if there is none. */
type OpenToPost = (call: Pick<ToolContext, "idempotencyKey">) => Promise<PostedSubAgent | undefined>;

/** How to post to the sub-agents of a tool. */
const posts = new WeakMap<Tool, OpenToPost>();

/** Lets sessions post to the sub-agents of a tool that run in another process, or in none. */
export const postsTo = (tool: Tool, open: OpenToPost): void => void posts.set(tool, open);

/** Whether the sub-agents of a tool have sessions in a log. */
export const takesPosts = (tool: Tool): boolean => posts.has(tool);

/** Opens the session of a call, to post to it. The caller closes it. Undefined for a call that has none in a log. */
export const openToPost: (
  tool: Tool,
  call: Pick<ToolContext, "idempotencyKey">,
) => Promise<PostedSubAgent | undefined> = async (tool, call) => await posts.get(tool)?.(call);
