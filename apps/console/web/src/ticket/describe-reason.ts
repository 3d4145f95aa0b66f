import { textOf } from "../i18n/texts.ts";
import type { Texts, TextKey } from "../i18n/texts.ts";

/**
 * Reasons of the pipeline of this and earlier versions, with their translated texts. Groups are values of the text:
 * `share` and `asked` are percentages, `who` is an actor, `choice` a choice of triage, `words` and `titles` are quoted,
 * and `rest` is another reason.
 */
const REASONS: readonly (readonly [RegExp, TextKey])[] = [
  [/^this (?:conversation|issue) is marked as spam$/iu, "reason.spam"],
  [/^(?<who>[^;]+) (?:is assigned to|has) this conversation$/iu, "reason.owned"],
  [/^a person is reviewing this conversation$/iu, "reason.inReview"],
  [
    /^another message (?:in this conversation is waiting|of this conversation waits) for a person$/iu,
    "reason.stillWaits",
  ],
  [/^(?:submitted issues are always reviewed|every submitted issue waits for a person)$/iu, "reason.issue"],
  [/^the (?:visitor|customer) asks for a person$/iu, "reason.asksPerson"],
  [/^the message has no text, only files$/iu, "reason.onlyFiles"],
  [/^no agent (?:matches|fits)$/iu, "reason.noAgent"],
  [/^no answer was found$/iu, "reason.noAnswer"],
  [
    /^(?:sent automatically|the agent answers by itself) \((?:confidence )?(?<share>\d+) ?%(?: sure)?\)$/iu,
    "reason.byItself",
  ],
  [/^the agent's answers are always reviewed$/iu, "reason.always"],
  [/^(?:confidence )?(?<share>\d+) ?%(?: sure)?$/iu, "reason.sure"],
  [/^confidence (?<share>\d+) ?% \(threshold (?<asked>\d+) ?%\)$/iu, "reason.unsure"],
  [/^only (?<share>\d+) % sure, (?<asked>\d+) % are asked for$/iu, "reason.unsure"],
  [/^the answer promises (?:a follow-up by a person|that a person will look)$/iu, "reason.promises"],
  [/^a person was promised or asked for$/iu, "reason.promised"],
  [/^no agent is enabled$/iu, "reason.noneEnabled"],
  [/^(?<agent>.+) is the only enabled agent$/iu, "reason.only"],
  [/^(?<agent>.+) (?:already handles|has) this ticket$/iu, "reason.has"],
  [/^the message (?:matches no agent|is like nothing that any agent is for)$/iu, "reason.likeNothing"],
  [
    /^(?:the message clearly matches no agent of any project|no agent of any project clearly fits the message)$/iu,
    "reason.likeNothing",
  ],
  [
    /^(?<choice>.+)(?:: it already handles the conversation, and| has the conversation and) the message does not point (?:to another agent|elsewhere)$/iu,
    "reason.keeps",
  ],
  [/^(?<choice>.+): its knowledge bases (?:cover the message|have what the message is about)$/iu, "reason.support"],
  [/^(?<choice>.+): (?:its description|what it says of itself) is closest to the message$/iu, "reason.purpose"],
  [/^(?<choice>.+): (?:the closest example is|the message is most like) "(?<sample>.+)"$/iu, "reason.like"],
  [/^no agent stood out$/iu, "reason.noneStandsOut"],
  [/^the agent has a fixed reply$/iu, "reason.fixed"],
  [/^the message (?:is only|is nothing but|asks for help but) .+$/iu, "reason.smallTalk"],
  [/^the message says that the question is solved$/iu, "reason.solved"],
  [/^the customer (?:is upset and asks no question|complains, or is upset, and asks nothing)$/iu, "reason.complaint"],
  [/^the customer asks about the assistant$/iu, "reason.aboutAgent"],
  [/^the customer asks what the assistant can do$/iu, "reason.aboutAgent"],
  [/^the customer (?:gives information and asks no question|tells something, and asks nothing)$/iu, "reason.statement"],
  [/^the model (?:asks for a person|says that a person is needed)$/iu, "reason.modelAsksPerson"],
  [/^the agent failed; (?:see the (?:server )?log|the log says how)$/iu, "reason.failed"],
  [/^(?:the agent was already chosen|it was decided before who works on it)$/iu, "reason.chosenBefore"],
  [/^the agent (?<agent>.+) has no knowledge base to answer from$/iu, "reason.noKb"],
  [
    /^(?:the relevant passages were already used in this conversation|what the knowledge bases say about it was answered before)$/iu,
    "reason.before",
  ],
  [
    /^(?:no passage|nothing in the knowledge bases) matches (?<words>"[^"]*"(?:(?:, | and )"[^"]*")*(?: and \d+ more(?: words)?)?)$/iu,
    "reason.noMatch",
  ],
  [/^(?:no passage|nothing in the knowledge bases) matches the message, .+$/iu, "reason.noWords"],
  [
    /^(?:quotes|no passage covers the question; the closest is|the best passage, in) "(?<title>[^"]+)",? [^";]+ The passage does not mention (?<words>"[^"]+"(?:, "[^"]+")*)$/iu,
    "reason.lacks",
  ],
  [
    /^(?:quotes|no passage covers the question; the closest is|the best passage, in) "[^"]+",? [^";]+ The documents (?:and the question are in different languages|are in another language than the question)$/iu,
    "reason.language",
  ],
  [/^no passage covers the question; the closest is "(?<title>.+)" \((?<share>\d+)%\)$/iu, "reason.tooLittle"],
  [/^the best passage, in "(?<title>.+)", has too little of the question \((?<share>\d+) %\)$/iu, "reason.tooLittle"],
  [
    /^quotes "(?<title>.+)", (?:confidence )?(?<share>\d+) ?%(?: sure)?(?:\. The message (?:goes|follows) (?:on|up) .+ an earlier one)?$/iu,
    "reason.quotes",
  ],
  [/^approved$/iu, "reason.approved"],
  [/^edited$/iu, "reason.edited"],
  [/^rejected$/iu, "reason.rejected"],
  [/^(?:new draft requested|a new draft is asked for)$/iu, "reason.redraft"],
  [/^(?:returned|given back) to the agent$/iu, "reason.returned"],
  [/^rerouted to no agent$/iu, "reason.reroutedNone"],
  [/^rerouted to (?<agent>.+)$/iu, "reason.rerouted"],
  [/^sent again$/iu, "reason.again"],
  [/^answered by (?:an operator|a person)$/iu, "reason.byPerson"],
  [/^the reply is committed$/iu, "reason.committed"],
  [/^reopened$/iu, "reason.reopened"],
  [/^(?<tool>.+) is waiting for an operator's approval$/iu, "reason.toolWaiting"],
  [/^(?<tool>.+) is approved but has not been called yet\. Use regenerate$/iu, "reason.toolApproved"],
  [/^it is unknown whether (?<tool>.+) was called$/iu, "reason.toolUnknown"],
  [/^(?<tool>.+) was called, and the answer does not mention it$/iu, "reason.toolUntold"],
];

