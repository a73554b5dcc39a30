"""What search knows of English words: which say nothing, and which stand for each other.

Other languages are searched by their words alone.
"""

from __future__ import annotations

from itertools import chain

MONTHS = (
    "january february march april may june july august september october november december"
).split()
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_SAYS_NOTHING = """
a an the and or but if then than so as of at by for with about into to from in out on off over
under up down i me my mine myself we us our ours you your yours he him his she her hers it its
they them their theirs this that these those is am are was were be been being have has had
having do does did doing would could should can may might will shall must not no nor what which
who whom whose when where why how there here all any both each some such only own same too very
just also s t d ll m re ve don didn doesn isn wasn dont didnt doesnt isnt wasnt im ive id ill
youre youve weve theyre thats whats lets hes shes cant wont couldnt wouldnt shouldnt havent
hasnt arent werent
"""
STOP_WORDS = frozenset(_SAYS_NOTHING.split())

_FRAMES_A_QUESTION = """
mention mentioned mentions mentioning say said says tell told talk talked talking discuss
discussed discussing discussion discussions list lists listed order ordered brought bring
different various aspect aspects throughout conversation conversations chat chats item items
summary summarize summarise summarized overview recap comprehensive detailed provide provided
walk through across give gave given please help know one two three four five six seven eight
nine ten kind kinds type types sort sorts many much name names example examples ever according
based likely specific specifically go went get got make made use used using done like happen
happened time take took way
"""
FRAME_WORDS = frozenset(_FRAMES_A_QUESTION.split())
"""Words around the subject of a question: "can you list the order in which I mentioned ..."."""

_SMALL_TALK = """
absolutely ace adios afk afternoon again agreed ah ahead ai alive all alright amazing another
answer answers anything anytime anyway anyways appreciate appreciated around asap asleep awake
awesome aww aye back bad bananas beans beautiful best better big birthday bit bless blessed
bonjour boo bored boss bot bravo brb break brilliant bro btw buddy busy bye call came captain care
carry catch certainly champ chat cheer cheers chief chill christmas ciao clap clear clearly coffee
come coming congrats congratulations continue cool copy correct course crack cracked crazy crossed
cute damn dandy danke day deal dear definitely delighted doing dokey done dream dreams dude dunno
early ears easy eh else enjoy enough epic evening everybody everyone everything exactly excellent
explain explained explaining fair fantastic feel feeling finally fine fingers first five folks
free friday friend friends fun funny fyi gave genius get gg give giving glad gm gn go going gone
gonna good goodbye goodnight goofy gosh got gotta gracias grazie great groovy guess guys haha
hahaha hallo happy hear heard hehe hello help helped helpful here hero hey hi high hilarious hiya
hm hmm hola hold holiday holidays honest honestly honored hooray hope hoping hour hours howdy hug
hugs huh human hungry hush idea ideas idk ikr imo impressed impressive incredible indeed insane
interesting jk job joke jokes joking k keep kidding kind kinda kindly kiss kk know last late later
laugh leave leaving left legend lemme let lgtm life like listen lmao lmfao lmk lol long look
looking looks lot lots loud love lovely luck lucky madam made make makes making man mate maybe
mean meaning means meant meet meeting meh mention mentioned merci mhm mind minute minutes moin
moment monday mood more morning much nah neat need never nevermind new next nice nicely night
nighty no nope nothing now np nuts nvm obrigado obviously oh ok okay okey omg one ones oops out
pal party patience patient peace peachy perfect perhaps phew pinch ping please pleasure pls point
prank pretty problem proceed question questions quick quickly rain ready real really regards relax
relief reply respect response rest right rn robot rock rocks rofl roger rush safe said salt salut
saturday say saying says sec second see sense serious seriously servus set short shush sick sigh
silly sing sir sis sleep sleepy small smh smile something song soon sorry sorta sounds spot star
start stay stop stuck sunday sunny super sure surely surprise surprised sweet swell take taking
talk talking tbh team tell terrible test testing thank thanks there thing things think thinking
thursday thx tight time times tired today tomorrow tonight took totally travels tried true truth
try trying tschau ttyl tuesday ty ugh uh um unbelievable understand understood vibe vibes wait
wanna want way weather wednesday weekend welcome well went whatever whoa wild wish wishes wishing
wonderful woohoo work worked working works world worries wow wrong wtf ya yay yeah year years yep
yes yikes yup yw
"""
SMALL_TALK = frozenset(_SMALL_TALK.split())
"""Words of a message that asks for nothing."""

