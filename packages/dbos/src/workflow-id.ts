/** The id of a workflow of the session with an identity. DBOS stores no NUL, which an id of a session may contain. */
export const workflowIdAt = ({ identity }: { readonly identity: string }, key: string): string =>
  `${identity.replaceAll("\0", "\\0")}/${key}`;
