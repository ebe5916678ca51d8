"""Closed lists of words that the rules know: titles, particles, kinship, words that are never a name of their own."""

# ruff: noqa: SIM905 - word lists read better as text
from __future__ import annotations

import re

MALE_TITLES = frozenset(
    """
    mr mistah mistuh mista mist
    marster marse mars mister muster mas'r mus' master messrs sir lord m monsieur messieurs mm signor signore signorino don
    senor señor herr squire esquire father uncle brother grandfather king prince duke earl count baron viscount marquis marquess
    emperor czar tsar abbot friar fra dom padre bishop archbishop cardinal pope deacon archdeacon dean vicar parson rev
    reverend curate rector captain capt cap'n colonel col major general gen lieutenant lieut lt sergeant serjeant sergt corporal
    ensign cornet admiral commodore commander private trooper sheriff constable inspector superintendent detective alderman judge
    justice elder rabbi pere père abbé abbe grandpa grandpapa granddad gaffer goodman monseigneur chevalier vicomte comte baronet
    sultan shah rajah khan sheikh sheik emir caliph pasha bey effendi sahib chief daddy papa pa brudder massa mas' senator
    governor president congressman
    """.replace("?", "").split()
)
FEMALE_TITLES = frozenset(
    """
    mrs mis miss misses missis missus ms mme mlle mesdames madame madam mademoiselle lady dame signora signorina donna dona doña
    senora señora senorita señorita frau fraulein fräulein mistress mother aunt auntie aunty sister grandmother grandma grandmamma
    granny queen princess duchess countess baroness viscountess marchioness marquise dowager empress czarina tsarina abbess prioress
    nurse goody goodwife widow nanny mammy mamma mama comtesse vicomtesse nun matron governess stewardess sultana ranee
    """.split()
)
NEUTRAL_TITLES = frozenset(
    """
    dr doctor prof professor hon cousin saint counsellor councillor mayor consul comrade citoyen pastor
    """.split()
)
TITLES = MALE_TITLES | FEMALE_TITLES | NEUTRAL_TITLES
# Titles that say the next name is a surname (or the whole name), titles that go with a first name, and those that tell marriage.
KIN_TITLES = frozenset(
    """
    aunt auntie aunty uncle cousin brother sister father mother grandfather grandmother grandma grandpa granny nurse goody nanny mammy
    daddy mamma papa brudder gaffer baby nun
    """.split()
)
# Title words that are surnames as well: "Miss King", "Tom Bishop".
SURNAME_WORDS = frozenset(
    """
    king pope bishop abbot dean baron prince earl major judge knight constable parson duke friar squire marquis chief deacon elder
    vicar sheriff marshal page master sergeant dame nurse governor chevalier cardinal senator saint mayor pastor herr comfort
    """.split()
)
FIRST_NAME_TITLES = frozenset(
    """
    sir dame aunt auntie aunty uncle cousin brother sister king queen prince princess don dona doña donna fra friar father mother pope
    saint nurse master dom mammy granny
    """.split()
)
SURNAME_TITLES = frozenset(
    """
    mr mrs messrs mm m mme mister mistah mistuh dr doctor prof professor colonel col major general gen lieutenant lieut lt sergeant
    serjeant corporal captain capt admiral commodore inspector superintendent detective judge herr frau monsieur madame signor signora
    senor senora señor señora rev reverend senator governor president
    """.split()
)
MARRIED_TITLES = frozenset("mrs mme madame frau signora senora señora missis missus".split())
UNMARRIED_TITLES = frozenset("miss mlle mademoiselle fraulein fräulein signorina senorita señorita misses".split())
CIVIL_TITLES = frozenset("mr mister muster mistah mistuh m monsieur herr signor senor señor".split())
NOBLE_TITLES = frozenset(
    """
    lord lady sir duke duchess earl count countess baron baroness viscount viscountess marquis marquess marchioness prince princess
    """.split()
)
PLURAL_TITLES = frozenset("misses messrs mesdames messieurs mm lords ladies".split())
# Titles that an abbreviation point follows without ending the sentence.
ABBREVIATED = frozenset(
    """
    mr mrs ms messrs dr st mme mlle m mm rev prof capt col gen lieut lt sergt maj hon esq jr sr co no vol mt ft viz jun sen bart revd
    mdlle mdme mesdmes sig cap
    """.split()
)
ROMAN = re.compile(r"(?=[ivxlc])(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
# What tells one bearer of a name from others: "Rudolf the Third".
BYNAMES = frozenset(
    """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
    great conqueror confessor terrible
    """.split()
)
SUFFIXES = frozenset("esq esquire jr sr junior senior jun sen bart md ma".split())
PARTICLES = frozenset(
    """
    de du des del della di da dos van von der den ter ten la le les el al bin ben ibn ap af av zu zur d l """.split()
)
CAPITAL_PARTICLES = frozenset(
    """
    de du des del della di da van von der la le les st ste saint el al ap ben ibn mac mc o san santa d l delle dos
    """.split()
)
EPITHETS = frozenset(
    """
    old young little poor dear big black red tiny great long fat good gentle honest mad blind wee jolly bold wicked sweet lame lazy
    crazy grand wild white brown gray grey happy lucky lonely brave younger elder late
    """.split()
)
# Epithets that a speaker adds, capital or not; the others may be part of a name.
ENDEARMENTS = frozenset("old young little poor dear good sweet happy brave late younger elder".split())

MONTHS_DAYS = frozenset(
    """
    january february march april may june july august september october november december jan feb aug sept oct nov dec monday tuesday
    wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays christmas easter lent
    whitsuntide michaelmas martinmas candlemas lammas advent whitsun halloween thanksgiving yule midsummer epiphany shrovetide sabbath
    passover ramadan noel xmas
    """.split()
)
RELIGION = frozenset(
    """
    god gods lord christ jesus heaven heavens providence devil almighty saviour savior redeemer creator maker deity divinity satan
    lucifer beelzebub messiah holy ghost trinity virgin bible scripture scriptures gospel gospels testament genesis exodus leviticus
    numbers deuteronomy psalms psalm proverbs ecclesiastes revelation revelations apocalypse koran talmud christian christians
    christianity catholic catholics catholicism protestant protestants protestantism presbyterian presbyterians methodist methodists
    methodism baptist baptists quaker quakers puritan puritans jesuit jesuits calvinist calvinists calvinism calvinistic lutheran
    lutherans anglican anglicans unitarian unitarians dissenter dissenters mohammedan mohammedans mahometan mahometans muslim moslem
    islam buddhist buddhism hindu hindus hindoo hindoos pagan pagans heathen judaism eucharist mass matins vespers compline amen
    hallelujah catechism litany liturgy rubric pentecost godhead vulgate apocrypha
    decalogue paternoster te deum church churchman popery papist papists romanist romanists wesleyan wesleyans evangelical ranter antichrist
    omnipotent supreme eternal gad gawd lawd lor' lor law laws jove jupiter jehovah israelite israelites benedictine dominican
    franciscan franciscans carmelite carmelites freemason freemasons
    """.split()
)
PEOPLES = frozenset(
    """
    english englishman englishmen englishwoman englishwomen british briton britons britisher french frenchman frenchmen frenchwoman
    frenchwomen german germans germanic italian italians irish irishman irishmen irishwoman scotch scotchman scotchmen scotchwoman
    scotsman scotsmen scottish scot scots welsh welshman welshmen dutch dutchman dutchmen spanish spaniard spaniards portuguese
    russian russians polish pole poles prussian prussians austrian austrians hungarian hungarians swiss swede swedes swedish dane
    danes danish norwegian norwegians norse norseman norsemen greek greeks grecian turk turks turkish persian persians arab arabs
    arabic arabian arabians egyptian egyptians indian indians african africans american americans yankee yankees canadian canadians
    australian australians chinese chinaman chinamen japanese mexican mexicans cuban cubans brazilian jew jews jewish jewess hebrew
    hebrews roman romans latin latins saxon saxons anglo norman normans celt celts celtic gaelic gaul gauls teuton teutonic european
    europeans asiatic asiatics oriental orientals creole creoles negro negroes negress moor moors moorish gypsy gypsies gipsy gipsies
    bohemian bohemians flemish belgian belgians parisian parisians parisienne londoner londoners venetian venetians florentine
    neapolitan sicilian sicilians tuscan lombard genoese milanese castilian catalan andalusian basque basques breton bretons provencal
    alsatian bavarian hessian hanoverian viennese tartar tartars mongol mongolian cossack cossacks slav slavs slavonic slavic serb
    serbian bulgarian roumanian rumanian bulgar croat czech finn finnish lapp laplander eskimo esquimaux polynesian malay malays
    hindoo bengalee sepoy sepoys zulu zulus kaffir kaffirs hottentot bushman masai maori maoris aztec aztecs inca incas toltec apache
    apaches comanche sioux iroquois mohawk mohawks mohican cherokee cherokees choctaw navajo navajos yaqui yaquis piute hopi papago
    cornish cornishman cockney cockneys highlander highlanders lowlander yorkshireman virginian virginians kentuckian bostonian
    californian texan georgian victorian elizabethan jacobean jacobin jacobite jacobites gothic goth goths vandal vandals hun huns
    trojan trojans spartan athenian corinthian corinthians doric ionic byzantine carthaginian phoenician phoenicians assyrian
    babylonian chaldean philistine philistines samaritan pharisee pharisees sadducee levite ephesian macedonian ottoman mussulman
    mussulmans semitic aryan caucasian teutons martian martians whig whigs tory tories liberal liberals conservative conservatives
    radical radicals republican republicans democrat democrats democratic socialist socialists socialism anarchist anarchists fenian
    unionist federalist confederate confederates federal chartist luddite luddites bonapartist royalist imperialist nihilist
    parnellite orangeman antiquary cavalier roundhead napoleonic hindostanee hindustani sanscrit sanskrit erse caffre corsican
    corsicans levantine levantines mahratta mahrattas sikh sikhs parsee parsees flamand flamande flamands flamandes belge belges
    français française françaises francais francaise francaises anglais anglaise anglaises allemand allemande allemands italien
    italienne espagnol espagnole russe russes turc turcs parisiennes protestante protestantes catholique catholiques deutsch deutsche
    """.split()
)
TIME_AND_THINGS = frozenset(
    """
    i o oh ah ay aye eh ha hah hey ho hm hum humph pah pooh psh pshaw tut bah alas hallo halloa hello hullo hulloa hush hist hurrah
    hooray huzza bravo yes no nay yea not ok okay ye thou thee thy thine yer yeh er um ugh whew phew ta hoity toity lo fie faugh heigh
    hi tush zounds begad egad gosh gee golly darn damn damme confound dear deary yah yo yep nope sh ssh st ow ouch oho aha mum ahem
    chapter book volume vol part section scene act canto preface prologue epilogue contents introduction note notes appendix finis
    illustration illustrations gutenberg project ebook etext footnote transcriber editor edition publisher the a an and but or nor for
    so yet if as at by in on of to from with without within upon into over under after before since until till when while where why
    who whom whose which what that this these those there then than thus though although because however he she it they we you him her
    his hers its their theirs them us our ours my mine me your yours himself herself itself themselves myself yourself yourselves
    ourselves one ones some any all both each every either neither none nobody nothing somebody something someone anybody anything
    anyone everybody everything everyone such same other others another many much more most few fewer less least several enough is are
    was were be been being am isn't aren't wasn't weren't has have had having do does did done doing will would shall should can could
    may might must ought need dare cannot can't don't didn't doesn't won't wouldn't shan't shouldn't couldn't mustn't needn't ain't
    let never ever always often sometimes once twice again still already also too very quite rather almost only just even perhaps
    maybe indeed certainly surely now here today to-day tomorrow to-morrow yesterday tonight to-night soon later early late meanwhile
    presently suddenly finally moreover nevertheless besides hence therefore accordingly otherwise instead come go get give take make
    see look listen hear tell say said ask think know believe suppose wait stay stop stand sit put bring call keep well please thanks
    thank good bad right wrong true poor old young little great half two three four five six seven eight nine ten eleven twelve twenty
    thirty forty fifty hundred thousand million first second third last next north south east west northern southern eastern western
    northeast northwest southeast southwest nor'west nor'east pm a.m p.m ad bc m.p mp esq etc sir sirs madam ma'am maam marm m'm
    sirrah gentlemen ladies lords gents miss missy missis missus missie master mister mr mrs milord milady m'lord m'lady guv'nor
    guvnor messieurs monsieur madame mademoiselle signor signora signore signorina senor senora señor señora senorita herr frau mein
    mynheer majesty highness lordship ladyship excellency worship honour honor grace reverence eminence holiness nature fate fortune
    destiny time death life love hope faith charity reason truth justice liberty beauty virtue vice conscience duty memory fancy
    imagination passion genius art science music poetry philosophy religion wisdom folly pride vanity mercy pity envy hatred jealousy
    peace war winter spring summer autumn night day morning evening sun moon earth world sea ocean sky wind storm parliament
    government state empire republic kingdom crown throne cabinet senate congress commons union constitution magna carta army navy
    militia regiment brigade corps court bench bar exchange bank post office board committee council society club association honourable
    honorable institute academy university college school hospital museum library gallery theatre theater opera renaissance
    reformation revolution restoration conquest crusade crusades crusader waterloo-medal victoria-cross street road lane square place
    avenue terrace row crescent park house hall castle manor lodge villa cottage abbey priory church chapel cathedral bridge inn
    tavern hotel station river lake mount mountain mountains hill hills valley island islands isle isles bay cape point port harbour
    harbor county parish telegram telegraph telephone times herald gazette chronicle tribune magazine review quarterly daily
    morning-post journal mail express sonata symphony quixotic platonic machiavellian socratic byronic herculean homeric shakespearian
    shakespearean miltonic iliad odyssey aeneid hamlet-like nb p.s ps vs viz ditto item messrs bros co ltd inc whatever whoever
    whenever wherever whichever whether un une le la les des du au aux et ou est mais que qui quoi il elle je tu nous vous ils ce
    cette ces mon ma mes ton tes son sa ses oui non bon bonne bien merci pardon adieu bonjour chers cher chere ciel dieu diable sacre
    voila voilà comme pas plus ne en avec pour sans sur der das ein eine und ist nicht ja nein ach gott si che gli di dio
    """.split()
)
# Words that are ordinary, yet are borne as names: they need evidence of their own, such as a title or a first name before them.
SOMETIMES_NAMES = MONTHS_DAYS | frozenset(
    """
    nature fate fortune destiny time death life love hope faith charity reason truth justice liberty beauty virtue vice conscience
    duty memory fancy imagination passion genius art science music poetry philosophy religion wisdom folly pride vanity mercy pity
    envy hatred jealousy peace war winter spring summer autumn night day morning evening sun moon earth world sea ocean sky wind storm
    grace honour honor reverence worship dear deary gray street road lane square place avenue terrace row crescent park house hall
    castle court manor lodge villa cottage abbey priory church chapel cathedral bridge inn tavern hotel station river lake mount
    mountain mountains hill hills valley island islands bay cape point port harbour harbor county parish young poor old little small
    great good bad right wrong long short north south east west early late sir master miss major king pope bishop baron dean bench bar
    post crown law read bell may will mark bill grant rich frank ernest wright power powers noble noon holiday book page cross
    scott norman lucifer genesis exodus jupiter martin noel marmaduke
    lawless angel star guy jack jock pat nick ma pa mamma mother father papa mama ruth esther job joel amos micah mo case chance price
    marshall warden constable parson abbot judge butler cook squire knight prince earl duke queen chief captain
    """.split()
)
NEVER_NAMES = (RELIGION | PEOPLES | TIME_AND_THINGS) - SOMETIMES_NAMES

# What a name of a place ends with: "Thornfield Hall", "Fleet Street".
PLACE_HEADS = frozenset(
    """
    hall street road lane square place avenue terrace row crescent park house castle court manor lodge villa cottage abbey priory
    church chapel cathedral bridge inn tavern hotel station river lake mount mountain mountains hill hills valley island islands isle
    isles bay cape point port harbour harbor county grange heights moor moors fell fells wood woods forest heath common green gardens
    garden farm mill mills hollow dale glen crag cliff rocks creek brook pond pool ford bank banks beach sands shore coast head ness
    strait straits sound gulf sea ocean channel canal falls spring springs desert plain plains peak range pass canyon gulch ridge
    prairie ranch fort tower towers gate gates cross corner market arcade buildings chambers mansions mews yard alley quay wharf dock
    docks pier stairs steps walk grove close drive way parade embankment circus rectory parsonage vicarage college school university
    academy hospital asylum workhouse prison gaol jail barracks theatre theater palace temple monastery convent nunnery cloister kirk
    minster city town village hamlet parish shire land lands province territory district quarter ward end side cemetery churchyard
    tomb museum library club mine mines quarry works factory plantation settlement reservation colony republic kingdom empire reef
    rock key lock weir crossing junction landing spa wells bath baths mall downs wold marsh rue boulevard faubourg chateau château
    hôtel strasse platz piazza via palazzo campo casa hacienda rancho rio
    """.split()
)
PLACE_OPENERS = frozenset(
    """
    mount lake cape fort port isle river point ben loch glen rue hotel hôtel villa bay gulf mt ft château chateau castle san santa
    camp
    """.split()
)
THING_HEADS = frozenset(
    """
    company bank times herald gazette chronicle tribune magazine review journal mail express society club association institute board
    office railway railroad line works act bill treaty league union regiment hussars dragoons guards rifles fusiliers lancers
    artillery brothers sons co bros agency bureau department ministry committee council court party press post news prize cup stakes
    derby symphony sonata waltz book papers letters bible testament encyclopaedia dictionary
    """.split()
)
SPEECH_VERBS = frozenset(
    """
    said says say cried cries asked asks answered answers replied replies exclaimed inquired enquired observed remarked returned
    continued added whispered murmured muttered rejoined repeated shouted called demanded declared ejaculated responded began begged
    suggested interrupted resumed pursued thought laughed sighed sobbed growled groaned screamed shrieked faltered stammered gasped
    protested persisted insisted interposed admitted announced assented explained urged ventured retorted told quoth went sez sed
    snapped drawled roared bellowed grunted hissed wailed moaned agreed objected concluded proceeded pleaded commented echoed mused
    reflected warned chuckled smiled nodded
    """.split()
)
PLACE_PREPOSITIONS = frozenset(
    """
    in at near towards toward into throughout around across reach reached leave left leaving entered visit quit quitted
    """.split()
)
MALE_KIN = frozenset(
    """
    man gentleman boy lad father brother son husband uncle nephew grandfather king prince fellow bachelor widower papa papas dad daddy
    footman butler coachman clergyman curate groom gardener squire sailor soldier bridegroom lord clerk actor waiter youth chap hero
    """.split()
)
FEMALE_KIN = frozenset(
    """
    woman lady girl lass mother sister daughter wife aunt niece grandmother queen princess maid widow mamma mama mammas housekeeper
    governess nurse housemaid cook bride heiress actress spinster maiden mistress heroine
    """.split()
)
