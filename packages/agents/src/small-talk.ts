import { tokenize } from "@svc/text";

/** What a message can be about when it asks nothing. */
type Topic = "greeting" | "thanks" | "goodbye";

interface SmallTalkLanguage {
  phrases: Record<Topic, string>;
  /** What may stand beside a phrase and changes nothing. */
  fillers: string;
  replies: Record<Topic, string>;
}

/** Phrases and fillers, separated by commas. */
const LANGUAGES: Readonly<Record<string, SmallTalkLanguage>> = {
  en: {
    phrases: {
      greeting: `
        hello, hi, hey, hiya, howdy, greetings, good morning, good afternoon, good evening, good day, how
        are you, how do you do, how's it going, nice to meet you`,
      thanks: `
        thanks, thank you, thx, ty, cheers, many thanks, much appreciated, i appreciate it, that helped,
        that helps`,
      goodbye: `
        bye, bye bye, goodbye, good bye, good night, see you, see you later, see you soon, see ya, farewell,
        take care, have a nice day, have a good day, have a great day, have a nice weekend`,
    },
    fillers: `
        there, all, everyone, everybody, team, folks, guys, again, a, lot, so, very, much, for, your, you,
        the, help, ok, okay, great, perfect, awesome, cool, no, today, now, and, ever, to, dear, sir, madam,
        then`,
    replies: {
      greeting: "Hello! How can I help you?",
      thanks: "You're welcome! Is there anything else I can help you with?",
      goodbye: "Goodbye, and thank you for your message!",
    },
  },
  de: {
    phrases: {
      greeting: `
        hallo, hi, hey, moin, servus, grüezi, grüß gott, guten morgen, guten tag, guten abend, schönen guten
        tag, wie geht's, wie geht es ihnen, wie geht es dir`,
      thanks: `
        danke, danke schön, dankeschön, danke sehr, vielen dank, herzlichen dank, besten dank, tausend dank`,
      goodbye: `
        tschüss, tschüß, tschau, ciao, auf wiedersehen, auf wiederhören, bis bald, bis später, bis dann, bis
        morgen, gute nacht, schönen tag, schönes wochenende, schönen abend`,
    },
    fillers: `
        zusammen, alle, allerseits, liebes, team, nochmal, nochmals, noch, einen, ein, für, die, ihre, eure,
        deine, hilfe, sehr, ok, okay, super, prima, perfekt, toll, nein, und, ihnen, dir, euch, auch, dann`,
    replies: {
      greeting: "Hallo! Wie kann ich Ihnen helfen?",
      thanks: "Gern geschehen! Kann ich sonst noch etwas für Sie tun?",
      goodbye: "Auf Wiedersehen und vielen Dank für Ihre Nachricht!",
    },
  },
  fr: {
    phrases: {
      greeting: `
        bonjour, bonsoir, salut, coucou, comment allez vous, comment ça va, ça va, enchanté`,
      thanks: `
        merci, merci beaucoup, merci bien, mille mercis, je vous remercie, un grand merci`,
      goodbye: `
        au revoir, à bientôt, à plus tard, à plus, à demain, bonne journée, bonne soirée, bonne nuit, bon
        week end, adieu`,
    },
    fillers: `
        à, tous, toutes, tout, le, monde, madame, monsieur, pour, votre, ton, aide, encore, infiniment, ok,
        super, parfait, non, et, l'équipe, équipe, l, d, accord`,
    replies: {
      greeting: "Bonjour ! Comment puis-je vous aider ?",
      thanks: "Avec plaisir ! Puis-je faire autre chose pour vous ?",
      goodbye: "Au revoir, et merci pour votre message !",
    },
  },
  es: {
    phrases: {
      greeting: `
        hola, buenas, buenos días, buenos dias, buen día, buenas tardes, buenas noches, qué tal, que tal,
        cómo estás, cómo está, como estas, como esta, saludos, mucho gusto`,
      thanks: `
        gracias, muchas gracias, mil gracias, muchísimas gracias, te lo agradezco, se lo agradezco`,
      goodbye: `
        adiós, adios, chao, chau, hasta luego, hasta pronto, hasta mañana, hasta la vista, nos vemos, que
        tenga un buen día, buen fin de semana`,
    },
    fillers: `
        a, todos, todas, equipo, por, su, tu, la, el, ayuda, de, nuevo, ok, vale, perfecto, genial, no, y,
        señor, señora`,
    replies: {
      greeting: "¡Hola! ¿En qué puedo ayudarle?",
      thanks: "¡De nada! ¿Puedo ayudarle en algo más?",
      goodbye: "¡Hasta luego y gracias por su mensaje!",
    },
  },
};

/** The last of these that a message holds is what it is about: "Hello, and thanks!" thanks. */
const TOPICS: readonly Topic[] = ["greeting", "thanks", "goodbye"];

/** Small talk is short; a longer message says something. */
const MAX_CHARS = 120;
const MAX_PHRASE_WORDS = 5;

const PHRASES = Object.entries(LANGUAGES).flatMap(([language, { phrases }]) =>
  TOPICS.flatMap((topic) =>
    phrasesOf(phrases[topic]).map((phrase): [string, { language: string; topic: Topic }] => [
      phrase,
      { language, topic },
    ]),
  ),
);

/** A phrase that two languages share counts for both; the rest of the message decides. */
const PHRASE_INDEX = new Map(
  PHRASES.map(([key]) => [key, PHRASES.filter(([other]) => other === key).map(([, meaning]) => meaning)]),
);
const FILLERS = new Map(
  Object.entries(LANGUAGES).map(([language, { fillers }]) => [language, new Set(phrasesOf(fillers))]),
);

/**
 * The reply to a message that is nothing but a greeting, thanks or a goodbye (or several), in its language; null for
 * any other message. Knows English, German, French and Spanish.
 */
export function replyToSmallTalk(text: string): { text: string; topic: Topic } | null {
  const trimmed = text.trim();
  if (trimmed.length > MAX_CHARS) return null;
  const terms = termsOf(trimmed);
  for (const [language, { replies }] of Object.entries(LANGUAGES)) {
    const topics = topicsIn(terms, language);
    const topic = topics === null ? undefined : TOPICS.findLast((one) => topics.has(one));
    if (topic !== undefined) return { text: replies[topic], topic };
  }
  return null;
}

/** What a message is about if phrases and fillers of this language are all that it holds, else null. */
function topicsIn(terms: readonly string[], language: string): Set<Topic> | null {
  const topics = new Set<Topic>();
  let place = 0;
  while (place < terms.length) {
    const found = longestPhrase(terms, place, language);
    if (found !== null) {
      topics.add(found.topic);
      place += found.length;
    } else if (FILLERS.get(language)?.has(terms[place] ?? "") === true) {
      place += 1;
    } else {
      return null;
    }
  }
  return topics;
}

function longestPhrase(
  terms: readonly string[],
  place: number,
  language: string,
): { topic: Topic; length: number } | null {
  for (let length = Math.min(MAX_PHRASE_WORDS, terms.length - place); length > 0; length -= 1) {
    const meanings = PHRASE_INDEX.get(terms.slice(place, place + length).join(" "));
    const meaning = meanings?.find((one) => one.language === language);
    if (meaning !== undefined) return { topic: meaning.topic, length };
  }
  return null;
}

function termsOf(text: string): string[] {
  return tokenize(text).map(({ term }) => term);
}

/** The phrases of a list in the form in which a message is compared with them. */
function phrasesOf(list: string): string[] {
  return list.split(",").map((phrase) => termsOf(phrase).join(" "));
}
