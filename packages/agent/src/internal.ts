/** Exports for the other packages of this repository. Not a public API: they may change in any release. */
export { Draft } from "@moora/agent-core-state-machine/internal";
export { base64OfUrl, base64ToBytes } from "@moora/llm/internal";
export { applyPatches, beginReplay, keysToPointer } from "@moora/agent-core-state-machine";
export {
  answerMessageId,
  dataOf,
  isLastAttemptNext,
  openCallsOf,
} from "@moora/agent-core-state-machine/internal";
export { answerOfText } from "./answer-of-text.ts";
export { callsSince } from "./calls-since.ts";
export { checkIsReached } from "./check-arguments.ts";
export { contentProblem } from "./user-message.ts";
export { isSameJson } from "./durable/canonical-json.ts";
export { closedBy, closesOriginal, unfinishedMove } from "./durable/closed-copy.ts";
export { checkIsNotClosed, checkIsWritten, closedError } from "./durable/closed-session.ts";
export { isOfWrite, newWriteHolder } from "./durable/unfinished-write.ts";
export { isFinal, lostError } from "./durable/log-failures.ts";
export { engineClaim, takeLeaseForEngine } from "./durable/engine-lease.ts";
export { leaseIn } from "./durable/lease-in.ts";
export { ownerOf } from "./durable/lease-holder.ts";
export { inTurns } from "./durable/in-turns.ts";
export { restoreSession, snapshotVersion } from "./durable/restore.ts";
export { historyDigest } from "./durable/history-digest.ts";
export { headerToState } from "./durable/session-header.ts";
export { controlName, ignoredReason } from "@moora/agent-core-state-machine";
export { attemptEffect, type EngineOptions, type EngineSession } from "./host/attempt-effect.ts";
export { foldRecords, isFoldedHere } from "./host/folded-session.ts";
export type { McpHost, McpRoute } from "./host/mcp-route.ts";
export type { CallAction, CallSession, ListedSession, UserSessions } from "./host/user-sessions.ts";
export { fileHeaders, mediaTypeIn } from "./file-response.ts";
export { questionEvent, ShownQuestions } from "./live/shown-questions.ts";
export type { StreamedSession } from "./live/streamed-session.ts";
export { hostDecider, refusalWithoutDecision, refusalWithoutReviewer } from "./no-reviewer.ts";
export { LivePublishers } from "./live/live-publishers.ts";
export type { LiveChunk, LiveText, ViewedSession } from "./live/live-texts.ts";
export { ViewerChunks } from "./live/viewer-chunks.ts";
export { liveKeyOf, viewersTopic, viewerTextOf, type ViewerText } from "./live/viewer-texts.ts";
export { Logger, logLevels } from "./logger.ts";
export { checkIsNotCalled, removeLeft } from "./retention/remove-session.ts";
export { RunControl } from "./run-control.ts";
export { safeErrorListener } from "./safe-error-listener.ts";
export { lateOutputLogger, logIgnored, logApplied } from "./session/log-inputs.ts";
export { callsAtWork, waitsForHuman } from "./session/calls-at-work.ts";
export { decidedInput } from "./session/decisions.ts";
export { loggedQuestions } from "./session/logged-questions.ts";
export { messageAsker, type AskHost } from "./session/messages.ts";
export { parseOrRefuse, parsePosted } from "./session/parse-or-refuse.ts";
export { questionsAt } from "./session/questions.ts";
export { checkedListener, checkOptionalText, checkQuestion } from "./session/session-arguments.ts";
export { checkContext } from "./session-context.ts";
export { calledAgentOf, checkSubAgentQuestions, type CalledAgent } from "./sub-agent-questions.ts";
export { SessionOutput } from "./session/session-output.ts";
export { importForReading } from "./time-travel/portable-session.ts";
export { lastPositionOf, sessionLog } from "./time-travel/read-session.ts";
export { fileText } from "./time-travel/file-text.ts";
export { withOneReviewer } from "./session/sub-agents.ts";
