import { scheduleInput, type DurableSession, type Question, type Receipt } from "@moora/agent";
import {
  cancelBodySchema,
  dataBodySchema,
  decisionBodySchema,
  emptyBodySchema,
  messageBodySchema,
  pauseBodySchema,
  scheduleBodySchema,
  unscheduleBodySchema,
  type DataBody,
  type PostReceipt,
} from "@moora/agent-webui-protocol";
import type * as z from "zod/mini";
import { forbidden } from "../access/authorization.ts";
import type { SessionAction } from "../access/grant.ts";
import { readBody } from "../body.ts";
import { checkAttachments } from "../files/files-of-session.ts";
import { HttpProblem, type ProblemCode } from "../problem.ts";
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
import { dispatchCancel, dispatchMessage, dispatchOnce, type MadePost } from "../sessions/dispatch-post.ts";
import { idempotencyKeyOf } from "../sessions/idempotency-key.ts";
import type { LiveSession } from "../sessions/live-session.ts";
import { requestIdOf, type PostRequest, type RequestId } from "../sessions/request-ids.ts";
import { awaitQuestions } from "./awaited-questions.ts";
import { bodyProblems, incarnationParameter, route, type Operation } from "./operation.ts";
import { json } from "./route.ts";

/** One kind of post: what the description says of it, its right, and how it is applied. */
interface PostKind<Schema extends z.ZodMiniType> {
  readonly kind: PostRequest["kind"];
  readonly summary: string;
  readonly action: SessionAction;
  /** Another right, which only some posts need. */
  readonly also?: SessionAction;
  readonly body: Schema;
  /** The problems beside those of every post. */
  readonly problems?: readonly ProblemCode[];
  readonly post: (call: PostCall<z.infer<Schema>>) => Promise<Receipt>;
  /** Whether the log may contain the post already. Default: yes, so that the log is read. */
  readonly mayExist?: (session: DurableSession<unknown>, id: RequestId) => boolean;
}

/** `session` is what is behind `live` now. */
interface PostCall<Body> extends MadePost {
  readonly context: ServerContext;
  readonly live: LiveSession;
  readonly user: string;
  /** Whether the user has the right `also`. */
  readonly mayAlso: boolean;
  readonly body: Body;
}

/** The route of a kind of post. It answers with the receipt after the input is durable. */
function postRoute<Schema extends z.ZodMiniType>(row: PostKind<Schema>): Operation {
  const { kind, summary, action, also, body: schema, problems = [], post, mayExist } = row;
  return route(
    `POST /sessions/:id/${kind}`,
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
      const mayAlso = also !== undefined && (await access.may(also, ref));
      const receipt = await parts.pool.use(ref, async (live) => {
        await checkIncarnation(live, { incarnation });
        return await context.counters.countPost(kind, () =>
          parts.ledgerOf(live).once(
            id,
            async (session, isRecorded) => {
              // The one that replaces a session in the middle of a post may be another one with the same id.
              requireIncarnation(incarnationOf(session), incarnation);
              return await post({ context, live, session, isRecorded, id, user, mayAlso, body, timestamp });
            },
            (session) => mayExist?.(session, id) ?? true,
          ),
        );
      });
      return json(receipt satisfies PostReceipt);
    },
    {
      summary,
      body: schema,
      query: { incarnation: incarnationParameter },
      requestHeaders: ["idempotency-key"],
      responses: { 200: { description: "The receipt, after the input is durable.", schema: "Receipt" } },
      problems: [
        ...bodyProblems,
        "forbidden",
        "not-found",
        "history-changed",
        "session-incomplete",
        "idempotency-key-reused",
        ...problems,
      ],
    },
  );
}

export const postMessage: Operation = postRoute({
  kind: "messages",
  summary: "Posts a message of the user.",
  action: "post",
  body: messageBodySchema,
  post: async (call) => {
    const { context, session, body } = call;
    await checkAttachments(context, session, { attachments: body.attachments, path: "attachments" });
    return await dispatchMessage(call, body);
  },
  mayExist: (session, { messageId }) => session.current().messages.some(({ id }) => id === messageId),
});

export const postDecision: Operation = postRoute({
  kind: "decisions",
  summary: "Answers an open question. The reviewer is the user of the request.",
  action: "decide",
  body: decisionBodySchema,
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

export const postCancel: Operation = postRoute({
  kind: "cancel",
  summary: "Cancels the running loop.",
  action: "cancel",
  body: cancelBodySchema,
  post: async (call) => await dispatchCancel(call, call.body.reason),
});

/** With a `base` only if the data is what it was after that record. */
export const postData: Operation = postRoute({
  kind: "data",
  summary: "Changes the application data with operations of JSON Patch.",
  action: "update",
  body: dataBodySchema,
  problems: ["test-failed", "data-changed", "cursor-beyond-end"],
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
    "The data may have changed after the record of the base. Nothing was changed.",
    { seq },
  );

export const postRetry: Operation = postRoute({
  kind: "retry",
  summary: "Tries a failed or canceled loop again.",
  action: "post",
  body: emptyBodySchema,
  post: async (call) => await dispatchOnce(call, { type: "loop-retried" }),
});

/** Its right is that of a cancel. */
export const postPause: Operation = postRoute({
  kind: "pause",
  summary: "Pauses the session: no new work starts until it is resumed.",
  action: "cancel",
  body: pauseBodySchema,
  post: async (call) => await dispatchOnce(call, { type: "session-paused", ...call.body }),
});

export const postResume: Operation = postRoute({
  kind: "resume",
  summary: "Continues a paused session.",
  action: "cancel",
  body: emptyBodySchema,
  post: async (call) => await dispatchOnce(call, { type: "session-resumed" }),
});

/**
 * One without an id gets that of its post, so that a repetition names the same schedule. To replace the schedule of another user is
 * to remove it, and needs that right.
 */
export const postSchedule: Operation = postRoute({
  kind: "schedule",
  summary: "Sets a schedule: a message that the session receives at a time, or again and again.",
  action: "post",
  also: "cancel",
  body: scheduleBodySchema,
  post: async (call) => {
    const { user, mayAlso, timestamp, id, body } = call;
    const options = { id: `schedule_${id.key}`, ...body };
    const input = await scheduleInput(options, { by: user, timestamp });
    return await dispatchOnce(call, ({ schedules }) => {
      const before = schedules?.open.find((schedule) => schedule.id === input.scheduleId);
      if (before !== undefined && before.by !== user && !mayAlso) throw forbidden("cancel");
      return input;
    });
  },
});

export const postUnschedule: Operation = postRoute({
  kind: "unschedule",
  summary: "Removes a schedule.",
  action: "cancel",
  body: unscheduleBodySchema,
  post: async (call) => {
    const { user: by, body } = call;
    return await dispatchOnce(call, { type: "schedule-changed", scheduleId: body.id, schedule: null, by });
  },
});
