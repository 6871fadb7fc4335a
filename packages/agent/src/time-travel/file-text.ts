import type { AgentAttachment } from "@moora/agent-core-state-machine";

/** A file by its name, type and URL. Data is not shown. */
export const fileText = ({ name, mediaType, url }: AgentAttachment): string => {
  const type = name === undefined ? mediaType : `${name} (${mediaType})`;
  return url.startsWith("data:") ? `[file: ${type}]` : `[file: ${type} ${url}]`;
};
