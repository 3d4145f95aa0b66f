/** What people say who think, or who correct what they have just said; phrases are divided by commas. */
export interface RepairWords {
  /** Sounds, which mean nothing. */
  pauses: string;
  /** Phrases that take something back. */
  edits: string;
  /** Words that stand before such a phrase. */
  links: string;
  /** Phrases that stand behind it, and are no part of what is put right. */
  tails?: string;
  /** Phrases that mean nothing where the writing sets them off on both sides. */
  fillers: string;
  /** The one of `edits` that also says "not". */
  not?: string;
}

/** By language (ISO 639-1). */
export const REPAIR_WORDS: Readonly<Record<string, RepairWords>> = {
  en: {
    pauses: "er,err,erm,uh,uhm,um,umm,ummm,eh,hmm",
    edits:
      "no,nope,sorry,wait,oops,wow,actually,rather,instead,alternatively,correction,better,better yet,make that,make it,scratch that,scratch this,i mean,i meant,i meant to say,i mean to say,mean,meant,i should say,i'm sorry,excuse me,pardon me,let me rephrase,hold on,hang on,just kidding,never mind,forget that,not that,not this,or maybe",
    links: "or,oh,ah,well,not,just,ok,okay",
    tails:
      "i want to know,let me ask,tell me,how about,that should be,that was supposed to be,it should be,it was,it is,that is,just,not,say,what i mean is",
    fillers: "you know,like,you see,well,basically,what's it called,what do you call it",
  },
  de: {
    pauses: "äh,ähm,öh,ähem,hm,hmm",
    edits:
      "nein,nee,quatsch,falsch,sorry,entschuldigung,pardon,moment,warte,halt,besser gesagt,beziehungsweise,ich meine,ich meinte,vielmehr,korrektur,streich das,vergiss das",
    links: "oder,ach,also,ich",
    tails: "sagen wir",
    fillers: "tja,na ja,naja,sozusagen,halt,weißt du,wissen sie,sagen wir mal,wie heißt das,wie heißt es",
  },
  fr: {
    pauses: "euh,heu,hum",
    edits: "non,pardon,désolé,désolée,attends,attendez,plutôt,ou plutôt,je veux dire,je voulais dire,enfin,correction",
    links: "ou,ah,oh",
    fillers: "ben,bah,bon,du coup,tu vois,vous voyez,quoi,en fait",
  },
  es: {
    pauses: "eh,em,ehm",
    edits: "no,perdón,perdona,espera,mejor dicho,quiero decir,quise decir,o sea,digo,corrección",
    links: "o,ah",
    fillers: "bueno,pues,este,sabes,o sea,vamos,cómo se llama",
    not: "no",
  },
  it: {
    pauses: "ehm,eh,mmm",
    edits: "no,scusa,scusi,aspetta,anzi,o meglio,voglio dire,volevo dire,cioè,correzione",
    links: "o,ah",
    fillers: "allora,insomma,diciamo,tipo,sai,beh",
  },
  pt: {
    pauses: "hum,ahn,hã",
    edits: "não,desculpa,desculpe,espera,melhor dizendo,quero dizer,quis dizer,ou melhor,aliás,correção",
    links: "ou,ah",
    fillers: "tipo,né,bom,sabe,pois",
    not: "não",
  },
  nl: {
    pauses: "eh,uh,ehm,uhm",
    edits: "nee,sorry,wacht,of liever,ik bedoel,ik bedoelde,beter gezegd,correctie,vergeet dat",
    links: "of,oh",
    fillers: "nou,nou ja,zeg maar,weet je,tja",
  },
  pl: {
    pauses: "yyy,eee,yyyy,eeee,hmm,ehm",
    edits:
      "nie,przepraszam,sorry,czekaj,chwila,to znaczy,znaczy,chciałem powiedzieć,chciałam powiedzieć,a raczej,raczej,poprawka",
    links: "o,oj,ach",
    fillers: "no,wiesz,no wiesz,jakby,tak jakby,w sumie",
    not: "nie",
  },
  ru: {
    pauses: "э,ээ,эээ,эм,эмм,хм,ммм",
    edits:
      "нет,извините,извини,простите,ой,стоп,погоди,погодите,вернее,точнее,то есть,я имею в виду,я имел в виду,я имела в виду,хотел сказать,хотела сказать,поправка",
    links: "ой,ах,или,а",
    fillers: "ну,вот,типа,как бы,короче,значит,так сказать,в общем",
  },
  uk: {
    pauses: "е,ее,еее,ем,емм,хм,ммм",
    edits:
      "ні,вибачте,вибач,перепрошую,ой,стоп,чекай,чекайте,точніше,вірніше,тобто,я маю на увазі,я мав на увазі,я мала на увазі,хотів сказати,хотіла сказати,поправка",
    links: "ой,ах,або,а",
    fillers: "ну,от,типу,як би,коротше,значить,так би мовити",
  },
  tr: {
    pauses: "ııı,eee,hmm,ıhh,ıı",
    edits:
      "hayır,yok,pardon,özür dilerim,affedersiniz,dur,bekle,daha doğrusu,demek istedim,demek istediğim,yani,düzeltme",
    links: "ya da,ah,ay",
    fillers: "şey,yani,işte,hani,falan",
  },
  zh: { pauses: "嗯,呃,额,嗯嗯", edits: "不对,不是,抱歉,对不起", links: "啊", fillers: "那个,就是,这个" },
  ja: {
    pauses: "えー,えーと,えっと,ええと,あのー,うーん",
    edits: "いや,すみません,失礼",
    links: "あ",
    fillers: "あの,まあ,その",
  },
  ar: { pauses: "اممم,آآ", edits: "لا,عفوا,آسف,أقصد,أعني,بل", links: "أو", fillers: "يعني,طيب", not: "لا" },
};
