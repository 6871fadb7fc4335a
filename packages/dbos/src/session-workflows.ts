import { randomUUID } from "node:crypto";
import { DBOS } from "@dbos-inc/dbos-sdk";
import {
  effectsAt,
  interruptionOf,
  LogError,
  performEffect,
  systemClock,
  type Agent,
  type AgentEffect,
  type AgentInput,
  type AgentState,
} from "@moora/agent";
import { lateOutputLogger, Logger, safeErrorListener } from "@moora/agent/internal";
import { isPaused } from "@moora/agent-core-state-machine";
import type { DbosHostOptions, DbosPostOptions } from "./dbos-host.ts";
import { HostedSessions, type HostedSession } from "./hosted-sessions.ts";
import { isPostRecorded, withPostId } from "./recorded-post.ts";
import { TakeOver } from "./take-over.ts";

/** An effect that has a workflow: all but questions, which are answered by a post. */
type WorkflowEffect = Exclude<AgentEffect, { readonly type: "ask-human" }>;

/** What the workflow of an effect gets. `identity` differs from that of a later session with the same id. */
interface EffectWork {
  readonly id: string;
  readonly identity: string;
  readonly effect: WorkflowEffect;
}

const workflowIdOf = ({ identity, effect }: EffectWork): string => `${identity}/${effect.key}`;

/** A step tries again for as long as the log is busy or cannot be reached. */
const retries = {
  retriesAllowed: true,
  intervalSeconds: 1,
  backoffRate: 1,
  maxAttempts: Number.MAX_SAFE_INTEGER,
  shouldRetry: (error: unknown): boolean =>
    error instanceof LogError && (error.code === "LogBusy" || error.code === "LogWrite"),
};

/** The workflows of the sessions of one agent. */
export class SessionWorkflows {
  readonly sessions: HostedSessions;
  readonly #agent: Agent<unknown>;
  readonly #options: DbosHostOptions;
  readonly #postWorkflow: (id: string, input: AgentInput, user?: string) => Promise<boolean>;
  readonly #effectWorkflow: (work: EffectWork) => Promise<void>;
  /** The posts that this process has started: their first run has nothing to look up. */
  readonly #newPosts = new Set<string>();
  /** The workflows of effects that run in this process. */
  readonly #running = new Set<string>();

  constructor(agent: Agent<unknown>, options: DbosHostOptions) {
    const { log, takeOver, takeOverPollMs: pollMs = 1_000, onLog } = options;
    const onError = safeErrorListener(options.onError);
    this.#agent = agent;
    this.#options = options;
    this.sessions = new HostedSessions({
      agent,
      log,
      clock: systemClock,
      owner: () => DBOS.executorID,
      onLog,
    });
    const names = { post: `moora.${agent.name}.post`, effect: `moora.${agent.name}.effect` };
    this.#postWorkflow = DBOS.registerWorkflow(this.#runPost.bind(this), { name: names.post });
    this.#effectWorkflow = DBOS.registerWorkflow(this.#runEffect.bind(this), { name: names.effect });
    if (takeOver === undefined) return;
    const taking = new TakeOver({ pool: takeOver, pollMs, workflows: Object.values(names), onError });
    DBOS.registerLifecycleCallback({ initialize: () => taking.start(), destroy: () => taking.stop() });
  }

  async post(id: string, input: AgentInput, { key = randomUUID(), user }: DbosPostOptions): Promise<boolean> {
    const { identity } = await this.sessions.open(id, user);
    const workflowID = `${identity}/post/${key}`;
    this.#newPosts.add(workflowID);
    try {
      const handle = await DBOS.startWorkflow(this.#postWorkflow, { workflowID })(
        id,
        withPostId(input, workflowID),
      );
      return await handle.getResult();
    } finally {
      this.#newPosts.delete(workflowID);
    }
  }

  /** The workflow of a post: appends it, and starts what the state wants then. */
  async #runPost(id: string, input: AgentInput): Promise<boolean> {
    const isNew = this.#newPosts.delete(DBOS.workflowID ?? "");
    const append = async (): Promise<{
      readonly hasApplied: boolean;
      readonly wanted: readonly EffectWork[];
    }> => {
      const hasApplied = await this.#appendPost(id, input, isNew);
      return { hasApplied, wanted: await this.#wantedWork(id) };
    };
    const { hasApplied, wanted } = await DBOS.runStep(append, { name: "append", ...retries });
    await this.#start(wanted);
    return hasApplied;
  }

