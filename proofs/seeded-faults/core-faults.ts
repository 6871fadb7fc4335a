import { fault, type Fault } from "./fault.ts";

const core = "packages/agent-core-state-machine/src";
const transcripts = ["packages/agent-testing/test/transcripts.test.ts"];
const longConversation = ["packages/agent-core-state-machine/test/long-conversation.test.ts"];
const contextPlans = ["packages/agent/test/context-plan.test.ts"];
const laws = ["packages/agent-testing/test/laws.long.test.ts"];
const guards = ["packages/agent-testing/test/guards.test.ts"];
const approvals = ["packages/agent/test/session/approvals.test.ts"];
const largeTurns = ["packages/agent-testing/test/large-turns.long.test.ts"];
const limits = ["packages/agent/test/session/limits.test.ts"];
const toolQuestions = ["packages/agent/test/session/tool-questions.test.ts"];
const toolRetries = ["packages/agent/test/session/tool-retries.test.ts"];

/** Faults of the pure core: a call without its result or with two, a refusal without effect, a limit that does not hold. */
export const coreFaults: readonly Fault[] = [
  fault(
    11,
    "a call of a once tool runs again after a crash",
    {
      file: `${core}/control/interruptions.ts`,
      text: 'replayOf(edit, call) !== "once"',
      replacement: 'replayOf(edit, call) !== "never"',
    },
    transcripts,
    /a crash > never runs a once call again/,
  ),
  {
    number: 14,
    name: "a second result is taken",
    changes: [
      {
        file: `${core}/inputs/tool-call.ts`,
        text: "if (call === undefined || !takesResult(state, call)) return ignoredReasonOfCall(state, toolCallId);",
        replacement:
          "if (call === undefined && recordOf(state, toolCallId) !== undefined) return (edit) => settleCall(edit, toolCallId, result);\n  if (call === undefined || !takesResult(state, call)) return ignoredReasonOfCall(state, toolCallId);",
      },
      {
        file: `${core}/control/calls.ts`,
        text: "if (record === undefined || record.result !== null) return;",
        replacement: "if (record === undefined) return;",
      },
    ],
    tests: limits,
    caughtBy: /a result that comes twice, or late.* changes nothing/,
  },
  {
    number: 15,
    name: "a late result is taken after a cancel",
    changes: [
      {
        file: `${core}/inputs/tool-call.ts`,
        text: "if (call === undefined || !takesResult(state, call)) return ignoredReasonOfCall(state, toolCallId);",
        replacement:
          'const known = recordOf(state, toolCallId)?.result;\n  if (known?.isSuccess === false && known.code?.startsWith("cancelled")) return (edit) => settleCall(edit, toolCallId, result);\n  if (call === undefined || !takesResult(state, call)) return ignoredReasonOfCall(state, toolCallId);',
      },
      {
        file: `${core}/control/calls.ts`,
        text: "if (record === undefined || record.result !== null) return;",
        replacement:
          'if (record === undefined || (record.result !== null && (record.result.isSuccess || !record.result.code?.startsWith("cancelled")))) return;',
      },
    ],
    tests: guards,
    caughtBy: /a result that comes after its call was cancelled > is not taken/,
  },
  fault(
    16,
    "a cancel leaves one call open",
    {
      file: `${core}/control/done-and-error.ts`,
      text: "for (const id of unansweredIds(edit)) {",
      replacement: "for (const id of unansweredIds(edit).slice(1)) {",
    },
    laws,
    /inputs drawn from the state > keep every law at every step/,
  ),
  fault(
    18,
    "the calls of a turn that was cut off run",
    {
      file: `${core}/inputs/re-act-observed.ts`,
      text: 'else continueLoop(edit, input.finish?.unified === "length");',
      replacement: "else continueLoop(edit, false);",
    },
    [...transcripts, ...limits],
    /does not run the calls of a cut turn|at the token limit runs none of them/,
  ),
  fault(
    20,
    "a decision is taken whatever it was made about",
    {
      file: `${core}/inputs/tool-call-decided.ts`,
      text: 'if (call.status.digest !== digest) return "digest-mismatch";',
      replacement: "",
    },
    [...approvals, ...transcripts],
    /an approval of something else.* does not count|ignores a decision about something else/,
  ),
  fault(
    22,
    "an approval counts for the next question about its call as well",
    {
      file: `${core}/control/calls.ts`,
      text: "return question === 1 ? digest : `${digest}#${question}`;",
      replacement: "return question === 0 ? `${digest}#${question}` : digest;",
    },
    guards,
    /an approval > does not answer a later question about the same call/,
  ),
  fault(
    23,
    "the budget is counted anew after a restart",
    {
      file: `${core}/inputs/session.ts`,
      text: "edit.set({ owner, ",
      replacement:
        "edit.setContext({ usage: { ...edit.usage, inputTokens: 0, outputTokens: 0 } });\n    edit.set({ owner, ",
    },
    guards,
    /a restart > does not renew the budget/,
  ),
  fault(
    24,
    "the reducer looks at the clock",
    {
      file: `${core}/state-edit.ts`,
      text: "this.updatedAt = this.timestamp;",
      replacement: "this.updatedAt = Date.now();",
    },
    ["packages/agent-testing/test/purity.long.test.ts"],
    /the world.* is not asked/,
  ),
  fault(
    26,
    "what comes in is walked as deep as it goes",
    {
      file: `${core}/json-copy.ts`,
      text: 'if (path.length >= maxJsonDepth) refuse("too-deep", path, `Deeper than ${maxJsonDepth} levels.`);',
      replacement: "",
    },
    ["packages/agent-core-state-machine/test/parse-input.test.ts"],
    /refuses a depth of 10,000 and of 1,000,000 without overflowing the stack/,
  ),
  {
    number: 27,
    name: "a name is looked up in a plain object",
    changes: [
      {
        file: `${core}/control/calls.ts`,
        text: "if (Object.hasOwn(tools, name)) return name;",
        replacement: "if (name in tools) return name;",
      },
      {
        file: `${core}/control/calls.ts`,
        text: "Object.hasOwn(state.tools, current) ? state.tools[current] : undefined;",
        replacement: "state.tools[current];",
      },
    ],
    tests: guards,
    caughtBy:
      /a call of a tool whose name is a property of every object > asks no question and finds no tool/,
  },
  fault(
    29,
    "a refusal is asked for again",
    {
      file: `${core}/inputs/llm-call.ts`,
      text: "failure.retryable && ",
      replacement: "",
    },
    [...limits, ...transcripts],
    /gives up when a retry cannot help/,
  ),
  fault(
    46,
    "a step more than the limit",
    {
      file: `${core}/control/planning.ts`,
      text: 'if (step >= stepLimit) return failed("MaxSteps");',
      replacement: 'if (step > stepLimit) return failed("MaxSteps");',
    },
    [...transcripts, "packages/moora/test/builder/planning.test.ts"],
    /steps have a limit|agent_config_respected/,
  ),
  fault(
    47,
    "a call that a human changed is not held against the blacklist",
    {
      file: `${core}/control/admission.ts`,
      text: "namesTool(state, state.config.toolCalls.blacklist, name);",
      replacement: 'namesTool(state, state.config.toolCalls.blacklist, name) && name === "";',
    },
    ["packages/moora/test/builder/approval.test.ts"],
    /is checked against the current blacklist/,
  ),
  fault(
    48,
    "more calls at once than there are slots",
    {
      file: `${core}/control/admission.ts`,
      text: "    if (!slots.hasAny()) return;\n",
      replacement: "",
    },
    [...transcripts, ...limits],
    /keeps to the slots|a thousand calls in one turn/,
  ),
  fault(
    49,
    "a question never expires",
    {
      file: `${core}/inputs/deadline-passed.ts`,
      text: "return expireQuestion(edit, wait.call, wait.status);",
      replacement: "return undefined;",
    },
    transcripts,
    /humans > expires/,
  ),
  fault(
    50,
    "a message that came meanwhile is forgotten",
    {
      file: `${core}/control/planning.ts`,
      text: "for (const entry of queued) edit.addEntry(entry);",
      replacement: "for (const entry of queued.slice(0, 1)) edit.addEntry(entry);",
    },
    ["packages/agent/test/session/interjections.test.ts", ...transcripts],
    /fifty messages without a waiting caller/,
  ),
  fault(
    51,
    "an answer shows that its request had seen what was said after it",
    {
      file: `${core}/control/streamed-message.ts`,
      text: 'control.type === "Planning" ? control.messagesSeen : messagesOf(edit).length;',
      replacement: "messagesOf(edit).length;",
    },
    ["packages/agent/test/session/interjections.test.ts", ...transcripts],
    /stands after the answer that did not know of it/,
  ),
  fault(
    52,
    "the position of an item in another branch of a conversation counts in every branch",
    {
      file: `${core}/collections/key-index.ts`,
      text: "if (position === undefined || this.#isAt(list, position, key)) return position ?? -1;",
      replacement: "if (position === undefined || position < 1e9) return position ?? -1;",
    },
    longConversation,
    /settles the right call where two ways contain the same calls in another order/,
  ),
  fault(
    53,
    "what was refused goes into later requests",
    {
      file: `${core}/inputs/llm-call.ts`,
      text: 'if (kind === "refusal" || kind === "content-filter") withholdLoop(edit);',
      replacement: "",
    },
    [...transcripts, "packages/agent-testing/test/llm-request.long.test.ts"],
    /withholds what was refused|is a loop that was refused/,
  ),
  fault(
    111,
    "a part of a list that a published state shares is written in place",
    {
      file: `${core}/collections/list-edit.ts`,
      text: "this.#rest = this.#ownRest ??= [...this.#rest];",
      replacement: "this.#rest = this.#ownRest ??= this.#rest as Item[];",
    },
    longConversation,
    /has the same states live, folded, and continued from JSON/,
  ),
  fault(
    112,
    "the changes of an input contain what it wrote on the way to another control state",
    {
      file: `${core}/changes.ts`,
      text: 'if (!this.#extends("control")) return;',
      replacement: "",
    },
    longConversation,
    /records the same changes live and in a fold|names each thing that an input changed once/,
  ),
  fault(
    121,
    "a call that waits for its next attempt counts as one that did not run",
    {
      file: `${core}/inputs/tool-call.ts`,
      text: "    mayHaveRun: true,\n    failures",
      replacement: "    failures",
    },
    toolRetries,
    /blacklisted meanwhile, and the model reads that it may have run/,
  ),
  fault(
    122,
    "failed attempts count as crashes",
    {
      file: `${core}/control/interruptions.ts`,
      text: "  attempt - failures - asked;",
      replacement: "  attempt - asked;",
    },
    toolRetries,
    /counts crashes apart from failures/,
  ),
  fault(
    123,
    "a failed call of a tool that runs once is repeated",
    {
      file: `${core}/inputs/tool-call.ts`,
      text: 'status.type === "running" && replayOf(edit, call) !== "once" && failures',
      replacement: 'status.type === "running" && failures',
    },
    toolRetries,
    /is not repeated if it may run once, whatever its definition says/,
  ),
  fault(
    124,
    "the reply to the question of a tool replaces the approval of its call",
    {
      file: `${core}/inputs/tool-call-decided.ts`,
      text: "asked: { ...record.asked, reply } });",
      replacement:
        'asked: { ...record.asked, reply }, decision: { type: "answered", by: reply.by, decidedAt: 0 } });',
    },
    toolQuestions,
    /is approved once, before it asks/,
  ),
  fault(
    125,
    "a call whose tool has asked counts as one that did not run",
    {
      file: `${core}/inputs/tool-call.ts`,
      text: "{ ...withoutReservation(call), mayHaveRun: true }",
      replacement: "withoutReservation(call)",
    },
    toolQuestions,
    /is closed in a fork as a call that may have had its effect/,
  ),
  fault(
    126,
    "a task that was withheld is sent again",
    {
      file: `${core}/inputs/loop.ts`,
      text: "return task !== undefined && task.withheld !== true;",
      replacement: "return task !== undefined;",
    },
    ["packages/agent/test/session/retry.test.ts"],
    /is ignored after a refusal of the provider/,
  ),
  fault(
    127,
    "a call that waits for its next attempt runs again although its tool may run once by now",
    {
      file: `${core}/inputs/deadline-passed.ts`,
      text: 'if (replayOf(edit, call) === "once") settleUnknown(edit, call);\n  else runAgain(edit, call);',
      replacement: "runAgain(edit, call);",
    },
    toolRetries,
    /is not run again by a release in which it may run once/,
  ),
  fault(
    128,
    "a question of a tool has the digest of its call",
    {
      file: `${core}/control/calls.ts`,
      text: "digest: digest ?? questionDigest(record, question),",
      replacement: "digest: questionDigest(record, question),",
    },
    toolQuestions,
    /binds a reply to one question of one call of one session/,
  ),
  fault(
    129,
    "the wait for the next attempt of a tool call does not count as work",
    {
      file: "packages/agent-core-effects/src/open-effects.ts",
      text: 'type === "retry" || type === "tool-retry"',
      replacement: 'type === "retry"',
    },
    toolRetries,
    /is work that a session waits for until it is settled/,
  ),
  fault(
    191,
    "what an input changes depends on which objects two states share",
    {
      file: `${core}/inputs/loop.ts`,
      text: "...(hasUsage(edit.reActContext.usage) ? { usage: noAgentUsage } : {}),",
      replacement: "usage: noAgentUsage,",
    },
    ["packages/agent-testing/test/laws.long.test.ts"],
    /inputs drawn from the state > keep every law at every step/,
  ),
  fault(
    192,
    "equal tools of a configuration count as a change if they are other objects",
    {
      file: `${core}/inputs/session.ts`,
      text: "tools === undefined || sameJson(tools, before.tools) ? before.tools : tools",
      replacement: "tools ?? before.tools",
    },
    ["packages/agent-core-state-machine/test/changes.test.ts"],
    /are the same for a state that has other objects/,
  ),
  fault(
    205,
    "a call of a large turn takes the place of another one",
    {
      file: `${core}/collections/open-call-list.ts`,
      text: "partOf(calls.with(place % partLength, call))",
      replacement: "partOf(calls.with(at % partLength, call))",
    },
    largeTurns,
    /turns of many calls > end with their last result/,
  ),
  fault(
    206,
    "a call of a large turn is not found by its status after a write",
    {
      file: `${core}/collections/open-call-list.ts`,
      text: "new OpenCallList(parts.with(at, part), places)",
      replacement: "new OpenCallList(parts.with(at, { ...part, flags: parts[at]?.flags ?? 0 }), places)",
    },
    largeTurns,
    /turns of many calls > keep every law at every step/,
  ),
  fault(
    210,
    "a summary hides results that the model has not read",
    {
      file: `${core}/control/context-plan.ts`,
      text: "Math.min(covers, newestTurns(edit, 1))",
      replacement: "covers",
    },
    transcripts,
    /hides what it covers, except what the model has not read/,
  ),
  fault(
    211,
    "a summary is made that saves little",
    {
      file: `${core}/control/context-plan.ts`,
      text: "canSummarize && isFirst && saves && maySummarize",
      replacement: "canSummarize && isFirst && maySummarize",
    },
    contextPlans,
    /does not summarize again and again what is not the cause/,
  ),
  fault(
    212,
    "the newest results are left out, too",
    {
      file: `${core}/control/context-plan.ts`,
      text: "const until = newestTurns(edit, keepNewest);",
      replacement: "const until = newestTurns(edit, 0);",
    },
    contextPlans,
    /shows the newest results as the tool gave them/,
  ),
];
