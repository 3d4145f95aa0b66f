import { describe, expect, test } from "@jest/globals";
import { promisesPerson, sendsAnswer } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { TEST_AGENT } from "../../../tests/packages/agents/scripted-model.ts";
import { talkByLanguage } from "./talk/read-talk.ts";

const PROMISE = "A colleague will call you tomorrow.";
const ANSWER: Answer = { text: "At night.", markdown: true, sources: [], confidence: 0.9, why: "It is known." };
const auto = { ...TEST_AGENT, reviewPolicy: "auto" } as const;
const autoIf = { ...TEST_AGENT, reviewPolicy: "auto_if", autoThreshold: 0.5 } as const;
const review = { ...TEST_AGENT, reviewPolicy: "review" } as const;

test.each([
  ["goes out", auto, ANSWER, { sends: true }],
  ["goes out when it is sure enough", autoIf, ANSWER, { sends: true }],
  ["is held when it is not", autoIf, { ...ANSWER, confidence: 0.4 }, { sends: false }],
  ["is held for a review", review, ANSWER, { sends: false }],
  ["without a text is held", auto, { ...ANSWER, text: null }, { sends: false }],
  ["that needs a person is held", auto, { ...ANSWER, needsPerson: true as const }, { sends: false }],
  [
    "that a person must see is held",
    auto,
    { ...ANSWER, model: { usage: null, fallback: null, mustReview: true as const } },
    { sends: false },
  ],
  ["that promises a person is held", autoIf, { ...ANSWER, text: PROMISE }, { sends: false }],
  [
    "that goes out whatever it says leaves its promise to a person",
    auto,
    { ...ANSWER, text: PROMISE },
    { sends: true, needsPerson: true },
  ],
  [
    "of a fixed text leaves its promise to a person",
    { ...autoIf, fixedReply: PROMISE },
    { ...ANSWER, text: PROMISE },
    { sends: true, needsPerson: true },
  ],
  [
    "of a fixed text goes out to who asks for a person, and one has to look",
    { ...auto, fixedReply: "Thanks." },
    { ...ANSWER, text: "Thanks.", needsPerson: true as const },
    { sends: true, needsPerson: true },
  ],
  [
    "of a fixed text is held for a review as any",
    { ...review, fixedReply: PROMISE },
    { ...ANSWER, text: PROMISE },
    { sends: false },
  ],
])("an answer %s", (_what, agent, answer, expected) => {
  const { why, ...choice } = sendsAnswer(agent, answer);
  expect(choice).toEqual(expected);
  expect(why).not.toBe("");
});

test("the reason of a held answer does not round its confidence up to the threshold", () => {
  const { why } = sendsAnswer({ ...autoIf, autoThreshold: 0.9 }, { ...ANSWER, confidence: 0.896 });
  expect(why).toBe("confidence 89% (threshold 90%); It is known.");
});

describe("promisesPerson", () => {
  test.each([
    "A colleague will look at it and call you back tomorrow.",
    "Thanks! Our support team will get back to you within a day.",
    "I'll forward this to a colleague.",
    "We will contact you soon.",
    "I am connecting you with an agent now.",
    "You'll hear from us by Friday.",
    "Someone from our team is going to reach out to you.",
    "Our technician will contact you to schedule the installation.",
    "A teammate will follow up.",
    "Please hold while I transfer you.",
    "I'm escalating this.",
    "We are looking into it.",
    "I'll ask a colleague and let you know.",
    "Your request has been forwarded to our support team.",
    "Das wird ein Kollege prüfen.",
    "Ein Kollege wird sich das ansehen und Sie anrufen.",
    "Wir melden uns bei Ihnen.",
    "Ich leite Ihre Anfrage an einen Kollegen weiter.",
    "Unser Team kümmert sich darum.",
    "Un collègue va vous contacter demain.",
    "Nous vous rappellerons dans la journée.",
    "Un compañero se pondrá en contacto con usted.",
    "Le llamaremos mañana.",
    "Un nostro collega la contatterà domani.",
    "Un operatore le risponderà al più presto.",
    "Um atendente vai entrar em contato com você.",
    "Een collega neemt contact met u op.",
    "Ons team zal u morgen terugbellen.",
    "En kollega kommer att höra av sig till dig.",
    "En kollega vender tilbage til dig i morgen.",
    "Vi tar kontakt med deg i morgen, en kollega ringer deg.",
    "Kollegamme ottaa sinuun yhteyttä huomenna.",
    "Наш специалист свяжется с вами завтра.",
    "Вам перезвонят в течение часа.",
    "Наш фахівець зв'яжеться з вами завтра.",
    "Nasz konsultant skontaktuje się z Panem jutro.",
    "Kolega se vám ozve zítra.",
    "Un coleg vă va contacta mâine.",
    "Egy kollégánk felveszi Önnel a kapcsolatot.",
    "Bir temsilcimiz sizinle iletişime geçecek.",
    "Ένας συνάδελφος θα επικοινωνήσει μαζί σας.",
    "Tim kami akan segera menghubungi Anda.",
    "Nhân viên của chúng tôi sẽ liên hệ với bạn.",
    "سيتواصل معك أحد زملائنا غدا.",
    "נציג יחזור אליך מחר.",
    "همکاران ما با شما تماس خواهند گرفت.",
    "हमारी टीम आपसे संपर्क करेगी।",
    "担当者よりご連絡いたします。",
    "客服人员会尽快联系您。",
    "상담원이 곧 연락드리겠습니다.",
    "เจ้าหน้าที่จะติดต่อกลับค่ะ",
  ])("%p promises a person", (text) => {
    expect(promisesPerson(text)).toBe(true);
  });

  test.each([
    "Our support team is available on weekdays.",
    "Our support team is available on weekdays from 9 to 5, by phone and e-mail.",
    "You can contact our team at any time.",
    "Your request has not been forwarded to our support team.",
    "It is forwarded to your inbox, and was passed to the next step.",
    "Our employees will never call you and ask for your password.",
    "If you fill in the form, a colleague will call you.",
    "Once you have sent the device back, our team will contact you.",
    "Will a colleague contact me?",
    "We will email you a link to reset your password.",
    "The agent will be installed with the next update.",
    "This is always the draft.",
    "A person will need an account.",
    "Backups run at night. They are kept for a month.",
    "Unser Kundendienst ist werktags erreichbar.",
    "Wenn Sie das Formular ausfüllen, wird sich ein Kollege bei Ihnen melden.",
    "Sie können uns jederzeit anrufen.",
    "Notre équipe est disponible du lundi au vendredi.",
    "Nuestro equipo está disponible de lunes a viernes.",
    "Onze klantenservice is bereikbaar op werkdagen.",
    "Наша поддержка работает по будням.",
    "カスタマーサポートは平日にご利用いただけます。",
    "客服工作时间为工作日。",
    "",
  ])("%p promises none", (text) => {
    expect(promisesPerson(text)).toBe(false);
  });

  test("nothing that is replied to small talk promises a person", () => {
    const said = [...talkByLanguage().values()].flatMap(({ replies }) =>
      Object.entries(replies).flatMap(([name, text]) =>
        ["added", "handoff", "bot", "abilities"].includes(name) ? [] : [text],
      ),
    );
    expect(said.filter(promisesPerson)).toEqual([]);
  });
});
