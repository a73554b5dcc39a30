"""How much of what a search without a budget returns was wanted.

    python -m benchmarks.precision [--held-back] [--misses]

Sixty questions to six people's memories: what must be found, and what must not, because it is about
something else, belongs to another project, or no longer holds. Two people are held back:
nothing is to be tuned to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.report import Benchmark, Line
from ctxmw import ContextMiddleware

BENCHMARK = Benchmark(
    name="precision", about=__doc__, data="sixty questions of ours, in this file", seed=None
)


def main() -> None:
    parser = BENCHMARK.parser()
    parser.add_argument("--held-back", action="store_true", help="only the two held back")
    parser.add_argument("--misses", action="store_true", help="print what was wrong")
    chosen = parser.parse_args()
    BENCHMARK.tell(measured(held_back=chosen.held_back, misses=chosen.misses), chosen)


def measured(*, held_back: bool = False, misses: bool = False) -> Iterator[Line]:
    for name, people in (("looked at", PEOPLE[:-2]), ("held back", PEOPLE[-2:])):
        if held_back and name != "held back":
            continue
        results = [one for person in people for one in asked(person)]
        figures = {
            "questions": len(results),
            "precision": round(sum(one.precision for one in results) / len(results), 3),
            "recall": round(sum(one.recall for one in results) / len(results), 3),
        }
        notes = tuple(one.told() for one in results if misses and one.told())
        yield Line(name, figures, notes=notes)


@dataclass(frozen=True)
class Case:
    query: str
    must: str
    """Names of what must be found, in one text; everything else must not."""
    may: str = ""
    """Names of what may be found as well."""
    scope: str | None = None


@dataclass(frozen=True)
class Person:
    memories: str
    """A line each: a name, where it holds if not everywhere, and the text."""
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class Result:
    case: Case
    found: tuple[str, ...]

    @property
    def precision(self) -> float:
        wanted = self.case.must.split()
        counted = [name for name in self.found if name not in self.case.may.split()]
        return sum(name in wanted for name in counted) / len(counted) if counted else not wanted

    @property
    def recall(self) -> float:
        wanted = self.case.must.split()
        return sum(name in self.found for name in wanted) / len(wanted) if wanted else 1.0

    def told(self) -> str:
        if self.precision == self.recall == 1:
            return ""
        return f"{self.case.query!r} found {', '.join(self.found)}; must {self.case.must}"


def asked(person: Person) -> Iterable[Result]:
    with ContextMiddleware.open(":memory:", deadline=None) as ctx:
        names = {}
        for line in filter(None, map(str.strip, person.memories.splitlines())):
            name, scope, text = line.split(" ", 2)
            # Of a name that comes again, the last line holds: what it said before is superseded.
            kept = ctx.remember(text, key=name, scope="universal" if scope == "-" else scope)
            names[kept.ref] = name
        for case in person.cases:
            hits = ctx.search(case.query, scope=case.scope)
            current = [names.get(hit.ref, "?") for hit in hits]
            yield Result(case, tuple(current))


COOK = Person(
    """
    nuts - I am allergic to walnuts and pecans.
    oven - The oven runs twenty degrees too hot.
    knife - My chef's knife is a 21 cm gyuto that I sharpen every other Sunday.
    guests - On Fridays we are six at the table.
    stock - Chicken stock is frozen in half-litre bags in the basement.
    wine - My sister brings the wine to dinner.
    bread - The sourdough starter lives on rye flour.
    bread - The sourdough starter lives on spelt flour since March.
    diet - My husband eats no pork.
    spice - Saffron comes from a shop in Lisbon.
    stove project:kitchen The new induction stove is delivered on 12 June.
    tiles project:kitchen The tiles behind the sink are to be green.
    """,
    (
        Case("Which nuts can't I eat?", "nuts"),
        Case("How hot does the oven really get?", "oven"),
        Case("What does the sourdough starter live on?", "bread"),
        Case("How many guests are there on Fridays?", "guests"),
        Case("Where is the chicken stock?", "stock"),
        Case("Who brings the wine?", "wine"),
        Case("When is the induction stove delivered?", "stove", scope="project:kitchen"),
        Case("What colour are the tiles behind the sink?", "tiles"),
        Case("What is my blood type?", ""),
        Case("Where did I buy the saffron?", "spice"),
    ),
)

CODER = Person(
    """
    db - We chose Postgres over MySQL for the billing service.
    cache - Redis is only used as a cache, never as a queue.
    queue - Jobs go through RabbitMQ.
    queue - Jobs go through Kafka since the migration in autumn.
    deploy project:shop Deploys of the shop happen on Tuesdays before noon.
    flag project:shop The checkout is behind the feature flag new_cart.
    api project:maps The maps API allows 50 requests a second.
    tests - Tests run with pytest -n 4.
    style - Use four spaces and never tabs.
    errors - Errors are logged as JSON with a request id.
    owner - Priya owns the billing service.
    python language:python Type hints are required in every function.
    """,
    (
        Case("Which database does the billing service use?", "db", may="owner"),
        Case("What do jobs go through?", "queue"),
        Case("Is Redis a queue here?", "cache", may="queue"),
        Case("When are deploys of the shop?", "deploy"),
        Case("What flag hides the checkout?", "flag", scope="project:shop"),
        Case("How many requests a second may we send to the maps API?", "api"),
        Case("Tabs or spaces?", "style"),
        Case("How are errors logged?", "errors"),
        Case("Who owns billing?", "owner", may="db"),
        Case("Do functions need type hints?", "python", scope="language:python"),
    ),
)

TRAVELLER = Person(
    """
    seat - I always want an aisle seat.
    hotel - In Kyoto we stay at the Hotel Granvia.
    train - The train from Osaka to Kyoto takes fifteen minutes.
    visa - The visa for India expires in October.
    visa - The visa for India was renewed until 2031.
    card - The travel card ends in 4471.
    dog - The dog stays with Marta while we are away.
    pills - Malaria pills have to be taken a week before the flight.
    luggage - Two suitcases of 23 kg are included.
    flight - The flight home leaves at 06:40 from Narita.
    guide - Our guide in Jaipur is called Anand.
    museum - The museum is closed on Mondays.
    """,
    (
        Case("Aisle or window seat?", "seat"),
        Case("Which hotel is it in Kyoto?", "hotel"),
        Case("How long does the train to Kyoto take?", "train"),
        Case("Until when is the visa for India valid?", "visa"),
        Case("Who looks after the dog?", "dog"),
        Case("How heavy may suitcases be?", "luggage"),
        Case("When does the flight home leave?", "flight"),
        Case("What is the name of our guide?", "guide"),
        Case("On which day is the museum closed?", "museum"),
        Case("What did the lawyer say?", ""),
    ),
)

TEACHER = Person(
    """
    room - My lessons are in room 214.
    room - My lessons are in room 305 since the renovation.
    exam - The algebra exam is on 3 February.
    tom - Tom needs more time in exams.
    lena - Lena won the chess tournament.
    trip - The class trip goes to the coast in May.
    bus - The bus for the trip is booked with Huber Reisen.
    books - The geometry books are in the cupboard by the window.
    parents - Parents' evening begins at half past six.
    choir - The choir sings every Wednesday.
    grade - Homework counts for a fifth of the grade.
    printer - The printer on the second floor is out of toner.
    """,
    (
        Case("In which room are my lessons?", "room"),
        Case("When is the algebra exam?", "exam"),
        Case("Who needs more time?", "tom"),
        Case("What did Lena win?", "lena"),
        Case("Where does the class trip go?", "trip", may="bus"),
        Case("Where are the geometry books?", "books"),
        Case("When does parents' evening begin?", "parents"),
        Case("How much does homework count?", "grade"),
        Case("Which printer has no toner?", "printer"),
        Case("Do we have a swimming pool?", ""),
    ),
)

GARDENER = Person(
    """
    soil - The soil behind the shed is clay.
    roses - Roses are pruned in late February.
    hedge - The hedge must not be cut before July because of the nests.
    water - The rain barrel holds 300 litres.
    pump - The pump was broken.
    pump - The pump was repaired in April and works again.
    tomato - Tomatoes stand in the greenhouse from May on.
    slugs - Copper tape keeps slugs off the lettuce.
    neighbour - Mr Brandt next door borrows the ladder.
    mower project:allotment The mower is in the hut with the red door.
    key project:allotment The key to the hut hangs under the bench.
    bees - Two hives stand at the far end of the orchard.
    """,
    (
        Case("What kind of soil is behind the shed?", "soil"),
        Case("When do I prune the roses?", "roses"),
        Case("Until when may the hedge not be cut?", "hedge"),
        Case("How much water fits in the rain barrel?", "water"),
        Case("Does the pump work?", "pump"),
        Case("How do I keep slugs away?", "slugs"),
        Case("Who borrowed the ladder?", "neighbour"),
        Case("Where is the mower?", "mower", scope="project:allotment"),
        Case("How many hives are in the orchard?", "bees"),
        Case("Which insurance do I have?", ""),
    ),
)

SELLER = Person(
    """
    price - The small lamp costs 49 euros.
    price - The small lamp costs 55 euros from September on.
    carrier - Parcels go with DPD.
    courier - The courier deadline is 16:00 on weekdays.
    returns - Returns are accepted for thirty days.
    nora - Nora answers the phone on Mondays and Thursdays.
    stock - The oak table is out of stock until November.
    tax - The tax adviser is Ms Okafor.
    fair project:fair Our stand at the fair has the number B17.
    banner project:fair The banner for the fair is two metres wide.
    shop - The shop closes at six on Saturdays.
    iban - The account is with the cooperative bank.
    """,
    (
        Case("How much is the small lamp?", "price"),
        Case("Who delivers our parcels?", "carrier"),
        Case("When must parcels be ready for the courier?", "courier", may="carrier"),
        Case("For how long do we accept returns?", "returns"),
        Case("On which days does Nora answer the phone?", "nora"),
        Case("When is the oak table in stock again?", "stock"),
        Case("Who is our tax adviser?", "tax"),
        Case("What number has our stand?", "fair", scope="project:fair"),
        Case("When does the shop close on Saturdays?", "shop"),
        Case("What is the password of the router?", ""),
    ),
)

PEOPLE = (COOK, CODER, TRAVELLER, TEACHER, GARDENER, SELLER)

if __name__ == "__main__":
    main()
