/** The password of an address, as it is written there and as it is meant. */
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
