/**
 * Words that decide what a statement says, by language (ISO 639-1) and by what they mean: phrases of words in lower
 * case, separated by commas; one that ends with "*" stands for all words that begin with it.
 *
 * - `not`: denies. `flips`: says the opposite of the word behind the colon ("closed:open").
 * - `free`: costs nothing. `only`, `except`: restrict. `if`, `unless`: begin a condition. `even`: takes one away.
 * - `all`: without exception. `less`: up to a number or a time. `more`: from a number or a time on.
 * - `we`, `you`: who acts. `pay`: bears costs. `ask`: what a text asks its reader to do. `secret`: what nobody should be asked for.
 * - `telling`: tells things apart, although it is a stop word. `lets`: what is said to somebody rather than of somebody.
 * - `light`: says nothing by itself. `same`: groups of words with one meaning, separated by "|".
 */
export interface ClaimWords {
  not: string;
  flips: string;
  free: string;
  only: string;
  except: string;
  if: string;
  unless: string;
  even: string;
  all: string;
  less: string;
  more: string;
  we: string;
  you: string;
  pay: string;
  ask: string;
  secret: string;
  telling: string;
  lets: string;
  light: string;
  same: string;
}

export const CLAIM_WORDS: Readonly<Record<string, ClaimWords>> = {
  en: {
    not: "not,no,never,none,nobody,nothing,neither,nor,nowhere,cannot,without,unable,dont,cant,wont,doesnt,isnt,arent,no longer,in no case",
    flips:
      "closed:open,excluded:covered,exclude:covered,excludes:covered,forbidden:allowed,prohibited:allowed,impossible:possible,unavailable:available,undamaged:damage,waived:pay,refused:accepted,rejected:accepted,refuse:accept,unpaid:paid,invalid:valid,uninsured:covered,disabled:enabled",
    free: "free of charge,at no cost,at no charge,at no extra cost,without charge,without extra charge,no extra charge,no charge,for free,free,costs nothing,cost nothing,costs nothing extra,nothing extra,pay nothing,pays nothing",
    only: "only,solely,exclusively,just,no one but",
    except:
      "except for,except in case of,except in,except on,except,excluding,apart from,other than,with the exception of,but not",
    if: "if,when,provided that,provided,as long as,in case of,whenever",
    unless: "unless,only if not",
    even: "even if,even when,even on,even,included,whether or not,although",
    all: "all,always,everyone,everybody,everything,everywhere,wherever,whatever,whoever,at any time,any time,whenever you like,anytime,any,every,without limit,regardless,anyone",
    less: "up to,at most,no more than,not more than,maximum,within,before,until,till,under,below,less than,fewer than,younger than,smaller than,no later than,earlier than,or less,prior to,ahead,in advance,beforehand,by the latest,at the latest",
    more: "at least,no less than,not less than,minimum,after,later than,later,over,above,more than,older than,larger than,bigger than,longer than,greater than,or more,or earlier,from then on,once it,once the,once you,once a",
    we: "we,by us",
    you: "you,yourself,yourselves,customer,customers,by you,by the customer",
    pay: "pay,pays,paid,paying,bear,bears,borne",
    ask: "call,phone,text us,texting,e-mail us,email us,mail us,send us,give us,tell us,transfer,reply with",
    secret:
      "password,passwords,pin,passport,passport number,card number,bank details,bank account,gift card,gift cards,login,credentials,security code,verification code,iban,social security number",
    telling: "other,others,own,off,on,out,down,inside,outside,same,both,few,first,last,next,again",
    lets: "can,may,must,should,need,have,get,will,receive",
    light:
      "get,gets,got,give,gives,given,take,takes,taken,have,has,had,make,makes,made,use,used,using,want,need,needs,needed,require,requires,required,please,possible,possibly,able,let,lets,allow,allows,case,cases,also,too,simply,order,come,comes,keep,mean,means,costs,cost,each,per,own,via,well,yes,there,here,must,should,may,might,can,could,will,would,shall,such,one,ones,who,whose,still,then,thus,so,instead,mostly,currently,following,time,times,done,do,does,did,is,are,was,were,be,been,being,least,most",
    same: "bicycle bike cycle|pay pays paid paying bear bears borne|child kid children kids|refund refunded refunds reimburse reimbursed reimburses repay repaid pay-back paid-back get-back gets-back money-back|return returned returning bring-back brought-back send-back sent-back comes-back give-back|repair fix mend|ship shipped ships dispatch dispatched send sent sends|accept accepted accepts take|cover covered covers insure insured|cancel cancelled canceled cancels cancelling end ended ends terminate terminated|allow allowed permit permitted welcome|buy purchase bought purchased|price fee charge|discount off rebate|begin start starts begins|receive obtain receives|lend borrow lends lent|exam examination|staff employees|phone telephone|mail post letter|photo picture photograph|reply answer respond|delete remove erase deleted removed|change switch modify changed|need require|depart leave departure departing leaves|immediately once at-once straight-away|ill illness sick sickness|carry bring|include included includes contain",
  },
  de: {
    not: "nicht,nie,niemals,kein,keine,keinen,keinem,keiner,keines,nirgends,niemand,niemanden,nichts,weder,noch nie,ohne,unmöglich,keinesfalls,keineswegs",
    flips:
      "geschlossen:geöffnet,ausgeschlossen:möglich,verboten:erlaubt,untersagt:erlaubt,unzulässig:zulässig,ungültig:gültig,unbegrenzt:begrenzt,abgelehnt:akzeptiert",
    free: "kostenlos,kostenlose,kostenlosen,kostenloses,kostenfrei,gratis,umsonst,unentgeltlich,ohne kosten,ohne gebühr,kostet nichts,nichts extra,frei",
    only: "nur,ausschließlich,lediglich,allein",
    except: "außer,ausgenommen,abgesehen von,mit ausnahme von,bis auf,ausser",
    if: "wenn,falls,sofern,sobald,solange,bei,im fall,im falle",
    unless: "es sei denn,sofern nicht,falls nicht,wenn nicht",
    even: "auch wenn,selbst wenn,selbst bei,auch bei,sogar,auch für",
    all: "alle,allen,aller,alles,immer,jederzeit,überall,jeder zeit,stets,ausnahmslos",
    less: "bis,bis zu,höchstens,maximal,spätestens,unter,weniger als,innerhalb,binnen,vor,vorher,zuvor,jünger als,kleiner als,höchstwert",
    more: "mindestens,wenigstens,ab,nach,danach,über,mehr als,später,älter als,größer als,frühestens,seit,minimum",
    we: "wir,von uns,uns,unserer seite",
    you: "Sie,Ihnen,du,dir,kunde,kunden,kundin,kundinnen,selbst",
    pay: "zahlen,zahlt,bezahlen,bezahlt,trägt,tragen,übernimmt,übernehmen",
    ask: "rufen sie,überweisen,überweisen sie,senden sie uns,schicken sie uns,geben sie uns,nennen sie uns,zahlen sie vorab,anrufen",
    secret: "passwort,kennwort,pin,tan,kartennummer,kontodaten,bankdaten,ausweisnummer,iban,zugangsdaten",
    telling: "andere,anderen,anderer,anderes,eigene,eigenen,innerhalb,außerhalb,beide,erste,ersten,letzte,selbe",
    lets: "können,dürfen,müssen,sollen,brauchen,haben,bekommen,erhalten",
    light:
      "ist,sind,war,wird,werden,wurde,wurden,hat,haben,hatte,kann,können,könnte,muss,müssen,darf,dürfen,soll,sollen,sollte,möglich,möglichkeit,bitte,auch,dann,jeweils,beträgt,betragen,liegt,liegen,gilt,gelten,kostet,kosten,gibt,geben,brauchen,benötigen,ja,nein,je,pro,jede,jeder,jedes,jeden,dafür,dazu,davon,hierfür,kommt,erfolgt,machen,nutzen,verwenden,bekommen,erhalten,dauert,sowie,stehen",
    same: "kündigen kündigung kündigungsfrist frist|zahlen bezahlen zahlt bezahlt zahlung bezahlung trägt tragen übernimmt übernehmen|monatlich monat|jährlich jahr jahres|leihen ausleihen verleihen verliehen ausgeliehen|umzug umziehen|offen geöffnet öffnen|anmelden anmeldung|zurücktreten rücktritt|studierende studenten studentin student|laufzeit läuft vertragslaufzeit|rückgabe zurückgeben|abbuchen abgebucht buchen|lieferung liefern geliefert|kaution pfand|fahrrad rad",
  },
  es: {
    not: "no,nunca,jamás,nadie,nada,ningún,ninguno,ninguna,ni,tampoco,sin,imposible",
    flips:
      "cerrado:abierto,cerrada:abierta,cierra:abre,cierran:abren,prohibido:permitido,prohibida:permitida,excluido:incluido,excluida:incluida,agotado:disponible",
    free: "gratis,gratuito,gratuita,gratuitos,gratuitas,gratuitamente,sin coste,sin costo,sin cargo,no cuesta nada,no cuestan nada,de balde",
    only: "solo,sólo,solamente,únicamente,exclusivamente",
    except: "salvo,excepto,a excepción de,menos los,menos las,fuera de",
    if: "si,cuando,siempre que,en caso de",
    unless: "a menos que,salvo que,excepto si,a no ser que",
    even: "aunque,incluso,incluso si,aun",
    all: "todos,todas,todo,toda,siempre,cualquier,cualquiera,en cualquier momento,en todo momento",
    less: "hasta,como máximo,máximo,a lo sumo,antes,menos de,menores,menor de,dentro de,en un plazo de,por debajo de,inferior,a más tardar",
    more: "al menos,como mínimo,mínimo,después,posteriores,tras,a partir de,más de,mayores,mayor de,por encima de,superior",
    we: "nosotros,por nosotros,nosotras",
    you: "usted,ustedes,cliente,clientes,tú,le",
    pay: "paga,pagan,pagar,pagamos,asume,asumen,asumimos",
    ask: "llame,llámenos,envíe,envíenos,mande,pague por adelantado,transfiera,denos,díganos",
    secret: "contraseña,pin,número de tarjeta,datos bancarios,datos de su tarjeta,pasaporte,iban,clave",
    telling: "otro,otros,otra,otras,propio,propia,fuera,dentro,ambos,primero,primera,último,última,mismo,misma",
    lets: "puede,pueden,debe,deben,tiene,tienen,recibe,necesita",
    light:
      "es,son,está,están,ser,estar,ha,han,puede,pueden,poder,debe,deben,deber,hay,tiene,tienen,tener,se,cada,cuesta,cuestan,costar,posible,también,así,sí,por,para,que,lo,al,del,su,sus,una,uno,hace,hacer,usar,dar,da,recibir,recibe,necesita,permite,cobra,cobran,admiten,admite",
    same: "paga pagan pagar pagamos asume|llevar llevarse llevarme viajar viajan|renovar renueva renovación|prestar presta prestan prestamos préstamo|devolver devolución devoluciones|cambiar cambio cambios|bicicleta bici bicicletas|reservado reserva reservar|niños menores|aceptar acepta aceptamos aceptan|kilo kilos kg|carné tarjeta",
  },
};

