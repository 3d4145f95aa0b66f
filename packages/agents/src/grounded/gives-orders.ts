import { tokenize } from "@svc/text";

/** Number of words in the same order that is no coincidence. */
const RUN_WORDS = 8;

/** What an administrator has put in quotes is meant to be said. */
const SAYINGS = /"[^"\n]{1,500}"|“[^”\n]{1,500}”|„[^“”\n]{1,500}[“”]|«[^»\n]{1,500}»|'[^'\n]{20,500}'/g;

/** How texts speak to a model rather than to a reader, in the languages in which that is done most. */
const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget)\b[^.!?\n]{0,60}\b(?:instruction|rule|prompt|direction|guideline)s?\b/i,
  // Documents tell people to override settings and to ignore mail about an order: those are nobody's "your".
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
 * True when a text gives orders to a model that reads it ("ignore all rules", chat markup), in the words in which this
 * is mostly done. It is one guard of several: what it does not know is caught, at the latest, where claims are checked.
 */
export function givesOrders(text: string): boolean {
  const shown = text.replace(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFKC");
  // A sentence may continue in the next line, and markup is on lines of its own.
  const unwrapped = shown.replace(/(?<=\S)[ \t]{0,8}\r?\n[ \t]{0,8}(?=\p{Ll})/gu, " ");
  return ORDERS.some((order) => order.test(shown) || order.test(unwrapped));
}

/**
 * Makes the check whether a text reveals the model's instructions: runs of its words that are in the rules and in
 * nothing that may be said.
 */
export function repeatsRules(rules: string): (text: string, sayable: string) => boolean {
  const message = runsOf(rules.replace(SAYINGS, "\n"));
  return (text, sayable) => {
    const runs = [...runsOf(text)].filter((run) => message.has(run));
    if (runs.length === 0) return false;
    const said = runsOf(sayable);
    return runs.some((run) => !said.has(run));
  };
}

/** What an administrator wants to have said word for word. */
export function sayingsOf(instructions: string): string[] {
  return (instructions.match(SAYINGS) ?? []).map((quoted) => quoted.slice(1, -1));
}

function runsOf(text: string): Set<string> {
  const words = tokenize(text).map(({ term }) => term);
  return new Set(words.slice(RUN_WORDS - 1).map((_, at) => words.slice(at, at + RUN_WORDS).join(" ")));
}
