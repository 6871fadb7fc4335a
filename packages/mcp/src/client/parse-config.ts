import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { JsonObject } from "@moora/llm";
import { McpError } from "../mcp-error.ts";
import type { McpServerAddress } from "./server-address.ts";

/** A server of a configuration file. */
export interface ConfiguredServer {
  /** Its name in the file, as a name for `connectMcp`: other characters have become `_`. */
  readonly name: string;
  readonly server: McpServerAddress;
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The servers of a configuration file in the form that other tools use: `{ "mcpServers": { name: { command, args, env, cwd } } }`, or
 * `{ url, headers }`. `${NAME}` in a value becomes the environment variable, `${NAME:-text}` the text if there is no such variable.
 * A server with `"disabled": true` is left out; fields that only other tools know are ignored. Throws `McpError` with the code
 * `invalid-config`. Nothing is started: starting what a file names runs its commands, so ask before you use a file of a stranger.
 */
export function parseMcpConfig(text: string, env: Environment = {}): readonly ConfiguredServer[] {
  if (!isJsonObject(env)) throw invalid("The second argument must be an object of environment variables.");
  const config = textToJson(text);
  const servers = isJsonObject(config) ? config["mcpServers"] : undefined;
  if (!isJsonObject(servers)) throw invalid('It must be JSON of the form { "mcpServers": { ... } }.');
  const found = Object.entries(servers).flatMap(([name, fields]) => {
    if (!isJsonObject(fields)) throw invalid(`mcpServers.${name} must be an object.`);
    if (fields["disabled"] === true) return [];
    return [{ name: validName(name), server: addressOf(`mcpServers.${name}`, fields, env) }];
  });
  const names = found.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`Two servers have the name ${twice}. Rename one of them.`);
  return found;
}

function validName(name: string): string {
  const valid = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 32);
  if (/^[A-Za-z0-9]/.test(valid)) return valid;
  throw invalid(`The name of a server must begin with a letter or digit, got ${JSON.stringify(name)}.`);
}

function addressOf(place: string, fields: JsonObject, env: Environment): McpServerAddress {
  const text = (name: string): string | undefined =>
    fields[name] === undefined ? undefined : expanded(`${place}.${name}`, fields[name], env);
  if (text("type") === "sse") {
    throw invalid(
      `${place} uses the transport "sse", which the protocol has replaced. Use the URL for streamable HTTP.`,
    );
  }
  const url = text("url");
  if (url !== undefined) return { url, headers: textsOf(`${place}.headers`, fields["headers"], env) };
  const command = text("command");
  if (command === undefined) throw invalid(`${place} needs command or url.`);
  const { args = [] } = fields;
  if (!Array.isArray(args)) throw invalid(`${place}.args must be a list of strings.`);
  const cwd = text("cwd");
  return {
    command,
    args: args.map((item) => expanded(`${place}.args`, item, env)),
    env: textsOf(`${place}.env`, fields["env"], env),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

function textsOf(place: string, value: unknown = {}, env: Environment): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) throw invalid(`${place} must be an object of strings.`);
  const texts = Object.entries(value).map(([key, item]) => [key, expanded(`${place}.${key}`, item, env)]);
  return Object.fromEntries(texts);
}

/** A text with environment variables in place of their names. */
function expanded(place: string, value: unknown, env: Environment): string {
  if (typeof value !== "string") throw invalid(`${place} must be a string.`);
  return value.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, variable: string, otherwise?: string) => {
    const found = env[variable] ?? otherwise;
    if (found !== undefined) return found;
    throw invalid(
      `${place} uses the environment variable ${variable}, which is not set. Set it, or give a default with \${${variable}:-text}.`,
    );
  });
}

const invalid = (problem: string): McpError =>
  new McpError("invalid-config", `Invalid configuration of MCP servers. ${problem}`);