  /** Resolves with whether the input of a post applied, also if an earlier run of its workflow has appended it. */
  async #appendPost(id: string, input: AgentInput, isNew: boolean): Promise<boolean> {
    const session = await this.sessions.open(id);
    if (!isNew && (await isPostRecorded(this.#options.log, id, input))) return true;
    await session.configure();
    return (await session.append([input])).applied > 0;
  }

  /** The workflow of an effect: does its work, and starts what the state wants then. */
  async #runEffect(work: EffectWork): Promise<void> {
    const { effect } = work;
    const workflowID = workflowIdOf(work);
    this.#running.add(workflowID);
    try {
      if (effect.type === "wait-until") {
        await DBOS.sleep(Math.max(0, effect.due - (await DBOS.now())));
        const passed = { type: "deadline-passed", key: effect.key, timestamp: effect.due } as const;
        await this.#inStep("deadline", work, async (session) => void (await session.append([passed])));
      } else await this.#inStep("perform", work, (session) => this.#perform(work.id, session, effect));
    } finally {
      this.#running.delete(workflowID);
    }
  }

  /**
   * Runs an effect, unless the state no longer wants it. Reports an earlier run that had begun. A pause holds work that has not
   * begun, and the resumed session wants it under the same key. No other workflow can have that key, so this one waits for it.
   */
  async #perform(id: string, session: HostedSession, effect: WorkflowEffect): Promise<void> {
    for (;;) {
      const state = await session.waitFor(
        (newest) => !isPaused(newest) || effectsAt(newest)[effect.key] !== undefined,
      );
      if (effectsAt(state)[effect.key] === undefined) return;
      const interruption = interruptionOf(effect, state, systemClock.now());
      if (interruption !== undefined) {
        await session.append([interruption]);
        return;
      }
      if (await this.#begin(id, session, { effect, state })) return;
    }
  }

  /** Resolves when the effect has ended, with whether it had begun: its first input, which is the intent if it has one, applied. */
  async #begin(
    id: string,
    session: HostedSession,
    { effect, state }: { readonly effect: WorkflowEffect; readonly state: AgentState },
  ): Promise<boolean> {
    const { context, onProgress, onLog } = this.#options;
    const onLateOutput = lateOutputLogger(new Logger(id, onLog));
    const isFree = (newest: AgentState): boolean =>
      !isPaused(newest) || effectsAt(newest)[effect.key] === undefined;
    let hasBegun: boolean | undefined;
    await session.run(effect.key, (signal) =>
      performEffect(this.#agent, effect, state, {
        dispatch: async (...inputs) => {
          const hasApplied = (await session.append(inputs)).applied > 0;
          hasBegun ??= hasApplied;
          return hasApplied;
        },
        sessionId: session.identity,
        signal,
        untilResumed: async () => void (await session.waitFor(isFree)),
        ...(onLateOutput === undefined ? {} : { onLateOutput }),
        ...(context === undefined ? {} : { context }),
        ...(onProgress === undefined ? {} : { notify: (progress) => onProgress(id, progress) }),
      }),
    );
    return hasBegun ?? false;
  }

  /** Starts a workflow for each effect. One that was started before is not started again. */
  async #start(wanted: readonly EffectWork[]): Promise<void> {
    for (const work of wanted)
      await DBOS.startWorkflow(this.#effectWorkflow, { workflowID: workflowIdOf(work) })(work);
  }

  /** The effects that the newest state wants and that do not run here. None for a session that was removed. */
  async #wantedWork(id: string): Promise<readonly EffectWork[]> {
    const session = await this.#ifFound(id);
    if (session === undefined) return [];
    const { identity } = session;
    return Object.values(effectsAt(session.current()))
      .flatMap((effect) => (effect.type === "ask-human" ? [] : [{ id, identity, effect }]))
      .filter((work) => !this.#running.has(workflowIdOf(work)));
  }

  /**
   * Runs a step of a session, and starts what the state wants then. The step does nothing if the session was removed, also if another
   * one has its id now.
   */
  async #inStep(
    name: string,
    { id, identity }: EffectWork,
    work: (session: HostedSession) => Promise<void>,
  ): Promise<void> {
    const run = async (): Promise<readonly EffectWork[]> => {
      const session = await this.#ifFound(id);
      if (session?.identity !== identity) return [];
      await work(session);
      return await this.#wantedWork(id);
    };
    await this.#start(await DBOS.runStep(run, { name, ...retries }));
  }

  /** The newest form of a session; undefined if it was removed. */
  async #ifFound(id: string): Promise<HostedSession | undefined> {
    try {
      const session = await this.sessions.find(id);
      await session.refresh();
      return session;
    } catch (error) {
      if (!(error instanceof LogError) || error.code !== "LogRemoved") throw error;
      this.sessions.forget(id);
      return undefined;
    }
  }
}
