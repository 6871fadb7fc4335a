import { controlName, type AgentChange, type Control, type OpenCall } from "@moora/agent-core-state-machine";
import { openCallsOf } from "@moora/agent-core-state-machine/internal";

/** The lanes of the timeline, from top to bottom. */
export const lanes = ["state", "model", "tool", "human", "wait", "step", "loop"] as const;

/** A lane of the timeline. `state` is the control state, `tool` also has the handlers of custom states, `step` is a model call and its tool calls. */
export type Lane = (typeof lanes)[number];

/** Work of a session that lasts: a loop, a step, a control state, a model call, a tool call, a question or a wait. */
export interface Work {
  /** Identifies the work among all work of its session that is open. */
  readonly key: string;
  readonly lane: Lane;
  readonly name: string;
  /** Whether a process had begun it, so that a crash interrupts it. */
  readonly isStarted: boolean;
}

/** The control state after some changes, without the rest of the state. */
export function controlAfter(control: Control, changes: readonly AgentChange[]): Control {
  let next = control;
  for (const change of changes) {
    if (change.op === "set-context" && change.fields.control !== undefined) next = change.fields.control;
    else if (change.op === "put-open-call") next = withCall(next, change.call.id, change.call);
    else if (change.op === "remove-open-call") next = withCall(next, change.id, undefined);
  }
  return next;
}

function withCall(control: Control, id: string, call: OpenCall | undefined): Control {
  if (!("calls" in control)) return control;
  const isKnown = control.calls.some((open) => open.id === id);
  const calls =
    call === undefined
      ? control.calls.filter((open) => open.id !== id)
      : isKnown
        ? control.calls.map((open) => (open.id === id ? call : open))
        : [...control.calls, call];
  return { ...control, calls };
}

/** Where a session is: its loop and step, and the names of its calls. */
export interface Place {
  readonly loop: number;
  readonly step: number;
  callName(id: string): string;
}

/** The work that a control state has open. */
export function workAt(control: Control, place: Place): readonly Work[] {
  const at = `${place.loop}/${place.step}`;
  const name = controlName(control);
  const state = lasting("state", `state/${name}/${at}`, name);
  if (control.type === "Idle" || control.type === "Done" || control.type === "Error") return [state];
  return [
    lasting("loop", `loop/${place.loop}`, `loop ${place.loop}`),
    ...(place.step === 0 ? [] : [lasting("step", `step/${at}`, `step ${place.step} of loop ${place.loop}`)]),
    state,
    ...ownWork(control, at),
    ...openCallsOf(control).flatMap((call) => callWork(call, place)),
  ];
}

/** Work that no process begins. */
const lasting = (lane: Lane, key: string, name: string): Work => ({ key, lane, name, isStarted: false });

function ownWork(control: Control, at: string): readonly Work[] {
  switch (control.type) {
    case "Planning":
      return control.retryAt === null
        ? [model(`plan/${at}/${control.attempt}`, control.started)]
        : [lasting("wait", `retry/${at}/${control.attempt}`, "retry of the model call")];
    case "Reflecting":
      return [model(`reflect/${at}/${control.attempt}`, control.started)];
    case "Custom":
      return [
        {
          key: `handler/${control.name}/${control.entry}/${control.attempt}`,
          lane: "tool",
          name: `handler ${control.name}`,
          isStarted: control.started,
        },
      ];
    case "Idle":
    case "WaitingForHuman":
    case "Acting":
    case "ParallelActing":
    case "Observing":
    case "Done":
    case "Error":
      return [];
  }
}

const model = (key: string, isStarted: boolean): Work => ({ key, lane: "model", name: key, isStarted });

function callWork({ id, attempt, status }: OpenCall, place: Place): readonly Work[] {
  const name = `${id} ${place.callName(id)}`.trim();
  const key = `${id}/${attempt}`;
  switch (status.type) {
    case "queued":
      return [];
    case "running":
      return [{ key: `tool/${key}`, lane: "tool", name, isStarted: status.started }];
    case "probing":
      return [{ key: `probe/${key}`, lane: "tool", name: `probe of ${name}`, isStarted: true }];
    case "retrying":
      return [lasting("wait", `wait/${key}`, `retry of ${name}`)];
    case "asking":
      return [lasting("human", `ask/${key}/${status.question}`, `${questions[status.about]} ${name}`)];
  }
}

const questions = { approval: "approval of", outcome: "outcome of", answer: "question of" } as const;
