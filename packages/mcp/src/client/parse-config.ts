import { isJsonObject, textToJson } from "@moora/llm/internal";
import type { JsonObject } from "@moora/llm";
import { McpError } from "../mcp-error.ts";
import type { McpServerAddress, ServerHeaders } from "./server-address.ts";

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
    return [{ name: validName(name), server: addressOf(new Fields(`mcpServers.${name}`, fields, env)) }];
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

function addressOf(fields: Fields): McpServerAddress {
  const type = fields.text("type");
  if (type === "sse") {
    throw invalid(
      `${fields.place} uses the transport "sse", which the protocol has replaced. Use the URL for streamable HTTP.`,
    );
  }
  const url = fields.text("url");
  if (url !== undefined) {
    const headers: ServerHeaders = fields.texts("headers");
    return { url, headers };
  }
  const command = fields.text("command");
  if (command === undefined) throw invalid(`${fields.place} needs command or url.`);
  const cwd = fields.text("cwd");
  return {
    command,
    args: fields.list("args"),
    env: fields.texts("env"),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** The fields of one server, with environment variables in place of their names. */
class Fields {
  readonly place: string;
  readonly #fields: JsonObject;
  readonly #env: Environment;

  constructor(place: string, fields: JsonObject, env: Environment) {
    this.place = place;
    this.#fields = fields;
    this.#env = env;
  }

  text(name: string): string | undefined {
    const value = this.#fields[name];
    return value === undefined ? undefined : this.#expanded(name, value);
  }

  list(name: string): readonly string[] {
    const value = this.#fields[name] ?? [];
    if (!Array.isArray(value)) throw invalid(`${this.place}.${name} must be a list of strings.`);
    return value.map((item) => this.#expanded(name, item));
  }

  texts(name: string): Readonly<Record<string, string>> {
    const value = this.#fields[name] ?? {};
    if (!isJsonObject(value)) throw invalid(`${this.place}.${name} must be an object of strings.`);
    const texts = Object.entries(value).map(([key, item]) => [key, this.#expanded(`${name}.${key}`, item)]);
    return Object.fromEntries(texts);
  }

  #expanded(name: string, value: unknown): string {
    if (typeof value !== "string") throw invalid(`${this.place}.${name} must be a string.`);
    return value.replaceAll(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, variable: string, otherwise?: string) => {
      const found = this.#env[variable] ?? otherwise;
      if (found !== undefined) return found;
      throw invalid(
        `${this.place}.${name} uses the environment variable ${variable}, which is not set. Set it, or give a default with ` +
          `\${${variable}:-text}.`,
      );
    });
  }
}

const invalid = (problem: string): McpError =>
  new McpError("invalid-config", `Invalid configuration of MCP servers. ${problem}`);
