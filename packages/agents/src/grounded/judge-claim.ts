import { detectLanguage, stopWords, tokenize, foldAccents, splitSentences } from "@svc/text";
import type { Source } from "@svc/contracts";
import { sourceOf } from "../source-of.ts";
import { containsPart, lazily } from "../language-files.ts";
import { isSmallTalk } from "../talk/find-talk.ts";
import { talkByLanguage } from "../talk/read-talk.ts";
import { compareClaim, quotedSentences } from "./compare-claim.ts";
import { findForeignParts, findQuote } from "./find-foreign-parts.ts";
import { containsInstructions, verbatimSentencesOf } from "./answer-prompt.ts";
import type { CitableText, Claim, Evidence } from "./answer-prompt.ts";

/**
 * Courtesies around an answer, which state nothing. Phrases are separated by commas; accents, case and punctuation are
 * ignored. Greetings, thanks and goodbyes are in the small talk.
 */
const SAID_COURTESIES = `
  glad to help, happy to help, i'm happy to help, i am happy to help, i'm glad to help, i am glad to help,
  glad i could help, happy to help you, i'm happy to help you, i'd be happy to help, i would be happy to help,
  of course, sure, certainly, absolutely, sure thing, great question, good question, thanks for asking,
  thank you for asking, thanks for your question, thank you for your question, thanks for reaching out,
  thank you for reaching out, thanks for your message, thank you for your message, thanks for contacting us,
  thank you for contacting us, thank you for your patience, here is how, here's how, here are the steps,
  here is what to do, here's what to do, follow these steps, please follow these steps, i hope this helps,
  i hope that helps, hope this helps, hope that helps, let me know if you have any questions,
  let me know if you have any other questions, let me know if you have any more questions,
  let me know if you have further questions, please let me know if you have any questions,
  please let me know if you have any other questions, let me know if you need anything else,
  let me know if you need more help, let me know if you need further help, feel free to ask,
  feel free to ask if you have any questions, feel free to ask if you have more questions,
  is there anything else i can help you with, is there anything else i can help with, can i help you with anything else,
  i'm sorry to hear that, i am sorry to hear that, sorry to hear that, sorry for the inconvenience,
  i'm sorry for the inconvenience, i apologize for the inconvenience, we apologize for the inconvenience,
  i understand, i see, have a great day, have a nice day, best regards, kind regards,
  gern, gerne, sehr gern, sehr gerne, gern geschehen, gerne geschehen, ich helfe gern, ich helfe ihnen gern,
  ich helfe dir gern, ich helfe gerne, ich helfe ihnen gerne, ich helfe dir gerne, natürlich, selbstverständlich, klar,
  gute frage, danke für ihre frage, danke für deine frage, vielen dank für ihre frage, vielen dank für deine frage,
  vielen dank für ihre nachricht, danke für ihre nachricht, vielen dank für deine nachricht, so geht es, so geht's,
  gehen sie so vor, gehe so vor, ich hoffe das hilft, ich hoffe das hilft ihnen, ich hoffe das hilft dir,
  melden sie sich bei weiteren fragen gern, bei weiteren fragen helfe ich gern, bei fragen helfe ich gern,
  kann ich ihnen sonst noch helfen, kann ich sonst noch helfen, das tut mir leid, es tut mir leid, tut mir leid,
  ich verstehe, mit freundlichen grüßen, viele grüße,
  avec plaisir, bien sûr, certainement, bonne question, merci pour votre question, merci pour ta question,
  merci pour votre message, merci de votre message, voici comment faire, voici les étapes, j'espère que cela vous aide,
  n'hésitez pas si vous avez d'autres questions, n'hésitez pas à me contacter si vous avez d'autres questions,
  puis je vous aider avec autre chose, je suis désolé, je suis désolée, désolé, je comprends, cordialement,
  con gusto, claro, por supuesto, buena pregunta, gracias por su pregunta, gracias por tu pregunta,
  gracias por su mensaje, gracias por tu mensaje, estos son los pasos, siga estos pasos, sigue estos pasos,
  espero que esto ayude, espero que le ayude, puedo ayudarle en algo más, puedo ayudarte en algo más, lo siento,
  lamento las molestias, entiendo, saludos,
  volentieri, certo, certamente, buona domanda, grazie per la domanda, grazie per il messaggio, ecco come fare,
  ecco i passaggi, spero che sia utile, posso aiutarla con altro, posso aiutarti con altro, mi dispiace, capisco,
  cordiali saluti, com prazer, com certeza, boa pergunta, obrigado pela pergunta, obrigada pela pergunta,
  obrigado pela mensagem, obrigado pelo contato, siga estes passos, espero ter ajudado, posso ajudar com mais alguma coisa,
  sinto muito, lamento, entendo, atenciosamente,
  graag gedaan, natuurlijk, goede vraag, bedankt voor uw vraag, bedankt voor je vraag, bedankt voor uw bericht,
  volg deze stappen, ik hoop dat dit helpt, kan ik u nog ergens mee helpen, kan ik je nog ergens mee helpen,
  het spijt me, ik begrijp het, met vriendelijke groet,
  självklart, bra fråga, tack för din fråga, tack för ditt meddelande, så här gör du, jag hoppas att det hjälper,
  kan jag hjälpa dig med något mer, jag beklagar, selvfølgelig, godt spørgsmål, tak for dit spørgsmål, det beklager jeg,
  godt spørsmål, takk for spørsmålet, jeg beklager, tietysti, hyvä kysymys, kiitos kysymyksestä, olen pahoillani,
  конечно, хороший вопрос, спасибо за вопрос, спасибо за ваш вопрос, спасибо за сообщение, рад помочь, рада помочь,
  надеюсь это поможет, могу ли я помочь чем то ещё, мне жаль, сожалею, понимаю,
  oczywiście, dobre pytanie, dziękuję za pytanie, dziękujemy za wiadomość, czy mogę jeszcze w czymś pomóc, przykro mi,
  rozumiem, samozřejmě, dobrá otázka, děkuji za dotaz, děkujeme za zprávu, je mi líto, rozumím,
  звичайно, дякую за запитання, радий допомогти, рада допомогти, мені шкода,
  desigur, bună întrebare, mulțumesc pentru întrebare, cu plăcere, îmi pare rău, természetesen, köszönöm a kérdést,
  szívesen, sajnálom, elbette, tabii ki, güzel soru, sorunuz için teşekkürler, yardımcı olmaktan memnuniyet duyarım,
  üzgünüm, βεβαίως, φυσικά, ευχαριστώ για την ερώτηση, λυπάμαι, بالتأكيد, شكرا لسؤالك, يسعدني مساعدتك, آسف`;

