/** Exports for the other packages of this repository. Not a public API: they may change in any release. */
export {
  chunkToQuestion,
  Draft,
  draftToPieces,
  isProgress,
  joinPieces,
  messageIdToPostId,
  progressToChunk,
  questionKey,
} from "@moora/agent-webui-protocol";
export { frozen } from "./data/frozen.ts";
export { dataOf } from "./inputs/data.ts";
export { differenceOf } from "./data/difference.ts";
export { baseAgentConfig } from "./default-config.ts";
export { inputLimit } from "./control/context-plan.ts";
export { initialStateOf } from "./initial.ts";
export { callIdsOfEntry, isCleared } from "./control/context-sizes.ts";
export { changeConfig, configGroups, withoutUndefined } from "./agent-config.ts";
export {
  budgetLeftAt,
  cappedBudget,
  isSpent,
  reservationOf,
  spentLimitsAt,
  type SpentLimit,
} from "./budget.ts";
export { agentConfigChangeSchema, fieldsOfGroup, settingsSchema, toolSearchSchema } from "./config.ts";
export { approvalSchema, budgetSchema, graphSchema } from "./config-parts.ts";
export { isBlacklisted } from "./control/admission.ts";
export { callFlags, hasOpenCall, openCallOf, openCallsOf } from "./collections/open-call-list.ts";
export { needsHuman, questionReasonOf, riskOf } from "./control/approval-rule.ts";
export { handOffToolName, hiddenAmong, mostTools, offeredToolsAt } from "./control/offered-tools.ts";
export { callIdsOf, deciderOf, newestTurnAt, toolNameOf, toolOf, toolQuestionOf } from "./control/calls.ts";
export { isLastAttemptNext } from "./control/interruptions.ts";
export { maxEntriesWithoutPlan, maxMovesPerInput } from "./control/move.ts";
export { reflectTaskType } from "./control/reflecting.ts";
export { builtInStates } from "./control/transition-table.ts";
export { hiddenRanges, isVisible } from "./control/visible-entries.ts";
export { hasFilesLeftOut, ladderAt, newestTurnIn, rungText, type Ladder } from "./control/ladder.ts";
export { waitAt } from "./control/waits.ts";
export { schedulesAt } from "./inputs/schedule.ts";
export { llmCallKey } from "./inputs/llm-call.ts";
export {
  isSameJson,
  isStorable,
  jsonCopy,
  maxJsonDepth,
  maxJsonItems,
  maxJsonLength,
  pathToText,
} from "./json-copy.ts";
export {
  answerMessageId,
  askKey,
  expiryWaitKey,
  isScheduleKey,
  isToolKey,
  planKey,
  probeKey,
  reflectKey,
  scheduledMessageId,
  stateKey,
  toolCallIdIn,
  toolKey,
} from "./keys.ts";
export { memoryCall, taskAt } from "./memory.ts";
export { frozenState, withFields } from "./collections/finished-state.ts";
export { isSameRange } from "./collections/long-list.ts";
export { hasSameCalls, messageOf, messagesOf, recordOf, transcriptOf } from "./collections/state-lists.ts";
export { stateVersion } from "./migrate.ts";
export { modelFor } from "./model-for.ts";
export { closedByFork, noDecision, noReviewer } from "./no-reviewer.ts";
export { parseStoredInput } from "./parse-input.ts";
export { costAt, priceOf } from "./prices.ts";
export { toolsSchema } from "./state.ts";
export { factOf, intentToStart, isIntent } from "./starts.ts";
export { stepOfHost, viewOf, withStarts } from "./transition.ts";
export { addAgentUsage, noAgentUsage, totalTokens } from "./usage.ts";
export { sentenceToText, wording } from "./wording.ts";
export { filesIn, textIn } from "./turn-parts.ts";