/** Units, days and months: what they measure, and the words for each, in all languages that are known here. */
export const MEASURES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  time: {
    second: "seconds sekunde sekunden segundos sec",
    minute: "minute minutes min minuten minuto minutos",
    hour: "hour hours hourly stunde stunden stündlich hora horas",
    day: "day days daily tag tage tagen täglich tageslimit día días diario diaria diarios working-day werktage werktag werktagen arbeitstage",
    night: "night nights nacht nächte noche noches overnight",
    week: "week weeks weekly woche wochen wöchentlich semana semanas semanal",
    month:
      "month months monthly monat monate monaten monats monatlich monatslimit mes meses mensual mensuales monatsmitgliedschaft",
    quarter: "quarter quarters quarterly quartal quartals quartale trimestre trimestres",
    year: "year years yearly annual annually jahr jahre jahren jahres jährlich jahresmitgliedschaft año años anual anuales",
  },
  money: {
    euro: "€ euro euros eur",
    dollar: "$ dollar dollars usd dólar dólares",
    pound: "£ pound pounds gbp pfund libra libras",
    cent: "cent cents céntimo céntimos ct",
    percent: "% percent prozent",
  },
  data: { kb: "kb kilobyte kilobytes", mb: "mb megabyte megabytes", gb: "gb gigabyte gigabytes", tb: "tb terabyte" },
  weight: {
    gram: "gram grams gramm gramo gramos",
    kilogram: "kg kilo kilos kilogram kilograms kilogramm kilogramo kilogramos",
  },
  length: {
    metre: "metre metres meter meters metro metros",
    kilometre: "km kilometre kilometres kilometer kilometers kilómetro kilómetros",
    mile: "mile miles meile meilen milla millas",
  },
  precision: { milliseconds: "milliseconds millisecond ms millisekunden milisegundos" },
  weekday: {
    monday: "monday mondays montag montags lunes",
    tuesday: "tuesday tuesdays dienstag dienstags martes",
    wednesday: "wednesday wednesdays mittwoch mittwochs miércoles",
    thursday: "thursday thursdays donnerstag donnerstags jueves",
    friday: "friday fridays freitag freitags viernes",
    saturday: "saturday saturdays samstag samstags sonnabend sábado sábados",
    sunday: "sunday sundays sonntag sonntags domingo domingos",
    weekday: "weekday weekdays wochentags werktags laborables",
    weekend: "weekend weekends wochenende wochenenden",
  },
  daytime: {
    morning: "morning mornings vormittag vormittags morgens mañana mañanas",
    afternoon: "afternoon afternoons nachmittag nachmittags tarde tardes",
    evening: "evening evenings abend abends",
  },
  month: {
    january: "january januar enero",
    february: "february februar febrero",
    march: "märz marzo",
    april: "april abril",
    may: "mayo",
    june: "june juni junio",
    july: "july juli julio",
    august: "august agosto",
    september: "september septiembre",
    october: "october oktober octubre",
    november: "november noviembre",
    december: "december dezember diciembre",
  },
  season: {
    spring: "spring frühling frühjahr primavera",
    summer: "summer sommer verano",
    autumn: "autumn fall herbst otoño",
    winter: "winter invierno",
  },
};

/** How many of the smaller unit make the larger one. */
export const CONVERSIONS: readonly (readonly [large: string, small: string, factor: number])[] = [
  ["week", "day", 7],
  ["year", "month", 12],
  ["day", "hour", 24],
  ["hour", "minute", 60],
  ["minute", "second", 60],
  ["euro", "cent", 100],
  ["dollar", "cent", 100],
  ["pound", "cent", 100],
  ["kilogram", "gram", 1000],
  ["gb", "mb", 1000],
];

/** Between these and what stands before, a sentence says something else. */
export const TURNS: Readonly<Record<string, string>> = {
  en: "but,while,whereas,however,otherwise",
  de: "aber,sondern,während,sonst,dagegen",
  es: "pero,sino,mientras,en cambio",
};