const wordsOf = (text: string) =>
  tokenize(text)
    .map(({ term }) => foldAccents(term))
    .join(" ");

const courtesies = lazily(() => {
  const sayings = [...talkByLanguage().values()].flatMap(({ replies }) =>
    Object.values(replies).flatMap((reply) => splitSentences(reply).map(({ text }) => text)),
  );
  return new Set([...SAID_COURTESIES.split(","), ...sayings].map(wordsOf));
});

/** A courtesy is short; a longer text states something. */
const MAX_CHARS = 400;

/** Minimum share of a sentence's words that its source contains: it may be rephrased, but must have the same topic. */
const MIN_SHARE = 1 / 3;
/** A shorter sentence may have no words in common with its source. */
const MIN_WORDS = 3;
/** Number of characters read to detect a language. */
const MAX_DETECTED_CHARS = 1_000;

/** Result of checking a claim. */
export interface JudgedClaim {
  text: string;
  /**
   * A courtesy states nothing and needs no support. `unsure`: nothing contradicts it, but the words alone do not prove
   * it; only a second opinion makes it supported.
   */
  kind: "supported" | "courtesy" | "unsure" | "unsupported";
  /** Explains to an operator why it is not supported; empty if it is. */
  why: string;
  /** True when it may be injected text, so that the whole answer is suspect. */
  isSuspect: boolean;
  /** Its sources, with each quote as it occurs in its document. */
  sources: Source[];
  /** Titles of the cited texts. */
  titles: string[];
  /** The sentences that contain its quotes, each below its title, for a second opinion. */
  evidence: string;
  /** True when only tool results support it. */
  isByResults: boolean;
  /** False if the topic of the claim and the cited text could not be compared. */
  isCompared: boolean;
}

/** Context that claims are judged in. */
export interface ClaimContext {
  evidence: Evidence;
  question: string;
  /** Language of the question (ISO 639-1). */
  language: string;
  instructions: string;
  /** Returns whether a text reveals the model's instructions; text in `sayable` may be repeated. */
  revealsInstructions: (text: string, sayable: string) => boolean;
}

/** Maximum length of a quote. */
const MAX_QUOTE_CHARS = 4_000;
const MAX_CITATIONS = 20;

/**
 * Judges a claim by itself. A citation counts if its quote occurs in the source that it names; others are ignored. A
 * claim is supported if at least one of its citations counts, the quoted text supports its statements, and it contains
 * nothing that must come from its sources and does not. The function is deterministic, so that text that was already
 * streamed stays valid.
 */
