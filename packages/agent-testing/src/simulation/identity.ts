import { canonicalJson, type Agent } from "@moora/agent";
import { digestOf } from "@moora/event-log";

/** The version of this kit. Seeds mean the same sessions only for the same version. */
export const kitVersion = "0.1.0";

const digestLength = 12;

/** What identifies an agent's code, as far as data can: name, version, and a digest of config and tools. */
export function identityOf({ name, version, config, tools }: Agent<unknown>): string {
  const digest = digestOf(canonicalJson({ config, tools })).slice(0, digestLength);
  return `agent ${JSON.stringify(name)} version ${version}, config and tools ${digest}; @moora/agent-testing ${kitVersion}`;
}
