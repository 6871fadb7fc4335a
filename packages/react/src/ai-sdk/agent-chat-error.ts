/** A server, or something before it, has refused a request of a chat. */
export class AgentChatError extends Error {
  override readonly name = "AgentChatError";
  /** The status of the response. */
  readonly status: number;
  /** The `code` of the problem that the server has answered with; undefined if something else has answered. */
  readonly code: string | undefined;

  constructor(status: number, problem: { readonly code?: unknown; readonly detail?: unknown }) {
    const { code, detail } = problem;
    super(typeof detail === "string" ? detail : `The request was answered with the status ${status}.`);
    this.status = status;
    this.code = typeof code === "string" ? code : undefined;
  }
}