/** Reasons that name a language model, before or after another reason. */
const MODEL_REASONS: readonly (readonly [RegExp, TextKey])[] = [
  [
    /^(?<model>\S+) gave no usable answer \((?<error>\w+)\), so (?:the )?documents are quoted(?: instead)?(?:\. (?<rest>.+))?$/isu,
    "reason.modelFailed",
  ],
  [
    /^(?<rest>.+\.) (?<model>\S+) was asked and (?:gave|returned) no usable answer \((?<error>\w+)\)$/isu,
    "reason.modelNotChosen",
  ],
  [
    /^(?<model>\S+) chose (?<agent>.+?)(?: because the choice was unclear|, since it was unsure without): (?<rest>.+)$/isu,
    "reason.modelChose",
  ],
  [
    /^(?<model>\S+) (?:asks for a person|says that a person is needed)(?:\. (?<rest>.+))?$/isu,
    "reason.namedModelAsksPerson",
  ],
  [
    /^(?<model>\S+): (?:according to the model,|it says that) the passages do not answer the question(?:\. (?<rest>.+))?$/isu,
    "reason.modelNoAnswer",
  ],
  [
    /^(?<model>\S+): (?:its citations support none of its statements|nothing that it says is supported by what it cites)(?:\. (?<rest>.+))?$/isu,
    "reason.modelUnsupported",
  ],
  [
    /^answered by (?<model>\S+) from (?<titles>".+?"(?: and \d+ more)?): (?<supported>\d+) of (?<stated>\d+) statements (?:are )?supported, (?:confidence )?(?<share>\d+) ?%(?: sure)?(?:\. (?<rest>.+))?$/isu,
    "reason.modelAnswered",
  ],
  [/^not supported: (?<claims>".+?" \([^()]*\)(?:; ".+?" \([^()]*\))*(?: and \d+ more)?)$/isu, "reason.unsupported"],
  [
    /^left out(?: because of instructions for a model|, since it gives orders to a model): (?<titles>".+)$/isu,
    "reason.leftOut",
  ],
];

/**
 * A choice of triage, and the next best agent, in the formats of this and earlier versions. Names may contain any
 * characters.
 */
const CHOICES: readonly RegExp[] = [
  /^(?<first>.+) \((?<share>\d+)%\), ahead of (?<second>.+) \((?<other>\d+)%\)$/u,
  /^(?<first>.+) \((?<share>\d+) %; next (?<second>.+) (?<other>\d+) %\)$/u,
  /^(?<first>.+) \((?<share>\d+) ?%\)$/u,
];
const NO_AGENT = "none of the agents";

/** A longer reason was written by a person. */
const REASON_MAX_CHARS = 2_000;

/** Functions for describing a reason. */
export interface ReasonWords {
  t: Texts["t"];
  percent: Texts["percent"];
  /** Returns the name of an actor such as `operator:…`. */
  nameOf: (actor: string) => string;
}

function describeChoice(choice: string, { t, percent }: ReasonWords): string {
  const nameOf = (agent: string) => (agent === NO_AGENT ? t("reroute.noAgent") : agent);
  for (const pattern of CHOICES) {
    const { first, share, second, other } = pattern.exec(choice)?.groups ?? {};
    if (first === undefined) continue;
    const chosen = { agent: nameOf(first), share: percent(Number(share) / 100) };
    if (second === undefined) return t("reason.choice", chosen);
    return t("reason.choiceAhead", { ...chosen, other: nameOf(second), otherShare: percent(Number(other) / 100) });
  }
  return choice;
}

/** Quotes the items with the language's quotation marks; the end of a truncated list is the number of further items. */
const describeList = (list: string, t: Texts["t"]) =>
  list
    .replaceAll(/"([^"]*)"/g, (_, word: string) => t("reason.word", { word }))
    .replace(/ and (\d+) more(?: words)?$/u, (_, n: string) => t("reason.andMore", { n: Number(n) }));

