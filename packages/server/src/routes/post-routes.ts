import type { DurableSession, Question, Receipt } from "@moora/agent";
import {
  cancelBodySchema,
  dataBodySchema,
  decisionBodySchema,
  messageBodySchema,
  type DataBody,
  type PostReceipt,
} from "@moora/agent-webui-protocol";
import type * as z from "zod/mini";
import type { SessionAction } from "../access/grant.ts";
import { readBody } from "../body.ts";
import { checkAttachments } from "../files/files-of-session.ts";
import { HttpProblem } from "../problem.ts";
import type { ServerContext } from "../server-options.ts";
import { applyOperations } from "../sessions/apply-operations.ts";
import {
  checkHistory,
  checkIncarnation,
  requireIncarnation,
  type Cursor,
} from "../sessions/check-history.ts";
import { DataPosition } from "../sessions/data-position.ts";
import { incarnationOf } from "../sessions/history-position.ts";
import { dispatchCancel, dispatchMessage, type MadePost } from "../sessions/dispatch-post.ts";
import { idempotencyKeyOf } from "../sessions/idempotency-key.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requestIdOf, type PostRequest, type RequestId } from "../sessions/request-ids.ts";
import { awaitQuestions } from "./awaited-questions.ts";
import { json, type Route } from "./route.ts";

/** One kind of post: its right, its body, and how it is applied. */
interface PostKind<Schema extends z.ZodMiniType> {
  readonly kind: PostRequest["kind"];
  readonly action: SessionAction;
  readonly schema: Schema;
  readonly post: (call: PostCall<z.infer<Schema>>) => Promise<Receipt>;
  /** Whether the log may contain the post already. Default: yes, so that the log is read. */
  readonly mayExist?: (session: DurableSession<unknown>, id: RequestId) => boolean;
}

/** `session` is what is behind `live` now. */
interface PostCall<Body> extends MadePost {
  readonly context: ServerContext;
  readonly live: LiveSession;
  readonly user: string;
  readonly body: Body;
}

/** The route of a kind of post. It answers with the receipt after the input is durable. */
export const postRoute =
  <Schema extends z.ZodMiniType>({ kind, action, schema, post, mayExist }: PostKind<Schema>): Route =>
  async ({ parts, request, access, param }) => {
    const { user } = access;
    const { context } = parts;
    const timestamp = context.clock.now();
    const key = idempotencyKeyOf(request);
    const body = await readBody(request, schema, context);
    // After the body, which may take a while: opening a session that was removed meanwhile would create it again.
    const ref = await parts.directory.findFor(access, action, param("id"));
    const id = requestIdOf({ kind, user, key, content: body });
    const incarnation = new URL(request.url).searchParams.get("incarnation");
    const receipt = await parts.pool.use(ref, async (live) => {
      await checkIncarnation(live, { incarnation });
      return await context.counters.countPost(kind, () =>
        parts.ledgerOf(live).once(
          id,
          async (session, isRecorded) => {
            // The one that replaces a session in the middle of a post may be another one with the same id.
            requireIncarnation(incarnationOf(session), incarnation);
            return await post({ context, live, session, isRecorded, id, user, body, timestamp });
          },
          (session) => mayExist?.(session, id) ?? true,
        ),
      );
    });
    return json(receipt satisfies PostReceipt);
  };

/** Posts a message of the user. */
export const postMessage: Route = postRoute({
  kind: "messages",
  action: "post",
  schema: messageBodySchema,
  post: async (call) => {
    const { context, session, body } = call;
    await checkAttachments(context, session, { attachments: body.attachments, path: "attachments" });
    return await dispatchMessage(call, body);
  },
  mayExist: (session, { messageId }) => session.current().messages.some(({ id }) => id === messageId),
});

/** Posts the decision on a question. The reviewer is the user of the request. */
export const postDecision: Route = postRoute({
  kind: "decisions",
  action: "decide",
  schema: decisionBodySchema,
  post: async ({ context, live, session, id, user, body: { decision, ...question } }) => {
    // The session itself may ask about another call with this id.
    const isOwn = session
      .questions()
      .some(({ path, toolCallId }) => !path && toolCallId === question.toolCallId);
    const isBelow = question.path === undefined && !isOwn;
    const { logged } = isBelow ? await awaitQuestions(context, live, [question.digest]) : { logged: [] };
    const asked = questionOf([...session.questions(), ...live.stream.questions, ...logged], question);
    return await session.decide(asked, decision, user, id.text);
  },
});

type QuestionRef = Pick<Question, "toolCallId" | "digest" | "path">;

/** The question that a decision is about: its digest names it, also that of a sub-agent whose path is not given. */
const questionOf = (open: readonly Question[], given: QuestionRef): QuestionRef =>
  given.path === undefined
    ? (open.find(({ toolCallId, digest }) => toolCallId === given.toolCallId && digest === given.digest) ??
      given)
    : given;

/** Cancels the running loop. */
export const postCancel: Route = postRoute({
  kind: "cancel",
  action: "cancel",
  schema: cancelBodySchema,
  post: async (call) => await dispatchCancel(call, call.body.reason),
});

/** Changes the application data. With a `base` only if the data is what it was after that record. */
export const postData: Route = postRoute({
  kind: "data",
  action: "update",
  schema: dataBodySchema,
  post: async ({ context, live, session, isRecorded, id, user, body: { patches, base } }) => {
    const position = DataPosition.of(session);
    if (base !== undefined) await checkHistory(context.log, live, cursorOf(base));
    let isChanged = false;
    const receipt = await session.update(
      (draft, before) => {
        // Also a change counts that is committed together with this one.
        isChanged = !isRecorded() && base !== undefined && !position.isSince(before, base.seq);
        // The receipt of a recorded one is looked up.
        if (!isChanged && !isRecorded()) applyOperations(draft, patches);
      },
      user,
      id.text,
    );
    if (isChanged) throw dataChanged(position);
    return receipt;
  },
});

type DataBase = NonNullable<DataBody["base"]>;

/** The record of a base, which the client has read. */
const cursorOf = ({ seq, incarnation, digest }: DataBase): Cursor => ({
  after: seq,
  incarnation: incarnation ?? null,
  digest: digest ?? null,
});

const dataChanged = ({ seq }: DataPosition): HttpProblem =>
  new HttpProblem(
    "data-changed",
    `The data may have changed after the record of the base. Nothing was changed.`,
    {
      seq,
    },
  );
