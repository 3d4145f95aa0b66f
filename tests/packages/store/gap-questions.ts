/** Questions with the same meaning. */
export interface GapGroup {
  /** ISO 639-1. */
  language: string;
  questions: readonly string[];
}

/**
 * Customers' questions, grouped by meaning: shops, software and travel, in several languages and spellings, including
 * groups that share words but have different meanings.
 */
export const GAP_QUESTIONS: readonly GapGroup[] = [
  {
    language: "en",
    questions: [
      "Do you ship to Iceland?",
      "Is shipping to Iceland possible?",
      "Can you ship my order to Iceland?",
      "Do you guys ship things to Iceland??",
    ],
  },
  { language: "en", questions: ["Do you ship to Norway?", "Is it possible to have it shipped to Norway?"] },
  { language: "en", questions: ["How long does shipping take?", "How long will the shipping take please"] },
  {
    language: "en",
    questions: [
      "How do I reset my password?",
      "I need to reset the password of my account",
      "password reset",
      "Where can I reset my pasword?",
    ],
  },
  { language: "en", questions: ["How long must a password be?", "What length must a password have?"] },
  {
    language: "en",
    questions: ["Can I pay by invoice?", "Is it possible to pay with an invoice?", "Do you accept payment by invoice?"],
  },
  { language: "en", questions: ["Where do I find my invoice?", "Where can I find the invoice of my order?"] },
  { language: "en", questions: ["Can I pay with PayPal?", "Do you take paypal payments?", "paypal payment possible?"] },
  {
    language: "en",
    questions: ["Is there a student discount?", "Do students get a discount?", "Any discounts for students?"],
  },
  { language: "en", questions: ["Is there a discount for large orders?", "Do large orders get a discount?"] },
  {
    language: "en",
    questions: ["How do I cancel my subscription?", "I want to cancel the subscription", "cancelling subscription"],
  },
  { language: "en", questions: ["How do I pause my subscription?", "Can the subscription be paused?"] },
  {
    language: "en",
    questions: ["Does the K-1050 work with Windows 11?", "Will K1050 run on Windows 11?", "K-1050 windows 11"],
  },
  { language: "en", questions: ["Does the K-1050 work with Linux?", "K-1050 on linux?"] },
  { language: "en", questions: ["Does the K-2000 work with Windows 11?"] },
  { language: "en", questions: ["What does error E07 mean?", "The display shows error E07", "error e07 what now"] },
  { language: "en", questions: ["What does error E12 mean?", "E12 error on my machine"] },
  {
    language: "en",
    questions: [
      "Can I bring my dog to the hotel?",
      "Are dogs allowed in the hotel?",
      "Is my dog allowed at your hotel?",
    ],
  },
  { language: "en", questions: ["Is there parking at the hotel?", "Does the hotel have a parking lot?"] },
  { language: "en", questions: ["Is breakfast included?", "Is the breakfast included in the price?"] },
  { language: "en", questions: ["When do you open on Sunday?", "Are you open on Sundays?", "Opening hours Sunday?"] },
  { language: "en", questions: ["Where is your office?"] },
  { language: "en", questions: ["Do you have vegan menus?", "Is there a vegan menu?"] },
  {
    language: "en",
    questions: ["How do I export my data as CSV?", "Can I export the data to a csv file?", "csv data export"],
  },
  { language: "en", questions: ["How do I import my data from CSV?", "Can CSV data be imported?"] },
  {
    language: "en",
    questions: ["How do I delete my account?", "Please delete my account", "I want my account deleted"],
  },
  { language: "en", questions: ["How do I create an account?", "How can an account be created?"] },
  {
    language: "de",
    questions: [
      "Liefern Sie nach Island?",
      "Ist eine Lieferung nach Island möglich?",
      "Könnt ihr auch nach Island liefern?",
    ],
  },
  { language: "de", questions: ["Wie lange dauert die Lieferung?", "Lieferung wie lange dauert das?"] },
  {
    language: "de",
    questions: ["Wie kann ich mein Passwort ändern?", "Wo ändere ich das Passwort?", "Passwort ändern"],
  },
  { language: "de", questions: ["Gibt es einen Rabatt für Studenten?", "Bekommen Studenten Rabatt?"] },
  { language: "de", questions: ["Kann ich auf Rechnung zahlen?", "Ist die Zahlung auf Rechnung möglich?"] },
  {
    language: "fr",
    questions: [
      "Livrez-vous en Islande ?",
      "Est-ce que vous livrez en Islande ?",
      "La livraison en Islande est-elle possible ?",
    ],
  },
  { language: "fr", questions: ["Comment annuler mon abonnement ?", "Je veux annuler l'abonnement"] },
  { language: "fr", questions: ["Où est ma facture ?", "Je ne trouve pas ma facture"] },
  {
    language: "es",
    questions: ["¿Hacen envíos a Islandia?", "¿Envían a Islandia?", "¿Es posible el envío a Islandia?"],
  },
  { language: "es", questions: ["¿Cómo cancelo mi suscripción?", "Quiero cancelar la suscripción"] },
  { language: "it", questions: ["Spedite in Islanda?", "È possibile la spedizione in Islanda?"] },
  { language: "ru", questions: ["Как сменить пароль?", "Где можно сменить пароль?"] },
  { language: "ru", questions: ["Есть ли скидки для студентов?", "Скидка студентам есть?"] },
  { language: "tr", questions: ["İzlanda'ya gönderim yapıyor musunuz?", "İzlanda'ya gönderim var mı?"] },
  { language: "ja", questions: ["アイスランドに配送できますか？", "アイスランドへの配送は可能ですか？"] },
];