/** Reasons why a statement is unsupported, which follow the statement. */
const CLAIM_REASONS: readonly (readonly [RegExp, TextKey])[] = [
  [
    /^(?:the (?:email address|phone number|link|image|HTML|number|name|code) )?"?(?<word>[^"]+)"? is not in (?:its citations|the quoted sentence)(?:, "[^"]*" is)?$/iu,
    "reason.claimLacks",
  ],
  [/^it has no citation$/iu, "reason.claim.noCitation"],
  [/^its quotes are not in the cited passages$/iu, "reason.claim.noQuote"],
  [/^it quotes no sentence$/iu, "reason.claim.noSentence"],
  [/^it repeats the instructions of the model$/iu, "reason.claim.rules"],
  [/^it contains instructions to a model$/iu, "reason.claim.orders"],
  [/^the cited passage is about something else$/iu, "reason.claim.otherTopic"],
  [/^(?<word>.+) has another unit there$/iu, "reason.claim.otherUnit"],
  [/^(?:the number |")(?<word>[^"]+)"? is in another part of the sentence$/iu, "reason.claim.otherPart"],
  [/^it is in another language than its source$/iu, "reason.claim.otherLanguage"],
  [/^it says too much at once to be compared$/iu, "reason.claim.tooMuch"],
  [/^(?:it has no words to compare|words of its language cannot be compared)$/iu, "reason.claim.noWords"],
  [/^it asks for a secret$/iu, "reason.claim.secret"],
  [/^it asks for something that the quoted sentence does not ask for$/iu, "reason.claim.asks"],
  [/^the quoted sentence distinguishes between cases$/iu, "reason.claim.cases"],
  [/^it lacks (?:the number |")(?<word>[^"]+)"? of the quoted sentence$/iu, "reason.claim.dropped"],
  [
    /^it (?:has a negation that the quoted sentence does not have|lacks a negation of the quoted sentence)$/iu,
    "reason.claim.negated",
  ],
  [
    /^(?:(?:its condition is the opposite of that|it lacks a condition) of the quoted sentence|it has the condition .+)$/iu,
    "reason.claim.condition",
  ],
  [
    /^it (?:restricts what the quoted sentence does not restrict|has a restriction that the quoted sentence does not have|lacks a restriction of the quoted sentence)$/iu,
    "reason.claim.restriction",
  ],
  [/^the quoted sentence makes an exception for it$/iu, "reason.claim.exception"],
  [/^it says that it is free, which the quoted sentence does not$/iu, "reason.claim.free"],
  [
    /^(?:its limit is the opposite of that of the quoted sentence|it has a limit that the quoted sentence does not have|it lacks a limit of the quoted sentence)$/iu,
    "reason.claim.limit",
  ],
  [
    /^(?:it makes a general claim (?:about something else|without exceptions, which the quoted sentence does not)|it includes what the quoted sentence does not include)$/iu,
    "reason.claim.general",
  ],
  [
    /^(?:the customer does that, not the company|the company does that|it says who acts, which the quoted sentence does not)$/iu,
    "reason.claim.actor",
  ],
];

