/**
 * What a letter or mail begins with before somebody is named. Lists of phrases are separated by commas; accents and case
 * do not count. In the languages that most messages are written in; greetings of all others are in the small talk.
 */
export const SALUTATIONS = `
  dear, hello, hi, hey, to whom it may concern, hallo, liebe, lieber, liebes, sehr geehrte, sehr geehrter, werte,
  guten tag, guten morgen, guten abend, bonjour, bonsoir, cher, chère, chers, chères, madame, monsieur, hola, estimado,
  estimada, estimados, estimadas, querido, querida, buenos días, buenas tardes, gentile, gentili, egregio, caro, cara,
  spettabile, buongiorno, buonasera, prezado, prezada, prezados, caro, cara, olá, bom dia, boa tarde, beste, geachte,
  goedemorgen, goedemiddag, goedendag, hej, hei, kära, kjære, kære, hyvä, szia, kedves, tisztelt, merhaba, sayın,
  здравствуйте, добрый день, привет, уважаемый, уважаемая, уважаемые, γεια σας, αγαπητέ, αγαπητή, bună ziua, stimate,
  dobrý den, vážený, vážená, dzień dobry, cześć, szanowni, szanowny, szanowna, доброго дня, вітаю, шановний`;

/** What may stand in a salutation beside names. */
export const ADDRESSED = `
  sir, sirs, madam, sir or madam, or, and, mr, mrs, ms, miss, dr, team, support, all, everyone, everybody, there, guys,
  folks, again, customer, service, ladies, gentlemen, colleagues, herr, herren, frau, damen, und, zusammen, kollegen,
  kundenservice, kundendienst, madame, monsieur, messieurs, mesdames, et, à, tous, toutes, équipe, señor, señora,
  señores, señoras, equipo, y, a, todos, todas, signore, signora, signori, e, tutti, senhor, senhora, senhores, equipe,
  heer, mevrouw, allemaal, alla, alle, i, och, og, team`;

/** What a message ends with: what follows is a signature. */
export const CLOSINGS = `
  best regards, kind regards, warm regards, regards, with kind regards, with best regards, best wishes, all the best,
  sincerely, yours sincerely, sincerely yours, yours faithfully, yours truly, respectfully, many thanks in advance,
  thanks in advance, thank you in advance, thank you for your help, thank you for your time, looking forward to,
  i look forward to, we look forward to, sent from my, mit freundlichen grüßen, mit freundlichem gruß, mit besten grüßen,
  mit herzlichen grüßen, mit lieben grüßen, freundliche grüße, viele grüße, beste grüße, liebe grüße, herzliche grüße,
  schöne grüße, viele liebe grüße, freundlicher gruß, mfg, lg, vg, bg, hochachtungsvoll, vielen dank im voraus,
  danke im voraus, besten dank im voraus, gesendet von, von meinem iphone gesendet, cordialement, bien cordialement,
  bien à vous, sincèrement, salutations, meilleures salutations, sincères salutations, cdlt, merci d'avance,
  merci par avance, d'avance merci, je vous remercie d'avance, je vous prie, veuillez agréer, envoyé de mon, saludos,
  un saludo, saludos cordiales, un cordial saludo, atentamente, gracias de antemano, muchas gracias de antemano,
  enviado desde mi, cordiali saluti, distinti saluti, saluti, un saluto, grazie in anticipo, inviato da,
  atenciosamente, cumprimentos, com os melhores cumprimentos, obrigado desde já, desde já agradeço, abraços,
  met vriendelijke groet, met vriendelijke groeten, vriendelijke groet, vriendelijke groeten, groetjes, mvg,
  alvast bedankt, bij voorbaat dank, med vänliga hälsningar, vänliga hälsningar, hälsningar, mvh, tack på förhand,
  med venlig hilsen, venlig hilsen, på forhånd tak, med vennlig hilsen, vennlig hilsen, på forhånd takk,
  ystävällisin terveisin, terveisin, üdvözlettel, saygılarımla, с уважением, заранее спасибо, με εκτίμηση, cu stimă,
  s pozdravem, z poważaniem, pozdrawiam, з повагою`;

