/** Every sentence that the reducer puts before the model, in one place: a change here changes what models read. */
export const wording = {
  blacklisted: (name: string) => `The tool ${name} is not allowed here and was not run.`,
  cutTurn:
    "Not run: the turn was cut off at the token limit before the model had finished it. Make shorter calls.",
  tooManyCalls: (limit: number) =>
    `Not run: only the first ${limit} calls of a turn are run. Call it again if needed.`,
  rejected: (reason: string | undefined) =>
    reason === undefined || reason === ""
      ? "A human rejected this call."
      : `A human rejected this call: ${reason}`,
  expired: "Nobody approved this call in time. It was not run.",
  unanswered: "Nobody answered this question in time.",
  cancelledBeforeRun: "Cancelled before it ran.",
  cancelledWhileRunning: "Cancelled while it ran; it may have had its effect.",
  leftBehind: "Not run: the agent moved on without it.",
  toolChanged: "Not run: the tool was changed or removed.",
  outcomeUnknown:
    "The outcome of this call is unknown: it was interrupted and may have had its effect. Do not assume either.",
  crashLoop: (attempts: number) => `Given up: this call was interrupted ${attempts} times.`,
  lowConfidence: (confidence: number, threshold: number) =>
    `Your last turn was dropped: its confidence, ${confidence.toFixed(2)}, is below ${threshold.toFixed(2)}. Think again, and go on only with what you are sure of.`,
  answerTooShort: (length: number) =>
    `Your answer is too short: at least ${length} characters are expected. Give a complete answer.`,
  answerInvalid: (problem: string) =>
    `Your answer does not have the form that is asked for: ${problem} Answer again.`,
  nothingToDo: "Your last turn had neither an answer nor a call. Answer, or call a tool.",
  lastStep: "This is the last step of this task: answer now, without calling tools.",
  cancelled: (reason: string | undefined) =>
    reason === undefined || reason === ""
      ? "The task was cancelled here."
      : `The task was cancelled here: ${reason}`,
} as const;
