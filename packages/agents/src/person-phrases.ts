/**
 * A way to say something: lists of phrases, one after the other with a few words between them. The phrases of a
 * list are separated by commas; accents, case and punctuation do not count.
 */
export type Wording = readonly string[];

/** How a language speaks of people who help. Scripts that put no spaces between words are matched by characters. */
export interface PersonPhrases {
  /** A reply with one of these promises that a person will look, call or write. */
  promises: readonly Wording[];
  /** What makes a sentence an instruction instead: "if you send us …, a colleague will call". */
  conditions: string;
  /** A message with one of these right before whom it wants, the second list of the first of `asks`, asks for a person. */
  wants: string;
  /** A message with one of these asks for a person; two lists stand in any order. */
  asks: readonly Wording[];
  /** A message that is nothing else, but for courtesies, asks for a person. */
  persons: string;
}

const EN_STAFF = `a colleague, my colleague, our colleague, our colleagues, one of our colleagues, another colleague, a human,
  a real person, a person, someone, somebody, someone from our team, our team, the team, our support team, the support team,
  our support, our staff, our experts, our specialists, an agent, a live agent, one of our agents, a human agent,
  a support agent, a representative, a service representative, a specialist, an expert, a technician, an engineer,
  an operator, a member of our team, a team member, an advisor, an employee, a manager, customer service, our customer service,
  customer support, our technician, our technicians, our engineer, our engineers, our agents, our specialist, our representatives,
  our developers, our operators, our manager, my manager, a teammate, my teammate, they`;

const DE_STAFF = `ein kollege, eine kollegin, mein kollege, meine kollegin, kollegen, unsere kollegen, einer unserer kollegen, jemand,
  jemand aus unserem team, ein mensch, eine person, ein mitarbeiter, eine mitarbeiterin, unsere mitarbeiter,
  einer unserer mitarbeiter, unser team, das team, unser support, unser support team, unser supportteam, unser kundenservice,
  unser kundendienst, der kundenservice, der kundendienst, der support, ein berater, eine beraterin, ein techniker,
  eine technikerin, ein experte, eine expertin, ein spezialist, unsere experten, ein ansprechpartner, wir, ich`;

const DE_HELPS = `melden, kontaktieren, anrufen, zurückrufen, antworten, beantworten, ansehen, anschauen, prüfen, kümmern, schreiben, helfen, nachsehen,
  zurückmelden, übernehmen, untersuchen, in verbindung setzen, auf sie zukommen, bearbeiten, weiterhelfen`;

const FR_STAFF = `un collègue, une collègue, mes collègues, nos collègues, un de nos collègues, quelqu'un, une personne, un humain,
  un conseiller, une conseillère, nos conseillers, un de nos conseillers, un agent, un de nos agents, un technicien,
  un spécialiste, un expert, notre équipe, l'équipe, notre service client, le service client, notre support, le support,
  un membre de notre équipe, un collaborateur, un opérateur`;

const ES_STAFF = `un colega, una colega, un compañero, una compañera, mis compañeros, uno de nuestros compañeros, alguien, una persona,
  un humano, un agente, una agente, uno de nuestros agentes, un asesor, una asesora, un técnico, un especialista, un experto,
  nuestro equipo, el equipo, nuestro soporte, el soporte, el equipo de soporte, atención al cliente, un representante,
  un operador, un miembro de nuestro equipo`;