_RELATED = """
hobby hobbies pastime interest | love enjoy fun started learning class practice play playing
    collect weekend passionate
activity activities do | went played hiking swimming camping visited class weekend trip
sport sports athletic athlete | game team play season training match coach gym basketball football
    soccer tennis running swimming
exercise workout fitness fit | gym running yoga run training class pilates weights swim hike walk
food foods dish dishes meal cuisine eat diet snack snacks | cook cooking recipe ate delicious
    dinner lunch breakfast taste restaurant bake pizza chicken salad soup cake chocolate pasta
drink drinks beverage | coffee tea beer wine soda juice water
dessert desserts sweet | cake chocolate cookies ice cream pie bake
cook cooking recipe recipes bake baking | dish made delicious dinner ingredients oven kitchen
pet pets animal animals | dog cat puppy kitten bird fish turtle hamster horse adopted
dog dogs puppy | pup pet walk breed shelter adopted
cat cats kitten | pet kitty adopted
book books novel author authors read reading literature | read series story author wrote library
    chapter fantasy
movie movies film films show shows tv watch | watched series episode season actor cinema netflix
music musical musician song songs band artist | listen concert guitar piano album sing play
    playing singer
instrument instruments | guitar piano violin drums play playing saxophone flute
art artistic artwork paint painting | painting drawing draw sculpture pottery canvas gallery
    exhibition sketch
game games gaming | play played video console level tournament board
travel travelling trip trips vacation holiday visit visited destination destinations | trip went
    flight hotel beach city country visited traveling tour
country countries | trip visited abroad europe from live moved
city cities place places | visited trip live moved town went
family relatives | mom dad mother father sister brother kids son daughter husband wife parents
    grandma aunt uncle cousin
child children kid kids | son daughter kids baby school
parent parents | mom dad mother father mum
mother mom | mum mom mother
father dad | dad father
spouse partner husband wife married marriage wedding relationship romantic dating single | husband
    wife married wedding boyfriend girlfriend date partner engaged breakup single proposed love
sibling siblings | brother sister
friend friends friendship | buddy met hang together friends
job jobs work career profession occupation employment | work working job boss company office hired
    interview position manager promotion
business company startup | customers shop store open opened launch clients
study studies education school college university degree student major | class exam course
    studying semester graduate professor learn campus
language languages | speak learning spanish french english german italian
health healthy illness sick medical condition injury | doctor hospital pain sick surgery check-up
    diagnosed injured recovery weight
stress stressed destress relax cope mental | relax calm meditation yoga walk therapy unwind
    anxiety
money financial finances salary afford expensive | pay paid bills cost save dollars budget
    expensive cheap buy income
buy bought purchase purchased | got new ordered store bought shop shopping
gift gifts present | gave got birthday surprise
volunteer volunteering charity community | shelter donate donation helped event fundraiser
    volunteer
car vehicle transport transportation | drive car bus train truck bike subway driving
home house apartment live lives living | moved rent house apartment room neighborhood city
weather | rain snow cold sunny hot
nature outdoor outdoors | hiking park forest mountain beach camping trail lake
birthday age old | born birthday years turned
religion religious faith | church pray god temple spiritual
political politics | government vote election policy
goal goals plan plans planning future dream dreams | hope want wish thinking soon next planning
    someday
challenge challenges problem problems difficulty struggle struggles obstacle setback | hard tough
    difficult struggling setback issue
emotion feel feeling feelings | happy sad excited proud nervous scared grateful
like likes favorite favourite prefer preference enjoy | love favorite enjoy best
dislike dislikes hate | hate don't can't stand worst
personality trait traits attributes character kind | kind thoughtful caring driven honest selfless
achievement achievements accomplish accomplished award awards won | won award prize proud first
    medal certificate
advice suggestion suggestions recommend recommended recommendation tips | try should recommend
    suggest check maybe tip
event events attend attended participate participated | went conference festival parade concert
    workshop meeting race party
meet met | met introduced ran
clothes clothing wear fashion | dress shirt shoes jacket wore
phone technology tech device | app computer laptop software
nickname name names called | call called named
error errors bug bugs | fix exception failed issue crash
security secure | password authentication encryption token hash
performance speed latency | fast slow optimize ms response time
deadline deadlines due | by date submit schedule
schedule timeline plan | deadline week date meeting
budget cost expense expenses | price spend money dollars pay
test testing tests | coverage unit pass failing
born birth birthplace hometown hail origin originally | from grew home country native raised moved
move moved relocate relocation | moving apartment house city new packed settle
recreation leisure free spare unwind | weekend relax watch play walk read hobby
camp camping hike hikes hiking outdoor | trail mountain tent campfire woods nature park lake
beach ocean sea swim swimming surf | waves sand sun coast water pool
garden gardening plant plants flower flowers | grow seeds soil vegetables roses backyard
photo photos photography picture pictures camera | shot capture lens snapped image
dance dancing dancer | ballet studio routine steps performance
write writing writer written | story poem blog journal novel draft script book essay
poem poetry poet | verse write wrote
craft crafts handmade | made sewing knitting pottery wood diy
invest investment investing stock stocks | money shares market portfolio crypto
injury injured accident | hurt broke ankle knee pain hospital crash surgery
sleep tired rest | night bed nap insomnia exhausted
doctor hospital clinic | appointment check surgery nurse medicine
weight lose diet | pounds healthy eating exercise gym calories
allergy allergic | reaction avoid sneeze
win won victory champion championship | tournament medal trophy first prize match title
lose lost defeat | loss match missed
team teammate teammates | players coach game season together
coach mentor teacher professor | taught learn class guide advice
concert festival performance show | tickets music band stage live crowd
celebrate celebrated celebration party anniversary | birthday cake friends dinner graduation
holiday christmas thanksgiving easter halloween | family celebrate dinner gifts tree
restaurant cafe bar | ate dinner food menu lunch order
shop shopping store stores mall | bought buy sale market
pregnant pregnancy baby expecting | birth due newborn mom
divorce separated breakup ex | split single alone
die died death passed loss funeral | lost grief miss memorial passed
fear fears scared afraid worry worried anxious | nervous scared anxiety worry stress
proud happy excited joy glad | amazing thrilled awesome great
sad upset depressed lonely | tough hard down miss cry
angry mad frustrated annoyed | upset annoying hate
inspire inspired inspiration motivate motivated motivation | because reason encouraged role model
    dream
reason why cause caused because | because since so reason
support supportive supporting encourage | help there family friends thanks
learn learned learning skill skills | class course practice teach lesson taught improve
improve improved improvement progress better | increased practice better progress grew
decide decided decision choose chose choice | choose picked going option because
prepare preparing preparation ready | practice plan study ready
start started begin began beginning | first new began beginning joined signed
finish finished complete completed end ended | done final finally completed last
quit stop stopped leave left | quit left stopped gave
join joined member club group | team club signed community meet
organize organized host hosted arrange | event planned party hosting
build built create created develop developed | made building project design working
repair fix fixed restore restored | broken fixing working replaced
lose lost missing | find found misplaced
help helped assist | support volunteer helping
meet meeting appointment | scheduled call tomorrow zoom discuss
frequency often regularly usually | every daily week weekly always times
long duration | years months weeks hours since
cost price worth | dollars paid expensive cheap
color colour colors | blue red green black white yellow purple
size big small large | tall huge tiny
vehicle car cars drive | truck engine road driving
airport flight fly plane | flying landed ticket trip
hotel stay stayed | room booked airbnb
state states region area | city live moved
neighborhood neighbor neighbors | street community house
church temple | faith pray service sunday
military army war veteran | served soldiers deployed
law legal lawyer court | case rights attorney
science scientist research | study lab experiment data
computer computers programming coding code software | app developer python website project bug
website web site page | html css javascript design online
database sql schema table | query column migration index
server deploy deployment hosting | production cloud release pipeline
library libraries framework dependency dependencies package packages | version install module
    import
feature features functionality | implement add support build
api endpoint endpoints request requests | response route fetch call http
login authentication auth user | password session token register
style styling layout design ui | css responsive color button
document documentation docs | readme guide write notes
feedback review reviews | comments suggested praised improve
draft essay letter application resume | write version edit submit revise
interview interviews | questions prepare job hiring
mentor advisor colleague coworker | advice met feedback work
salary raise income pay | dollars increase negotiate job
math mathematics calculate calculation formula | problem solve number equation
"""
"""Left of the bar: words of a question. Right: words that talk about the same thing uses."""


