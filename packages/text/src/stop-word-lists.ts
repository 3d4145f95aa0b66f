/**
 * Words that carry grammar and no topic, one list a language (ISO 639-1), in lower case.
 *
 * The lists of da, de, en, es, fi, fr, hu, it, ne, nl, no, pt, ru, sv and tr began as those that PostgreSQL ships,
 * which are the Snowball project's (BSD-3-Clause; Copyright (c) 2001, Dr Martin Porter; Copyright (c) 2004, 2005,
 * Richard Boulton) and, for Nepali, PostgreSQL's own (PostgreSQL License). Modern function words were added and words
 * with a topic of their own removed. Serbian is in both of its scripts.
 */
export const STOP_WORD_LISTS = {
  ca: `
    a abans així això al als altra altre altres amb aquell aquella aquelles aquells aquest aquesta aquestes aquests
    aquí cada cap com d de del dels des després dins dos durant e el ella elles ells els em en encara ens entre era
    eren es és està estan estava et ets fa faig fan fer fins ha han has havia he hem heu hi ho i jo l la les li
    llavors lo m'ha més meu meus meva meves molt molta moltes molts n ni no només nosaltres nostra nostre o on per
    però perquè podem poden pot puc qual quals quan quant quanta que què qui quin quina quines quins s sense ser
    serà seu seus seva seves si sí sobre sóc som són sota sou tal també tan te té tenen tenir teu teva tinc tot tota
    totes tots tu un una unes uns us va vaig van vol vosaltres vull`,
  cs: `
    a aby aj ale ani asi až bez bude budu by byl byla byli bylo být či co což do ho i já jak jako jaký je jeho jej
    její jejich jen ještě jestli již jsem jsi jsme jsou jste k kde kdo kdy když ke kolik která které který ma má mám
    máte mé mě mi mít mně moc mohu moje můj může můžete my na nad nám nás náš ne nebo není než nic o od on ona oni
    pak po pod podle pokud před přes při pro proč proto protože s se si své svůj ta tak také tam tato te tě ten
    tento této ti tím to tohle toho tom tomto tu ty u už v vám vás váš ve více však všechno vy z za zde že`,
  da: `
    ad af aldrig alle allerede alt altid alting anden at bare blandt blev blive bliver bør burde da de dem den denne
    der deres derfor det dette dig din dine disse dog du efter eller en end endnu er et få får fik findes for fordi
    fra gennem gjorde gør gøre haft ham han hans har havde have hende hendes her hos hun hvad hvem hver hvilke
    hvilken hvilket hvis hvor hvordan hvorfor hvorfra hvorhen hvornår i ifølge ikke ind inden ingen ingenting intet
    jeg jer jeres jo kan kun kunne lidt må man mange måske måtte med meget mellem men mens mere mest mig min mindre
    mine mit mod når ned nogen noget nogle nu ofte og også om op os over på så sådan samt selv siden sig sin sine
    sit skal skulle som thi til ud uden under være været var vi vil ville vor vores`,
  de: `
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern
    anderr anders ans auch auf aufs aus außer bei beim bereits bevor bin bis bist bitte bzw da dabei dafür damals
    damit dann daran darauf daraus darf darfst darin darüber das dass daß dasselbe davon davor dazu dein deine
    deinem deinen deiner deines dem demselben den denen denn denselben der deren derer derselbe derselben des
    deshalb desselben dessen deswegen dich die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch
    dort du durch dürfen dürft eben eigentlich ein einander eine einem einen einer eines einig einige einigem
    einigen einiger einiges einmal er es etwa etwas euch euer eure eurem euren eurer eures falls fast für ganz gar
    gegen gegenüber gewesen geworden gibt hab habe haben habt halt hat hatte hätte hatten hätten hattest hättest
    hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins irgend ist ja je jede
    jedem jeden jeder jedes jedoch jemand jene jenem jenen jener jenes jetzt kann kannst kaum kein keine keinem
    keinen keiner keines können könnt könnte könnten mag mal man manche manchem manchen mancher manches mehr mein
    meine meinem meinen meiner meines mich mir mit möchte möchten möchtest muss muß müssen müsst musste mussten nach
    nachdem nein nicht nichts niemand noch nun nur ob obwohl oder ohne schon sehr sei seid seien sein seine seinem
    seinen seiner seines seit selbst sich sie sind so sobald solange solche solchem solchen solcher solches soll
    sollen sollst sollte sollten sondern sonst sowie über überhaupt um und uns unse unsem unsen unser unses unter
    viel viele vielen vielleicht vom von vor während wann war wäre waren wären warst warum was weg weil weiter
    welche welchem welchen welcher welches wem wen wenig weniger wenn wer werde werden werdet weshalb wessen wie
    wieder wieso will willst wir wird wirst wo wodurch wofür woher wohin wohl wollen wollt wollte wollten womit
    woran worauf worden wovon wozu wurde würde wurden würden wurdest zu zum zur zwar zwischen`,
  en: `
    a about above across after again against ain't all along also although am among an and another any anybody
    anyone anything are aren't around as at be because been before being below between both but by can can't cannot
    could couldn't did didn't do does doesn't doing don't down during each either else ever every everyone
    everything few for from further had hadn't has hasn't have haven't having he he'd he'll her here hers herself
    him himself his how how'd i i'd i'll i'm i've if in into is isn't it it'd it'll its itself just let many may me
    might more most much must mustn't my myself needn't neither no nobody nor not nothing now of off on once only
    onto or other our ours ourselves out over own per please s same shall she she'd she'll should shouldn't since so
    some somebody someone something such t than that that'll the their theirs them themselves then there there'll
    these they they'd they'll they're they've thing things this those though through to too toward towards under
    until up upon us very via was wasn't we we'd we'll we're we've were weren't what what're when where whether
    which while who who'd who'll whom whose why will with within without won't would wouldn't yet you you'd you'll
    you're you've your yours yourself yourselves`,
  es: `
    a además adónde ahí al algo algún alguna algunas alguno algunos allí ante antes aquel aquella aquellas aquello
    aquellos aquí así aun aún aunque bajo cada como cómo con contra cual cuál cuáles cualquier cualquiera cuando
    cuándo cuánta cuántas cuanto cuánto cuántos de debe deben debo del desde donde dónde durante e el él ella ellas
    ellos en entonces entre era erais éramos eran eras eres es esa ésa esas ese ése eso esos esta está ésta estaba
    estabais estábamos estaban estabas estáis estamos están estando estar estará estarán estarás estaré estaréis
    estaremos estaría estaríais estaríamos estarían estarías estas estás este esté éste estéis estemos estén estés
    esto estos estoy estuve estuviera estuvierais estuviéramos estuvieran estuvieras estuvieron estuviese
    estuvieseis estuviésemos estuviesen estuvieses estuvimos estuviste estuvisteis estuvo fue fuera fuerais fuéramos
    fueran fueras fueron fuese fueseis fuésemos fuesen fueses fui fuimos fuiste fuisteis ha habéis haber había
    habíais habíamos habían habías habida habidas habido habidos habiendo habrá habrán habrás habré habréis habremos
    habría habríais habríamos habrían habrías hace hacen hacer hacia hago han has hasta hay haya hayáis hayamos
    hayan hayas he hemos hube hubiera hubierais hubiéramos hubieran hubieras hubieron hubiese hubieseis hubiésemos
    hubiesen hubieses hubimos hubiste hubisteis hubo la las le les lo los luego más me mediante mi mí mía mías
    mientras mío míos mis misma mismas mismo mismos mucho muchos muy nada ni ningún ninguna ninguno no nos nosotras
    nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para pero poco podemos podría
    podrían por porque porqué puede pueden puedes puedo pues que qué quien quién quienes quiénes se sea seáis seamos
    sean seas según ser será serán serás seré seréis seremos sería seríais seríamos serían serías si sí siempre sin
    sintiendo sobre sois solo sólo somos son soy su sus suya suyas suyo suyos tal tales también tan tanto te tendrá
    tendrán tendrás tendré tendréis tendremos tendría tendríais tendríamos tendrían tendrías tenéis tenemos tenga
    tengáis tengamos tengan tengas tengo tenía teníais teníamos tenían tenías tenida tenidas tenido tenidos teniendo
    ti tiene tienen tienes todo todos tras tu tú tus tuve tuviera tuvierais tuviéramos tuvieran tuvieras tuvieron
    tuviese tuvieseis tuviésemos tuviesen tuvieses tuvimos tuviste tuvisteis tuvo tuya tuyas tuyo tuyos un una uno
    unos usted ustedes vos vosostras vosostros vuestra vuestras vuestro vuestros y ya yo`,
  et: `
    aga ainult alla ära ega ehk ei enam enne et ette iga igas juba ka kas keegi kelle kellele kes kõige kõik kuhu
    kui kuid kuidas küll kuni kus kust läbi ma me meie meil mida miks millal mille milline millist mina mind minu
    minul mis mitte mõni mu mul mulle muu nad need neid nende nii niisugune ning nüüd oled oleks oleme olen olete
    oli olid olla olnud oma on palju paljud pärast peab peaks peale pean pole poolt sa saa saab saada saaks saan
    seal seda see selle sellel selles siin siis sina sinu sul ta tahan te teda teie teile tema tuleb tulevad ühe üks
    üle väga vaid välja veel või`,
  eu: `
    al ala aldiz ari arte asko bada badago bai baina baino baita bakoitz bat bate batek baten batez batzuk bera
    beraiek berak berau bere beste bezala da dago daude dela den dena denak dezake dezakegu dezaket dezakete dira
    diren ditu ditut du dugu dut dute duten edo egin egiten egon egoteko ere eta ez ezin gabe gainean gainera gara
    geu gu guk gure guzti guztiak haiek hala han hango hau hauek hemen hori horiek hura izan izango ni nik nire niri
    noiz nola non nondik nor nora norekin nork ondoren orain oraindik oso zait zaizu zein zela zen zenbat zer
    zergatik ziren zituen zu zuek zuen zuk zure zuten`,
  fi: `
    aikana aina alla asti ehkä ei eivät eli emme en enemmän ennen et että ette hän häneen hänellä hänelle häneltä
    hänen hänessä hänestä hänet häntä he heidän heidät heihin heillä heille heiltä heissä heistä heitä hyvin ilman
    ilmankin itse ja jälkeen jo johon joiden joihin joiksi joilla joille joilta joina joissa joista joita joka jokin
    joksi joku jolla jolle jolta jona jonka jos jossa josta jota jotain jotka jotkut kaikille kaikkea kaikki
    kaikkien kanssa kautta keiden keihin keiksi keillä keille keiltä keinä keissä keistä keitä keneen keneksi
    kenellä kenelle keneltä kenen kenenä kenessä kenestä kenet ketä ketkä koska koskaan kuin kuinka kuka kukaan
    kumpi kumpikin kun kuten me meidän meidät meihin meillä meille meiltä meissä meistä meitä mihin mikä mikään
    miksi millä mille milloin miltä minä minkä minua minulla minulle minulta minun minussa minusta minut minuun
    missä mistä mitä mitään miten mitkä molemmat montako muita mukaan mutta muu muut myös näiden näihin näiksi
    näillä näille näiltä näinä näissä näistä näitä nämä ne niiden niihin niiksi niillä niille niiltä niin niinä
    niissä niistä niitä noiden noihin noiksi noilla noille noilta noin noina noissa noista noita nuo nyt ole olemme
    olen olet olette oli olimme olin olisi olisimme olisin olisit olisitte olisivat olit olitte olivat olla olleet
    ollut on onko ovat päällä paljon paljonko pitää pitäisi poikki saa saada saakka saako saan sama samat se sekä
    sen siihen siinä siis siitä siksi sillä sille siltä sinä sinua sinulla sinulle sinulta sinun sinussa sinusta
    sinut sinuun sisällä sitä sitten tähän tai takia täksi tallä tälle tältä tämä tämän tänä tässä tästä tätä täytyy
    te teidän teidät teihin teillä teille teiltä teissä teistä teitä toinen tuo tuohon tuoksi tuolla tuolle tuolta
    tuon tuona tuossa tuosta tuotä ulkona vaan vähän vähemmän vai vaikka vain välillä vielä voi voiko voimme voin
    voisi voisin voit voitte voivat vuoksi yli`,
  fr: `
    à afin ai aie aient aies ainsi ait alors après as assez au aucun aucune aura aurai auraient aurais aurait auras
    aurez auriez aurions aurons auront aussi autre autres aux avaient avais avait avant avec avez aviez avions avoir
    avons ayant ayez ayons beaucoup bien c ça car ce ceci cela celle celles celui ces cet cette ceux chaque chez
    combien comme comment contre d dans de déjà depuis des devez devons dois doit doivent donc dont du elle elles en
    encore entre es est est-ce et étaient étais était étant été étée étées étés êtes étiez étions être eu eue eues
    eûmes eurent eus eusse eussent eusses eussiez eussions eut eût eûtes eux faire fais fait font fûmes furent fus
    fusse fussent fusses fussiez fussions fut fût fûtes ici il ils j jamais je jusqu jusque l la là laquelle le
    lequel lesquelles lesquels leur leurs lorsqu lorsque lui m ma mais me même mêmes mes moi moins mon n ne ni non
    nos notre nous on ont ou où oui par parce pas pendant peu peut peuvent peux plus pour pourquoi pourrais pourrait
    pouvez pouvons presque puis puisqu puisque qu quand que quel quelle quelles quelque quelques quels qui quoi rien
    s sa sans se selon sera serai seraient serais serait seras serez seriez serions serons seront ses si soi soient
    sois soit sommes son sont sous soyez soyons suis sur svp t ta te tes toi ton toujours tous tout toute toutes
    très trop tu un une vers voici voilà vos votre vous y`,
  ga: `
    a ach ag agus an anois anseo ansin ar ár arna as atá b'fhéidir bhfuil bhí bhur bí cá cad cathain cé cén chuig
    chun conas cúpla dá dár de do dom don duit é ea eile faoi féidir féin fós fuair gach gan go gur i iad idir in
    inár is isteach le leat leis linn liom má mar mé mo muid na ná nach ní níl níor nó nuair ó on os raibh roimh rud
    sa san sé seo sí siad sibh sin sinn síos suas sula tá táim tar tháinig trí tú uaim uait um`,
  hi: `
    अपना अपनी अपने अभी आप आपका आपके इस उस एक और कब कर करना करने करूँ करें कहाँ कहां का कि कितना कितने किया किस की
    कुछ के कैसे को कौन क्या क्यों गई गया चाहिए जब जाता जाती जो तक तब तुम तो था थी थे दिया द्वारा नहीं ने पर बहुत बाद
    भी मुझे में मेरा मेरी मेरे मैं यह या रहा रही रहे लिए वह वाला वाली वाले सकता सकती सकते सब साथ से हम हमारा हमारे
    ही हुआ हुई हुए है हैं हो होता होती होते`,
  hu: `
    a abban ahhoz ahogy ahol aki akik akkor alatt által általában amely amelyek amelyekben amelyeket amelyet
    amelynek ami amíg amikor amit amolyan annak arra arról át az azért azok azon azonban azt aztán azután azzal bár
    be belül benne csak de e ebben eddig egész egy egyéb egyes egyetlen egyik egyre ehhez ekkor el elég ellen elő
    először előtt első emilyen én ennek éppen erre és ez ezek ezen ezért ezt ezzel fel felé hanem hány hiszen hogy
    hogyan hogyha hol honnan hova igen így illetve ilyen ilyenkor ismét ison itt jó jobban jól kell kellett kérem
    keresztül ki kinek kit kívül között közül legalább legyen lehet lehetett lenne lenni lesz lett maga magam magát
    majd már más másik meg még mellett mely melyek melyik mennyi mert mi miért míg mikor milyen minden mindenki
    mindent mindig minek mint mintha mit mivel most nagy nagyobb nagyon ne néha néhány nekem neki nekünk nélkül nem
    nincs ő ők őket olyan össze ott pedig persze rá s saját sem semmi sok sokat sokkal számára szemben szeretnék
    szeretném szerint szinte talán tehát teljes több tovább továbbá tudja tudok tudom úgy ugyanis új újabb újra után
    utána utolsó vagy vagyis vagyok valaki valami valamint való van vannak vele velem vissza viszont volna volt
    voltak voltam voltunk`,
  id: `
    ada adalah agar akan aku anda apa apabila apakah atas atau bagaimana bagi bahwa banyak beberapa begitu belum
    berapa bila bisa boleh bukan dalam dan dapat dari daripada dengan di dia dimana hanya harus hingga ia ingin ini
    itu jadi jangan jika juga kalau kami kamu kapan karena ke kenapa kepada kita lagi lain lalu lebih maka mana
    masih mau melalui mengapa mereka mohon namun nya oleh pada paling para per pernah pun saat saja sampai sangat
    satu saya sebagai sebelum sebuah secara sedang sejak selain selalu seluruh semua seperti sering serta sesuai
    setelah setiap siapa sudah supaya tanpa tapi telah tentang terhadap tersebut tetapi tidak tolong untuk yaitu
    yakni yang`,
  it: `
    a abbia abbiamo abbiano abbiate ad agli ai al alcune alcuni all alla alle allo allora altra altre altri altro
    anche ancora anzi avemmo avendo avere avesse avessero avessi avessimo aveste avesti avete aveva avevamo avevano
    avevate avevi avevo avrà avrai avranno avrebbe avrebbero avrei avremmo avremo avreste avresti avrete avrò avuta
    avute avuti avuto c che chi chiunque ci ciò cioè coi col come con contro cosa cui da dagli dai dal dall dalla
    dalle dallo degli dei del dell della delle dello deve devi devo devono di dobbiamo dopo dov dove dunque durante
    e è ebbe ebbero ebbi ed egli ella era erano eravamo eravate eri ero essa esse essendo essere essi esso faccia
    facciamo facciano facciate faccio facemmo facendo facesse facessero facessi facessimo faceste facesti faceva
    facevamo facevano facevate facevi facevo fai fanno farà farai faranno fare farebbe farebbero farei faremmo
    faremo fareste faresti farete farò fece fecero feci fosse fossero fossi fossimo foste fosti fra fu fui fummo
    furono già gli ha hai hanno ho i il in io l la là le lei li lì lo loro lui ma mai mentre mi mia mie miei mio
    molta molte molti molto ne né negli nei nel nell nella nelle nello nessuna nessuno niente no noi non nostra
    nostre nostri nostro nulla o ogni ognuno oppure per perché perchè però più poca poche pochi poco possiamo posso
    possono potete potrebbe prima può puoi qua qualche qualcosa qualcuno quale quali qualunque quando quanta quante
    quanti quanto quella quelle quelli quello questa queste questi questo qui quindi sarà sarai saranno sarebbe
    sarebbero sarei saremmo saremo sareste saresti sarete sarò se sei sempre senza si sì sia siamo siano siate siete
    sono sopra sotto sta stai stando stanno starà starai staranno starebbe starebbero starei staremmo staremo
    stareste staresti starete starò stava stavamo stavano stavate stavi stavo stemmo stessa stesse stessero stessimo
    stesso steste stesti stette stettero stetti stia stiamo stiano stiate sto su sua sue sugli sui sul sull sulla
    sulle sullo suo suoi tanta tante tanti tanto ti tra troppo tu tua tue tuo tuoi tutti tutto un una uno verso vi
    viene voglio voi vorrei vostra vostre vostri vostro vuole`,
  lt: `
    ar arba aš be bei bet bus būti buvau buvo dar daug dėl gal gali galima galite galiu į iki ir iš ją jam jau jei
    jeigu ji jį jie jo joks jos jų juos jūs jūsų ką kad kada kai kaip kam kas kiek kiekvienas kitas kiti ko kodėl
    kokia kokią kokie koks kur kuri kurį kurie kuris labai man mane manęs mano mes mums mūsų ne nei nėra nes net
    noriu nuo o pagal pas per po prie prieš savo ši šią šie šio šis su ta tą tačiau tai taip tarp tas tau tavo ten
    tie tik to toje tokia toks tu turi turiu už vis visas visi viso yra`,
  ne: `
    अक्सर अगाडि अगाडी अझै अनुसार अन्तर्गत अन्य अन्यथा अब अरु अरू अर्का अर्की अर्को अर्थात अर्थात् अर्ब अलग अलिकति
    असार आइतवार आए आएको आज आठ आत्म आदि आफू आफ्नै आफ्नो आयो आश्विन उदाहरण उन उप उही एउटै एक एकदम एकै ओठ औं कति कतै
    कत्रा कत्री कत्रो करोड कस कसरी कसले कसै कस्ता कस्ती कस्तो कहाँ कहिले कहिल्यै कहीं का कार्तिक कि किन किनभने कुन
    कुनै कुरा कृपया के केहि केही को कोही क्रमशः खर्ब गयौ गर्छ गर्छु गर्न गर्नु गर्ने चाँडै चार चाले चाहनुहुन्छ
    चाहन्छु चाहिए चैत चौथो छ छन् छु छू छैन छैनन् छौँ छौं जताततै जति जत्रा जत्री जत्रो जब जबकि जस जस्ता जस्ती जस्तो
    जस्तोसुकै जहाँ जान जाहिर जुन जे जेठ जो जोसुकै ठीक त तत्काल तथा तदनुसार तपाई तपाईं तपाईंको तर तल तापनि तापनी तिन
    तिनी तिमी तिम्रो तिर ती तीन तुरुन्तै तेस्कारण तेस्रो त्यस त्यसकारण त्यसपछि त्यसमा त्यसैले त्यहाँ त्यो त्सपछि
    त्सैले थिए थिएन थिएनन् थियो थोरै दस दिए दिनुभएको दिनुहुन्छ दुई देख देखि देखिन्छ देखियो देखे देखेको देखेर देख्न
    दोश्रो दोस्रो धेरै न नजिकै नत्र नयाँ नि निम्ति निम्न निम्नानुसार निर्दिष्ट नै नौ पक्का पक्कै पछि पछिल्लो पटक पनि
    पर्छ पर्थ्यो पर्याप्त पर्सी पहिले पहिलो पहिल्यै पाँच पाँचौं पूर्व पौष प्रति प्रतेक प्रत्येक प्रथम प्लस फागुन
    फेरि फेरी बने बन्द बन्न बरु बाट बाटो बारे बाहिर बाहेक बिरुद्ध बिशेष बिहिवार बीच बुधवार भए भएका भएको भदौ भन् भयो
    भर भित्र भित्री भोलि भोली म मङ्गलवार मलाई मंसिर महिना मा माघ मात्र माथि मुख्य मेरा मेरो यति यत्ति यत्रा यत्री
    यत्रो यथोचित यदि यद्यपि यस यसरी यसो यस्ता यस्ती यस्तो यहाँ या यिन यिनी यी यो र रही रहेका रहेको राखे राख्छ राम्रो
    रूप लगभग लाई लाख लागि ले वरिपरि वरीपरी वर्ष वास्तवमा वाहेक विरुद्ध विशेष वैशाख शनिवार शायद शुक्रवार सकिन्छ सक्छ
    सक्छु सँग संग सँगै संगै सट्टा सधै सधैं सबै समय सम्भव सम्म सय सही साउन साँच्चै सात साथ साथै सायद सारा सुन्ना सो
    सोध्न सोमवार सोही स्पष्ट हजार हप्ता हरे हरेक हामी हाम्रो हिजो हुन् हुन्छ हो होइन होला होस्`,
  nl: `
    aan achter al alle allemaal alles als alstublieft altijd andere ben bent bij binnen boven buiten daar dan dat de
    deed der deze dezelfde die dit doch doen door dus echter een eens elk elke en enige enkele er erg ga gaan gaat
    ge geen geweest geworden graag haar had hadden heb hebben hebt heeft heel hem het hetzelfde hier hij hoe hoeveel
    hoewel hun ieder iedere iemand iets ik in indien is ja je jij jou jouw jullie kan kon konden kunnen kunt langs
    maar mag me meer men met mij mijn moest moesten moet moeten mogen na naar niet niets nog nooit nu of om omdat
    onder ons ook op over per reeds sinds sommige soms te tegen terwijl tijdens toch toen tot tussen u uit uw vaak
    van vanaf veel via voor waar waarmee waarom waarvoor wanneer want waren was wat we weer welk welke werd werden
    wezen wie wiens wij wil wilde willen wilt worden wordt zal ze zeer zelf zich zij zijn zo zonder zou zouden
    zullen zult`,
  no: `
    å aldri alle allerede alltid alt at av både båe bare begge blant ble blei bli blir blitt bør burde da då de deg
    dei deim deira deires dem den denne der dere deres derfor det dette di din dine disse ditt du dykk dykkar eg ein
    eit eitt eller elles en enda enn ennå er et ett etter få får fikk finnes for før fordi fra gjennom gjør gjorde
    gjøre ha hadde han hans har hennar henne hennes her hjå ho hoe honom hoss hossen hun hva hvem hver hverandre
    hvilke hvilken hvilket hvis hvor hvordan hvorfor hvorhen i ifølge ikke ikkje ingen ingenting ingi inkje inn
    innen inni ja jeg jer kan kanskje kom korleis korso kun kunne kva kvar kvarhelst kven kvi kvifor litt må man
    mange måtte me med medan meg meget mellom men mens mer mest mi min mindre mine mitt mot mykje nå når ned no noe
    noen noka noko nokon nokor nokre ofte og også om opp oss over på så samme samt sånn seg selv si sia sidan siden
    sig sin sine sitt sjøl skal skulle slik so som somme somt til um upp ut uten være vært var vår vart varte ved
    vennligst vere verte vi vil ville vore vors vort`,
  pl: `
    a aby albo ale ależ ani aż bardziej bardzo będą będę będzie bez bo bowiem by być był była byli było były chcę
    chciałabym chciałbym ci cię ciebie co coś czasem czego czemu czy czyj czyli dla dlaczego dlatego do dokąd dość
    gdy gdyby gdyż gdzie go i ich ile im inna inne inny innych iż ja ją jak jaka jaki jakie jako je jeden jedna
    jednak jedno jego jej jemu jeśli jest jestem jesteś jesteśmy jeszcze jeżeli już kiedy kim kogo komu kto która
    które którego której który których którym którzy ku lecz lub ma mają mam masz mi mną mnie mogą mogę moi moich
    mój moja moje mojego mojej może możesz można mu musi muszę my na nad nam nami nas nasz nasza nasze naszego
    naszej nawet nią nic nich nie nigdy nim nimi niż no o od on ona one oni ono oraz po pod podczas pomimo ponad
    ponieważ poza proszę przed przez przy są sam się skąd sobą sobie swój swoje ta tak taki takie także tam te tego
    tej temu ten też to tobą tobie tu tutaj twój twoja twoje ty tych tylko tym u w wam wami was wasz wasza wasze we
    według więc właśnie wszyscy wszystkich wszystko wy z za żaden żadna żadne zawsze ze że żeby`,
  pt: `
    a à agora ainda algo algum alguma algumas alguns ali antes ao aonde aos após aquela àquela aquelas aquele àquele
    aqueles aqui aquilo as às assim até cada com como conforme contra cuja cujo da das de dela delas dele deles
    depois desde dessa desse desta deste deve devem devo disso disto do donde dos dum duma durante e ela elas ele
    eles em embora enquanto então entre era eram éramos essa essas esse esses esta está estamos estão estar estas
    estava estavam estávamos este esteja estejam estejamos estes esteve estive estivemos estiver estivera estiveram
    estivéramos estiverem estivermos estivesse estivessem estivéssemos estou eu faço faz fazem fazer foi fomos for
    fora foram fôramos forem formos fosse fossem fôssemos fui há haja hajam hajamos hão havemos haver hei houve
    houvemos houver houvera houverá houveram houvéramos houverão houverei houverem houveremos houveria houveriam
    houveríamos houvermos houvesse houvessem houvéssemos isso isto já lá lhe lhes mais mas me menos mesma mesmas
    mesmo mesmos meu meus minha minhas muita muitas muito muitos na nada não nas nem nenhum nenhuma nessa nesse
    nesta neste nisso nisto no nos nós nossa nossas nosso nossos num numa nunca o onde os ou outra outras outro
    outros para pela pelas pelo pelos pode podem podemos poderia pois por porque porquê posso pouca poucas pouco
    poucos quais quaisquer qual qualquer quando quanta quantas quanto quantos que quê quem são se segundo seja sejam
    sejamos sem sempre ser será serão serei seremos seria seriam seríamos seu seus sim só sob sobre somos sou sua
    suas tal também tanto tão te tem tém temos tenha tenham tenhamos tenho ter terá terão terei teremos teria teriam
    teríamos teu teus teve tinha tinham tínhamos tive tivemos tiver tivera tiveram tivéramos tiverem tivermos
    tivesse tivessem tivéssemos toda todas todo todos tu tua tuas tudo um uma vai vão você vocês vos vou`,
  ro: `
    a ai al ale am ar are as aș asta astea au avea avem aveți azi ca că căci când care cărei cărora cărui cât câte
    câți către ce cea cei cel cele ceva chiar cine cineva cu cum da dacă dar de deci deja despre din dintre doar
    după e ea ei el ele era eram este ești eu fără fi fie fiecare fost fu iar îi îl îmi în înainte încă între îți la
    le li lor lui mă mai mea mei mele meu mi mie mult multe mulți ne nici nimic niște noastră noastre noi noștri
    nostru nu o ori orice pe pentru peste poate pot poți prea prin sa să săi sale sau său se și sub sunt suntem
    sunteți ta tale tău te ți toate tot toți tu un una unde unei unele unii unor unui va vă vi voastră voi vom vor
    vostru vrea vreau`,
  ru: `
    а без более больше будем будет будто будут бы был была были было быть в вам вами вас ваш ваша ваше ваши вдруг
    ведь весь вместо во вот впрочем все всё всегда всего всех всю вся вы где где-то да даже два для до должен должна
    должно должны другой его ее её ей ему если есть еще ещё ж же за зачем здесь и из из-за из-под или им иногда их к
    как как-то какая какие каких какое какой каком кем когда кого кому конечно которая которого которое которой
    которые который которым которых кроме кто куда ли либо лучше между меня мне много мной мог могу могут моё можем
    может можете можно мои мой мочь моя мы на над надо наконец нам нами нас наш наша наше наши не него нее ней
    нельзя нет ни нибудь никогда ним них ничего но ну нужно о об один около он она они опять от откуда отчего очень
    перед по под пожалуйста пока после потом потому почему почти при про просто ради раз разве с сам своего своей
    свои своих свою себе себя сейчас сколько со совсем согласно среди так также такой там твой тебе тебя тем теперь
    то тобой тогда того тоже только том тот три тут ты у уж уже хорошо хоть хотя чего чей чем чему через что что-то
    чтоб чтобы чуть чьё чьи чья эта эти этими это этого этой этом этот эту я`,
  sr: `
    а ако али без би била били било био бисмо бити бих буде будем већ ви га где да до док други желим за зар зато
    зашто због и из између или им има имам имате ја је један једна једно јер јесте јесу јој још ју кад када какав
    каква какво како ко код која које који колико коме ли ме мене ми могу може можемо можете мој моја моје мојим на
    над нам нас наш наша не него неки неко ни није нисам нису ништа но њега њен њих о од око он она они оно осим па
    пре преко при са сам све сви свој своја се себи си смо сте су та тај тако такође твој те ти то тога том треба ту
    ће ћемо ћете ћу у уз хоћу чак чији шта што a ako ali bez bi bila bili bilo bio bismo biti bih bude budem već vi
    ga gde da do dok drugi želim za zar zato zašto zbog i iz između ili im ima imam imate ja je jedan jedna jedno
    jer jeste jesu joj još ju kad kada kakav kakva kakvo kako ko kod koja koje koji koliko kome li me mene mi mogu
    može možemo možete moj moja moje mojim na nad nam nas naš naša ne nego neki neko ni nije nisam nisu ništa no
    njega njen njih o od oko on ona oni ono osim pa pre preko pri sa sam sve svi svoj svoja se sebi si smo ste su ta
    taj tako takođe tvoj te ti to toga tom treba tu će ćemo ćete ću u uz hoću čak čiji šta što`,
  sv: `
    aldrig alla allt alltid allting än ännu är åt att av bara bland blev bli blir blivit bör borde då där därför de
    dem den denna deras dess dessa det detta dig din dina ditt dom du efter eftersom ej eller en enligt er era ert
    ett få fanns får fick finns för från genom gjorde gör göra ha hade han hans har här henne hennes hon honom hos
    hur hurdan i icke inga ingen ingenting inget innan inom inte jag ju kan kanske kring kunde lite man måste med
    medan mellan men mer mest mig min mina mindre mitt mot mycket någon någonting något några när ni nu och också
    ofta om oss över på redan så sådan sådana sådant samt sedan sig sin sina själv ska skall skulle som till trots
    under upp ut utan vad var vår vara våra varför varifrån varit varje vars vart vårt vem vems vi vid vilka vilkas
    vilken vilket vill ville`,
  tr: `
    acaba ama ancak artık aslında aynı az bana başka bazı belki ben bende beni benim beri bile bir birçok biri
    birkaç birşey biz bize bizi bizim böyle bu buna bundan bunu bunun bütün çok çünkü da daha de defa değil diğer
    diye dolayı eğer en fakat gibi göre hala hâlâ hangi hangisi hem henüz hep hepsi her herkes hiç hiçbir için ile
    ise kaç kadar karşı kendi kez ki kim kimden kime kimin kimse lakin lütfen mi midir misiniz miyim mı mıyım mu mü
    musun müsün nasıl ne neden nedir nerde nerede nereden nereye niçin niye o olan olarak oldu olmak olsa olur ona
    önce onda onlar onlara onları onların onu onun öyle rağmen sadece sana sanki sen sende seni senin şey şimdi siz
    size sizi sizin sonra şöyle şu şuna şunu tüm var ve veya veyahut ya yalnız yani yok yoksa zira`,
  uk: `
    а або адже але без би бо був буде будемо будуть будь була були було бути в вам вами вас ваш ваша ваше ваші весь
    ви від він вона вони воно все всі вся два дві де для до дуже є ж же з за завжди звідки зі і із її їй їм інша
    інший інші їх й його йому ким кого коли кому куди лише мав має майже мають мене мені ми між мій мною моє може
    можемо можна можу можуть мої моя на навіть навіщо над нам нами нас наш наша наше наші не немає ним них ні ніж
    ній ніколи нього о об один одна одне ось от отже під після по поки потрібно при про прошу сам свій своє свої
    своя себе скільки собі та так така таке такий такі також там твій твоє твої твоя те тебе теж ти тим тих ті
    тільки то тобі тобою тоді той тому треба тут у хіба хоча хто це цей ці цього цьому ця через чи чиє чий чим чия
    чого чому що щоб щось як яка яке який яких які якого якої якщо`,
} as const satisfies Readonly<Record<string, string>>;

