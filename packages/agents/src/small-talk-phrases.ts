/** What a message can be about when it asks nothing. */
export type SmallTalkTopic = "greeting" | "thanks" | "goodbye";

/** How people greet, thank and part in a language. Phrases and fillers are separated by commas. */
export interface SmallTalkLanguage {
  phrases: Record<SmallTalkTopic, string>;
  /** What may stand beside a phrase and changes nothing. */
  fillers: string;
  replies: Record<SmallTalkTopic, string>;
}

/** What is written in chats of any language: it does not tell the language. */
export const SHARED_PHRASES: Record<SmallTalkTopic, string> = {
  greeting: "hi, hello, hey",
  thanks: "thanks, thx",
  goodbye: "bye, bye bye",
};

export const SHARED_FILLERS = "ok, okay, oki, super, perfect, bot, chatbot";

/** For the languages that PostgreSQL has a stemmer for, as ISO 639-1; of two that share a phrase, the first counts. */
export const SMALL_TALK: Readonly<Record<string, SmallTalkLanguage>> = {
  en: {
    phrases: {
      greeting: `
        hello, hi, hey, hiya, howdy, greetings, good morning, good afternoon, good evening, good day, morning, how
        are you, how are you doing, how are things, how do you do, how's it going, what's up, sup, nice to meet you`,
      thanks: `
        thanks, thank you, thank u, thx, ty, tnx, cheers, many thanks, much appreciated, appreciate it, i appreciate it,
        that helped, that helps, that was helpful, very helpful, you're great, you are great`,
      goodbye: `
        bye, bye bye, goodbye, good bye, good night, see you, see you later, see you soon, see ya, cya, farewell,
        take care, have a nice day, have a good day, have a great day, have a nice weekend, have a good one, that's all,
        that is all`,
    },
    fillers: `
        there, all, everyone, everybody, team, folks, guys, again, a, lot, so, very, much, for, your, you, the, help, ok,
        okay, great, perfect, awesome, cool, no, yes, today, now, and, ever, to, dear, sir, madam, then, oh, well, mate,
        quick, reply, answer, support, kind, bunch, million`,
    replies: {
      greeting: "Hello! How can I help you?",
      thanks: "You're welcome! Is there anything else I can help you with?",
      goodbye: "Goodbye, and thank you for your message!",
    },
  },
  it: {
    phrases: {
      greeting: `
        ciao, salve, buongiorno, buon giorno, buonasera, buona sera, buon pomeriggio, come stai, come sta, come va,
        piacere`,
      thanks: `grazie, grazie mille, molte grazie, tante grazie, grazie tante, la ringrazio, ti ringrazio`,
      goodbye: `
        arrivederci, addio, a presto, a dopo, a domani, buona giornata, buona serata, buonanotte, buona notte, buon fine
        settimana, ci vediamo`,
    },
    fillers: `
        a, tutti, tutte, ancora, per, l, aiuto, il, la, suo, tuo, risposta, ok, va, bene, perfetto, ottimo, no, sì, e,
        di, nuovo, cuore, signore, signora`,
    replies: {
      greeting: "Buongiorno! Come posso aiutarla?",
      thanks: "Prego! Posso aiutarla in altro?",
      goodbye: "Arrivederci e grazie per il suo messaggio!",
    },
  },
  de: {
    phrases: {
      greeting: `
        hallo, hi, hey, hallöchen, moin, moin moin, servus, grüezi, grüß gott, grüß dich, guten morgen, guten tag, guten
        abend, schönen guten tag, guten tag zusammen, mahlzeit, wie geht's, wie geht es ihnen, wie geht es dir`,
      thanks: `
        danke, danke schön, dankeschön, danke sehr, vielen dank, herzlichen dank, besten dank, tausend dank, ich danke
        ihnen, ich danke dir, das hat geholfen, das hilft mir`,
      goodbye: `
        tschüss, tschüß, tschau, ciao, auf wiedersehen, auf wiederhören, bis bald, bis später, bis dann, bis
        morgen, gute nacht, schönen tag, schönes wochenende, schönen abend, schönen feierabend, mach's gut, das war's, das war alles`,
    },
    fillers: `
        zusammen, alle, allerseits, liebes, team, nochmal, nochmals, noch, einen, ein, für, die, ihre, eure,
        deine, hilfe, sehr, ok, okay, super, prima, perfekt, toll, nein, ja, und, ihnen, dir, euch, auch, dann, schnelle, antwort, auskunft, lieber, liebe, herr, frau, schon, mal, weiter`,
    replies: {
      greeting: "Hallo! Wie kann ich Ihnen helfen?",
      thanks: "Gern geschehen! Kann ich sonst noch etwas für Sie tun?",
      goodbye: "Auf Wiedersehen und vielen Dank für Ihre Nachricht!",
    },
  },
  fr: {
    phrases: {
      greeting: `
        bonjour, bonsoir, salut, coucou, rebonjour, comment allez vous, comment vas tu, comment ça va, ça va, enchanté`,
      thanks: `
        merci, merci beaucoup, merci bien, mille mercis, je vous remercie, je te remercie, un grand merci`,
      goodbye: `
        au revoir, à bientôt, à plus tard, à plus, à demain, bonne journée, bonne soirée, bonne nuit, bonne fin de
        journée, bon week end, adieu`,
    },
    fillers: `
        à, tous, toutes, tout, le, monde, madame, monsieur, pour, votre, ton, aide, encore, infiniment, ok,
        super, parfait, non, oui, et, équipe, l, d, accord, réponse, la, de, vous, toi`,
    replies: {
      greeting: "Bonjour ! Comment puis-je vous aider ?",
      thanks: "Avec plaisir ! Puis-je faire autre chose pour vous ?",
      goodbye: "Au revoir, et merci pour votre message !",
    },
  },
  es: {
    phrases: {
      greeting: `
        hola, buenas, muy buenas, buenos días, buen día, buenas tardes, buenas noches, qué tal, cómo estás, cómo está,
        cómo va, saludos, mucho gusto`,
      thanks: `
        gracias, muchas gracias, mil gracias, muchísimas gracias, te lo agradezco, se lo agradezco`,
      goodbye: `
        adiós, chao, chau, hasta luego, hasta pronto, hasta mañana, hasta la vista, nos vemos, que
        tenga un buen día, que tengas un buen día, buen fin de semana`,
    },
    fillers: `
        a, todos, todas, equipo, por, su, tu, la, el, ayuda, de, nuevo, ok, vale, perfecto, genial, no, sí, y,
        señor, señora, respuesta, todo, eso, es`,
    replies: {
      greeting: "¡Hola! ¿En qué puedo ayudarle?",
      thanks: "¡De nada! ¿Puedo ayudarle en algo más?",
      goodbye: "¡Hasta luego y gracias por su mensaje!",
    },
  },
  pt: {
    phrases: {
      greeting: `
        olá, oi, bom dia, boa tarde, boa noite, tudo bem, tudo bom, como vai, como está, como estás, prazer`,
      thanks: `
        obrigado, obrigada, muito obrigado, muito obrigada, valeu, agradeço, obrigadão, brigado, brigada`,
      goodbye: `
        tchau, xau, adeus, até logo, até mais, até breve, até amanhã, tenha um bom dia, bom fim de semana`,
    },
    fillers: `
        a, todos, todas, pela, sua, ajuda, de, novo, ok, perfeito, ótimo, não, sim, e, pelo, por, senhor, senhora,
        resposta, equipe, equipa, com, você, mais`,
    replies: {
      greeting: "Olá! Como posso ajudar?",
      thanks: "De nada! Posso ajudar em mais alguma coisa?",
      goodbye: "Até logo, e obrigado pela sua mensagem!",
    },
  },
  nl: {
    phrases: {
      greeting: `
        hallo, hoi, hai, dag, goedemorgen, goedemiddag, goedenavond, goedendag, goeiemorgen, hoe gaat het, hoe gaat het
        met je, hoe gaat het met u, hoe is het`,
      thanks: `
        dank je, dank je wel, dank u, dank u wel, dankjewel, dankuwel, bedankt, hartelijk dank, hartelijk bedankt, heel
        erg bedankt, veel dank, dank`,
      goodbye: `
        doei, dag, tot ziens, tot straks, tot later, tot snel, tot morgen, fijne dag, fijne avond, fijn weekend,
        goedenacht, welterusten, de groeten`,
    },
    fillers: `
        allemaal, iedereen, team, nogmaals, voor, je, uw, de, het, hulp, heel, erg, ok, oké, prima, perfect, top, nee, ja,
        en, een, nog, weer, meneer, mevrouw, antwoord, snelle, alvast`,
    replies: {
      greeting: "Hallo! Waarmee kan ik u helpen?",
      thanks: "Graag gedaan! Kan ik u nog ergens anders mee helpen?",
      goodbye: "Tot ziens en bedankt voor uw bericht!",
    },
  },
  sv: {
    phrases: {
      greeting: `
        hej, hejsan, hallå, tjena, tja, god morgon, god dag, goddag, god kväll, god eftermiddag, hur mår du, hur är läget,
        läget`,
      thanks: `tack, tack så mycket, tackar, stort tack, tusen tack, tack ska du ha`,
      goodbye: `hej då, adjö, vi ses, vi hörs, ha det bra, ha en bra dag, trevlig helg, god natt, på återseende`,
    },
    fillers: `
        alla, allihop, igen, för, din, er, hjälpen, hjälp, så, mycket, ok, okej, bra, perfekt, toppen, nej, ja, och, svaret,
        du, ni, på, förhand`,
    replies: {
      greeting: "Hej! Vad kan jag hjälpa till med?",
      thanks: "Varsågod! Kan jag hjälpa till med något mer?",
      goodbye: "Hej då, och tack för ditt meddelande!",
    },
  },
  da: {
    phrases: {
      greeting: `
        hej, hejsa, halløj, goddag, god dag, godmorgen, god morgen, godaften, god aften, god eftermiddag, hvordan går det,
        hvordan har du det`,
      thanks: `tak, mange tak, tusind tak, tak for hjælpen, tak skal du have, tak skal i have`,
      goodbye: `farvel, hej hej, vi ses, på gensyn, ha en god dag, hav en god dag, god weekend, godnat, god nat, hav det godt`,
    },
    fillers: `
        alle, igen, for, din, jeres, hjælpen, hjælp, så, meget, ok, okay, fint, godt, perfekt, nej, ja, og, svaret, du, i, på,
        forhånd`,
    replies: {
      greeting: "Hej! Hvad kan jeg hjælpe med?",
      thanks: "Det var så lidt! Kan jeg hjælpe med andet?",
      goodbye: "Farvel, og tak for din besked!",
    },
  },
  no: {
    phrases: {
      greeting: `
        hei, heisann, hallo, god dag, goddag, god morgen, god kveld, god ettermiddag, hvordan går det, hvordan har du det`,
      thanks: `takk, takk for hjelpen, tusen takk, mange takk, takk skal du ha, hjertelig takk`,
      goodbye: `ha det, ha det bra, hade, farvel, vi ses, vi snakkes, ha en fin dag, god helg, god natt, på gjensyn`,
    },
    fillers: `
        alle, igjen, for, din, deres, hjelpen, hjelp, så, mye, ok, okei, fint, bra, perfekt, nei, ja, og, svaret, du, på,
        forhånd`,
    replies: {
      greeting: "Hei! Hva kan jeg hjelpe deg med?",
      thanks: "Bare hyggelig! Kan jeg hjelpe deg med noe mer?",
      goodbye: "Ha det bra, og takk for meldingen!",
    },
  },
  fi: {
    phrases: {
      greeting: `
        hei, moi, moikka, terve, hyvää päivää, päivää, hyvää huomenta, huomenta, hyvää iltaa, iltaa, mitä kuuluu, miten
        menee`,
      thanks: `kiitos, kiitoksia, kiitti, paljon kiitoksia, kiitos paljon, kiitos avusta, suuri kiitos`,
      goodbye: `näkemiin, hei hei, moi moi, heippa, moikka moikka, nähdään, hyvää päivänjatkoa, hyvää yötä, hyvää viikonloppua`,
    },
    fillers: `
        kaikille, kaikki, taas, paljon, avusta, vastauksesta, ok, hyvä, hienoa, loistavaa, ei, joo, kyllä, ja, teille, sinulle,
        oikein`,
    replies: {
      greeting: "Hei! Kuinka voin auttaa?",
      thanks: "Ole hyvä! Voinko auttaa vielä jossakin muussa?",
      goodbye: "Näkemiin ja kiitos viestistäsi!",
    },
  },
  ru: {
    phrases: {
      greeting: `
        привет, приветствую, здравствуйте, здравствуй, добрый день, доброе утро, добрый вечер, доброго дня, доброго
        времени суток, как дела, как вы, как ты, хай`,
      thanks: `
        спасибо, большое спасибо, спасибо большое, огромное спасибо, благодарю, благодарю вас, спс, спасибо за помощь`,
      goodbye: `
        пока, до свидания, до встречи, всего доброго, всего хорошего, хорошего дня, хорошего вечера, спокойной ночи, до
        завтра, прощайте`,
    },
    fillers: `всем, ещё, раз, за, помощь, ответ, вам, тебе, вас, ок, хорошо, отлично, супер, нет, да, и, очень, вашу, быстрый`,
    replies: {
      greeting: "Здравствуйте! Чем могу помочь?",
      thanks: "Пожалуйста! Могу ли я помочь чем-нибудь ещё?",
      goodbye: "До свидания, и спасибо за сообщение!",
    },
  },
  sr: {
    phrases: {
      greeting: `
        здраво, добар дан, добро јутро, добро вече, ћао, поздрав, како сте, како си, zdravo, dobar dan, dobro jutro, dobro
        veče, dobra večer, ćao, pozdrav, bok, kako ste, kako si`,
      thanks: `
        хвала, хвала вам, хвала ти, хвала лепо, пуно хвала, много хвала, hvala, hvala vam, hvala ti, hvala lepo, hvala
        lijepo, puno hvala, mnogo hvala`,
      goodbye: `
        довиђења, видимо се, пријатан дан, лаку ноћ, збогом, doviđenja, vidimo se, prijatan dan, laku noć, zbogom, adio`,
    },
    fillers: `
        свима, опет, на, помоћи, одговору, за, ок, добро, одлично, супер, не, да, и, још, једном, svima, opet, na, pomoći,
        odgovoru, za, dobro, odlično, ne, da, i, još, jednom`,
    replies: {
      greeting: "Здраво! Како могу да помогнем?",
      thanks: "Нема на чему! Могу ли још нешто да учиним за вас?",
      goodbye: "Довиђења и хвала на поруци!",
    },
  },
  ro: {
    phrases: {
      greeting: `
        bună, bună ziua, buna, bună dimineața, bună seara, salut, salutare, noroc, ce faci, ce faceți, ce mai faci, ce mai
        faceți`,
      thanks: `
        mulțumesc, mulțumesc mult, mulțumim, mulțumesc frumos, multumesc, mersi, vă mulțumesc, îți mulțumesc, merci`,
      goodbye: `la revedere, pa, pe curând, ne vedem, o zi bună, o seară bună, noapte bună, weekend plăcut, o zi frumoasă`,
    },
    fillers: `
        tuturor, din, nou, pentru, ajutor, ajutorul, răspuns, ok, bine, perfect, super, nu, da, și, mult, acordat, încă, o,
        dată`,
    replies: {
      greeting: "Bună ziua! Cu ce vă pot ajuta?",
      thanks: "Cu plăcere! Vă mai pot ajuta cu ceva?",
      goodbye: "La revedere și vă mulțumesc pentru mesaj!",
    },
  },
  ca: {
    phrases: {
      greeting: `hola, bon dia, bona tarda, bones, bones tardes, bon vespre, bona nit, com estàs, com està, què tal, com va`,
      thanks: `gràcies, moltes gràcies, mil gràcies, moltíssimes gràcies, merci, t'ho agraeixo, us ho agraeixo`,
      goodbye: `adéu, adéu siau, fins aviat, fins després, fins demà, a reveure, que vagi bé, bon cap de setmana`,
    },
    fillers: `a, tothom, tots, per, la, el, teva, seva, ajuda, l, de, nou, ok, d, acord, perfecte, genial, no, sí, i, resposta`,
    replies: {
      greeting: "Hola! En què us puc ajudar?",
      thanks: "De res! Us puc ajudar en alguna cosa més?",
      goodbye: "Adéu, i gràcies pel vostre missatge!",
    },
  },
  eu: {
    phrases: {
      greeting: `kaixo, egun on, arratsalde on, gabon, aupa, epa, zer moduz, zer moduz zaude`,
      thanks: `eskerrik asko, mila esker, esker asko, eskertzen dut, esker mila`,
      goodbye: `agur, gero arte, laster arte, bihar arte, ikusi arte, ondo izan, asteburu on`,
    },
    fillers: `denoi, guztioi, berriro, zure, laguntzagatik, laguntza, ados, ondo, oso, ez, bai, eta, erantzunagatik`,
    replies: {
      greeting: "Kaixo! Zertan lagun diezazuket?",
      thanks: "Ez horregatik! Beste zerbaitetan lagun diezazuket?",
      goodbye: "Agur, eta eskerrik asko zure mezuagatik!",
    },
  },
  ga: {
    phrases: {
      greeting: `
        dia duit, dia dhuit, dia daoibh, dia is muire duit, maidin mhaith, tráthnóna maith, conas atá tú, conas tá tú, cad é
        mar atá tú, haigh`,
      thanks: `go raibh maith agat, go raibh maith agaibh, go raibh míle maith agat, grma, míle buíochas`,
      goodbye: `slán, slán leat, slán go fóill, slán agat, oíche mhaith, lá maith`,
    },
    fillers: `as, do, chabhair, arís, gach, duine, ceart, go, leor, níl, agus, chuidiú, freagra`,
    replies: {
      greeting: "Dia duit! Conas is féidir liom cabhrú leat?",
      thanks: "Tá fáilte romhat! An féidir liom cabhrú leat le haon rud eile?",
      goodbye: "Slán, agus go raibh maith agat as do theachtaireacht!",
    },
  },
  hu: {
    phrases: {
      greeting: `
        szia, sziasztok, helló, üdv, üdvözlöm, jó napot, jó napot kívánok, jó reggelt, jó estét, hogy vagy, hogy van, csókolom`,
      thanks: `köszönöm, köszi, kösz, köszönöm szépen, nagyon köszönöm, köszönjük, hálásan köszönöm, köszönöm a segítséget`,
      goodbye: `viszlát, viszontlátásra, viszont látásra, szép napot, szép estét, jó éjszakát, további szép napot, jó hétvégét`,
    },
    fillers: `mindenkinek, újra, a, az, segítséget, segítségét, választ, ok, oké, rendben, szuper, nagyon, nem, igen, és, is, szépen`,
    replies: {
      greeting: "Jó napot! Miben segíthetek?",
      thanks: "Szívesen! Segíthetek még valamiben?",
      goodbye: "Viszontlátásra, és köszönöm az üzenetét!",
    },
  },
  lt: {
    phrases: {
      greeting: `labas, sveiki, sveikas, sveika, laba diena, labas rytas, labas vakaras, kaip sekasi, kaip laikotės, kaip gyveni`,
      thanks: `ačiū, labai ačiū, dėkoju, dėkui, didelis ačiū, nuoširdžiai dėkoju`,
      goodbye: `viso gero, iki, iki pasimatymo, sudie, geros dienos, gero vakaro, labanakt, labos nakties, gero savaitgalio`,
    },
    fillers: `visiems, dar, kartą, už, pagalbą, atsakymą, jums, tau, gerai, puiku, ne, taip, ir, labai, vėl`,
    replies: {
      greeting: "Sveiki! Kuo galiu padėti?",
      thanks: "Prašom! Ar galiu dar kuo nors padėti?",
      goodbye: "Viso gero ir ačiū už žinutę!",
    },
  },
  id: {
    phrases: {
      greeting: `
        halo, hai, selamat pagi, selamat siang, selamat sore, selamat malam, pagi, siang, sore, malam, apa kabar, salam,
        assalamualaikum, permisi`,
      thanks: `terima kasih, terima kasih banyak, makasih, trims, terimakasih, makasih banyak, banyak terima kasih`,
      goodbye: `sampai jumpa, selamat tinggal, dah, dadah, sampai nanti, sampai besok, selamat malam semua, semoga harimu menyenangkan`,
    },
    fillers: `semua, semuanya, kak, pak, bu, min, admin, lagi, atas, bantuannya, bantuan, ya, baik, oke, sip, tidak, dan, banyak, jawabannya`,
    replies: {
      greeting: "Halo! Apa yang bisa saya bantu?",
      thanks: "Sama-sama! Ada lagi yang bisa saya bantu?",
      goodbye: "Sampai jumpa, dan terima kasih atas pesan Anda!",
    },
  },
  tr: {
    phrases: {
      greeting: `
        merhaba, merhabalar, selam, selamlar, günaydın, iyi günler, iyi akşamlar, tünaydın, nasılsın, nasılsınız, naber, selamün
        aleyküm`,
      thanks: `teşekkürler, teşekkür ederim, çok teşekkürler, çok teşekkür ederim, sağ ol, sağ olun, sağolun, eyvallah, tşk`,
      goodbye: `hoşça kal, hoşça kalın, hoşçakal, hoşçakalın, güle güle, görüşürüz, görüşmek üzere, iyi geceler, kolay gelsin`,
    },
    fillers: `herkese, tekrar, yardımınız, yardımın, için, çok, tamam, peki, süper, harika, hayır, evet, ve, cevabınız, bey, hanım`,
    replies: {
      greeting: "Merhaba! Size nasıl yardımcı olabilirim?",
      thanks: "Rica ederim! Yardımcı olabileceğim başka bir konu var mı?",
      goodbye: "Hoşça kalın, mesajınız için teşekkürler!",
    },
  },
  el: {
    phrases: {
      greeting: `
        γεια, γεια σας, γεια σου, γειά, γειά σας, γειά σου, χαίρετε, καλημέρα, καλημέρα σας, καλησπέρα, καλησπέρα σας, τι
        κάνεις, τι κάνετε, πώς είστε, πώς είσαι`,
      thanks: `ευχαριστώ, ευχαριστώ πολύ, σας ευχαριστώ, σε ευχαριστώ, ευχαριστούμε, χίλια ευχαριστώ`,
      goodbye: `αντίο, τα λέμε, καληνύχτα, καλό βράδυ, καλή συνέχεια, καλή σας μέρα, καλή μέρα, εις το επανιδείν`,
    },
    fillers: `όλους, σε, και, πάλι, για, τη, την, βοήθεια, βοήθειά, σας, σου, πολύ, εντάξει, τέλεια, όχι, ναι, απάντηση`,
    replies: {
      greeting: "Γεια σας! Πώς μπορώ να βοηθήσω;",
      thanks: "Παρακαλώ! Μπορώ να βοηθήσω σε κάτι άλλο;",
      goodbye: "Αντίο σας, και ευχαριστώ για το μήνυμά σας!",
    },
  },
  hy: {
    phrases: {
      greeting: `բարև, բարեւ, բարև ձեզ, բարեւ ձեզ, ողջույն, բարի լույս, բարի օր, բարի երեկո, ինչպես եք, ինչպես ես, ոնց ես`,
      thanks: `շնորհակալություն, շնորհակալ եմ, շատ շնորհակալ եմ, շատ շնորհակալություն, մերսի`,
      goodbye: `ցտեսություն, հաջողություն, կտեսնվենք, բարի գիշեր, առայժմ`,
    },
    fillers: `բոլորին, նորից, օգնության, համար, շատ, լավ, ոչ, այո, և, եւ, ու, պատասխանի`,
    replies: {
      greeting: "Բարև ձեզ։ Ինչո՞վ կարող եմ օգնել։",
      thanks: "Խնդրեմ։ Կարո՞ղ եմ որևէ այլ բանով օգնել։",
      goodbye: "Ցտեսություն, և շնորհակալություն հաղորդագրության համար։",
    },
  },
  ar: {
    phrases: {
      greeting: `
        مرحبا, مرحباً, أهلا, أهلاً, اهلا, أهلا وسهلا, السلام عليكم, سلام, صباح الخير, مساء الخير, كيف حالك, كيف الحال, هلا,
        السلام عليكم ورحمة الله, السلام عليكم ورحمة الله وبركاته`,
      thanks: `شكرا, شكراً, شكرا جزيلا, شكراً جزيلاً, شكرا لك, شكرا لكم, أشكرك, أشكركم, جزاك الله خيرا, مشكور`,
      goodbye: `مع السلامة, وداعا, إلى اللقاء, الى اللقاء, تصبح على خير, يومك سعيد, في أمان الله`,
    },
    fillers: `لك, لكم, على, المساعدة, مساعدتك, مساعدتكم, جدا, جميعا, مرة, أخرى, حسنا, تمام, ممتاز, لا, نعم, و, كثيرا, بكم, بك, ردك`,
    replies: {
      greeting: "مرحباً! كيف يمكنني مساعدتك؟",
      thanks: "على الرحب والسعة! هل يمكنني مساعدتك في شيء آخر؟",
      goodbye: "إلى اللقاء، وشكراً على رسالتك!",
    },
  },
  hi: {
    phrases: {
      greeting: `
        नमस्ते, नमस्कार, हैलो, हेलो, हाय, शुभ प्रभात, सुप्रभात, शुभ संध्या, आप कैसे हैं, कैसे हैं आप, कैसे हो, क्या हाल है, प्रणाम, namaste`,
      thanks: `धन्यवाद, बहुत धन्यवाद, बहुत बहुत धन्यवाद, शुक्रिया, बहुत शुक्रिया, आपका धन्यवाद, थैंक्स, थैंक यू, dhanyavad, shukriya`,
      goodbye: `अलविदा, फिर मिलेंगे, शुभ रात्रि, बाय, आपका दिन शुभ हो, alvida`,
    },
    fillers: `सबको, जी, आपकी, मदद, सहायता, के, लिए, का, बहुत, ठीक, है, अच्छा, नहीं, हाँ, और, आपको, उत्तर`,
    replies: {
      greeting: "नमस्ते! मैं आपकी क्या सहायता कर सकता हूँ?",
      thanks: "आपका स्वागत है! क्या मैं और कोई सहायता कर सकता हूँ?",
      goodbye: "अलविदा, और आपके संदेश के लिए धन्यवाद!",
    },
  },
  ne: {
    phrases: {
      greeting: `नमस्ते, नमस्कार, हेलो, शुभ प्रभात, शुभ बिहानी, शुभ सन्ध्या, तपाईंलाई कस्तो छ, कस्तो छ, के छ खबर, सन्चै हुनुहुन्छ`,
      thanks: `धन्यवाद, धेरै धन्यवाद, धेरै धेरै धन्यवाद, तपाईंलाई धन्यवाद`,
      goodbye: `फेरि भेटौंला, फेरि भेटौँला, बिदा, शुभ रात्री, शुभ रात्रि, तपाईंको दिन शुभ होस्`,
    },
    fillers: `सबैलाई, तपाईंको, सहयोगको, सहयोग, लागि, को, धेरै, ठिक, छ, राम्रो, होइन, हो, र, तपाईंलाई`,
    replies: {
      greeting: "नमस्ते! म तपाईंलाई के सहयोग गर्न सक्छु?",
      thanks: "तपाईंलाई स्वागत छ! म अरू केही सहयोग गर्न सक्छु?",
      goodbye: "फेरि भेटौँला, तपाईंको सन्देशका लागि धन्यवाद!",
    },
  },
  ta: {
    phrases: {
      greeting: `வணக்கம், ஹலோ, ஹாய், காலை வணக்கம், மாலை வணக்கம், மதிய வணக்கம், எப்படி இருக்கிறீர்கள், எப்படி இருக்கீங்க, நலமா`,
      thanks: `நன்றி, மிக்க நன்றி, மிகவும் நன்றி, நன்றிகள், ரொம்ப நன்றி`,
      goodbye: `பிரியாவிடை, போய் வருகிறேன், மீண்டும் சந்திப்போம், இரவு வணக்கம், இனிய இரவு`,
    },
    fillers: `அனைவருக்கும், உங்கள், உதவிக்கு, உதவி, சரி, மிகவும், இல்லை, ஆம், மற்றும், பதிலுக்கு, உங்களுக்கு`,
    replies: {
      greeting: "வணக்கம்! நான் எப்படி உதவலாம்?",
      thanks: "நல்வரவு! வேறு ஏதாவது உதவி வேண்டுமா?",
      goodbye: "மீண்டும் சந்திப்போம், உங்கள் செய்திக்கு நன்றி!",
    },
  },
  yi: {
    phrases: {
      greeting: `
        שלום, שלום עליכם, שלום־עליכם, העלא, העלאָ, גוט מארגן, גוט מאָרגן, א גוטן טאג, אַ גוטן טאָג, גוטן אוונט, גוטן אָוונט, ווי גייט
        עס, וואָס מאַכסטו, וואָס מאַכט איר`,
      thanks: `דאנק, אַ דאַנק, א דאנק, אַ שיינעם דאַנק, א שיינעם דאנק, יישר כח, יישר־כוח, אַ גרויסן דאַנק`,
      goodbye: `זייט געזונט, זיי געזונט, אַ גוטע נאַכט, א גוטע נאכט, אַ גוטן, ביז שפּעטער, א גוטן`,
    },
    fillers: `אלע, אַלע, פֿאַר, פאר, דער, הילף, אייער, דיין, זייער, גוט, ניין, יא, יאָ, און, נאָך, אמאָל`,
    replies: {
      greeting: "שלום־עליכם! ווי קען איך אײַך העלפֿן?",
      thanks: "נישטאָ פֿאַר וואָס! קען איך אײַך נאָך מיט עפּעס העלפֿן?",
      goodbye: "זײַט געזונט, און אַ דאַנק פֿאַר אײַער מעלדונג!",
    },
  },
};
