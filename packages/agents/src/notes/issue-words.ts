/** How badly an issue hurts; the same words as a ticket's priority. */
export type IssueSeverity = "low" | "normal" | "high" | "urgent";

/** Beginnings of words, divided by commas, as one expression. A full stop at the end of one: the whole word. */
const anyOf = (words: string, flags = "iu") =>
  new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${words
      .trim()
      .split(/\s*,\s*/)
      .map((word) => (word.endsWith(".") ? `${word.slice(0, -1)}(?![\\p{L}\\p{N}])` : word))
      .join("|")})`,
    flags,
  );

/**
 * By language (ISO 639-1): beginnings of words that tell of something which is not as it should be, or is to be done. What
 * is a plain word of another language stands in its own alone.
 */
const ISSUES: Readonly<Record<string, RegExp>> = {
  en: anyOf(`not work,n't work,no way,unable,annoy,typo,unhappy,not happy,(?:is|are|was|were|went|goes) down,down in,down on,
    gone.,out of(?! the),would like,rather have,doesn't,does not,don't,didn't,can't,cannot,can not,could not,couldn't,won't,
    broke,broken,bug.,bugs.,error,fail,fault,crash,freez,hangs.,hung.,stuck,jammed,jamming,paper jam,leak,drip,squeak,rattl,
    smells.,slow.,slower,slowly,delay,late.,missing,lost.,wrong,incorrect,invalid,problem,issue,complain,angry,refund,
    replace,repair,fix.,fixed.,fixing,defect,damag,dead.,empty.,flicker,noisy,dirty,outdated,expired,overheat,
    keeps? (?:dropping|crashing|freezing|failing|stopping|losing|asking|showing),charged (?:\\S+ )?(?:twice|three times|again),
    need,must.,should,want,wish,ask(?:s|ed)? for,request,please,todo(?=\\s*:),to-do,follow up,remind,call back,order (?:\\S+ )?(?:new|more|another|toner),
    no access,no answer,no power,no signal,nice to have,flood,burst,on fire,caught fire,emergency,immediately,asap.`),
  de: anyOf(`kaputt,defekt,fehl,funktioniert nicht,funktionieren nicht,geht nicht,gehen nicht,klappt nicht,lässt sich nicht,kann nicht,
    können nicht,langsam,verspät,beschwer,problem,störung,stört,abgestürzt,stürzt,tropf,flacker,quietsch,klemmt,klemmen,undicht,
    leckt.,stinkt,braucht,brauchen,benötig,muss.,müssen,soll.,sollte,sollen,bitte,möchte,will.,wollen.,wünsch,reparier,ersetz,austausch,
    rückerstatt,erstatt,beschädigt,verloren,falsch,leer.,ausgefallen,bestellen,dringend,sofort,notfall,brennt,papierstau,kommt nichts,tut nicht,spinnt.,rohrbruch`),
  fr: anyOf(`panne,plant(?:e|é)(?!\\p{L}),ne marche p,ne marchent p,ne fonctionne,erreur,bloqu,lent.,lente.,lents.,retard,plainte,
    se plaint,problème,manqu,cassé,il faut,doit.,doivent,voudrait,veut.,veulent,besoin,rembours,répar,remplac,fuit.,fuite,coulent,
    en double,perdu,commander,bourrage`),
  es: anyOf(`no funciona,no anda.,averi,roto.,rota.,rotos.,rotas.,fallo,falla,error,lento,lenta,retraso,queja,problema,falta,necesita,
    debe.,deben.,hay que,quiere,por favor,reembols,repar,atasc,bloquead,perdid,gotea,cobraron`),
  it: anyOf(`non funziona,non va.,guast,rotto,rotta,rotti,rotte,errore,lento,lenta,ritardo,reclam,problema,manca,serve.,servono,deve.,
    devono,bisogna,vuole,vogliono,rimbors,ripar,bloccat,perde.,gocciola,inceppat`),
  pt: anyOf(`não funciona,quebrad,erro.,erros.,lento,lenta,atras,reclama,problema,falta,precisa,deve.,devem.,quer.,querem.,reembols,
    consert,travad,vazando,pingando`),
  nl: anyOf(`werkt niet,werken niet,kapot,storing,fout,traag,vertraging,klacht,klaagt,probleem,ontbreekt,moet.,moeten.,graag,wil.,willen.,
    terugbeta,vervang,lekt.,vastgelopen,nodig`),
  pl: anyOf(`nie działa,nie działają,nie da się,nie można,nie mog,nie otwier,zepsut,zepsuł,awari,usterk,błąd,błęd,błed,wolno.,
    opóźni,spóźni,skarg,skarży,problem,brakuje,trzeba,musi.,muszą,powinien,powinna,powinno,proszę,chce.,chcą,chciał,potrzebuj,
    zwrot,napraw,wymien,zaciął,zacina,cieknie,przeciek,zgubi,podwójnie,uszkodz,pust,zamówić`),
  ru: anyOf(`не работа,не откры,не включ,не печат,не могу,не может,не могут,нельзя,сломал,сломан,поломк,неисправ,ошибк,сбой,завис,
    медленно,тормоз,опозда,задерж,жалоб,жалует,проблем,не хватает,отсутств,нужно,нужен,нужна,нужны,надо.,должен,должна,должны,
    пожалуйста,хочет,хотят,хотел,просит,просят,верн(?:уть|ите),возврат,почин,ремонт,замен,застря,протека,течёт,течет,потерял,дважды,повреж,закончил,заказать`),
  uk: anyOf(`не працю,не відкри,не вмика,не друку,не можу,не може,не можуть,не можна,зламал,зламан,поломк,несправ,помилк,збій,завис,
    повільно,гальму,запізн,затрим,скарг,скарж,проблем,не вистача,бракує,відсутн,потрібно,потрібен,потрібна,потрібні,треба.,повинен,
    повинна,повинні,будь ласка,хоче,хотів,просить,просять,поверн(?:ути|іть|ення),полагод,ремонт,замін,застряг,протіка,тече.,загуб,двічі,пошкод,закінчив,замовити`),
  tr: anyOf(`çalışmıyor,açılmıyor,olmuyor,yapılamıyor,yapamıyor,bozuk,bozul,arıza,hata.,hatası,yavaş,gecik,şikayet,şikâyet,sorun,eksik,
    gerek,lazım,lütfen,istiyor,istedi,ihtiya,iade,onar,tamir,değiştir,sıkış,kilitlen,sızıntı,sızdır,kayıp,kaybol,iki kez,hasar,kırık,kırıl,boş.,bitti,sipariş`),
};

/** In scripts of their own, which no other language is mistaken for, with or without spaces between words. */
const IN_OTHER_SCRIPTS = new RegExp(
  [
    "坏了|壞了|故障|错误|錯誤|无法|無法|不能|不工作|不了|需要|请|請|投诉|投訴|退款|漏水|太慢|很慢|问题|問題|卡住|卡纸|丢失|维修|維修",
    "壊れ|故障|エラー|できない|できません|動かない|動きません|つかない|開かない|必要|遅い|遅れ|問題|返金|ほしい|欲しい|ください|漏れ|交換|修理|詰ま|お願い",
    "고장|오류|안 됩|안 돼|되지 않|않습니다|문제|필요|환불|느리|느려|부탁|수리|교체|누수|불만",
    "لا ي?عمل|لا تعمل|معطل|عطل|خطأ|مشكل|يحتاج|نحتاج|تحتاج|يجب|استرداد|من فضلك|بطيء|مكسور|تالف|شكوى|إصلاح|تسرب",
    "کار نمی|خراب|مشکل|لطفا|باید|نیاز|בעיה|תקלה|לא עובד|מקולקל|צריך|בבקשה|החזר|דולף",
    "ไม่ทำงาน|เสีย|ปัญหา|ต้องการ|กรุณา|คืนเงิน|ช้า|काम नहीं|खराब|समस्या|चाहिए|कृपया|ज़रूरत",
  ].join("|"),
  "u",
);

/** Words that say so in any language, since they are borrowed everywhere. */
const ANYWHERE = anyOf("urgent.,bug.,bugs.,error.,todo(?=\\s*:)");

const SEVERITIES: readonly [IssueSeverity, RegExp][] = [
  [
    "urgent",
    anyOf(`urgent,emergency,immediately,right now,asap,as soon as possible,critical,outage,down for,nobody can,no one can,
      danger,safety,on fire,caught fire,flood,data loss,security,dringend,sofort,notfall,kritisch,ausfall,gefahr,brennt,urgence,
      immédiatement,urgente,emergencia,emergenza,inmediat,subito,urgência,spoed,onmiddellijk,piln,natychmiast,
      срочно,немедленно,авари,терміново,негайно,acil,hemen`),
  ],
  [
    "high",
    anyOf(`crash,outage,can't,cannot,can not,unable,not work,n't work,does not work,broken,lost,refund,angry,very unhappy,
      important,deadline,today,tomorrow,again and again,third time,second time,leak,twice.,three times,everybody,everyone,
      kaputt,defekt,geht nicht,gehen nicht,funktioniert nicht,funktionieren nicht,wichtig,heute,morgen,verloren,stürzt,
      en panne,ne marche p,ne fonctionne p,aujourd'hui,demain,cassé,
      no funciona,importante,hoy.,mañana,roto.,rota.,non funziona,oggi,domani,rotto,não funciona,hoje,amanhã,werkt niet,kapot,
      vandaag,belangrijk,zepsut,nie działa,dzisiaj,dziś,jutro,ważne,не работает,сломан,сегодня,завтра,важно,не працює,зламан,
      сьогодні,bozuk,bozuldu,çalışmıyor,bugün,yarın,önemli`),
  ],
  [
    "low",
    anyOf(`nice to have,minor,cosmetic,typo,small thing,when there is time,some time,someday,not urgent,no hurry,low priority,
      kleinigkeit,nicht dringend,nicht eilig,eilt nicht,irgendwann,schönheitsfehler,pas urgent,mineur,quand possible,no urgente,
      no es urgente,non urgente,non è urgente,quando possibile,não urgente,não é urgente,niet dringend,niepiln,nie jest piln,nie piln,не срочно,несрочно,не терміново,acil değil`),
  ],
];

/** What says that something is as it should be. */
const NO_ISSUE = anyOf(
  `no complaint,no problem,no issue,no error,no fault,no delay,without problem,without error,not a problem,
  works fine,works well,works again,is fixed,was fixed,got fixed,keine probleme,kein problem,keine beschwerden,ohne probleme,
  funktioniert wieder,geht wieder,pas de problème,aucun problème,sans problème,sin problema,ningún problema,nessun problema,
  senza problemi,sem problemas,nenhum problema,geen probleem,geen klachten,bez problemu,nie ma problemu,żadnych problemów,
  без проблем,нет проблем,немає проблем,sorun yok,sorunsuz`,
  "giu",
);

/**
 * Whether a sentence in one of some languages (ISO 639-1) tells of something that is not as it should be, or that is to be
 * done. Of a language without words here, it is read in English.
 */
export function tellsIssue(text: string, ...languages: readonly string[]): boolean {
  const said = text.replace(NO_ISSUE, " ");
  const own = languages.map((language) => ISSUES[language] ?? ISSUES["en"]);
  return (
    own.some((words) => words?.test(said) === true) ||
    ANYWHERE.test(said) ||
    IN_OTHER_SCRIPTS.test(said) ||
    isRatedLow(said)
  );
}

/** Who says how little something hurts, tells of something that does. */
const isRatedLow = (text: string) => SEVERITIES.some(([severity, words]) => severity === "low" && words.test(text));

const URGENT_IN_OTHER_SCRIPTS = /紧急|緊急|立即|马上|至急|今すぐ|긴급|عاجل|فور|דחוף|ด่วน|तुरंत/u;

/** How badly it hurts, by its words: of "not urgent" and "urgent" in one text, only the latter counts. */
export function severityOf(text: string): IssueSeverity {
  const rest = SEVERITIES.reduce(
    (left, [severity, words]) => (severity === "low" ? left.replaceAll(new RegExp(words, "giu"), " ") : left),
    text,
  );
  const isUrgent =
    URGENT_IN_OTHER_SCRIPTS.test(rest) ||
    SEVERITIES.some(([severity, words]) => severity === "urgent" && words.test(rest));
  if (isUrgent) return "urgent";
  if (isRatedLow(text)) return "low";
  return SEVERITIES.find(([, words]) => words.test(text))?.[0] ?? "normal";
}
