import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { answerQuestion } from "@svc/agents";
import type { Answer, HistoryMessage } from "@svc/agents";
import type { Agent } from "@svc/contracts";
import { addDocument, ensureKb, searchKnowledge } from "@svc/knowledge";
import { testLog } from "@svc/testing";
import { openTestKnowledge } from "../knowledge/open-test-knowledge.ts";
import type { TestKnowledge } from "../knowledge/open-test-knowledge.ts";

/** A handbook for each language. Each section answers one question, and its heading identifies it in the answer. */
const HANDBOOKS: Readonly<Record<string, { title: string; sections: Readonly<Record<string, string>> }>> = {
  en: {
    title: "Handbook",
    sections: {
      "Installing on Windows": "To install the app on Windows, download the setup file and run it as an administrator.",
      "Installing on macOS": "To install the app on macOS, open the disk image and drag the icon to the applications.",
      "Installing on Linux": "To install the app on Linux, add the package source and install the package with apt.",
      "Removing on Windows": "To remove the app on Windows, open the system settings and choose Apps.",
      "Removing on macOS": "To remove the app on macOS, drag its icon from the applications to the bin.",
      "Removing on Linux": "To remove the app on Linux, use apt again.",
      "Price of the Basic plan": "The Basic plan costs five euros a month.",
      "Price of the Pro plan": "The Pro plan costs twenty euros a month.",
      "Support in the Basic plan": "In the Basic plan you get support by mail.",
      "Support in the Pro plan": "In the Pro plan you get support by phone, day and night.",
      "Refunds for customers": "Private customers get a refund within thirty days.",
      "Refunds for companies": "Companies get a refund within fourteen days, by a credit note.",
      "Invoices for companies": "Companies get an invoice with their tax number on it.",
      Backups: "Backups are made at three each night and are kept for a month.",
      Logs: "Logs are written all day and are kept for a year.",
      "Why backups run at night": "Backups run at night because the database is least busy then.",
      "Changing the password": "You change your password in the settings under Security.",
      "Changing the mail address": "You change your mail address in the settings under Profile.",
      "Which mail address we write to": "We write to the mail address of your account.",
      Invoices: "Invoices are sent by mail on the first day of the month.",
      "The invoice for May, an example": "The invoice for May is sent on the first of June.",
      Discounts: "Discounts are given to schools. For example, a school pays half of the price.",
    },
  },
  de: {
    title: "Handbuch",
    sections: {
      "Installation unter Windows": "Unter Windows installieren Sie die App mit der Setup-Datei.",
      "Installation unter Linux": "Unter Linux installieren Sie die App als Paket mit apt.",
      "Entfernen unter Windows": "Unter Windows entfernen Sie die App in den Einstellungen.",
      "Entfernen unter Linux": "Unter Linux entfernen Sie die App mit apt.",
      "Preis im Tarif Basis": "Der Tarif Basis kostet fünf Euro im Monat.",
      "Preis im Tarif Profi": "Der Tarif Profi kostet zwanzig Euro im Monat.",
      "Hilfe im Tarif Profi": "Im Tarif Profi bekommen Sie Hilfe am Telefon.",
      Rückgabe: "Privatkunden können Ware innerhalb von dreißig Tagen zurückgeben.",
      "Rückgabe durch Firmen": "Firmen können Ware innerhalb von vierzehn Tagen zurückgeben.",
      "Rechnungen für Firmen": "Firmen bekommen Rechnungen mit Steuernummer.",
      Datensicherung: "Die Datensicherung läuft jede Nacht um drei Uhr. Die Datensicherung dauert zehn Minuten.",
      Lieferung: "Eine Lieferung dauert drei Tage.",
    },
  },
  fr: {
    title: "Manuel",
    sections: {
      "Installer sous Windows": "Pour installer l'application sous Windows, lancez le fichier d'installation.",
      "Installer sous Linux": "Pour installer l'application sous Linux, ajoutez le paquet avec apt.",
      "Supprimer sous Windows": "Pour supprimer l'application sous Windows, ouvrez les paramètres.",
      "Supprimer sous Linux": "Pour supprimer l'application sous Linux, servez-vous de apt.",
      Remboursement: "Un remboursement arrive sur votre compte. Le remboursement dure dix jours.",
      Livraison: "La livraison dure trois jours.",
    },
  },
  es: {
    title: "Manual",
    sections: {
      "Instalar en Windows": "Para instalar la aplicación en Windows, ejecute el archivo de instalación.",
      "Instalar en Linux": "Para instalar la aplicación en Linux, añada el paquete con apt.",
      "Eliminar en Windows": "Para eliminar la aplicación en Windows, abra los ajustes.",
      "Eliminar en Linux": "Para eliminar la aplicación en Linux, use apt.",
      Devoluciones: "Las devoluciones son gratuitas. Una devolución tarda diez días.",
      Envíos: "Un envío tarda tres días.",
    },
  },
  it: {
    title: "Manuale",
    sections: {
      "Installare su Windows": "Per installare l'applicazione su Windows, eseguite il file di installazione.",
      "Installare su Linux": "Per installare l'applicazione su Linux, aggiungete il pacchetto con apt.",
      "Rimuovere su Windows": "Per rimuovere l'applicazione su Windows, aprite le impostazioni.",
      "Rimuovere su Linux": "Per rimuovere l'applicazione su Linux, usate apt.",
    },
  },
  pt: {
    title: "Manual",
    sections: {
      "Instalar no Windows": "Para instalar o aplicativo no Windows, execute o arquivo de instalação.",
      "Instalar no Linux": "Para instalar o aplicativo no Linux, adicione o pacote com apt.",
      "Remover no Windows": "Para remover o aplicativo no Windows, abra as configurações.",
      "Remover no Linux": "Para remover o aplicativo no Linux, use apt.",
    },
  },
  nl: {
    title: "Handleiding",
    sections: {
      "Installeren op Windows": "Installeer de app op Windows met het setup-bestand.",
      "Installeren op Linux": "Installeer de app op Linux als pakket met apt.",
      "Verwijderen op Windows": "Verwijder de app op Windows in de instellingen.",
      "Verwijderen op Linux": "Verwijder de app op Linux met apt.",
      "Back-ups": "Een back-up loopt elke nacht om drie uur. Een back-up duurt tien minuten.",
      Levering: "Een levering duurt drie dagen.",
    },
  },
  sv: {
    title: "Handbok",
    sections: {
      "Installera på Windows": "Installera appen på Windows med installationsfilen.",
      "Installera på Linux": "Installera appen på Linux som ett paket med apt.",
      "Radera på Windows": "Radera appen på Windows i inställningarna.",
      "Radera på Linux": "Radera appen på Linux med apt.",
    },
  },
  ru: {
    title: "Руководство",
    sections: {
      "Установить на Windows": "Чтобы установить приложение на Windows, запустите файл установки.",
      "Установить на Linux": "Чтобы установить приложение на Linux, добавьте пакет через apt.",
      "Удалить на Windows": "Чтобы удалить приложение на Windows, откройте настройки.",
      "Удалить на Linux": "Чтобы удалить приложение на Linux, используйте apt.",
    },
  },
  tr: {
    title: "Kılavuz",
    sections: {
      "Windows kurulum": "Uygulamayı Windows üzerinde kurmak için kurulum dosyasını çalıştırın.",
      "Linux kurulum": "Uygulamayı Linux üzerinde kurmak için paketi apt ile ekleyin.",
      "Windows silme": "Uygulamayı Windows üzerinde silmek için ayarları açın.",
      "Linux silme": "Uygulamayı Linux üzerinde silmek için apt kullanın.",
    },
  },
};

