import type { enFirstRun } from "./en-first-run.ts";
import type { TableLike } from "./text-table.ts";

/** Texts of the guide for a first administrator, in German. */
export const deFirstRun: TableLike<typeof enFirstRun> = {
  "firstRun.text": "Von der frischen Installation zur ersten richtigen Antwort. Das dauert ein paar Minuten.",
  "firstRun.leave": "Zum Posteingang",
  "firstRun.open": "Noch nicht erledigt",
  "firstRun.kbName": "Wissen",
  "firstRun.guideLeft":
    "{agent} antwortet jetzt aus Ihren Dokumenten und nicht mehr aus der Anleitung dieses Dienstes.",
  "firstRun.teach": "Bringen Sie ihm bei, was Ihre Kunden fragen",
  "firstRun.teachText":
    "Legen Sie Dateien hier ab, oder fügen Sie eine Seite Ihrer Website hinzu. Antworten zitieren daraus.",
  "firstRun.onlyGuide": "Bisher kennt er nur die Anleitung dieses Produkts.",
  "firstRun.reading": {
    one: "{n} Dokument ist da; es wird gelesen.",
    other: "{n} Dokumente sind da; sie werden gelesen.",
  },
  "firstRun.taught": { one: "{n} Dokument ist da.", other: "{n} Dokumente sind da." },
  "firstRun.seeKb": "„{name}“ ansehen",
  "firstRun.channel": "Wählen Sie, wo man Ihnen schreibt",
  "firstRun.channelText":
    "Ein Chat auf Ihrer Website, Telegram, oder Ihre eigenen Programme über die HTTP-API. Eines genügt für den Anfang.",
  "firstRun.channelDone": "Man kann Ihnen schreiben.",
  "firstRun.test": "Senden Sie eine Testnachricht",
  "firstRun.testText":
    "Schreiben Sie, wie ein Kunde es täte. Sie wird wie jede Kundennachricht behandelt, und die Antwort erscheint hier.",
  "firstRun.message": "Nachricht",
  "firstRun.messageHint": "Zum Beispiel: Wie setze ich mein Passwort zurück?",
  "firstRun.send": "Senden",
  "firstRun.tested": "Die Antwort war richtig. Es kann losgehen.",
  "firstRun.held": "Der Agent würde das nicht von selbst senden (Konfidenz {share}):",
  "firstRun.unanswered":
    "Der Agent fand keine Antwort, und die Nachricht wartet auf einen Menschen. Schreiben Sie unten die richtige Antwort.",
  "firstRun.failed": "Die Nachricht konnte nicht bearbeitet werden. Ihr Ticket sagt, warum.",
  "firstRun.openTicket": "Ticket öffnen",
  "firstRun.wasRight": "War diese Antwort richtig?",
  "firstRun.right": "Ja",
  "firstRun.rightSend": "Ja, senden",
  "firstRun.wrong": "Nein",
  "firstRun.agent": "Agent, der antworten soll",
  "firstRun.agentHint": "Ähnliche Nachrichten gehen künftig an diesen Agenten.",
  "firstRun.passages": "Stellen in Ihren Dokumenten",
  "firstRun.answer": "Die richtige Antwort",
  "firstRun.answerHint":
    "Wählen Sie oben eine Stelle, oder schreiben Sie selbst. Das wird als Artikel gespeichert, der diese Frage beantwortet.",
  "firstRun.teachNow": "Speichern und neu fragen",
  "firstRun.articleReading":
    "Der Artikel ist gespeichert und wird gelesen. Danach wird die Frage noch einmal gestellt.",
  "firstRun.articleFailed": "Der Artikel konnte nicht gelesen werden. Unter Wissen steht, warum.",
};