/** By language (ISO 639-1): of those in which people are greeted as well, the ones that most messages are written in. */
export const PERSON_PHRASES: Readonly<Record<string, PersonPhrases>> = {
  en: {
    promises: [
      [
        EN_STAFF,
        `will, is going to, are going to, shall, 'll`,
        `look, take a look, have a look, review, contact, call you, call, phone you, ring you, reply, respond, answer you,
         answer your, get back, reach out, be in touch, get in touch, email you, write to you, write you, message you,
         follow up, take care, take over, take it from here, check, investigate, assist, help you, be with you, join,
         handle, examine, come back to you, see to it`,
      ],
      [
        `i will, i'll, we will, we'll, i am going to, i'm going to, we are going to, we're going to`,
        `look into, take a look, have a look, contact you, call you, phone you, ring you, get back to you, get back,
         reach out to you, be in touch, get in touch, follow up with you, come back to you, reply to you, investigate,
         respond to you`,
      ],
      [
        `i will, i'll, we will, we'll, i am, i'm, we are, we're, i have, i've, we have, we've, let me`,
        `pass, passing, passed, forward, forwarding, forwarded, hand, handing, handed, escalate, escalating, escalated,
         transfer, transferring, transferred, connect, connecting, connected, put you through, putting you through`,
        `a colleague, my colleague, colleagues, a human, a person, someone, our team, the team, support team, our support, an agent,
         a live agent, human agent, representative, specialist, an expert, technician, engineer, operator, a manager,
         customer service, the right person, the responsible`,
      ],
      [
        `you will, you'll`,
        `be contacted, be called, hear from us, hear back from us, hear from our, hear from a, receive a call, get a call, get a reply from`,
      ],
      [`expect a call, expect to hear from, expect a reply from`],
      [
        `i am escalating, i'm escalating, i will escalate, i'll escalate, i have escalated, i've escalated, we are escalating, we're escalating,
         we will escalate, we'll escalate, we have escalated, we've escalated, i am transferring you, i'm transferring you,
         i will transfer you, i'll transfer you, while i transfer you, i am connecting you, i'm connecting you, i will connect you,
         i'll connect you, while i connect you, we are looking into, we're looking into, i am looking into, i'm looking into,
         i will ask a colleague, i'll ask a colleague, i will ask my colleague, i'll ask my colleague, i will ask our team,
         i'll ask our team, i will check with our, i'll check with our, i will check with the team, i'll check with the team`,
      ],
      [
        `your request, your question, your message, your case, your ticket, your issue, your problem, this, it`,
        `has been, have been, was, will be, is being`,
        `forwarded to, passed to, passed on to, handed to, handed over to, escalated to, transferred to`,
        `a colleague, my colleague, our colleagues, a human, a person, our team, the team, our support, the support team, an agent,
         a specialist, our specialists, an expert, a technician, our technicians, our engineers, our staff, an operator, a manager,
         customer service, customer support, the responsible`,
      ],
    ],
    conditions: `if you, when you, whenever you, once you, after you, as soon as you, should you, in case you, unless you, by calling,
      how to, you can ask, whether`,
    wants: `let me, give me, get me, i want, i need, i would like, i'd like`,
    asks: [
      [
        `speak, talk, chat, connect me, transfer me, put me through, forward me, speak directly, pass me`,
        `a human, human, a real human, a real person, real person, a person, a live person, an actual person, an actual human,
         human being, a live agent, live agent, human agent, an agent please, to an agent, with an agent, to agent, a support agent, a representative,
         representative, customer service representative, someone real, a human operator, an operator, to the operator,
         your supervisor, a supervisor, your manager, a manager, to someone, with someone, to somebody, with somebody,
         a real agent, support staff, a member of staff, someone from your team, someone from support, an employee,
         one of your colleagues, a colleague, customer service, customer support`,
      ],
      [
        `human please, agent please, representative please, operator please, person please, real person please, live agent please`,
      ],
      [
        `call me back, can someone call me, can somebody call me, please call me now, please call me today, please call me tomorrow, please call me at,
        please call me on, please call me as soon as, please call me asap, someone should call me, i want a call, request a callback, need a callback,
        i don't want to talk to a bot, i don't want to talk to a robot, not a bot, stop the bot`,
      ],
      [`is there a human, is there a real person, is anyone there`],
    ],
    persons: `human, a human, agent, an agent, live agent, real agent, human agent, real person, a real person, person, representative,
      operator, supervisor, manager, talk to human, speak to human, live chat, human help, human support, call me, please call me, callback`,
  },
  de: {
    promises: [
      [DE_STAFF, `wird, werden, werde`, DE_HELPS],
      [`wird, werden, werde`, DE_STAFF, DE_HELPS],
      [
        DE_STAFF,
        `meldet sich, melden uns, melde mich, ruft sie, ruft dich, rufen sie, rufen dich, rufe sie, rufe dich, kümmert sich, kümmern uns darum, kümmere mich,
         sieht sich, sehen uns, sehe mir, schaut sich, schauen uns, schaue mir, schreibt ihnen, schreibt dir, antwortet ihnen,
         antwortet dir, kontaktiert sie, kontaktiert dich, kontaktieren sie, kontaktieren dich, setzt sich, setzen uns mit ihnen, kommt auf sie,
         kommen auf sie, hilft ihnen, hilft dir, übernimmt, prüft das, prüft ihr, prüfen das, prüfen ihr`,
      ],
      [
        `ich leite, wir leiten, ich gebe, wir geben, ich verbinde, wir verbinden, ich habe, wir haben, ich übergebe, wir übergeben`,
        `kollegen, kollegin, mitarbeiter, team, mitarbeiterin, mensch, menschen, kundenservice, kundendienst, support, techniker, fachabteilung`,
        `weiter, weitergeleitet, weitergegeben, übergeben, verbunden`,
      ],
      [
        `ich verbinde sie, ich verbinde dich, wir verbinden sie`,
        `kollegen, kollegin, mitarbeiter, mitarbeiterin, menschen`,
      ],
      [
        `sie hören von uns, du hörst von uns, sie werden von uns hören, sie werden kontaktiert, sie werden angerufen, sie werden zurückgerufen`,
      ],
    ],
    conditions: `wenn sie, wenn du, falls sie, falls du, sobald sie, sobald du, nachdem sie, nachdem du, sollten sie, solltest du, ob`,
    wants: `ich will, ich möchte, ich brauche, ich hätte gern, geben sie mir, gib mir`,
    asks: [
      [
        `sprechen, reden, chatten, verbinden, verbinde mich, verbinden sie mich, schreiben, kontakt zu`,
        `einem menschen, einen menschen, menschen sprechen, einem echten menschen, einen echten menschen, echten menschen, einem mitarbeiter, einen mitarbeiter, einer
         mitarbeiterin, eine mitarbeiterin, einer echten person, einer person, echter person, jemandem sprechen, jemandem reden, einem berater, einen berater, einer
         beraterin, einem kollegen, einem ansprechpartner, einen ansprechpartner, einem vorgesetzten, ihrem vorgesetzten, einem agenten, dem kundenservice, dem kundendienst, dem support sprechen, einem supportmitarbeiter,
         einem support mitarbeiter`,
      ],
      [
        `mensch bitte, mitarbeiter bitte, rufen sie mich an, rufen sie mich bitte an, ruf mich an, rufen sie mich zurück, bitte um rückruf, ich bitte um rückruf, rückruf bitte,
        kann mich jemand anrufen, kann mich bitte jemand anrufen, kein bot, nicht mit einem bot, keinen bot, nicht mit einem roboter`,
      ],
    ],
    persons: `mensch, ein mensch, mitarbeiter, ein mitarbeiter, echter mensch, ein echter mensch, echte person, berater, ansprechpartner, kundenberater, rückruf`,
  },
  fr: {
    promises: [
      [
        FR_STAFF,
        `va, vont, pourra`,
        `vous contacter, te contacter, vous appeler, vous rappeler, t'appeler, te rappeler, vous répondre, te répondre, vous écrire, regarder, examiner, vérifier, s'en occuper,
         prendre contact, prendre le relais, revenir vers vous, vous aider, étudier, traiter, prendre en charge`,
      ],
      [
        FR_STAFF,
        `vous contactera, te contactera, vous appellera, vous rappellera, te rappellera, vous répondra, te répondra, vous écrira, regardera, examinera, vérifiera,
         s'en occupera, prendra contact, prendra le relais, reviendra vers vous, vous aidera, traitera, prendra en charge, étudiera, répondra`,
      ],
      [
        `nous vous contacterons, nous vous rappellerons, nous vous appellerons, nous vous répondrons, nous reviendrons vers vous, nous allons vous contacter, nous allons vous rappeler,
        nous allons revenir vers vous, nous allons regarder, nous allons examiner, je vais vous rappeler, je vous rappellerai, je reviens vers vous, je reviendrai vers vous,
        vous serez contacté, vous serez contactée, vous serez rappelé, vous serez rappelée, vous serez recontacté, je vais me renseigner`,
      ],
      [
        `je transmets, je transfère, nous transmettons, nous transférons, je vous mets en relation, je vous mets en contact, j'ai transmis, j'ai transféré, nous avons transmis, nous avons transféré,
         je vais transmettre, je vais transférer, je vais vous mettre`,
        `un collègue, une collègue, collègues, un conseiller, une conseillère, un agent, notre équipe, l'équipe, une personne, un humain, service client, support, un technicien, un spécialiste`,
      ],
    ],
    conditions: `si vous, si tu, lorsque vous, quand vous, quand tu, dès que vous, une fois que vous, après avoir, en cas de`,
    wants: `je veux, je voudrais, j'aimerais, j'ai besoin, besoin`,
    asks: [
      [
        `parler, discuter, échanger, contacter, joindre, mettez moi, passez moi`,
        `un humain, une vraie personne, une personne réelle, à une personne, une personne, un être humain, un conseiller, une conseillère, à un agent, un agent, un opérateur, une opératrice, à quelqu'un, avec
         quelqu'un, un responsable, un technicien, votre service client, le service client, un employé, un vrai humain`,
      ],
      [
        `humain svp, humain s'il vous plaît, conseiller svp, conseiller s'il vous plaît, rappelez moi, appelez moi, pouvez vous me rappeler, pouvez vous m'appeler, pas un robot, pas à un robot`,
      ],
    ],
    persons: `humain, un humain, conseiller, un conseiller, agent, un agent, opérateur, une vraie personne, vraie personne, responsable`,
  },
  es: {
    promises: [
      [
        ES_STAFF,
        `va a, van a, podrá`,
        `contactarle, contactarte, contactar, llamarle, llamarte, llamar, responderle, responderte, responder, escribirle, escribirte, revisar, revisarlo, mirar, ayudarle, ayudarte, atenderle, atenderte,
         comunicarse, ponerse en contacto, ocuparse, investigar, encargarse`,
      ],
      [
        ES_STAFF,
        `le contactará, te contactará, se pondrá en contacto, se pondrán en contacto, se comunicará, se comunicarán, le llamará, te llamará, lo llamará, la llamará, le responderá, te responderá, le escribirá, te escribirá,
         revisará, revisarán, lo revisará, le ayudará, te ayudará, le atenderá, te atenderá, se encargará, se ocupará, contactará, responderá, investigará`,
      ],
      [
        `nos pondremos en contacto, nos comunicaremos con, le llamaremos, te llamaremos, lo llamaremos, le contactaremos, te contactaremos, le responderemos, te responderemos, me pondré en contacto,
        le devolveremos la llamada, será contactado, será contactada, lo revisaremos, vamos a revisarlo, vamos a investigarlo`,
      ],
      [
        `transfiero, transferiré, le paso, te paso, paso su, he pasado, he transferido, hemos pasado, hemos transferido, le comunico, te comunico, le conecto, te conecto, voy a transferir, voy a pasar, derivo, he derivado, hemos derivado`,
        `un colega, un compañero, una compañera, un agente, un asesor, una persona, un humano, nuestro equipo, al equipo, un técnico, un especialista, soporte, atención al cliente`,
      ],
    ],
    conditions: `si usted, si tiene, si tienes, si desea, si quieres, cuando usted, cuando envíe, cuando envíes, una vez que, después de, en caso de, tras enviar`,
    wants: `quiero, necesito, quisiera, me gustaría, prefiero`,
    asks: [
      [
        `hablar, chatear, comunicarme, contactar, conectarme, páseme, pásame, comuníqueme, comunícame`,
        `un humano, con humano, una persona real, una persona, con una persona, un ser humano, un agente, con un agente, un asesor, una asesora, un representante, un operador, una operadora, con alguien, un supervisor,
         un encargado, alguien de soporte, atención al cliente, un empleado, un ejecutivo`,
      ],
      [
        `humano por favor, agente por favor, asesor por favor, persona real por favor, llámenme, llámeme, llámame, me pueden llamar, pueden llamarme, no quiero hablar con un bot, no un robot`,
      ],
    ],
    persons: `humano, un humano, agente, un agente, asesor, un asesor, persona real, una persona real, operador, representante, agente humano`,
  },
  it: {
    promises: [
      [
        `un collega, una collega, i miei colleghi, un nostro collega, qualcuno, una persona, un operatore, un'operatrice, un nostro operatore, un agente, un tecnico, un esperto, uno specialista, il nostro team, il team,
         il nostro supporto, il supporto, il servizio clienti, il nostro servizio clienti, un consulente, un addetto`,
        `la contatterà, ti contatterà, contatterà, la chiamerà, ti chiamerà, la richiamerà, ti richiamerà, le risponderà, ti risponderà, risponderà, le scriverà, ti scriverà, esaminerà, controllerà, verificherà, se ne occuperà, si occuperà,
         si metterà in contatto, la aiuterà, ti aiuterà, la ricontatterà, ti ricontatterà, prenderà in carico`,
      ],
      [
        `la contatteremo, ti contatteremo, la ricontatteremo, ti ricontatteremo, la chiameremo, ti chiameremo, la richiameremo, ti richiameremo, le risponderemo, ti risponderemo, ci metteremo in contatto, sarà contattato, sarà contattata,
        sarà ricontattato, la ricontatterò, ti ricontatterò, le farò sapere, ti farò sapere`,
      ],
      [
        `trasferisco, passo, inoltro, la metto in contatto, ti metto in contatto, ho inoltrato, ho trasferito, ho passato, abbiamo inoltrato, abbiamo trasferito`,
        `collega, colleghi, operatore, operatrice, agente, team, persona, tecnico, servizio clienti, supporto, specialista`,
      ],
    ],
    conditions: `se lei, se hai, se ha, se vuole, se vuoi, quando lei, una volta che, dopo aver, dopo che, in caso di, se invia, se invii`,
    wants: `voglio, vorrei, ho bisogno, mi faccia`,
    asks: [
      [
        `parlare, chattare, contattare, mi passi, passami, mi metta`,
        `un umano, una persona reale, una persona vera, una persona, con una persona, un essere umano, un operatore, un'operatrice, con operatore, un agente, con qualcuno, un responsabile, un addetto, il servizio clienti, un consulente, un tecnico`,
      ],
      [
        `operatore per favore, umano per favore, richiamatemi, mi chiami, mi chiamate, potete chiamarmi, può chiamarmi, non voglio parlare con un bot`,
      ],
    ],
    persons: `umano, un umano, operatore, un operatore, operatore umano, persona reale, una persona reale, una persona, consulente, responsabile`,
  },
  pt: {
    promises: [
      [
        `um colega, uma colega, meus colegas, nossos colegas, alguém, uma pessoa, um humano, um atendente, uma atendente, um agente, um técnico, um especialista, nossa equipe, nossa equipa, a equipe, a equipa, nosso suporte, o suporte,
         o atendimento, um representante, um consultor, um dos nossos`,
        `vai entrar em contato, entrará em contato, entrará em contacto, vai entrar em contacto, irá contactar, irá contatar, vai ligar, ligará, irá ligar, vai responder, responderá, irá responder, vai analisar, analisará, irá analisar, vai verificar, verificará, vai ajudar, ajudará,
         vai cuidar, cuidará, vai contactar, contactará, vai retornar, retornará, dará retorno`,
      ],
      [
        `entraremos em contato, entraremos em contacto, vamos entrar em contato, vamos entrar em contacto, ligaremos para, vamos ligar para, retornaremos, responderemos em breve, daremos retorno, você será contatado, será contactado, será contatado,
        vou entrar em contato, entrarei em contato, vamos analisar o seu, vamos verificar o seu`,
      ],
      [
        `transfiro, transferindo, encaminhei, encaminhamos, encaminho, estou encaminhando, vou encaminhar, vou transferir, transferi, passei, vou passar`,
        `colega, colegas, atendente, agente, equipe, equipa, pessoa, humano, técnico, suporte, especialista, atendimento`,
      ],
    ],
    conditions: `se você, se o senhor, se a senhora, se tiver, se quiser, quando você, depois de, após enviar, caso você, caso tenha, assim que você, assim que enviar`,
    wants: `quero, preciso, gostaria, queria`,
    asks: [
      [
        `falar, conversar, contatar, contactar, me transfira, me passa, me passe`,
        `um humano, uma pessoa, com uma pessoa, uma pessoa real, uma pessoa de verdade, um ser humano, um atendente, uma atendente, com atendente, um agente, com alguém, um operador, um supervisor, um representante, o atendimento, um responsável`,
      ],
      [
        `atendente por favor, humano por favor, me liguem, me ligue, podem me ligar, pode me ligar, não quero falar com robô, não quero falar com um robô`,
      ],
    ],
    persons: `humano, um humano, atendente, um atendente, agente, pessoa real, uma pessoa, operador, atendente humano, falar com atendente`,
  },
  nl: {
    promises: [
      [
        `een collega, mijn collega, onze collega's, mijn collega's, een van onze collega's, iemand, iemand van ons team, een mens, een persoon, een medewerker, een van onze medewerkers, ons team, het team, onze support, onze klantenservice, de klantenservice,
         een specialist, een expert, een technicus, een monteur, we, wij, ik`,
        `zal, zullen, gaat, gaan, ga`,
        `contact opnemen, contact met u, contact met je, bellen, terugbellen, antwoorden, reageren, kijken, bekijken, nakijken, helpen, schrijven, uitzoeken, onderzoeken, oppakken, overnemen`,
      ],
      [
        `een collega, mijn collega, iemand, een medewerker, ons team, onze klantenservice, de klantenservice, een specialist, we, wij, ik`,
        `neemt contact, nemen contact, neem contact, belt u, belt je, bellen u, bellen je, bel u, bel je, kijkt ernaar, kijken ernaar, komt bij u, komen bij u, komt erop terug, komen erop terug, kom erop terug, kom bij u, reageert, helpt u, helpt je`,
      ],
      [
        `ik verbind u, ik verbind je, ik heb dit doorgestuurd, ik stuur dit door, ik stuur uw vraag door, ik stuur je vraag door, u hoort van ons, je hoort van ons, u wordt gebeld, je wordt gebeld, u wordt teruggebeld, er wordt contact met u`,
      ],
    ],
    conditions: `als u, als je, wanneer u, wanneer je, zodra u, zodra je, nadat u, nadat je, indien u, mocht u, of u`,
    wants: `ik wil, ik zou graag`,
    asks: [
      [
        `spreken, praten, chatten, verbind me, verbind mij, doorverbinden, contact met`,
        `een mens, een echt mens, een echt persoon, een echte persoon, een persoon spreken, een medewerker, medewerker spreken, iemand spreken, iemand praten, een collega, een leidinggevende, de klantenservice spreken, een agent, iemand van de klantenservice`,
      ],
      [
        `mens alstublieft, medewerker alstublieft, medewerker graag, bel me, bel mij, bel me terug, kunt u mij bellen, kan iemand mij bellen, kan iemand me bellen, geen bot, geen robot`,
      ],
    ],
    persons: `mens, een mens, medewerker, een medewerker, echt persoon, echte persoon, persoon, klantenservice medewerker`,
  },
  sv: {
    promises: [
      [
        `en kollega, min kollega, mina kollegor, våra kollegor, någon, någon av oss, en människa, en person, en medarbetare, vårt team, teamet, vår support, supporten, vår kundtjänst, kundtjänst, en handläggare, en tekniker, en specialist, vi, jag`,
        `kommer att, ska`,
        `kontakta, ringa, höra av sig, höra av oss, höra av mig, svara, titta på, kolla, återkomma, skriva till, hjälpa dig, undersöka, ta över`,
      ],
      [
        `vi hör av oss, jag hör av mig, någon hör av sig, en kollega hör av sig, vi återkommer, jag återkommer, vi kontaktar dig, vi ringer dig, jag ringer dig, en kollega ringer, en kollega kontaktar, du blir kontaktad, du blir uppringd, vi tittar på det, jag kopplar dig,
        jag skickar vidare, jag vidarebefordrar, jag har vidarebefordrat, vi har vidarebefordrat`,
      ],
    ],
    conditions: `om du, när du, så snart du, efter att du, ifall du`,
    wants: `jag vill, jag behöver`,
    asks: [
      [
        `prata, tala, chatta, koppla mig, få kontakt`,
        `en människa, en riktig människa, en riktig person, en person, en medarbetare, en handläggare, med någon, en kollega, en chef, kundtjänst, en agent`,
      ],
      [`människa tack, ring mig, ring upp mig, kan ni ringa mig, kan någon ringa, ingen bot`],
    ],
    persons: `människa, en människa, riktig människa, riktig person, medarbetare, handläggare, kundtjänst`,
  },
  da: {
    promises: [
      [
        `en kollega, min kollega, mine kolleger, vores kolleger, nogen, en person, et menneske, en medarbejder, vores team, teamet, vores support, supporten, vores kundeservice, kundeservice, en tekniker, en specialist, vi, jeg`,
        `vil, skal`,
        `kontakte, ringe, svare, kigge på, se på, vende tilbage, skrive til, hjælpe dig, undersøge, overtage, tage kontakt`,
      ],
      [
        `vi vender tilbage, jeg vender tilbage, en kollega vender tilbage, vi kontakter dig, vi ringer til dig, jeg ringer til dig, en kollega ringer, en kollega kontakter, du bliver kontaktet, du bliver ringet op, du hører fra os, vi kigger på det,
        jeg stiller dig om, jeg sender dig videre, jeg har sendt det videre, jeg har videresendt, vi har videresendt`,
      ],
    ],
    conditions: `hvis du, når du, så snart du, efter at du, hvis i`,
    wants: `jeg vil, jeg ønsker, jeg har brug for`,
    asks: [
      [
        `tale, snakke, chatte, stil mig, få kontakt`,
        `et menneske, et rigtigt menneske, en rigtig person, en person, en medarbejder, med nogen, en kollega, en chef, kundeservice, en agent`,
      ],
      [`menneske tak, ring til mig, ring mig op, kan i ringe, kan nogen ringe, ikke en bot`],
    ],
    persons: `menneske, et menneske, rigtigt menneske, rigtig person, medarbejder, en medarbejder, kundeservice`,
  },
  no: {
    promises: [
      [
        `en kollega, min kollega, mine kolleger, våre kolleger, noen, en person, et menneske, en medarbeider, teamet vårt, vårt team, teamet, supporten, kundeservice, en saksbehandler, en tekniker, en spesialist, vi, jeg`,
        `vil, skal, kommer til å`,
        `kontakte, ringe, svare, se på, komme tilbake, skrive til, hjelpe deg, undersøke, overta, ta kontakt`,
      ],
      [
        `vi kommer tilbake til deg, jeg kommer tilbake til deg, vi tar kontakt, jeg tar kontakt, en kollega tar kontakt, noen tar kontakt, vi kontakter deg, vi ringer deg, jeg ringer deg, en kollega ringer, du blir kontaktet, du blir oppringt, du hører fra oss, vi ser på det,
        jeg setter deg over, jeg har videresendt, vi har videresendt, jeg sender deg videre`,
      ],
    ],
    conditions: `hvis du, når du, så snart du, etter at du, dersom du`,
    wants: `jeg vil, jeg ønsker, jeg trenger`,
    asks: [
      [
        `snakke, prate, chatte, sett meg, få kontakt`,
        `et menneske, et ekte menneske, en ekte person, en person, en medarbeider, en saksbehandler, med noen, en kollega, en sjef, kundeservice, en agent`,
      ],
      [`menneske takk, ring meg, kan dere ringe, kan noen ringe, ikke en bot`],
    ],
    persons: `menneske, et menneske, ekte menneske, ekte person, medarbeider, saksbehandler, kundeservice`,
  },
  fi: {
    promises: [
      [
        `kollega, kollegani, kollegamme, joku, joku meistä, ihminen, henkilö, asiakaspalvelija, asiakaspalvelijamme, tiimimme, tukitiimimme, asiakaspalvelumme, asiakaspalvelu, asiantuntija, asiantuntijamme, me`,
        `ottaa yhteyttä, ottaa sinuun yhteyttä, ottaa teihin yhteyttä, soittaa sinulle, soittaa teille, vastaa sinulle, vastaa teille, palaa asiaan, tutkii asiaa, tutkii asian, tarkistaa asian, auttaa sinua, auttaa teitä, katsoo asiaa`,
      ],
      [
        `otamme sinuun yhteyttä, otamme teihin yhteyttä, otamme yhteyttä, palaamme asiaan, palaan asiaan, soitamme sinulle, soitamme teille, siirrän sinut, yhdistän sinut, välitän asian, olen välittänyt`,
      ],
    ],
    conditions: `jos, kun, mikäli`,
    wants: `haluan, haluaisin, tarvitsen`,
    asks: [
      [
        `puhua, jutella, keskustella, yhdistä`,
        `ihmisen kanssa, ihmiselle, oikean ihmisen, oikealle ihmiselle, asiakaspalvelijan kanssa, asiakaspalvelijalle, asiakaspalvelijan, jonkun kanssa, henkilön kanssa, työntekijän kanssa`,
      ],
      [`soittakaa minulle, voitteko soittaa, soita minulle, ihminen kiitos, en halua puhua botin`],
    ],
    persons: `ihminen, oikea ihminen, asiakaspalvelija, henkilö`,
  },
  ru: {
    promises: [
      [
        `коллега, мой коллега, наш коллега, коллеги, мои коллеги, наши коллеги, кто-то, кто-нибудь, человек, сотрудник, наш сотрудник, сотрудники, оператор, специалист, наш специалист, специалисты, наши специалисты, менеджер, наш менеджер, эксперт, техник, консультант,
         наша команда, команда, служба поддержки, поддержка, наша поддержка`,
        `свяжется, свяжутся, позвонит, позвонят, перезвонит, перезвонят, ответит, ответят, напишет, напишут, посмотрит, посмотрят, рассмотрит, рассмотрят, проверит, проверят, займется, займутся, поможет, помогут, разберется, разберутся, подключится`,
      ],
      [
        `мы свяжемся, мы вам перезвоним, мы перезвоним, мы вам позвоним, мы позвоним, мы ответим вам, мы вам ответим, мы вам напишем, мы разберемся, я перезвоню, я свяжусь, с вами свяжутся, вам перезвонят, вам позвонят, вам ответят, вам ответит, мы рассмотрим ваш`,
      ],
      [
        `передам, передаю, передал, передала, передали, передан, передано, передаем, перевожу, переведу, переключаю, переключу, соединяю, соединю`,
        `коллеге, коллегам, оператору, на оператора, с оператором, специалисту, специалистам, на специалиста, сотруднику, команде, человеку, менеджеру, в поддержку, в службу поддержки`,
      ],
    ],
    conditions: `если, когда вы, как только вы, после того как, в случае`,
    wants: `хочу, хотел бы, хотела бы, нужен, нужна, дайте`,
    asks: [
      [
        `поговорить, говорить, пообщаться, связаться, соедините, переключите, переведите, позовите`,
        `с человеком, человека, живым человеком, живой человек, живого человека, с оператором, оператора, на оператора, оператор, с сотрудником, сотрудника, с менеджером, менеджера, менеджер, с кем-нибудь, со специалистом, с консультантом, консультанта, с начальством, с поддержкой`,
      ],
      [
        `оператор пожалуйста, человека пожалуйста, позвоните мне, перезвоните мне, перезвоните, не хочу говорить с ботом, не с ботом`,
      ],
    ],
    persons: `оператор, оператора, человек, человека, живой человек, живого человека, менеджер, менеджера, сотрудник, специалист, консультант`,
  },
  uk: {
    promises: [
      [
        `колега, мій колега, наш колега, колеги, наші колеги, хтось, людина, працівник, співробітник, оператор, спеціаліст, фахівець, наш фахівець, менеджер, експерт, консультант, наша команда, команда, служба підтримки, підтримка`,
        `зв'яжеться, зв'яжуться, зателефонує, зателефонують, передзвонить, передзвонять, відповість, відповідять, напише, напишуть, подивиться, розгляне, розглянуть, перевірить, займеться, допоможе, допоможуть, розбереться`,
      ],
      [
        `ми зв'яжемося, ми вам зателефонуємо, ми вам передзвонимо, ми передзвонимо, ми вам відповімо, з вами зв'яжуться, з вами зв'яжеться, вам зателефонують, вам передзвонять, вам відповість`,
      ],
      [
        `передам, передаю, передав, передала, передали, з'єдную, з'єднаю, перемикаю`,
        `колезі, колегам, оператору, з оператором, на оператора, фахівцю, спеціалісту, команді, менеджеру, підтримці`,
      ],
    ],
    conditions: `якщо, коли ви, щойно ви, після того як, у разі`,
    wants: `хочу, хотів бы, хотів би, хотіла б, потрібен, потрібна, дайте`,
    asks: [
      [
        `поговорити, говорити, поспілкуватися, зв'язатися, з'єднайте, перемкніть, покличте`,
        `з людиною, живою людиною, жива людина, з оператором, оператора, на оператора, оператор, з працівником, з менеджером, менеджера, з кимось, з фахівцем, консультанта, з консультантом`,
      ],
      [`оператор будь ласка, зателефонуйте мені, передзвоніть мені, передзвоніть, не хочу говорити з ботом`],
    ],
    persons: `оператор, оператора, людина, жива людина, менеджер, менеджера, фахівець, консультант`,
  },
  pl: {
    promises: [
      [
        `kolega, mój kolega, koleżanka, moja koleżanka, nasz kolega, ktoś, ktoś z naszego zespołu, człowiek, pracownik, nasz pracownik, konsultant, nasz konsultant, konsultantka, specjalista, nasz specjalista, ekspert, technik, nasz zespół, zespół, zespół wsparcia, dział wsparcia, biuro obsługi,
         dział obsługi klienta, obsługa klienta`,
        `skontaktuje się, skontaktują się, zadzwoni, oddzwoni, odpowie, odpisze, napisze, sprawdzi, przyjrzy się, zajmie się, pomoże, odezwie się, przejmie, rozpatrzy`,
      ],
      [
        `skontaktujemy się, zadzwonimy do, oddzwonimy, odezwiemy się, odpowiemy panu, odpowiemy pani, odpiszemy, przyjrzymy się, wrócimy do, zajmiemy się tym, skontaktuję się, oddzwonię, odezwę się`,
      ],
      [
        `przekażę, przekazuję, przekazałem, przekazałam, przekazaliśmy, łączę, połączę, przełączam, przełączę`,
        `koledze, koleżance, kolegom, konsultantem, konsultantowi, pracownikowi, pracownikiem, zespołowi, specjaliście, człowiekiem, do zespołu, do działu`,
      ],
    ],
    conditions: `jeśli, jeżeli, gdy, kiedy, po wysłaniu, po wypełnieniu, w przypadku, w razie`,
    wants: `chcę, chciałbym, chciałabym, potrzebuję, proszę o`,
    asks: [
      [
        `rozmawiać, porozmawiać, pogadać, skontaktować, połącz, połączcie, proszę połączyć, przełącz`,
        `z człowiekiem, człowieka, żywym człowiekiem, prawdziwym człowiekiem, z konsultantem, konsultanta, z pracownikiem, pracownika, z kimś, z osobą, prawdziwą osobą, z agentem, z kierownikiem, z przełożonym`,
      ],
      [
        `konsultant proszę, proszę do mnie zadzwonić, zadzwońcie do mnie, proszę o telefon, proszę oddzwonić, oddzwońcie, nie chcę rozmawiać z botem`,
      ],
    ],
    persons: `człowiek, konsultant, pracownik, agent, żywy człowiek, prawdziwy człowiek, operator`,
  },
  cs: {
    promises: [
      [
        `kolega, můj kolega, kolegyně, naši kolegové, někdo, někdo z našeho týmu, člověk, pracovník, náš pracovník, operátor, náš operátor, specialista, náš specialista, odborník, technik, náš tým, tým, tým podpory, podpora, naše podpora, zákaznická podpora`,
        `se vám ozve, se ozve, ozve, vás kontaktuje, bude kontaktovat, bude vás kontaktovat, kontaktuje, vám zavolá, zavolá, zavolá vám, vám odpoví, odpoví, vám napíše, napíše, se podívá, podívá, prověří, se postará, pomůže, se tomu bude věnovat`,
      ],
      [
        `ozveme se, budeme vás kontaktovat, kontaktujeme vás, zavoláme vám, odpovíme vám, podíváme se na to, ozvu se, zavolám vám, bude vás kontaktovat, budete kontaktován, budete kontaktováni`,
      ],
      [
        `předám, předávám, předal jsem, předala jsem, předali jsme, přepojím, přepojuji, spojím vás`,
        `kolegovi, kolegyni, kolegům, operátorovi, operátora, s operátorem, týmu, specialistovi, podpoře, s člověkem`,
      ],
    ],
    conditions: `pokud, když, jakmile, poté co, v případě, až`,
    wants: `chci, chtěl bych, chtěla bych, potřebuji`,
    asks: [
      [
        `mluvit, promluvit, hovořit, spojit, spojte mě, přepojte mě, přepojte`,
        `s člověkem, člověka, živým člověkem, skutečným člověkem, s operátorem, operátora, operátor, s pracovníkem, s někým, s osobou, s vedoucím, s nadřízeným`,
      ],
      [
        `operátor prosím, zavolejte mi, můžete mi zavolat, prosím o zavolání, nechci mluvit s botem, nechci mluvit s robotem`,
      ],
    ],
    persons: `člověk, živý člověk, operátor, operátora, pracovník, skutečný člověk`,
  },
  ro: {
    promises: [
      [
        `un coleg, o colegă, colegii noștri, un coleg de-al nostru, cineva, cineva din echipa noastră, o persoană, un om, un operator, un agent, un consultant, un specialist, un tehnician, echipa noastră, echipa, echipa de suport, suportul, serviciul clienți`,
        `vă va contacta, te va contacta, va contacta, vă va suna, te va suna, va suna, vă va răspunde, îți va răspunde, va răspunde, vă va scrie, va verifica, va analiza, se va ocupa, va reveni, vă va ajuta, te va ajuta, va prelua`,
      ],
      [
        `vă vom contacta, te vom contacta, vă vom suna, te vom suna, vă vom răspunde, vom reveni, o să vă contactăm, voi reveni, veți fi contactat, veți fi contactată`,
      ],
      [
        `transfer, transferat, redirecționez, am transmis, transmit, vă pun în legătură`,
        `unui coleg, colegilor, către un coleg, unui operator, către un operator, echipei, unui agent, unui specialist, cu un operator, cu un coleg`,
      ],
    ],
    conditions: `dacă, când, după ce, imediat ce, în cazul`,
    wants: `vreau, aș vrea, aș dori, doresc, am nevoie`,
    asks: [
      [
        `vorbesc, vorbi, discut, conectați-mă, contactez`,
        `un om, o persoană reală, cu o persoană, o persoană, un operator, un agent, un angajat, cu cineva, un consultant, un coleg, un responsabil`,
      ],
      [`operator vă rog, sunați-mă, mă puteți suna, nu vreau să vorbesc cu un robot`],
    ],
    persons: `om, operator, un operator, persoană reală, o persoană reală, agent, consultant`,
  },
  hu: {
    promises: [
      [
        `egy kolléga, kollégám, kollégánk, kollégáink, egy kollégánk, egyik kollégánk, valaki, egy munkatárs, munkatársunk, munkatársaink, egy munkatársunk, egyik munkatársunk, egy ember, egy ügyintéző, ügyintézőnk, csapatunk, a csapat, ügyfélszolgálatunk, az ügyfélszolgálat, szakértőnk, egy szakértő`,
        `fel fogja venni, felveszi önnel, felveszi veled, felveszik önnel, felveszik, felveszi, keresni fogja, fel fogja hívni, felhívja önt, felhívja, visszahívja, válaszol önnek, válaszolni fog, megnézi, megvizsgálja, ellenőrzi, segíteni fog, jelentkezik, foglalkozik`,
      ],
      [
        `felvesszük önnel a kapcsolatot, felvesszük a kapcsolatot, felvesszük veled, visszahívjuk, felhívjuk önt, hamarosan jelentkezünk, jelentkezünk önnél, jelentkezni fogunk, utánanézünk, megvizsgáljuk, továbbítottam, továbbítom, továbbítottuk, kapcsolom`,
      ],
    ],
    conditions: `ha, amikor, amint, miután, amennyiben`,
    wants: `szeretnék, akarok, kérek`,
    asks: [
      [
        `beszélni, beszélnék, beszélhetek, kapcsoljon, kapcsoljanak`,
        `emberrel, egy emberrel, élő emberrel, igazi emberrel, egy ügyintézővel, ügyintézővel, ügyintézőt, operátorral, operátort, munkatárssal, egy munkatárssal, valakivel, egy kollégával, ügyfélszolgálatossal, vezetővel`,
      ],
      [`hívjanak fel, hívjanak vissza, visszahívást kérek, kérem hívjanak, nem akarok robottal`],
    ],
    persons: `ember, élő ember, ügyintéző, ügyintézőt, operátor, munkatárs, igazi ember`,
  },
  tr: {
    promises: [
      [
        `bir arkadaşımız, bir çalışma arkadaşımız, arkadaşlarımız, ekibimiz, destek ekibimiz, ekip, biri, birisi, bir kişi, bir temsilci, temsilcimiz, müşteri temsilcimiz, bir müşteri temsilcisi, müşteri temsilcisi, bir uzman, uzmanımız, uzmanlarımız, bir yetkili, yetkililerimiz, bir yetkilimiz, müşteri hizmetleri, meslektaşım`,
        `sizinle iletişime geçecek, seninle iletişime geçecek, iletişime geçecek, iletişime geçecektir, iletişime geçecekler, sizi arayacak, seni arayacak, arayacak, arayacaktır, size dönüş yapacak, dönüş yapacak, dönüş yapacaktır, geri dönecek, yanıtlayacak, cevap verecek, inceleyecek, ilgilenecek, bakacak, yardımcı olacak, size yazacak`,
      ],
      [
        `sizinle iletişime geçeceğiz, iletişime geçeceğiz, sizi arayacağız, size dönüş yapacağız, size geri döneceğiz, sizi geri arayacağız, size döneceğim, inceleyeceğiz`,
      ],
      [
        `temsilciye, bir temsilciye, ekibimize, yetkiliye, uzmana, arkadaşımıza, müşteri temsilcisine`,
        `aktarıyorum, aktardım, aktarıyoruz, ilettim, iletiyorum, ilettik, yönlendiriyorum, yönlendirdim, bağlıyorum, aktaracağım, ileteceğim`,
      ],
    ],
    conditions: `eğer, durumunda, sonra, takdirde`,
    wants: ``,
    asks: [
      [
        `insanla, gerçek bir insanla, bir insanla, gerçek biriyle, biriyle, temsilciyle, bir temsilciyle, müşteri temsilcisiyle, müşteri temsilcisi ile, bir yetkiliyle, yetkili biriyle, temsilci ile, insan ile`,
        `görüşmek, konuşmak, görüşebilir, konuşabilir, bağla, bağlayın, görüşeyim`,
      ],
      [
        `temsilciye bağlan, temsilciye bağlanmak, müşteri temsilcisine bağlanmak, temsilciye bağla, beni arayın, beni arar mısınız, lütfen arayın, temsilci istiyorum, insan istiyorum, botla konuşmak istemiyorum`,
      ],
    ],
    persons: `insan, temsilci, müşteri temsilcisi, gerçek insan, yetkili, operatör, canlı destek`,
  },
  el: {
    promises: [
      [
        `ένας συνάδελφος, μια συνάδελφος, συνάδελφος, οι συνάδελφοί μας, κάποιος, κάποιος από την ομάδα μας, ένας άνθρωπος, ένας εκπρόσωπος, εκπρόσωπός μας, ένας υπάλληλος, ένας ειδικός, ένας τεχνικός, η ομάδα μας, η ομάδα υποστήριξης, η υποστήριξη, η εξυπηρέτηση πελατών`,
        `θα επικοινωνήσει, θα σας καλέσει, θα σε καλέσει, θα σας τηλεφωνήσει, θα σας απαντήσει, θα απαντήσει, θα σας γράψει, θα το δει, θα το εξετάσει, θα εξετάσει, θα ελέγξει, θα σας βοηθήσει, θα ασχοληθεί, θα αναλάβει`,
      ],
      [
        `θα επικοινωνήσουμε μαζί σας, θα επικοινωνήσουμε, θα σας καλέσουμε, θα σας τηλεφωνήσουμε, θα σας απαντήσουμε, θα το εξετάσουμε, θα επανέλθουμε, σας συνδέω με`,
      ],
    ],
    conditions: `αν, εάν, όταν, αφού, μόλις, σε περίπτωση`,
    wants: `θέλω, θα ήθελα, χρειάζομαι`,
    asks: [
      [
        `μιλήσω, μιλήσουμε, συνομιλήσω, συνδέστε με, επικοινωνήσω`,
        `με άνθρωπο, έναν άνθρωπο, με έναν άνθρωπο, πραγματικό άνθρωπο, εκπρόσωπο, με εκπρόσωπο, έναν εκπρόσωπο, υπάλληλο, με κάποιον, κάποιον, τον υπεύθυνο, με υπεύθυνο`,
      ],
      [`καλέστε με, τηλεφωνήστε μου, μπορείτε να με καλέσετε`],
    ],
    persons: `άνθρωπος, άνθρωπο, εκπρόσωπος, εκπρόσωπο, υπάλληλος`,
  },
  id: {
    promises: [
      [
        `rekan kami, seorang rekan, seseorang, petugas kami, petugas, staf kami, agen kami, agen, tim kami, tim dukungan kami, tim support kami, layanan pelanggan kami, customer service kami, teknisi kami`,
        `akan`,
        `menghubungi, menelepon, membalas, menjawab, memeriksa, mengecek, melihat, membantu anda, meninjau, menindaklanjuti`,
      ],
      [
        `kami akan menghubungi anda, kami akan menelepon anda, kami akan segera menghubungi, kami akan membalas, anda akan dihubungi, saya teruskan ke, saya akan teruskan, kami teruskan ke, sudah saya teruskan, saya hubungkan anda`,
      ],
    ],
    conditions: `jika, apabila, kalau, setelah anda, ketika anda`,
    wants: `saya mau, saya ingin, saya butuh`,
    asks: [
      [
        `bicara, berbicara, ngobrol, chat, hubungkan saya, sambungkan saya`,
        `manusia, dengan manusia, orang asli, dengan orang, dengan agen, seorang agen, petugas, dengan petugas, customer service, dengan cs, staf, dengan seseorang, operator`,
      ],
      [`telepon saya, tolong telepon saya, hubungi saya, tolong hubungi saya, bukan bot, bukan robot`],
    ],
    persons: `manusia, agen, petugas, operator, orang asli, cs`,
  },
  vi: {
    promises: [
      [
        `đồng nghiệp của tôi, một đồng nghiệp, nhân viên, nhân viên của chúng tôi, một nhân viên, đội ngũ của chúng tôi, đội ngũ hỗ trợ, bộ phận hỗ trợ, chuyên viên, kỹ thuật viên, tư vấn viên, ai đó, chúng tôi, bộ phận chăm sóc khách hàng`,
        `sẽ`,
        `liên hệ, gọi cho, gọi lại, gọi điện, trả lời, phản hồi, kiểm tra, xem xét, hỗ trợ bạn, giúp bạn`,
      ],
      [
        `tôi sẽ chuyển, tôi đã chuyển, tôi xin chuyển, chúng tôi đã chuyển`,
        `nhân viên, đồng nghiệp, bộ phận, chuyên viên, đội ngũ`,
      ],
    ],
    conditions: `nếu, khi bạn, sau khi, trong trường hợp`,
    wants: `tôi muốn, tôi cần, cho tôi`,
    asks: [
      [
        `nói chuyện, gặp, trò chuyện, kết nối, muốn gặp`,
        `người thật, với người, con người, nhân viên, tư vấn viên, với ai đó, tổng đài viên, quản lý`,
      ],
      [`gọi cho tôi, hãy gọi cho tôi, gọi lại cho tôi, không muốn nói chuyện với bot`],
    ],
    persons: `người thật, nhân viên, tư vấn viên, con người, tổng đài viên`,
  },
  ar: {
    promises: [
      [
        `سيتواصل معك, سيتواصل معكم, سيتصل بك, سيتصل بكم, سيرد عليك, سيرد عليكم, سيقوم أحد, سوف يتصل بك, سوف يتواصل معك, سيقوم فريقنا, سيقوم زميلي, سنتواصل معك, سنتواصل معكم, سنتصل بك, سنتصل بكم, سوف نتصل بك, سوف نتواصل معك, سنعود إليك, سيتم التواصل معك, سيتم الاتصال بك, سأحولك إلى, سأقوم بتحويلك, تم تحويل طلبك, سيساعدك أحد`,
      ],
    ],
    conditions: `إذا, عندما, بعد أن, في حال, لو`,
    wants: `أريد, اريد, أحتاج, احتاج`,
    asks: [
      [
        `التحدث, أتحدث, اتحدث, أتكلم, اتكلم, التكلم, حولني, تحويلي, أكلم, اكلم`,
        `إنسان, مع إنسان, شخص, مع شخص, شخص حقيقي, موظف, مع موظف, الموظف, ممثل, خدمة العملاء, مع ممثل, المسؤول, مسؤول, وكيل`,
      ],
      [`اتصلوا بي, اتصل بي, الرجاء الاتصال بي, لا أريد التحدث مع روبوت`],
    ],
    persons: `إنسان, موظف, شخص حقيقي, ممثل, خدمة العملاء`,
  },
  he: {
    promises: [
      [
        `נציג יחזור, נציגה תחזור, נציג שלנו, הצוות שלנו יחזור, הצוות שלנו יצור, נציג יצור, נציג ייצור, ניצור איתך קשר, ניצור קשר, ניצור עמך קשר, נחזור אליך, נחזור אלייך, נתקשר אליך, מישהו יחזור אליך, מישהו יתקשר אליך, עמית שלי יחזור, אעביר אותך לנציג, העברתי את פנייתך, אני מעביר אותך לנציג`,
      ],
    ],
    conditions: `אם, כאשר, לאחר ש, במקרה`,
    wants: `אני רוצה, צריך, צריכה, אפשר`,
    asks: [
      [
        `לדבר, לשוחח, תעבירו אותי, העבר אותי`,
        `עם בן אדם, בן אדם, עם נציג, נציג, נציג אנושי, עם נציגה, עם אדם, עם מישהו, אדם אמיתי, עם מנהל, נציג שירות`,
      ],
      [`תתקשרו אליי, תתקשרו אלי, התקשרו אליי, נציג בבקשה`],
    ],
    persons: `נציג, נציג אנושי, בן אדם, נציג שירות, אדם אמיתי`,
  },
  fa: {
    promises: [
      [
        `همکار ما, همکاران ما, یکی از همکاران, همکارم, کارشناس ما, کارشناسان ما, یک کارشناس, تیم ما, تیم پشتیبانی, پشتیبانی, کسی`,
        `با شما تماس خواهد گرفت, با شما تماس خواهند گرفت, تماس خواهد گرفت, تماس خواهند گرفت, با شما تماس می گیرد, تماس می گیرد, تماس میگیرد, تماس می گیرند, پاسخ خواهد داد, پاسخ خواهند داد, بررسی خواهد کرد, بررسی خواهند کرد, کمک خواهد کرد`,
      ],
      [
        `با شما تماس خواهیم گرفت, با شما تماس می گیریم, تماس خواهیم گرفت, بررسی خواهیم کرد, شما را به, درخواست شما را به همکاران`,
      ],
    ],
    conditions: `اگر, وقتی, هنگامی که, پس از اینکه, در صورت`,
    wants: `می خواهم, میخواهم, نیاز دارم`,
    asks: [
      [
        `صحبت, حرف, وصل کنید`,
        `با انسان, با یک انسان, با آدم واقعی, با اپراتور, به اپراتور, اپراتور, با کارشناس, کارشناس, با پشتیبان, با یک نفر, با مدیر`,
      ],
      [
        `با اپراتور صحبت, با کارشناس صحبت, با انسان صحبت, با یک انسان صحبت, با من تماس بگیرید, لطفا تماس بگیرید, به اپراتور وصل, اپراتور لطفا`,
      ],
    ],
    persons: `اپراتور, انسان, کارشناس, پشتیبان, آدم واقعی`,
  },
  hi: {
    promises: [
      [
        `हमारे सहयोगी, हमारा सहयोगी, मेरे सहयोगी, कोई, हमारी टीम, टीम, हमारी सहायता टीम, सपोर्ट टीम, हमारे प्रतिनिधि, हमारा प्रतिनिधि, एक प्रतिनिधि, ग्राहक सेवा, विशेषज्ञ, हम`,
        `आपसे संपर्क करेगा, आपसे संपर्क करेगी, आपसे संपर्क करेंगे, संपर्क करेगा, संपर्क करेगी, संपर्क करेंगे, आपको कॉल करेगा, आपको कॉल करेगी, आपको कॉल करेंगे, कॉल करेंगे, जवाब देगा, जवाब देगी, जवाब देंगे, जांच करेगा, जांच करेगी, जांच करेंगे, देखेगा, देखेगी, देखेंगे, मदद करेगा, मदद करेगी`,
      ],
    ],
    conditions: `अगर, यदि, जब आप, के बाद`,
    wants: ``,
    asks: [
      [
        `इंसान से, किसी इंसान से, असली इंसान से, किसी व्यक्ति से, व्यक्ति से, एजेंट से, प्रतिनिधि से, किसी से, ग्राहक सेवा से, कस्टमर केयर से, अधिकारी से, मैनेजर से`,
        `बात, बात करनी, बात करना, बात कराओ, बात कराइए, जोड़ें, जोड़ो`,
      ],
      [`मुझे कॉल करें, मुझे कॉल करो, मुझे फोन करें, मुझे एजेंट चाहिए, इंसान चाहिए`],
    ],
    persons: `इंसान, एजेंट, प्रतिनिधि, असली इंसान, ऑपरेटर`,
  },
  ja: {
    promises: [
      [
        `担当者よりご連絡, 担当者からご連絡, 担当者がご連絡, 担当者より連絡, 担当者から連絡, 担当者がご対応, 担当者が対応いたします, 担当者が対応します, 担当者が確認, 担当者よりお電話, 担当者からお電話, 担当者よりご回答, 担当者から回答, スタッフがご連絡, スタッフからご連絡, スタッフよりご連絡, スタッフが確認, スタッフが対応します, オペレーターにおつなぎ, オペレーターがご対応, オペレーターにお繋ぎ, オペレーターからご連絡, 担当者におつなぎ, 担当者にお繋ぎ, 担当者に引き継, 担当部署に引き継, 担当者に転送, 折り返しご連絡, 折り返しお電話, 追ってご連絡, 後ほどご連絡, 改めてご連絡, 人間の担当者が`,
      ],
    ],
    conditions: `場合は, すると, いただければ, されましたら, ましたら`,
    wants: ``,
    asks: [
      [
        `人間と話, 人と話, 人間に代, 人に代, 担当者と話, 担当者に代, 担当者につな, 担当者に繋, オペレーターと話, オペレーターに代, オペレーターにつな, オペレーターに繋, 有人対応, 有人チャット, 人間のオペレーター, 人間につな, 電話をください, 電話してください, 折り返し電話, 担当者をお願い, オペレーターをお願い, 人間の担当者`,
      ],
    ],
    persons: `人間, オペレーター, 担当者, 担当者お願いします, オペレーターお願いします`,
  },
  zh: {
    promises: [
      [
        `客服人员会, 客服人员将, 客服会联系, 客服会尽快, 客服将, 工作人员会, 工作人员将, 同事会, 同事将, 专员会, 专员将, 专人会, 专人将, 我们会联系您, 我们会联系你, 我们会尽快联系, 我们将联系, 我们将尽快联系, 我们会尽快回复, 我们将尽快回复, 我们会回复您, 我们会给您打电话, 我们会致电, 会有人联系, 会有专人, 会有客服, 会有工作人员, 为您转接人工, 为您转人工, 转接人工客服, 转接给同事, 已转交, 已经转交, 团队会联系, 团队将, 团队会尽快, 客服人員會, 客服人員將, 我們會聯繫, 我們將聯繫, 我們會盡快, 專人會, 專員會, 為您轉接`,
      ],
    ],
    conditions: `如果, 若您, 若你, 如需, 当您, 提交后, 之后, 請問`,
    wants: ``,
    asks: [
      [
        `转人工, 人工客服, 人工服务, 真人客服, 真人服务, 接人工, 找人工, 要人工, 和真人, 跟真人, 与真人, 找真人, 和人说话, 和人聊, 跟人聊, 和人工, 跟人工, 找客服, 联系客服人员, 打电话给我, 给我打电话, 请致电我, 給我打電話, 轉人工, 人工客服, 真人客服, 找主管, 找经理, 叫你们经理`,
      ],
    ],
    persons: `人工, 真人, 客服, 转人工, 人工客服, 經理`,
  },
  ko: {
    promises: [
      [
        `상담원이, 상담사가, 담당자가, 직원이, 저희 팀이, 팀에서, 담당 부서에서, 고객센터에서, 전문가가, 엔지니어가, 동료가`,
        `연락드리겠습니다, 연락 드리겠습니다, 연락드릴 것입니다, 연락할 것입니다, 연락드릴 예정입니다, 연락할 예정입니다, 전화드리겠습니다, 전화 드리겠습니다, 답변드리겠습니다, 답변 드리겠습니다, 답변드릴 예정입니다, 확인하겠습니다, 확인할 것입니다, 확인할 예정입니다, 도와드리겠습니다, 도와드릴 것입니다, 처리해 드리겠습니다`,
      ],
      [
        `상담원에게 연결, 상담원을 연결, 상담사에게 연결, 담당자에게 전달, 담당자에게 연결, 곧 연락드리겠습니다, 다시 연락드리겠습니다, 빠르게 연락드리겠습니다`,
      ],
    ],
    conditions: `하시면, 경우, 후에, 보내 주시면`,
    wants: ``,
    asks: [
      [
        `상담원과, 상담원이랑, 상담사와, 사람과, 사람이랑, 직원과, 담당자와, 진짜 사람과`,
        `통화, 대화, 이야기, 얘기, 상담, 말하고, 연결, 채팅`,
      ],
      [
        `상담원 연결, 상담사 연결, 상담원 연결해, 상담원에게 연결, 상담원 바꿔, 사람 연결, 전화 주세요, 전화해 주세요, 연락 주세요`,
      ],
    ],
    persons: `상담원, 상담사, 사람, 상담원 연결, 담당자, 직원`,
  },
  th: {
    promises: [
      [
        `เจ้าหน้าที่จะติดต่อ, เจ้าหน้าที่จะโทร, เจ้าหน้าที่จะตอบ, เจ้าหน้าที่จะตรวจสอบ, เจ้าหน้าที่จะดูแล, พนักงานจะติดต่อ, พนักงานจะโทร, ทีมงานจะติดต่อ, ทีมงานจะโทร, ทีมงานจะตอบ, ทีมงานจะตรวจสอบ, ทีมงานของเราจะติดต่อ, เราจะติดต่อกลับ, เราจะโทรกลับ, จะมีเจ้าหน้าที่ติดต่อ, โอนสายให้เจ้าหน้าที่, ส่งต่อให้เจ้าหน้าที่, ส่งเรื่องให้เจ้าหน้าที่`,
      ],
    ],
    conditions: `หาก, ถ้า, เมื่อคุณ, หลังจาก, กรณี`,
    wants: ``,
    asks: [
      [
        `คุยกับเจ้าหน้าที่, พูดกับเจ้าหน้าที่, คุยกับคน, พูดกับคน, คุยกับพนักงาน, พูดกับพนักงาน, ติดต่อเจ้าหน้าที่, ขอสายเจ้าหน้าที่, ขอคุยกับ, ต่อสายเจ้าหน้าที่, โทรหาฉัน, โทรกลับ, ช่วยโทรกลับ, คนจริง`,
      ],
    ],
    persons: `เจ้าหน้าที่, พนักงาน, คนจริง`,
  },
};

/** What turns a promise into its opposite, in all these languages. */
export const NEGATIONS = `not, never, won't, nicht, nie, niemals, keine, keiner, pas, jamais, no, nunca, jamás, non, mai, não, niet, nooit, geen, inte,
  aldrig, ikke, aldri, ei, koskaan, не, никогда, ні, ніколи, nigdy, ne, nikdy, niciodată, nem, soha, asla, hiçbir, δεν, ποτέ, tidak,
  không, لن, لا, לא, نخواهد, नहीं`;

/** Languages that put no spaces between words, or join what is said of a word to it. */
export const UNSPACED_LANGUAGES: ReadonlySet<string> = new Set(["ja", "ko", "th", "zh"]);