/** The words that ask, one list a language. Each of them is in the stop words of that language too. */
export const QUESTION_WORD_LISTS = {
  ca: `qui què quin quina quins quines quan on com perquè quant quanta qual quals`,
  cs: `kdo co jaký který která které kdy kde proč jak kolik`,
  da: `hvem hvad hvilken hvilket hvilke hvornår hvor hvorhen hvorfra hvorfor hvordan hvis`,
  de: `wer wen wem wessen was welche welchem welchen welcher welches wann wo wohin woher warum wieso weshalb wie womit wofür woran worauf wodurch wovon wozu`,
  en: `who whom whose what which when where why how whether what're how'd who'd who'll`,
  es: `qué quién quiénes cuál cuáles cuándo dónde adónde cómo cuánto cuánta cuántos cuántas porqué que quien cual cuando donde como cuanto`,
  et: `kes kelle mis mida mille milline millist millal kus kuhu kust kuidas miks kas`,
  eu: `nor nork zer zein noiz non nora nondik nola zergatik zenbat`,
  fi: `kuka kenen ketä ketkä mikä mitä minkä mitkä milloin koska missä mistä mihin miksi miten kuinka montako paljonko kumpi onko voiko saako`,
  fr: `qui que qu quoi quel quelle quels quelles lequel laquelle lesquels lesquelles quand où comment pourquoi combien est-ce`,
  ga: `cad cé cén cá conas cathain`,
  hi: `क्या कौन कब कहाँ कहां क्यों कैसे कितना कितने किस`,
  hu: `ki kit kinek mi mit minek melyik milyen mikor hol hova honnan miért hogyan hogy mennyi hány`,
  id: `apa apakah siapa kapan mana dimana bagaimana mengapa kenapa berapa`,
  it: `chi che cosa quale quali quando dove dov perché perchè come quanto quanta quanti quante`,
  lt: `kas ką kam koks kokia kokią kuris kuri kada kur kaip kodėl kiek ar`,
  ne: `के को कुन कहिले कहाँ किन कसरी कति कसले`,
  nl: `wie wat welk welke wiens wanneer waar waarom waarmee waarvoor hoe hoeveel`,
  no: `hvem hva hvilken hvilket hvilke når hvor hvorhen hvorfor hvordan kven kva kvifor korleis kvar`,
  pl: `kto kogo komu kim co czego czemu czyj jaki jaka jakie który która które kiedy gdzie dokąd skąd dlaczego czemu jak ile czy`,
  pt: `que quê quem qual quais quando onde aonde donde como porque porquê quanto quanta quantos quantas`,
  ro: `cine ce care cărei cărui când unde cum cât câte câți`,
  ru: `кто кого кому кем чем что чего чему чей чья чьё чьи какой какая какое какие каких когда где куда откуда почему отчего зачем как сколько ли`,
  sr: `ко шта што који која које какав каква какво када кад где како зашто колико чији ли ko šta što koji koja koje kakav kakva kakvo kada kad gde kako zašto koliko čiji li`,
  sv: `vem vems vad vilken vilket vilka när var vart varifrån varför hur hurdan`,
  tr: `kim kime kimin kimden ne neden niçin niye nasıl nerede nerde nereye nereden hangi hangisi kaç mi mı mu mü nedir midir`,
  uk: `хто кого кому ким що чого чому чим чий чия чиє який яка яке які якого коли де куди звідки навіщо як скільки чи`,
} as const satisfies Readonly<Record<string, string>>;
