"""The fields of everyday life that a text speaks of.

What somebody told about food is wanted where food is spoken of, though no word is the same. A word
tells a topic; some tell several: an allergy matters to food and to medicine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import sqrt

from .cleaning import words

TOPIC = "topic"
"""Begins the word by which a search finds what belongs to a topic: "topicfood"."""
_WORDS: Mapping[str, str] = {
    "food": """
        food foods eat eating meal meals dish dishes dinner lunch breakfast brunch snack snacks
        cook cooking recipe recipes restaurant restaurants cuisine cuisines menu cafe bistro dine
        dining bake baking dessert desserts vegetarian vegan pescatarian kosher halal gluten dairy
        lactose sugar salt sodium spicy spice spices meat pork beef chicken fish seafood shellfish
        sushi peanut peanuts nut nuts egg eggs cheese milk fruit fruits vegetable vegetables tea
        coffee drink drinks beverage wine beer alcohol cocktail diet dietary diets protein calorie
        calories carbs keto fasting grocery groceries supermarket kitchen oven barbecue bbq picnic
        catering chef chefs culinary gastronomy gourmet ingredient ingredients nutrition
        supplement supplements takeout cilantro olives garlic mushrooms pizza pasta soup salad
        bread cake chocolate ramen tapas buffet eatery foodie bakery eater brew brunches cafes
        vegetarians veggie veggies plant-based meatless pescetarian turkey lamb duck bacon steak
        burger burgers sandwich sandwiches tofu rice noodles beans lentils corn potato potatoes
        onion onions tomato tomatoes avocado banana bananas apple apples berries coconut honey
        butter yogurt cream sauce sauces curry taco tacos dim sum oysters shrimp crab lobster
        salmon tuna flavors flavour tasty hungry appetizer entree cookies pastry pastries pie
        ice-cream candy sweets juice soda smoothie smoothies whiskey vegan-friendly wholegrain
        organic fermented fried grilled roasted street-food diner pub pubs brewery winery
        nutrients nutritional
    """,
    "travel": """
        travel traveling travelling trip trips vacation holiday holidays flight flights fly flying
        activities
        airport airline airlines hotel hotels hostel hostels resort resorts airbnb accommodation
        accommodations lodging itinerary itineraries destination destinations sightseeing tour
        tours tourist tourists touristy visit visiting cruise cruises beach beaches island abroad
        passport visa luggage suitcase backpacking camping glamping campsite sights landmark
        landmarks museum museums city cities country countries weekend getaway excursion
        excursions adventure adventures explore exploring attractions national park parks
        landscape scenery honeymoon roadtrip nature outdoors outdoor mountains forest lake river
        ocean sea wildlife heights height altitude snorkeling diving ziplining nightlife bars
        clubs casino casinos gambling crowded crowds crowd monuments gallery galleries amusement
        haunted ghost paranormal desert deserts nightclub traveler traveller travels vacations
        journey tourism motel inn bnb booking backpack hike hiking safari ski snow tropical jungle
        canyon waterfall waterfalls volcano countryside rural culture cultural local heritage
        cathedral castle palace ruins layover jetlag souvenirs sightsee staycation rainforest
        coast coastal seaside kayaking rafting zoo zoos aquariums destination-wedding theme-park
        viewpoint skyline bungee skydiving scuba trek trekking
    """,
    "transport": """
        train trains bus buses subway metro tram taxi cab rideshare uber ferry commute commuting
        transit transport transportation bicycle bike biking cycle cycling scooter carpool drive
        driving flight flights seat seats rail railway trams airplane airplanes walkable legroom
        layover layovers nonstop first-class sickness
    """,
    "cars": """
        car cars vehicle vehicles suv suvs sedan truck trucks pickup minivan van convertible
        motorcycle motorcycles motorbike engine engines transmission diesel gasoline hybrid
        electric ev evs mileage automaker automakers automotive dealership horsepower driver
        driving drive tire tires fuel brand towing motor motors leather interior coupe hatchback
        crossover crossovers wagon roadster rv camper motorhome dealerships gas petrol emissions
        tesla toyota honda ford bmw mercedes volvo hyundai acceleration torque sunroof cargo
        seating off-road driver-assist plug-in
    """,
    "music": """
        music song songs album albums band bands concert concerts playlist playlists singer
        singers genre jazz rock pop classical opera hip-hop rap metal country techno piano guitar
        violin cello orchestra choir festival festivals listen listening vinyl podcast podcasts
        radio soundtrack soundtracks musician musicians singing sing karaoke lyrics melody drums
        edm hip hop reggae punk r&b
    """,
    "books": """
        book books novel novels read reading author authors fiction nonfiction literature poetry
        poem poems audiobook audiobooks library bookstore magazine magazines comic comics manga
        story stories memoir biography biographies genre thriller fantasy ebook ebooks e-book
        kindle bestseller bestsellers novelist non-fiction sci-fi dystopian mystery mysteries
        paperback hardcover romance articles journalism newspaper newspapers papers
    """,
    "films": """
        film films movie movies show shows series tv television cinema documentary documentaries
        anime animated watch watching stream streaming netflix episode episodes sitcom drama
        dramas comedy horror thriller actor actors director entertainment theater theatre play
        plays musical musicals binge superhero genre standup sci-fi fiction romance romantic
        mystery mysteries crime true-crime detective superheroes animation cartoon cartoons sequel
        sequels franchise blockbuster blockbusters hollywood bollywood subtitled sitcoms
        binge-watch binge-watching supernatural vampire vampires zombie zombies slasher gore gory
        violence violent content themes storyline storylines suspense soap comedies thrillers
        documentary-style hulu disney hbo
    """,
    "games": """
        game games gaming gamer videogame videogames boardgame console xbox playstation nintendo
        rpg rpgs fps mmo multiplayer esports puzzle puzzles chess poker cards tabletop play
        playing player vr steam arcade gameplay playable rpg's shooter shooters platformer
        platformers quests dungeon pvp roguelike virtual mmorpg mmorpgs moba sci-fi fantasy horror
        violence violent storyline
    """,
    "sports": """
        sport sports football soccer basketball baseball tennis golf hockey rugby cricket
        volleyball swimming swim running marathon match matches team teams league olympics stadium
        athlete athletes skiing snowboarding surfing boxing wrestling climbing badminton race
        racing coach gymnastics archery fencing rowing sailing skating skateboarding snowboard
        karate judo bouldering nba nfl mlb fifa ufc f1 triathlon sprint
    """,
    "fitness": """
        fitness gym workout workouts exercise exercises exercising training train yoga pilates
        cardio strength weights lifting running jogging run jog hike hiking walk walking steps
        muscle weight wellness stretch stretching trainer active crossfit treadmill swim swimming
        cycling outdoor endurance stamina cardiovascular hiit aerobics aerobic zumba spinning
        rowing kettlebell kettlebells dumbbells barbell calisthenics bodyweight posture physical
        activities activity high-impact low-impact marathon 5k 10k jumping
    """,
    "health": """
        health healthy medical medicine medicines medication medications doctor doctors hospital
        clinic nurse dentist symptom symptoms pain headache headaches migraine migraines fever flu
        illness sick disease treatment treatments therapy allergy allergies allergic antibiotic
        antibiotics penicillin vaccine vaccines prescription pill pills supplement supplements
        vitamins diabetes diabetic asthma pressure cholesterol surgery injury sleep insomnia
        stress anxiety depression pregnant pregnancy physician remedy remedies pharmacy dose
        mental wellbeing wellness healthcare checkup nutrition immune digestion nausea sickness
        inflammation therapist counseling mindfulness meditation meditate herbal homeopathic
        holistic painkillers ibuprofen aspirin vaccination stressed fatigue
    """,
    "beauty": """
        beauty skincare skin makeup cosmetic cosmetics shampoo conditioner hair hairstyle haircut
        nail nails perfume perfumes fragrance fragrances lotion moisturizer sunscreen cream creams
        serum lipstick mascara foundation cleanser soap deodorant salon spa routine grooming shave
        tan acne lip eyeshadow eyeliner eyebrow eyebrows brow brows lash lashes concealer blush
        bronzer primer palette palettes powder lipgloss gloss lip-balm balm exfoliate exfoliating
        exfoliator exfoliant scrub scrubs toner mask masks facial facials retinol hyaluronic
        wrinkle wrinkles anti-aging aging ageing pores blemish complexion tanning bronze spf
        sunblock manicure pedicure hairspray hairdryer curls curly straightener scalp dandruff
        bodywash body scent scented unscented cologne aftershave beard razor waxing cruelty-free
        parabens sulfates silicones phthalates hypoallergenic fragrance-free glitter moisturizing
        hydrating
    """,
    "clothes": """
        clothes clothing fashion outfit outfits wear wearing wardrobe dress dresses shirt shirts
        pants jeans trousers skirt skirts shoe shoes boots sneakers heels jacket jackets coat
        coats sweater suit suits accessory accessories jewelry jewellery handbag bag bags style
        stylish fabric fabrics cotton wool leather silk linen brand brands size attire garment
        garments sunglasses hat apparel outerwear footwear activewear sportswear swimwear swimsuit
        bikini lingerie underwear socks scarf gloves blouse blouses t-shirt t-shirts hoodie
        hoodies blazer cardigan shorts leggings gown gowns tuxedo sandals loafers denim suede fur
        polyester cashmere velvet stripes trendy couture streetwear vintage thrift thrifted colors
        neon pastel necklace earrings bracelet purse backpack
    """,
    "home": """
        home house apartment flat room bedroom bathroom kitchen furniture sofa couch bed mattress
        chair lamp lighting decor decorate decorating decoration interior curtains rug carpet
        paint wall walls garden gardening plant plants appliance appliances cleaning vacuum
        dishwasher washing renovate renovation move moving rent mortgage landlord household shelf
        bedding balcony houses apartments condo cottage dining-room roommate roommates neighbor
        neighborhood bookshelf wardrobe cushions blankets candles wallpaper tiles flooring
        hardwood backyard yard lawn patio terrace fireplace heater air-conditioning fridge
        refrigerator oven microwave blender laundry declutter minimalist tidy chores
    """,
    "technology": """
        technology tech computer computers laptop laptops phone phones smartphone smartphones
        tablet tablets gadget gadgets app apps software hardware device devices camera cameras
        headphones earbuds speaker speakers monitor keyboard printer smartwatch wearable wearables
        smart windows linux mac iphone android internet wifi router browser privacy cloud password
        battery pc pcs macbook ipad chromebook ios wireless bluetooth drone drones
        artificial-intelligence alexa siri screen-time high-tech low-tech electronics social-media
    """,
    "work": """
        work working job jobs career careers office remote remotely workplace employer employee
        colleague colleagues boss manager meeting meetings deadline project projects team teams
        salary interview interviews resume cv hire hiring promotion profession professional
        business company companies freelance coworking coworker industry internship schedule shift
        shifts workplaces workspace employment employers employees coworkers supervisor managers
        leadership workload overtime nine-to-five commute networking entrepreneur entrepreneurship
        teamwork bonus retreat retreats team-building culture recruiter
    """,
    "learning": """
        learn learning study studying school class classes classroom course courses lesson lessons
        teacher teaching tutor university college degree exam exams homework education educational
        lecture lectures student textbook textbooks flashcards skill skills tutorial tutorials
        resource resources training certification workshop workshops language languages understand
        concept concepts memorize subject practice curriculum bootcamp principles learner learned
        studies studied seminar seminars webinar webinars mooc moocs online-course teach taught
        tutoring mentor mentoring math mathematics physics chemistry biology quizzes note-taking
        auditory hands-on gamified techniques self-paced self-directed
    """,
    "pets": """
        pet pets dog dogs puppy puppies cat cats kitten kittens rabbit rabbits hamster bird birds
        parrot reptile reptiles aquarium horse horses vet veterinarian breed breeds breeder
        breeders leash litter adopt adoption shelter groom crate kennel paw feed feeding animal
        animals companion pooch hound terrier retriever poodle labrador bulldog feline canine
        rodents rodent guinea ferret ferrets snake snakes lizard lizards turtle turtles tortoise
        fishtank goldfish pony cage caged kibble walkies grooming shedding fur hypoallergenic
        neuter spay vaccinated obedience housebroken aquariums exotic
    """,
    "money": """
        money budget budgets price prices cost costs spend spending save saving savings invest
        investing investment investments stock stocks bank banking loan loans debt tax taxes
        insurance income salary expense expenses pension retirement mortgage currency euros
        dollars finance finances financial afford affordable cheap expensive luxury crypto bitcoin
        paycheck
    """,
    "family": """
        family wife husband spouse partner son sons daughter daughters child children kid kids
        baby babies parent parents mother father mom mum dad brother sister grandmother
        grandfather wedding marriage birthday birthdays anniversary gift gifts present presents
        relationship dating girlfriend boyfriend party celebrate celebration families toddler
        toddlers teenager teenagers teen teens infant infants newborn grandparents grandma grandpa
        aunt uncle cousin cousins nephew niece in-laws engaged fiance fiancee married divorced
        sibling siblings romantic
    """,
    "faith": """
        faith religion religious church mosque temple synagogue pray prayer praying god bible
        quran torah muslim islam christian christianity jewish judaism hindu buddhist catholic
        ramadan lent easter sabbath shabbat halal kosher worship spiritual prayers religions mass
        sermon scripture spirituality meditation hinduism buddhism sikh atheist
    """,
    "shopping": """
        shop shops shopping stores mall malls boutique boutiques buy buying bought purchase
        purchases purchasing product products brand brands gift gifts retailers etsy ethical
        ethically sustainable sustainably eco-friendly fair-trade cruelty-free animal-derived
        recycled recyclable second-hand secondhand vintage handmade certified mainstream niche
        ingredients
    """,
}
FIELDS = frozenset(_WORDS)
_ALSO: Mapping[str, tuple[str, ...]] = {
    "allerg": ("food", "health"),
    "intoler": ("food", "health"),
    "peanut": ("food", "health"),
    "celiac": ("food", "health"),
    "coeliac": ("food", "health"),
    "diabet": ("food", "health"),
    "pregnan": ("food", "health"),
    "muslim": ("food", "faith"),
    "jewish": ("food", "faith"),
    "hindu": ("food", "faith"),
    "sober": ("food", "health"),
    "jain": ("food", "faith"),
    "epipen": ("food", "health"),
    "anaphyl": ("food", "health"),
    "panic": ("health",),
    "lithium": ("health",),
    "phobia": ("travel", "health"),
    "wheelchair": ("travel", "health"),
}
"""Beginnings of words that matter to more than the field they belong to."""


def _topics_of_words() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for topic, listed in _WORDS.items():
        # A search takes "anti-aging" for "antiaging", beside its parts.
        for word in listed.replace("-", "").split():
            found.setdefault(word, set()).add(topic)
    return {word: frozenset(topics) for word, topics in found.items()}


_OF_WORD = _topics_of_words()


_MORE = re.compile("|".join(_ALSO))


def topics_of(text: str) -> frozenset[str]:
    """Return the fields of life that a text speaks of."""
    return frozenset(topic_weights(text))


def topic_weights(text: str) -> dict[str, float]:
    """Return how much a text speaks of each field of life.

    A word that belongs to several counts less for each of them.
    """
    return weights_of_words(words(text))


def weights_of_words(said: Iterable[str]) -> dict[str, float]:
    """Return the same for a text that was taken apart before."""
    found: dict[str, float] = {}
    for word in dict.fromkeys(said):
        # Whole words: "animated" and "animals" have one stem, and nothing in common.
        topics = set(_OF_WORD.get(word) or _OF_WORD.get(word.removesuffix("s")) or ())
        if more := _MORE.match(word):
            topics.update(_ALSO[more[0]])
        for topic in topics:
            found[topic] = found.get(topic, 0.0) + 1 / len(topics)
    return found


def directed(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of a text's topics at length 1, whatever the length of the text."""
    length = sqrt(sum([weight * weight for weight in weights.values()]))
    return {topic: weight / length for topic, weight in weights.items()}


def nearness(towards: Mapping[str, float], told: Mapping[str, float]) -> float:
    """Return how much a text speaks of the fields that are asked about (directed), 0 to 1.

    Half of it is which share of the text does, half that it does at all: what is said of make-up,
    of animals and of religion in one breath is of use to whoever asks about make-up.
    """
    shared = [(weight, told[topic]) for topic, weight in towards.items() if topic in told]
    if not shared:
        return 0.0
    length = sqrt(sum([weight * weight for weight in told.values()]))
    share = sum([asked * weight for asked, weight in shared]) / length
    held = sum([asked * min(1.0, weight) for asked, weight in shared])
    return (share + min(1.0, held)) / 2