def _related_words() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _RELATED.replace("\n    ", " ").strip().splitlines():
        asked, told = (side.replace("'", "").split() for side in line.split("|"))
        for word in asked:
            table.setdefault(word, set()).update({*asked, *told} - {word})
    return {word: frozenset(others) for word, others in table.items()}


RELATED = _related_words()


_NAMES_OF_ANY_CODE = """
action agent array base block board body branch cache call card case chain change check class
client close code command content context copy count data date default delete detail document
double edge edit event example exception execute fetch field file filter find first flag float
form format function graph group handle header hook host image index info init input insert
integer invoke item iterator join language last level limit line link list load lock logger loop
main manager merge message method mode model module name node note null number object open
option order output override package parse part path pattern pending pipe plan plugin point pool
port post prefix print private process profile prompt property public query queue random range
reader record reduce refresh register remove render replace report reset resource result return
review role root route rule save schema score screen script section select send server service
session setting setup shape share shell shift signal single size slice sort source split stack
stage state static status step store stream string structure subject submit suffix sum switch
symbol sync tag target task template term text theme thread time title token tool topic total
track transform tree trigger type union unit update upload user util utils validate value
variable vector verify version view visit watch window worker write writer
"""
EVERYDAY = frozenset(
    chain(
        _NAMES_OF_ANY_CODE.split(),
        STOP_WORDS,
        FRAME_WORDS,
        SMALL_TALK,
        RELATED,
        chain.from_iterable(RELATED.values()),
    )
)
"""Words that people use whatever they talk about: as names of code they tell nothing."""
