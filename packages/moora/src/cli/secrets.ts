import type { CliHost } from "./cli-host.ts";

/** Values of the environment that no output may show: every API key, and the password in MOORA_LOG. */
export const environmentSecrets = (env: CliHost["env"]): readonly string[] => [
  ...Object.entries(env).flatMap(([name, value]) =>
    /_API_KEY$/i.test(name) && value !== undefined ? [value.trim()] : [],
  ),
  ...urlPasswords(env["MOORA_LOG"] ?? ""),
];

/** User name and password of a URL: some providers expect the key as the user name. */
export const urlSecrets = (text: string): readonly string[] => [
  URL.parse(text)?.username ?? "",
  ...urlPasswords(text),
];

/** The password of a URL, encoded and decoded. */
export function urlPasswords(text: string): readonly string[] {
  const password = URL.parse(text)?.password ?? "";
  return [password, decoded(password)].filter((secret) => secret !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