/** What leads to a question and says nothing of it. */
export const LEAD_INS = `
  i would like to know, i'd like to know, i would love to know, i want to know, i wanted to know, i need to know,
  i would like to ask, i'd like to ask, i want to ask, i wanted to ask, i have a question, i have a quick question,
  i have one question, i've got a question, i have a question about, quick question, just a quick question,
  one question, i was wondering, i am wondering, i'm wondering, just wondering, i wonder, could you please tell me,
  could you tell me, can you tell me, can you please tell me, would you tell me, could you let me know,
  can you let me know, please let me know, could you please let me know, let me know, please tell me, tell me please,
  do you know, do you happen to know, would you mind telling me, could you explain, can you explain, please explain,
  could you please explain, can you please explain, could you help me, can you help me, could you please help me,
  can you please help me, please help me, please help, i need help, i need your help, i need some help,
  i hope you are well, i hope you are doing well, hope you are well, hope you are doing well,
  i hope this finds you well, i hope this message finds you well, i am writing to ask, excuse me, sorry to bother you,
  ich möchte wissen, ich möchte gerne wissen, ich möchte gern wissen, ich würde gerne wissen, ich würde gern wissen,
  ich wollte wissen, ich wollte fragen, ich wollte mal fragen, ich möchte fragen, ich habe eine frage,
  ich hätte eine frage, ich hätte da eine frage, ich hab eine frage, ich hab mal eine frage, eine frage, kurze frage,
  können sie mir sagen, können sie mir bitte sagen, könnten sie mir sagen, könnten sie mir bitte sagen,
  kannst du mir sagen, kannst du mir bitte sagen, könnt ihr mir sagen, könnt ihr mir bitte sagen, könntet ihr mir sagen,
  könntet ihr mir bitte sagen, wissen sie, weißt du, wisst ihr, können sie mir helfen, könnten sie mir helfen,
  könnt ihr mir helfen, kannst du mir helfen, können sie mir bitte helfen, ich brauche hilfe, ich frage mich,
  bitte sagen sie mir, sagen sie mir bitte, mich würde interessieren, entschuldigung, entschuldigen sie,
  je voudrais savoir, je voulais savoir, j'aimerais savoir, je souhaite savoir, je souhaiterais savoir,
  j'ai une question, pouvez vous me dire, pourriez vous me dire, peux tu me dire, pouvez vous m'aider,
  pourriez vous m'aider, savez vous, je me demande, je me demandais, excusez moi, dites moi,
  me gustaría saber, quisiera saber, quería saber, quiero saber, quería preguntar, tengo una pregunta, una pregunta,
  me podrían decir, me podría decir, podrían decirme, podría decirme, puede decirme, me puede decir, puedes decirme,
  me puedes decir, saben, me pregunto, disculpe, perdón, pueden ayudarme, me pueden ayudar,
  vorrei sapere, volevo sapere, mi piacerebbe sapere, vorrei chiedere, volevo chiedere, ho una domanda, una domanda,
  può dirmi, potrebbe dirmi, potete dirmi, potreste dirmi, mi può dire, mi potete dire, puoi dirmi, mi chiedevo,
  mi chiedo, scusi, scusate, potete aiutarmi, può aiutarmi,
  gostaria de saber, queria saber, quero saber, gostaria de perguntar, tenho uma pergunta, tenho uma dúvida,
  pode me dizer, podem me dizer, poderia me dizer, poderiam me dizer, pode dizer me, desculpe, com licença,
  ik wil graag weten, ik zou graag willen weten, ik zou graag weten, ik wil weten, ik heb een vraag, ik vroeg me af,
  kunt u mij vertellen, kunt u me vertellen, kun je me vertellen, kun je mij vertellen, weet u, weet je,
  kunt u mij helpen, jag skulle vilja veta, jag vill veta, jag undrar, jag har en fråga, kan ni säga, kan du säga,
  jeg vil gerne vide, jeg vil gjerne vite, jeg har et spørgsmål, jeg har et spørsmål, kan du fortælle mig,
  kan du fortelle meg, kan i fortælle mig, kan dere fortelle meg, jeg lurer på,
  подскажите пожалуйста, подскажите, скажите пожалуйста, скажите, хотел бы узнать, хотела бы узнать, хочу узнать,
  у меня вопрос`;

/** What asks kindly wherever it stands. */
export const PLEASE = `
  please, pls, plz, kindly, bitte, s'il vous plaît, s'il te plaît, svp, por favor, per favore, per piacere, alstublieft,
  alsjeblieft, snälla, venligst, vennligst, vær så snill, пожалуйста, lütfen, παρακαλώ, prosím, proszę, będź tak miły,
  будь ласка, thanks in advance, danke im voraus, merci d'avance`;
