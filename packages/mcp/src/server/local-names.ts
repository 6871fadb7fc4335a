/** The names by which a server is reached on its own machine, as in the headers of requests. */
export const localNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Whether a name is one of this machine, which other machines cannot reach. */
export const isLocalName = (name: string): boolean => name === "::1" || localNames.includes(name);
