/**
 * Abbreviations that end in a full stop without ending a sentence, in lower case and without that stop, of the
 * languages that customers of European services write. A sorted choice of common ones, not a dictionary; none is here
 * that is also a word which ends sentences somewhere (`me`, `ir`, `max`), since all languages share the list.
 */
const CONTINUING = `
  mr mrs ms mx dr drs ph prof rev hon rep gov gen col maj capt cpt lt sgt st mt messrs
  e.g eg i.e ie cf v vs viz approx esp incl excl resp dept est misc orig temp lit
  hr fr frl dipl ing z.b d.h u.a o.ä u.ä i.d.r s.o s.u v.a z.t m.e bzw bspw ca evtl ggf inkl exkl sog vgl zzgl abzgl
  geb gest bzgl hrsg verf zb dh
  mme mmes mlle mlles p.ex env cad c.-à-d av bd
  sr sra srta dña ud uds vd vds p.ej ej aprox avda dpto
  exmo exma dra profa
  sig sigg sig.ra sig.na dott dott.ssa avv geom rag egr gent spett
  bijv bv d.w.z dwz o.a m.b.t mevr dhr t.a.v i.v.m m.i.v
  t.ex bl.a d.v.s dvs s.k f.n m.a.o fr.o.m t.o.m
  f.eks mht vedr jf iht
  esim huom
  т.е т.к т.н т.ч напр ул стр рис им проф акад гл обл
  örn doç yrd
  np tzn tj ul inż mgr m.in
  див вул ім
  napr tzv
  pl ún
  د
`;

/** Abbreviations before a number; before anything else the word is an ordinary one: `No. I don't.` */
const NUMBERED = `
  c no nos nr nrn p pp pg pgs fig figs eq sec ch vol vols ed para ver max min mind
  jan feb mar apr jun jul aug sep sept oct okt nov dec dez dic
  art arts abs abb kap s ss tel fax núm num n.º nº n° pág págs pag
  cap lib ст п пп табл № č str lk bd aufl ziff pt
`;

/** Abbreviations that are as often the last word of a sentence: only a usual first word after them shows it. */
const AMBIGUOUS = `
  al inc ltd co corp llc jr sr bros u.s u.k u.n u.s.a e.u d.c ph.d m.d b.a m.a a.d b.c gmbh ag mbh s.a s.l s.r.l n.v
  г гг см м др
`;

/** After these a sentence may go on in lower case, or end. */
const TRAILING = `
  etc usw u.s.w uvm usf ff ecc enz osv m.m m.fl o.s.v mfl jne yms itd itp т.д т.п vb stb tbd a.m p.m am pm
`;

function toSet(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}

/** After these a sentence always continues. */
export const CONTINUING_ABBREVIATIONS = toSet(CONTINUING);

/** After these a sentence continues if a number follows. */
export const NUMBERED_ABBREVIATIONS = toSet(NUMBERED);

/** After these a sentence ends only before a usual first word. */
export const AMBIGUOUS_ABBREVIATIONS = toSet(AMBIGUOUS);

/** After these a sentence continues in lower case, even in a text that begins its sentences in lower case. */
export const TRAILING_ABBREVIATIONS = toSet(TRAILING);

/** Words that begin many sentences and few names. In lower case. */
export const SENTENCE_STARTERS = toSet(`
  i it its he she we you they this that these those the a there here if when while what which who how why where as
  then but and or so however also please for with from to at in on after before once since because though although
  my your our their his her no yes not do does did is are was were can could will would should may
  der die das dies diese dieser dieses es er sie wir ihr ich wenn dann aber und oder bitte ein eine für mit bei nach
  im am in zum zur wie was warum wann wo auch nicht alle
  il elle nous vous ils elles ce cette ces cela si quand mais et ou pour avec dans les des un une
  el los las ella nosotros ellos este esta estos estas cuando pero para con por según
  o os as ele ela eles elas isto isso quando mas para com se não
  il lo la gli le questo questa quando ma per con se non
  het een hij zij wij dit deze als maar voor met niet
  det den han hon vi detta när om men och för med inte hun jeg dette når hvis ikke
  он она оно они мы вы это если когда но и в на для не
`);

/** Capitalized words that follow a German ordinal: `am 3. Oktober`. */
export const GERMAN_ORDINAL_NOUNS = toSet(`
  januar jänner februar märz april mai juni juli august september oktober november dezember
  jahrhundert jahrhunderts jahrhunderte weltkrieg weltkriegs weltkrieges quartal quartals halbjahr stock platz
  klasse auflage kapitel tag monat jahr mal semester etage
`);
