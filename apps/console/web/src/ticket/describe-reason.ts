import type { Texts } from "../i18n/create-texts.ts";
import type { TextKey } from "../i18n/text-table.ts";

/**
 * The reasons that the pipeline gives, as it writes them, and the texts that say the same; the names in them are put in
 * the text.
 */
const REASONS: readonly (readonly [RegExp, TextKey])[] = [
  [/^this conversation is marked as spam$/iu, "reason.spam"],
  [/^this conversation is assigned to (?<who>[^;]+)$/iu, "reason.owned"],
  // As earlier versions wrote it.
  [/^(?<who>[^;]+) has this conversation$/iu, "reason.owned"],
  [/^a person is reviewing this conversation$/iu, "reason.inReview"],
  [/^the (?:visitor|customer) asks for a person$/iu, "reason.asksPerson"],
  [/^the message has no text, only files$/iu, "reason.onlyFiles"],
  [/^no agent fits$/iu, "reason.noAgent"],
  [/^no answer was found$/iu, "reason.noAnswer"],
  [
    /^(?:the agent's policy sends every answer \(confidence|the agent answers by itself \() ?(?<share>\d+) %(?: sure)?\)$/iu,
    "reason.byItself",
  ],
  [/^the agent's answers are always reviewed$/iu, "reason.always"],
  [/^(?<share>\d+) % sure$/iu, "reason.sure"],
  [/^confidence (?<share>\d+) % \(threshold (?<asked>\d+) %\)$/iu, "reason.unsure"],
  // As earlier versions wrote it.
  [/^only (?<share>\d+) % sure, (?<asked>\d+) % are asked for$/iu, "reason.unsure"],
  [/^the answer promises that a person will (?:reply|look)$/iu, "reason.promises"],
  [/^a person was promised or asked for$/iu, "reason.promised"],
  [/^no agent is enabled$/iu, "reason.noneEnabled"],
  [/^(?<agent>.+) is the only enabled agent$/iu, "reason.only"],
  [/^(?<agent>.+) (?:already handles|has) this ticket$/iu, "reason.has"],
  [/^the message (?:does not match any agent|is like nothing that any agent is for)$/iu, "reason.likeNothing"],
  [
    /^(?<choice>.+) (?:already handles the conversation, and the message does not suggest another agent|has the conversation and the message does not point elsewhere)$/iu,
    "reason.keeps",
  ],
  [
    /^(?<choice>.+): its knowledge bases (?:cover the topic of the message|have what the message is about)$/iu,
    "reason.support",
  ],
  [/^(?<choice>.+): (?:its description|what it says of itself) is closest to the message$/iu, "reason.purpose"],
  [/^(?<choice>.+): the message is most (?:similar to|like) "(?<sample>.+)"$/iu, "reason.like"],
  [/^the agent has a fixed reply$/iu, "reason.fixed"],
  [/^the message is nothing but .+$/iu, "reason.smallTalk"],
  [/^the message says that the question is solved$/iu, "reason.solved"],
  [/^the customer complains, or is upset, and asks nothing$/iu, "reason.complaint"],
  [/^the customer asks about the assistant$/iu, "reason.aboutAgent"],
  [/^the customer asks what the assistant can do$/iu, "reason.aboutAgent"],
  [/^the customer (?:gives information and asks no question|tells something, and asks nothing)$/iu, "reason.statement"],
  [/^the model says that a person is needed$/iu, "reason.modelAsksPerson"],
  [/^the agent failed; (?:see the log|the log says how)$/iu, "reason.failed"],
  [/^(?:the agent was already chosen|it was decided before who works on it)$/iu, "reason.chosenBefore"],
  [/^the agent (?<agent>.+) has no knowledge base to answer from$/iu, "reason.noKb"],
  [
    /^(?:everything the knowledge bases say about it was already sent|what the knowledge bases say about it was answered before)$/iu,
    "reason.before",
  ],
  [/^nothing in the knowledge bases matches (?<words>.+)$/iu, "reason.noMatch"],
  [
    /^(?:quotes|the best passage, in) "(?<title>.+)", .+ The passage does not mention (?<words>"[^"]+"(?:, "[^"]+")*)$/iu,
    "reason.lacks",
  ],
  [
    /^(?:quotes|the best passage, in) ".+", .+ The documents are in another language than the question$/iu,
    "reason.language",
  ],
  [
    /^the best passage, in "(?<title>.+)", (?:covers|has) too little of the question \((?<share>\d+) %\)$/iu,
    "reason.tooLittle",
  ],
  [
    /^quotes "(?<title>.+)", (?:confidence )?(?<share>\d+) %(?: sure)?(?:\. The message (?:goes|follows) on .+ an earlier one)?$/iu,
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
];
/** A choice of triage that names the next best agent, whose name may be anything. */
const CHOICE_WITH_NEXT = /^(?<first>.+ \(\d+ %; )next (?<second>.+ \d+ %\))$/u;
/** A reason that is longer is somebody's own words. */
const REASON_MAX_CHARS = 500;

function describeChoice(choice: string, t: Texts["t"]): string {
  const { first, second } = CHOICE_WITH_NEXT.exec(choice)?.groups ?? {};
  return first === undefined || second === undefined ? choice : `${first}${t("reason.next")} ${second}`;
}

function describeOne(reason: string, t: Texts["t"], nameOf: (actor: string) => string): string {
  const bare = reason.trim().replace(/\.$/, "");
  for (const [pattern, key] of REASONS) {
    const found = pattern.exec(bare);
    if (found === null) continue;
    const { choice = "", who = "", words = "", ...names } = found.groups ?? {};
    const quoted = words.replaceAll(/"([^"]*)"/g, (_, word: string) => t("reason.word", { word }));
    return t(key, { ...names, words: quoted, who: nameOf(who), choice: describeChoice(choice, t) });
  }
  return reason;
}

/** How confidence and threshold compare, before the reason of the confidence. */
const COMPARED = /(?:confidence \d+ % \(threshold \d+ %\)|only \d+ % sure, \d+ % are asked for)(?:; |\.?$)/giu;
/** A reason that says where the answer stands and how sure it is, and no more. */
const ONLY_PLACE = /^quotes ".+", (?:confidence )?\d+ %(?: sure)?(?:\. The message [^"]+)?\.?$/iu;

/**
 * Returns why a draft is below its agent's threshold, in plain words: what the reasons of the pipeline say besides the
 * confidence, else the place that it quotes.
 */
export function describeWeakDraft(
  { why, place }: { why: string; place: string | undefined },
  t: Texts["t"],
  nameOf: (actor: string) => string,
): string {
  const reason = why.replaceAll(COMPARED, "").trim();
  if (reason !== "" && !ONLY_PLACE.test(reason)) return describeReason(reason, t, nameOf);
  return place === undefined ? t("draft.weakNothing") : t("draft.weakPlace", { title: place });
}

/**
 * What the pipeline says of its reasons, in the console's language. Several of them stand behind each other, divided by
 * semicolons. What is none of its reasons, as an operator's own words, stays as it is. `nameOf` returns the name of an
 * actor such as `operator:…`.
 */
export function describeReason(reason: string, t: Texts["t"], nameOf: (actor: string) => string): string {
  if (reason.length > REASON_MAX_CHARS) return reason;
  const whole = describeOne(reason, t, nameOf);
  if (whole !== reason || !reason.includes("; ")) return whole;
  const parts = reason.split("; ");
  const described = parts.map((part) => describeOne(part, t, nameOf));
  return described.every((part, index) => part !== parts[index]) ? described.join(" ") : reason;
}
