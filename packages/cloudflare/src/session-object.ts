import { AgentSessionObject, type SessionObject } from "./agent-session-object.ts";
import type { ObjectState } from "./platform.ts";
import { checkSessionObjectOptions, type SessionObjectOptions } from "./session-object-options.ts";

/** The class of such objects, which a worker exports under the name that its configuration has. */
export type SessionObjectClass<Env> = new (state: ObjectState, env: Env) => SessionObject;

/**
 * Makes a class of Durable Objects, each of which runs one session of an agent: its log is the SQLite storage of the object, its due
 * times are alarms, and its viewers are sockets that stay open while the object is not in memory. `fetch` answers:
 *
 * - `POST /sessions/:id/inputs`: dispatches an input from outside, such as `userMessage(...)`; answers with its receipt when it is durable;
 * - `POST /sessions/:id/decisions`: answers a question, with `{ question, decision, by, requestId }` as `decide` of a session has them, of
 *   which the last two are optional;
 * - `GET /sessions/:id`: `{ id, seq, state, questions }`;
 * - `GET /sessions/:id/events?after=SEQ`: a WebSocket with {@link ViewerMessage};
 * - `GET /sessions/:id/records?after=SEQ`: `{ id, header, records }`, as they are in the log;
 * - `GET /sessions/:id/files/DIGEST`: the bytes of a file of the session that are stored outside the records;
 * - `DELETE /sessions/:id`: removes the session, and its files from the storage of the object.
 *
 * The object answers every caller: the worker in front of it authenticates requests, and sends those of a session to the object of
 * its id. Throws `BuildError` for an invalid option.
 */
export function sessionObject<Env = unknown>(options: SessionObjectOptions<Env>): SessionObjectClass<Env> {
  checkSessionObjectOptions(options);
  return class extends AgentSessionObject<Env> {
    constructor(state: ObjectState, env: Env) {
      super(state, env, options);
    }
  };
}
