import { describe, expect, test } from "@jest/globals";
import { summarizeNotes } from "./summarize-notes.ts";

const cleaned = async (notes: string, locale: string) => (await summarizeNotes({ notes, locale })).cleanedText;

describe("dictated notes in the languages that people speak", () => {
  test.each([
    ["en", "the meeting is at ten no eleven", "The meeting is at eleven."],
    ["en", "call the customer tomorrow, scratch that, call him today", "Call him today."],
    ["en", "the printer is, like, broken", "The printer is broken."],
    ["en", "the the the lamp is broken", "The lamp is broken."],
    ["de", "ähm der der Drucker ist kaputt", "Der Drucker ist kaputt."],
    ["de", "das Treffen ist am Montag, nein, am Dienstag", "Das Treffen ist am Dienstag."],
    ["de", "er kommt um zehn, Entschuldigung, um elf", "Er kommt um elf."],
    ["fr", "euh la la réunion est lundi, non, mardi", "La réunion est mardi."],
    [
      "fr",
      "l'imprimante du deuxième, euh non, du troisième étage est en panne",
      "L'imprimante du troisième étage est en panne.",
    ],
    ["es", "eh la la impresora no funciona", "La impresora no funciona."],
    ["es", "necesitamos cinco, perdón, seis sillas", "Necesitamos seis sillas."],
    ["it", "ehm servono cinque, anzi, sei sedie", "Servono sei sedie."],
    ["it", "mandalo ad Anna, volevo dire a Maria", "Mandalo a Maria."],
    ["pt", "a reunião é na segunda, não, na terça", "A reunião é na terça."],
    ["nl", "eh de de vergadering is op maandag, nee, op dinsdag", "De vergadering is op dinsdag."],
    ["pl", "yyy drukarka na na drugim piętrze nie działa", "Drukarka na drugim piętrze nie działa."],
    ["pl", "wyślij to do Anny, to znaczy do Marii", "Wyślij to do Marii."],
    ["ru", "эм встреча в понедельник, нет, во вторник", "Встреча во вторник."],
    ["ru", "нам нужно пять, извините, шесть стульев", "Нам нужно шесть стульев."],
    ["uk", "ем зустріч у понеділок, ні, у вівторок", "Зустріч у вівторок."],
    ["tr", "ııı beş, pardon, altı sandalye lazım", "Altı sandalye lazım."],
    ["tr", "ısıtma çalışmıyor", "Isıtma çalışmıyor."],
    ["zh", "嗯，打印机坏了。客户要求退款。", "打印机坏了。客户要求退款。"],
    ["ja", "えーと、プリンターが壊れています。", "プリンターが壊れています。"],
    ["ar", "اممم، الطابعة معطلة.", "الطابعة معطلة."],
  ])("in %s, %j is meant as %j", async (locale, notes, meant) => {
    expect(await cleaned(notes, locale)).toBe(meant);
  });

  test.each([
    ["en", "We have no printer and no paper."],
    ["en", "It was very very slow."],
    ["de", "Es gibt kein Wasser und nein, das ist nicht gut."],
    ["fr", "Nous nous voyons demain."],
    ["es", "No hay agua y no hay luz."],
    ["es", "Ven el lunes, no el martes."],
    ["pt", "O problema é este cliente."],
    ["pl", "Nie ma wody i nie ma prądu."],
    ["pl", "Przyjdź w poniedziałek, nie we wtorek."],
    ["ru", "Воды нет и света нет."],
    ["tr", "Su yok, elektrik de yok."],
    ["sv", "Skrivaren på tredje våningen är trasig."],
    ["he", "המדפסת בקומה השנייה לא עובדת."],
    ["th", "เครื่องพิมพ์เสีย"],
  ])("in %s, %j has no slip and stays as it is", async (locale, notes) => {
    expect(await cleaned(notes, locale)).toBe(notes);
  });

  test.each([
    ["en", "The lift is broken. Lunch was good. The roof leaks."],
    ["de", "Der Aufzug ist kaputt. Das Essen war gut. Die Heizung funktioniert nicht."],
    ["fr", "L'ascenseur est en panne. Le repas était bon. Le client demande un remboursement."],
    ["es", "El ascensor no funciona. La comida estuvo buena. El cliente quiere un reembolso."],
    ["it", "L'ascensore non funziona. Il pranzo era buono. Il cliente vuole un rimborso."],
    ["pt", "O elevador não funciona. O almoço estava bom. O cliente quer um reembolso."],
    ["nl", "De lift is kapot. De lunch was lekker. De klant wil zijn geld terug."],
    ["pl", "Winda nie działa. Obiad był dobry. Klient chce zwrotu pieniędzy."],
    ["ru", "Лифт не работает. Обед был вкусный. Клиент просит вернуть деньги."],
    ["uk", "Ліфт не працює. Обід був смачний. Клієнт просить повернути гроші."],
    ["tr", "Asansör bozuldu. Yemek güzeldi. Müşteri iade istiyor."],
    ["zh", "电梯坏了。午饭很好吃。客户要求退款。"],
    ["ja", "エレベーターが動かない。昼食はおいしかった。お客様が返金を希望、対応をお願いします。"],
    ["ar", "المصعد معطل. كان الغداء لذيذا. العميل يطلب استرداد المبلغ."],
  ])("in %s, %j tells of two issues, quoted where they stand", async (locale, notes) => {
    const { issues } = await summarizeNotes({ notes, locale });
    const [first = "", , third = ""] = notes.split(/(?<=[.。])\s*/u);
    expect(issues.map(({ quotes }) => quotes.map(({ start, end }) => notes.slice(start, end)))).toEqual([
      [first],
      [third],
    ]);
  });

  test.each([
    [
      "en",
      "the printer on the second floor has a paper jam again and nothing comes out when people print",
      "also one customer of the shop was charged twice and he wants a refund by Friday",
    ],
    [
      "de",
      "der Drucker im zweiten Stock hat schon wieder einen Papierstau und es kommt nichts heraus wenn jemand druckt",
      "außerdem möchte ein Kunde aus dem Laden eine neue Rechnung bis Freitag und einen Anruf",
    ],
    [
      "ru",
      "принтер на втором этаже опять не работает и ничего не выходит когда люди печатают в нашем большом офисе",
      "кроме того один клиент из магазина просит вернуть деньги до пятницы и хочет получить звонок от нас",
    ],
  ])("in %s, run-on speech is cut where the next thing begins", async (locale, first, second) => {
    const notes = `${first} ${second}`;
    const { issues } = await summarizeNotes({ notes, locale });
    expect(issues.map(({ quotes }) => quotes.map(({ start, end }) => notes.slice(start, end)))).toEqual([
      [first],
      [second],
    ]);
  });

  test("each part of mixed notes is read in its own language", async () => {
    const notes =
      "The printer on the second floor is jammed again.\nÄhm die die Heizung im Raum zwölf, nein, Moment, im Raum dreizehn funktioniert nicht.";
    const { cleanedText, issues } = await summarizeNotes({ notes });
    expect(cleanedText).toBe(
      "The printer on the second floor is jammed again.\nDie Heizung im Raum dreizehn funktioniert nicht.",
    );
    expect(issues).toHaveLength(2);
  });
});