export function judgeClaim(claim: Claim, context: ClaimContext): JudgedClaim {
  const { evidence, question, language, instructions, revealsInstructions } = context;
  const text = claim.text.trim();
  const cited = claim.citations.slice(0, MAX_CITATIONS).flatMap(({ passage, quote }) => {
    const found = evidence.find(passage);
    const stands = found === null || quote.length > MAX_QUOTE_CHARS ? null : findQuote(quote, found.text);
    return found === null || stands === null ? [] : [{ found, quote: stands }];
  });
  const texts = cited.map(({ found }) => `${found.title}\n${addressOf(found)}\n${found.text}`);
  const sayable = texts.join("\n");
  const foreign = findForeignParts(text, { texts: [...texts, instructions], question });
  const judged = {
    text,
    // The result of a tool is not a document.
    sources: cited.flatMap(({ found, quote }) => (found.passage === null ? [] : [sourceOf(found.passage, quote)])),
    titles: cited.map(({ found }) => found.title),
    evidence: cited.map(({ found, quote }) => `${found.title}\n${quotedSentences({ ...found, quote })}`).join("\n\n"),
    isByResults: cited.length > 0 && cited.every(({ found }) => found.passage === null),
    isCompared: true,
  };
  const unsupported = (why: string, isSuspect = false): JudgedClaim => ({
    ...judged,
    kind: "unsupported",
    why,
    isSuspect,
  });

  if (revealsInstructions(text, sayable)) return unsupported("it repeats the instructions of the model", true);
  if (containsInstructions(text)) return unsupported("it contains instructions to a model", true);
  const planted = foreign.find(({ kind }) => kind !== "number");
  if (planted !== undefined) return unsupported(`the ${planted.kind} ${planted.text} is not in its citations`, true);
  if (isSaying(text, instructions) || (foreign.length === 0 && isCourtesy(text))) {
    return { ...judged, kind: "courtesy", why: "", isSuspect: false };
  }
  if (claim.citations.length === 0) return unsupported("it has no citation");
  if (cited.length === 0) return unsupported("its quotes are not in the cited passages");
  // The result of a tool is data without sentences.
  const quoted = cited.flatMap(({ found, quote }) => (found.passage === null ? [] : [{ ...found, quote }]));
  if (quoted.length > 0) {
    const { verdict, why } = compareClaim(text, quoted, { known: `${question}\n${instructions}`, language });
    if (verdict === "different") return unsupported(why);
    return { ...judged, kind: verdict === "same" ? "supported" : "unsure", why, isSuspect: false };
  }
  const number = foreign[0];
  if (number !== undefined) return unsupported(`the number ${number.text} is not in its citations`);
  const isSame = isAbout(text, sayable, language);
  if (isSame === false) return unsupported("the cited passage is about something else");
  const isCompared = isSame !== null || isLiteral(text, sayable);
  return { ...judged, kind: "supported", why: "", isSuspect: false, isCompared };
}

/** Returns whether a text is a verbatim quote, which counts as compared, however short it is. */
function isLiteral(text: string, sayable: string): boolean {
  return findQuote(text, sayable) !== null;
}

function addressOf({ passage }: CitableText): string {
  return passage?.url ?? "";
}

/** Returns whether the agent's instructions want a sentence said verbatim. */
function isSaying(text: string, instructions: string): boolean {
  return verbatimSentencesOf(instructions).some((saying) => saying.trim() === text);
}

/**
 * Returns whether a claim and the cited texts have the same topic, by the words they share; null if that cannot be
 * decided because their languages differ or the claim is too short. `language` is that of the question.
 */
export function isAbout(claim: string, cited: string, language: string): boolean | null {
  const own = detectLanguage(claim, language).language;
  const theirs = detectLanguage(cited.slice(0, MAX_DETECTED_CHARS), own).language;
  if (own !== theirs) return null;
  const empty = stopWords(own);
  const words = [...new Set(tokenize(claim).map(({ term }) => term))].filter(
    (term) => !empty.has(term) && /\p{L}/u.test(term),
  );
  if (words.length < MIN_WORDS) return null;
  const holds = containsPart(cited);
  return words.filter(holds).length >= MIN_SHARE * words.length;
}

/** Returns whether a text consists only of courtesies: it states nothing, so it needs no support. */
export function isCourtesy(text: string): boolean {
  if (text.length > MAX_CHARS) return false;
  const sentences = splitSentences(text);
  return sentences.length > 0 && sentences.every((sentence) => isPolite(sentence.text));
}

function isPolite(sentence: string): boolean {
  const words = wordsOf(sentence);
  return words === "" || courtesies().has(words) || isSmallTalk(sentence);
}