/** Language, previous questions, the question, and the section that answers it. */
const DIALOGUES: readonly (readonly [string, readonly string[], string, string])[] = [
  ["en", ["How do I install the app on Windows?"], "And on Linux?", "Installing on Linux"],
  ["en", ["How do I remove the app on Windows?"], "and for macOS?", "Removing on macOS"],
  ["en", ["How do I install the app on Windows?", "And on Linux?"], "What about macOS?", "Installing on macOS"],
  ["en", ["How do I remove the app on Windows?", "thanks!"], "and linux", "Removing on Linux"],
  ["en", ["How do I install the app on Linux?"], "How do I remove it?", "Removing on Linux"],
  ["en", ["How much does the Basic plan cost?"], "What about the Pro plan?", "Price of the Pro plan"],
  ["en", ["Which support do I get in the Basic plan?"], "And in the Pro plan?", "Support in the Pro plan"],
  ["en", ["Which support do I get in the Pro plan?"], "How much does it cost?", "Price of the Pro plan"],
  ["en", ["When do private customers get a refund?"], "And companies?", "Refunds for companies"],
  ["en", ["How do I change my password?"], "And my mail address?", "Changing the mail address"],
  ["en", ["When are backups made?"], "Why?", "Why backups run at night"],
  ["en", ["When are backups made?"], "How long are they kept?", "Backups"],
  [
    "en",
    ["On which day of the month are invoices sent?"],
    "Can you give an example?",
    "The invoice for May, an example",
  ],
  ["de", ["Wie installiere ich die App unter Windows?"], "Und unter Linux?", "Installation unter Linux"],
  ["de", ["Wie entferne ich die App unter Windows?"], "Wie ist es mit Linux?", "Entfernen unter Linux"],
  ["de", ["Wie viel kostet der Tarif Basis?"], "Was ist mit dem Tarif Profi?", "Preis im Tarif Profi"],
  ["de", ["Wann läuft die Datensicherung?"], "Wie lange dauert das?", "Datensicherung"],
  ["de", ["Wie lange können Privatkunden Ware zurückgeben?"], "Und Firmen?", "Rückgabe durch Firmen"],
  ["fr", ["Comment installer l'application sous Windows ?"], "Et sous Linux ?", "Installer sous Linux"],
  ["fr", ["Comment supprimer l'application sous Windows ?"], "Et sous Linux ?", "Supprimer sous Linux"],
  ["fr", ["Comment marche un remboursement ?"], "Combien de temps ça dure ?", "Remboursement"],
  ["es", ["¿Cómo instalo la aplicación en Windows?"], "¿Y en Linux?", "Instalar en Linux"],
  ["es", ["¿Cómo elimino la aplicación en Windows?"], "¿Y en Linux?", "Eliminar en Linux"],
  ["es", ["¿Son gratuitas las devoluciones?"], "¿Cuánto tarda eso?", "Devoluciones"],
  ["it", ["Come installare l'applicazione su Windows?"], "E su Linux?", "Installare su Linux"],
  ["it", ["Come rimuovere l'applicazione su Windows?"], "E su Linux?", "Rimuovere su Linux"],
  ["pt", ["Como remover o aplicativo no Windows?"], "E no Linux?", "Remover no Linux"],
  ["nl", ["Hoe verwijder ik de app op Windows?"], "En op Linux?", "Verwijderen op Linux"],
  ["nl", ["Wanneer loopt een back-up?"], "Hoe lang duurt dat?", "Back-ups"],
  ["sv", ["Hur raderar jag appen på Windows?"], "Och på Linux?", "Radera på Linux"],
  ["ru", ["Как удалить приложение на Windows?"], "А на Linux?", "Удалить на Linux"],
  ["tr", ["Uygulamayı Windows üzerinde silmek için ne yapmalıyım?"], "Peki ya Linux?", "Linux silme"],
];

