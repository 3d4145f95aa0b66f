import { randomBytes } from "node:crypto";
import { cutText, tokenize } from "@svc/text";

/** Number of consecutive equal words that is not a coincidence. */
const RUN_WORDS = 8;

/** Text in quotation marks, which an administrator wants the agent to say. */
const QUOTED_TEXT = /"[^"\n]{1,500}"|“[^”\n]{1,500}”|„[^“”\n]{1,500}[“”]|«[^»\n]{1,500}»|'[^'\n]{20,500}'/g;

/** Patterns of text that addresses a model rather than a reader, in the most common languages. */
const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget)\b[^.!?\n]{0,60}\b(?:instruction|rule|prompt|direction|guideline)s?\b/i,
  // Documents also tell readers to override settings or ignore mails about an order: "your" is required to match.
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,20}\b(?:your|previous|prior|earlier|system)\b[^.!?\n]{0,30}\b(?:instructions?|rules?|prompts?|directions?|guidelines?|orders|training)\b/i,
  /\b(?:ignore|disregard|forget)\b[^.!?\n]{0,20}\b(?:everything|all)\b[^.!?\n]{0,20}\b(?:above|before|previous|prior|earlier)\b/i,
  /\b(?:reveal|repeat|print|show|output|leak|disclose|tell)\b[^.!?\n]{0,40}\b(?:your|the|its)\b[^.!?\n]{0,20}\b(?:system prompt|hidden prompt|initial prompt|(?:system|secret|hidden|initial|original) instructions?)\b/i,
  /\b(?:reveal|leak|disclose|repeat|print|output)\b[^.!?\n]{0,20}\byour\b[^.!?\n]{0,20}\b(?:instructions|prompt|rules)\b/i,
  /\b(?:new|updated|real) (?:system )?(?:instructions|prompt)\s*:/i,
  /\byou are (?:now|no longer)\b[^.!?\n]{0,40}\b(?:assistant|ai|model|chatbot|bot|agent|jailbroken|unrestricted|dan)\b/i,
  /<\|[a-z_]{2,20}\|>|\[\/?INST\]|<<\/?SYS>>|^[ \t]*#{2,}[ \t]*(?:system|instruction)s?[ \t]*:?[ \t]*$/im,
  /\b(?:ignoriere?|ignorieren sie|vergiss|vergessen sie|missachte|missachten sie)\b[^.!?\n]{0,60}\b(?:anweisung|regel|vorgabe|instruktion|prompt)(?:en|n|s)?\b/i,
  /\b(?:ignore|ignorez|oublie|oubliez)\b[^.!?\n]{0,60}\b(?:instruction|règle|consigne|directive)s?\b/i,
  /\b(?:ignora|ignore|ignoren|olvida|olvide)\b[^.!?\n]{0,60}\b(?:instrucci[oó]n(?:es)?|reglas?|indicaciones)\b/i,
  /\b(?:ignora|ignorate|dimentica)\b[^.!?\n]{0,60}\b(?:istruzioni|regole|indicazioni)\b/i,
  /\b(?:ignore|ignora|esqueça|desconsidere)\b[^.!?\n]{0,60}\b(?:instruções|regras|orientações)/i,
  /\b(?:negeer|vergeet)\b[^.!?\n]{0,60}\b(?:instructies|regels|aanwijzingen)\b/i,
  /(?:игнорируй|игнорируйте|забудь|забудьте)[^.!?\n]{0,60}(?:инструкци|правил|указани)/i,
  /(?:忽略|无视|忘记)[^。！？\n]{0,20}(?:指令|规则|指示|提示)/,
  /(?:指示|命令|ルール|プロンプト)[^。！？\n]{0,10}(?:無視|忘れ)/,
];

/**
 * Returns whether a text contains instructions to a model ("ignore all rules", chat markup), in common phrasing. This
 * is one safeguard of several: what it misses is caught when claims are checked.
 */
export function containsInstructions(text: string): boolean {
  const shown = text.replace(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFKC");
  // A sentence may continue on the next line, and markup has its own lines.
  const unwrapped = shown.replace(/(?<=\S)[ \t]{0,8}\r?\n[ \t]{0,8}(?=\p{Ll})/gu, " ");
  return ORDERS.some((order) => order.test(shown) || order.test(unwrapped));
}

/**
 * Creates the check whether a text reveals the model's instructions: it contains runs of words that are in the rules
 * and in none of the texts that may be repeated.
 */
export function createRuleCheck(rules: string): (text: string, sayable: string) => boolean {
  const message = runsOf(rules.replace(QUOTED_TEXT, "\n"));
  return (text, sayable) => {
    const runs = [...runsOf(text)].filter((run) => message.has(run));
    if (runs.length === 0) return false;
    const said = runsOf(sayable);
    return runs.some((run) => !said.has(run));
  };
}

/** Returns the sentences that an administrator wants the agent to say verbatim. */
export function verbatimSentencesOf(instructions: string): string[] {
  return (instructions.match(QUOTED_TEXT) ?? []).map((quoted) => quoted.slice(1, -1));
}

function runsOf(text: string): Set<string> {
  const words = tokenize(text).map(({ term }) => term);
  return new Set(words.slice(RUN_WORDS - 1).map((_, at) => words.slice(at, at + RUN_WORDS).join(" ")));
}

/**
 * Control characters other than tab and line feed, and characters that reorder or hide text: bidi marks, tags, the BOM.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

/** Marks untrusted text in a prompt with a random word that the text cannot contain. */
export interface Fence {
  /** The random word, for the rules of the prompt. */
  readonly word: string;
  /** Returns a text between two lines with the word, sanitized and cut to `maxChars`. */
  around(label: string, text: string, maxChars: number): string;
}

/** Creates a fence. Its word is drawn for each call of a model, after all fenced text was written. */
export function createFence(): Fence {
  const word = randomBytes(12).toString("hex");
  return {
    word,
    around(label, text, maxChars) {
      // Only a source that has seen the prompt, such as a tool, can contain the word.
      const held = defuseText(text, maxChars).replaceAll(word, "…");
      return `[${word} begin ${label}]\n${held}\n[${word} end ${label}]`;
    },
  };
}

/**
 * Sanitizes untrusted text for a model: removes invisible characters, makes it well-formed, and cuts it to `maxChars`.
 */
export function defuseText(text: string, maxChars: number): string {
  const lines = text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n");
  const shown = lines.replace(HIDDEN, "").replace(/\p{Surrogate}/gu, "\u{FFFD}");
  return shown.length <= maxChars ? shown : `${cutText(shown, maxChars - 2)} …`;
}