function describeClaim(why: string, t: Texts["t"]): string {
  for (const [pattern, key] of CLAIM_REASONS) {
    const found = pattern.exec(why);
    if (found !== null) return t(key, { word: found.groups?.["word"] ?? "" });
  }
  return why;
}

const describeClaims = (claims: string, t: Texts["t"]) =>
  describeList(
    claims.replaceAll(" ()", "").replaceAll(/(?<=" )\(([^()]*)\)/gu, (_, why: string) => `(${describeClaim(why, t)})`),
    t,
  );

/** Describes a reason, or sentences of which each may be one. */
function describeSentences(text: string, words: ReasonWords): string {
  const whole = describeOne(text, words);
  if (whole !== text) return whole;
  return text
    .split(/(?<=\.) (?=\p{Lu})(?!Use regenerate)/u)
    .map((sentence) => describeOne(sentence, words))
    .join(" ");
}

function describeOne(reason: string, words: ReasonWords): string {
  const { t, percent, nameOf } = words;
  const bare = reason.trim().replace(/\.$/, "");
  for (const [pattern, key] of [...MODEL_REASONS, ...REASONS]) {
    const found = pattern.exec(bare);
    if (found === null) continue;
    const { choice = "", who = "", share, asked, error = "", rest = "", ...names } = found.groups ?? {};
    return t(key, {
      ...names,
      share: percent(Number(share) / 100),
      asked: percent(Number(asked) / 100),
      words: describeList(names["words"] ?? "", t),
      titles: describeList(names["titles"] ?? "", t),
      error: textOf(t, "reason.error", error),
      who: nameOf(who),
      choice: describeChoice(choice, words),
      claims: describeClaims(names["claims"] ?? "", t),
      rest: rest === "" ? "" : describeSentences(rest, words),
    }).trim();
  }
  return reason;
}

/** Returns the confidence to show beside a higher threshold: rounded to percent, it stays below the threshold. */
export const shownBelow = (confidence: number, threshold: number) =>
  Math.min(confidence, Math.round(threshold * 100 - 1) / 100);

/** Comparison of confidence and threshold, before the reason for the confidence. */
const COMPARED = /(?:confidence \d+ ?% \(threshold \d+ ?%\)|only \d+ % sure, \d+ % are asked for)(?:; |\.?$)/giu;
/** A reason that contains only the quoted document and the confidence. */
const ONLY_TITLE = /^quotes ".+", (?:confidence )?\d+ ?%(?: sure)?(?:\. The message [^"]+)?\.?$/iu;

/**
 * Returns why a draft is below its agent's threshold: the pipeline's reasons other than the confidence, otherwise the
 * quoted document.
 */
export function describeWeakDraft(
  { why, title }: { why: string; title: string | undefined },
  words: ReasonWords,
): string {
  const { t } = words;
  const reason = why.replaceAll(COMPARED, "").trim();
  if (reason !== "" && !ONLY_TITLE.test(reason)) return describeReason(reason, words);
  return title === undefined ? t("draft.weakNothing") : t("draft.weakPlace", { title: title });
}

/**
 * Translates the pipeline's reasons into the console's language. Several reasons are separated by semicolons. Other
 * texts, such as an operator's own, are unchanged.
 */
export function describeReason(reason: string, words: ReasonWords): string {
  if (reason.length > REASON_MAX_CHARS) return reason;
  const whole = describeOne(reason, words);
  if (whole !== reason) return whole;
  const end = reason.indexOf("; ");
  if (end === -1) return describeSentences(reason, words);
  const [first, rest] = [reason.slice(0, end), reason.slice(end + 2)];
  const described = [describeOne(first, words), describeReason(rest, words)];
  return described[0] === first || described[1] === rest ? reason : described.join(" ");
}