/** Questions that are complete by themselves, whatever was asked before. */
const NEW_TOPICS: readonly (readonly [string, string, string, string])[] = [
  ["en", "How do I install the app on Windows?", "When are backups made?", "Backups"],
  ["en", "When are backups made?", "How much does the Pro plan cost?", "Price of the Pro plan"],
  ["de", "Wie installiere ich die App unter Windows?", "Wie viel kostet der Tarif Profi?", "Preis im Tarif Profi"],
];

const AGENT: Agent = {
  id: "a",
  name: "assistant",
  description: "",
  instructions: "",
  model: null,
  kbIds: [],
  examples: [],
  reviewPolicy: "auto_if",
  autoThreshold: 0.5,
  fixedReply: null,
  assignment: "none",
  tools: [],
  enabled: true,
  version: 1,
};

let knowledge: TestKnowledge;
const agents = new Map<string, Agent>();

beforeAll(async () => {
  knowledge = await openTestKnowledge();
  const { store, project } = knowledge;
  for (const [language, { title, sections }] of Object.entries(HANDBOOKS)) {
    const text = [
      `# ${title}`,
      ...Object.entries(sections).flatMap((section) => [`## ${section[0]}`, section[1]]),
    ].join("\n\n");
    const { kb } = await ensureKb({ store }, project, `handbook-${language}`);
    await addDocument({ store, log: testLog() }, project, kb.id, { key: "handbook.md", text, mime: "text/markdown" });
    agents.set(language, { ...AGENT, kbIds: [kb.id] });
  }
});

afterAll(() => knowledge.close());

const ask = (language: string, text: string, history: HistoryMessage[]): Promise<Answer> =>
  answerQuestion({
    agent: agents.get(language) ?? AGENT,
    text,
    history,
    language,
    search: (query, kbIds, limit) =>
      searchKnowledge({ store: knowledge.store }, knowledge.project, { query, kbIds, limit }),
  });

/** Asks one question after the other, each with the previous conversation. */
async function talk(language: string, questions: readonly string[]): Promise<Answer | undefined> {
  const history: HistoryMessage[] = [];
  let answer: Answer | undefined;
  for (const text of questions) {
    answer = await ask(language, text, history);
    history.push({ author: "customer", text });
    if (answer.text !== null) history.push({ author: "agent", text: answer.text, sources: answer.sources });
  }
  return answer;
}

describe("a follow-up question", () => {
  test.each(DIALOGUES)("%s: after %j, %j is answered from %j", async (language, before, question, section) => {
    const answer = await talk(language, [...before, question]);
    expect(answer?.why).toContain(`› ${section}"`);
  });

  test("an answer without anything specific to the new question does not reach the threshold", async () => {
    const answer = await talk("en", ["How do I install the app on Windows?", "And on Solaris?"]);
    expect(answer?.confidence).toBeLessThan(0.5);
  });

  test("asking for more after everything was answered does not return another topic with certainty", async () => {
    const answer = await talk("en", ["How long are logs kept?", "Can you give an example?"]);
    expect(answer?.confidence).toBeLessThan(0.5);
  });

  test.each(NEW_TOPICS)("%s: after %j, %j is an independent question", async (language, before, question, section) => {
    const answer = await talk(language, [before, question]);
    expect(answer?.why).toContain(`› ${section}"`);
    expect(answer?.text).toEqual((await ask(language, question, [])).text);
  });
});
