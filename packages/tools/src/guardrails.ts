import type { Guardrail, GuardrailVerdict } from "@moora/agent-core-effects";
import { checkOptions, refuse, shownValue, type OptionForms } from "@moora/agent-core-effects/internal";
import {
  knownKeys,
  lostInJson,
  mapTexts,
  oneOf,
  redactor,
  secretMark,
  textToJson,
} from "@moora/llm/internal";

/** What becomes of a text that a ready-made guardrail finds something in. */
export type GuardrailAction = "replace" | "block" | "ask";

/** Options of `secretGuardrail`. */
export interface SecretGuardrailOptions {
  /** Secrets of your own, such as the values of environment variables. Default: none. */
  readonly secrets?: readonly string[];
  /** Where secrets are looked for. Default: everywhere. */
  readonly places?: readonly ("input" | "result" | "answer")[];
  /** `replace`: each secret becomes `[secret]`. `block`: the loop ends. `ask`: a person decides; an answer is asked about, too. Default: `replace`. */
  readonly action?: GuardrailAction;
}

/** Options of `instructionGuardrail`. */
export interface InstructionGuardrailOptions {
  /** `replace`: each sentence of this kind becomes `[instruction removed]`. Default: `replace`. */
  readonly action?: GuardrailAction;
}

const actions: readonly GuardrailAction[] = ["replace", "block", "ask"];
const allPlaces = ["input", "result", "answer"] as const;

/** A shorter secret would be found in ordinary words. */
const minSecret = 4;

const actionForm = oneOf(...actions);

const secretForms: OptionForms<SecretGuardrailOptions> = {
  secrets: "any",
  places: "any",
  action: actionForm,
};

/**
 * Keeps secrets from the model and from answers: given ones, and keys of well-known formats, such as those of providers, JSON Web Tokens and
 * private keys. Names no secret in a reason.
 */
export function secretGuardrail(options: SecretGuardrailOptions = {}): Guardrail {
  checkOptions("secretGuardrail", options, secretForms);
  const { secrets = [], places = allPlaces, action = "replace" } = options;
  if (
    !Array.isArray(secrets) ||
    secrets.some((secret) => typeof secret !== "string" || secret.length < minSecret)
  )
    refuse(`secretGuardrail: secrets must be an array of texts with at least ${minSecret} characters.`);
  if (!Array.isArray(places) || places.length === 0 || places.some((place) => !allPlaces.includes(place)))
    refuse(`secretGuardrail: places must name some of ${allPlaces.join(", ")}, got ${shownValue(places)}.`);
  const redact = redactor(secrets);
  const check = (text: string): GuardrailVerdict | undefined =>
    verdictOf(text, redact(text).replaceAll(knownKeys, secretMark), action, "The text contains a secret.");
  return { name: "secrets", ...Object.fromEntries(places.map((place) => [place, check])) };
}

/**
 * Looks in the results of tools for sentences that speak to the model, such as "ignore all previous
 * instructions", for markers of roles, and for invisible characters. It knows common phrases of six languages: it makes an attack harder, and
 * does not prove that there is none. Tools that act need an approval all the same.
 */
export function instructionGuardrail(options: InstructionGuardrailOptions = {}): Guardrail {
  checkOptions("instructionGuardrail", options, { action: actionForm });
  const { action = "replace" } = options;
  return {
    name: "instructions",
    result: (text, { call }) =>
      verdictOf(
        text,
        withoutInstructions(text),
        action,
        `The result of ${call?.name ?? "a tool"} gives instructions.`,
      ),
  };
}

function verdictOf(
  text: string,
  without: string,
  action: GuardrailAction,
  reason: string,
): GuardrailVerdict | undefined {
  if (without === text) return undefined;
  if (action === "replace") return { replace: without };
  return action === "block" ? { block: reason } : { ask: reason };
}

/** Characters that people do not see: those that carry text unseen, and those that hide a word from a search. */
const carriers = /[\u{E0000}-\u{E007F}]/gu;
const hidden = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\uFEFF]/g;

/** Each phrase is short and has no nested repetition, so that a search is linear. */
const phrases: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|preceding|system|your)\b.{0,20}\b(?:instruction|prompt|rule|message|guideline|direction)/,
  /\b(?:new|updated|real|actual|important) (?:system )?instructions? ?(?:for you|to the (?:assistant|model|agent|ai))? ?:/,
  /\byou are now in (?:developer|debug|admin|god|dan|jailbreak) mode\b|\byou must (?:now )?act as\b|\bfrom now on,? you (?:must|will|are)\b/,
  /\b(?:do not|never|don['’]t) (?:tell|inform|mention|reveal|show)\b.{0,30}\b(?:the |this to the )?user\b/,
  /\b(?:reveal|print|repeat|output|show)\b.{0,20}\b(?:your|the) (?:system )?(?:prompt|instructions)\b/,
  /<\|?(?:im_start|im_end|system|assistant|endoftext)\|?>|^ ?(?:#+ ?|\[)(?:system|assistant|inst)\b\]?:?|\[\/?inst\]/,
  /\bignor(?:iere|ieren sie)\b.{0,40}\b(?:vorherigen|bisherigen|obigen|früheren)\b.{0,20}\b(?:anweisung|regel|vorgabe)/,
  /\b(?:ignore|ignorez|oublie|oubliez)\b.{0,40}\b(?:instructions|consignes|règles)\b.{0,20}\b(?:précédentes|antérieures|ci-dessus)/,
  /\b(?:ignora|ignore|olvida|esqueça)\b.{0,40}\b(?:instrucciones|instruções|reglas|regras)\b.{0,20}\b(?:anteriores|previas|prévias)/,
  /(?:忽略|无视|忘记).{0,12}(?:之前|以上|先前|所有|上面).{0,12}(?:指令|指示|提示|规则)/,
];

/** Of a result that is JSON each text is looked at by itself, so that it stays JSON. */
function withoutInstructions(text: string): string {
  const parsed = /^\s*[[{]/.test(text) ? textToJson(text) : undefined;
  if (parsed === undefined || lostInJson(text) !== undefined) return cleaned(text);
  const before = JSON.stringify(parsed);
  const after = JSON.stringify(mapTexts(parsed, cleaned));
  return after === before ? text : after;
}

const removed = "[instruction removed]";

/** A sentence, or a line: with its end, and the break after it. */
const sentences = /[^.!?。！？\n]*[.!?。！？]*\n?/g;

/** Looks at each sentence, and at two lines in a row, since mails break sentences. */
function cleaned(text: string): string {
  const pieces = (text.replaceAll(carriers, "").match(sentences) ?? []).map((piece) => ({
    piece,
    isFound: instructs(piece),
  }));
  let result = "";
  for (let index = 0; index < pieces.length; index += 1) {
    const { piece = "", isFound = false } = pieces[index] ?? {};
    const next = pieces[index + 1];
    const isBroken = !isFound && next?.isFound === false && /[^.!?。！？\n]\n$/.test(piece);
    if (isBroken && instructs(piece + next.piece)) {
      result += marked(piece + next.piece);
      index += 1;
    } else result += isFound ? marked(piece) : piece;
  }
  return result;
}

/** The mark in place of a text, with the space around it. */
const marked = (text: string): string =>
  (/^\s*/.exec(text)?.[0] ?? "") + removed + (text.endsWith("\n") ? "\n" : "");

function instructs(sentence: string): boolean {
  const plain = sentence.normalize("NFKC").replaceAll(hidden, "").replaceAll(/\s+/g, " ").toLowerCase();
  return phrases.some((phrase) => phrase.test(plain));
}
