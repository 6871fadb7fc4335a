import type { Agent } from "@moora/agent";
import { checkContext, checkSubAgentQuestions } from "@moora/agent/internal";
import { effectService, type EffectService } from "./effect-service.ts";
import { sessionCall } from "./ingress.ts";
import { LiveEffects } from "./live-effects.ts";
import { checkRestateOptions, serviceNames, type RestateOptions } from "./options.ts";
import { SessionCache } from "./session-cache.ts";
import { sessionObject, type SessionObject } from "./session-object.ts";

const defaultCacheBytes = 67_108_864;

/** The services of an agent: the object of its sessions, and the service of their effects. */
export type RestateServices = [SessionObject, EffectService];

/**
 * The services that host the sessions of an agent on Restate, for `createEndpointHandler({ services })` of its SDK. They are named
 * after the agent. Throws `BuildError` for an agent whose name is not the name of a service, for invalid options,
 * without the context that the tools of the agent need, and for a sub-agent that asks a person, unless `onApproval` answers it.
 */
export function restateServices(agent: Agent<unknown>, options: RestateOptions): RestateServices {
  checkRestateOptions(options);
  checkContext("restateServices", agent, options.context);
  checkSubAgentQuestions("restateServices", agent);
  const { ingressUrl, cacheBytes: bytes = defaultCacheBytes, live: channel } = options;
  const { session: service } = serviceNames(agent.name);
  const call = sessionCall(ingressUrl, agent.name);
  const cache = new SessionCache(call, bytes);
  const live = channel === undefined ? undefined : new LiveEffects(channel, service);
  const parts = { agent, call, cache, live };
  return [sessionObject(parts, options), effectService(parts, options)];
}