/** Like `GAP_QUESTIONS`, written after the threshold was chosen with those. */
export const LATER_GAP_QUESTIONS: readonly GapGroup[] = [
  {
    language: "en",
    questions: [
      "How do I change my delivery address?",
      "Can I change the address for delivery?",
      "I moved, how can I change the delivery address",
    ],
  },
  { language: "en", questions: ["How do I change my email address?", "Where can I update my e-mail address?"] },
  { language: "en", questions: ["Where is my parcel?", "My parcel has not arrived", "parcel not arrived yet"] },
  { language: "en", questions: ["Can I return shoes that I have worn?", "Do you take back worn shoes?"] },
  { language: "en", questions: ["How long is the warranty?", "How many years of warranty do I have?"] },
  { language: "en", questions: ["Is there an app for Android?", "Do you have an Android app?", "android app?"] },
  { language: "en", questions: ["Is there an app for iPhone?", "Do you have an app for the iPhone?"] },
  { language: "en", questions: ["Can two people use one licence?", "Can I share a licence with two people?"] },
  { language: "en", questions: ["Which file formats can I upload?", "What file formats may be uploaded?"] },
  { language: "en", questions: ["How large may an upload be?", "What is the maximum upload size?"] },
  { language: "en", questions: ["Do you offer gift cards?", "Can I buy a gift card?", "gift cards available?"] },
  { language: "en", questions: ["Is the cable included with the X200?", "Does the X200 come with a cable?"] },
  { language: "en", questions: ["Is the cable included with the X300?"] },
  { language: "en", questions: ["Can I check in after midnight?", "Is check-in possible after midnight?"] },
  { language: "en", questions: ["When is check-out?", "Until when do I have to check out?"] },
  { language: "de", questions: ["Wo ist mein Paket?", "Mein Paket ist nicht angekommen", "Paket nicht angekommen"] },
  { language: "de", questions: ["Wie kündige ich mein Abo?", "Ich möchte mein Abo kündigen", "Abo kündigen"] },
  { language: "de", questions: ["Wie lange gilt die Garantie?", "Wie lange habe ich Garantie?"] },
  { language: "de", questions: ["Kann ich die Lieferadresse ändern?", "Lieferadresse ändern möglich?"] },
  { language: "fr", questions: ["Où est mon colis ?", "Mon colis n'est pas arrivé"] },
  {
    language: "fr",
    questions: ["Comment changer mon adresse de livraison ?", "Puis-je modifier l'adresse de livraison ?"],
  },
  { language: "es", questions: ["¿Dónde está mi paquete?", "Mi paquete no ha llegado"] },
  {
    language: "es",
    questions: ["¿Puedo pagar con tarjeta?", "¿Aceptan pago con tarjeta?", "¿Se puede pagar con tarjeta?"],
  },
  { language: "pt", questions: ["Como cancelo a assinatura?", "Quero cancelar minha assinatura"] },
];
