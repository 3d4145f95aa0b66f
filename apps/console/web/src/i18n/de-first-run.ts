import type { enFirstRun } from "./en-first-run.ts";
import type { TableLike } from "./text-table.ts";

/** Texts of the guide for a first administrator, in German. */
export const deFirstRun: TableLike<typeof enFirstRun> = {
  "firstRun.text":
    "Von der leeren Installation zur ersten Nachricht, die beantwortet wird. Das dauert ein paar Minuten.",
  "firstRun.leave": "Zum Posteingang",
  "firstRun.open": "Noch nicht erledigt",
  "firstRun.kbName": "Wissen",
  "firstRun.guideLeft":
    "{agent} antwortet jetzt aus Ihren Dokumenten und nicht mehr aus der Anleitung dieses Dienstes.",
  "firstRun.teach": "Bringen Sie ihm bei, was Ihre Kunden fragen",
  "firstRun.teachText":
    "Legen Sie Dateien hier ab, oder fügen Sie eine Seite Ihrer Website hinzu. Antworten zitieren daraus. Mitgeliefert wird nur die Anleitung dieses Dienstes.",
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
    "Schreiben Sie, wie ein Kunde es täte. Sie geht den Weg jeder Nachricht, und die Antwort erscheint hier.",
  "firstRun.message": "Nachricht",
  "firstRun.messageHint": "Zum Beispiel: Wie setze ich mein Passwort zurück?",
  "firstRun.send": "Senden",
  "firstRun.tested": "Eine Nachricht wurde beantwortet. Es kann losgehen.",
  "firstRun.held": "Der Agent ist nicht sicher genug, um das selbst zu senden. Es wartet auf Sie:",
  "firstRun.unanswered":
    "Der Agent fand keine Antwort, und das Ticket wartet auf einen Menschen. Bringen Sie ihm bei, was gefragt wurde, und senden Sie noch eine Nachricht.",
  "firstRun.failed": "Die Nachricht konnte nicht bearbeitet werden. Ihr Ticket sagt, warum.",
  "firstRun.openTicket": "Ticket öffnen",
};
