"""The first and the last words of each story in ../shared/gold, found by eye in the files themselves."""

from __future__ import annotations

# file (litbank/original or pdnc/data): (first words, last words), in straight typography
STORIES: dict[str, tuple[str, str]] = {
    "105_persuasion": (
        "Sir Walter Elliot, of Kellynch Hall, in Somersetshire, was a man who,",
        "more distinguished in its domestic virtues than in its national importance.",
    ),
    "1155_the_secret_adversary": ("IT was 2 p.m. on the afternoon of May 7, 1915.", '"And a damned good sport too," said Tommy.'),
    "1245_night_and_day": (
        "It was a Sunday evening in October, and in common with many other young ladies",
        '"Good night," she murmured back to him.',
    ),
    "1260_jane_eyre_an_autobiography": ("There was no possibility of taking a walk that day.", "'Amen; even so come, Lord Jesus!'\""),
    "1342_pride_and_prejudice": (
        "It is a truth universally acknowledged,",
        "by bringing her into Derbyshire, had been the means of uniting them.",
    ),
    "1400_great_expectations": ("My father's family name being Pirrip,", "I saw no shadow of another parting from her."),
    "145_middlemarch": ('"Since I can do no good because a woman,', "lived faithfully a hidden life, and rest in unvisited tombs."),
    "15265_the_quest_of_the_silver_fleece_a_novel": (
        "Night fell. The red waters of the swamp grew sinister and sullen.",
        "lest the world shudder at",
    ),
    "2005_piccadilly_jim": ("The residence of Mr. Peter Pett, the well-known financier,", "and a door closed. Ann had gone."),
    "215_the_call_of_the_wild": ('"Old longings nomadic leap,', "as he sings a song of the younger world, which is the song of the pack."),
    "217_sons_and_lovers": ('"THE BOTTOMS" succeeded to "Hell Row".', "He walked towards the faintly humming, glowing town, quickly."),
    "219_heart_of_darkness": ("The Nellie, a cruising yawl, swung to her anchor", "seemed to lead into the heart of an immense darkness."),
    "2489_moby_dick": ("Call me Ishmael.", 'And King of the boundless sea."\n—WHALE SONG.'),
    "27_far_from_the_madding_crowd": ("When Farmer Oak smiled, the corners of his mouth spread", 'and I feel my thanks accordingly."'),
    "32_herland": ("This is written from memory, unfortunately.", "With which agreement we at last left Herland."),
    "33_the_scarlet_letter": ("A throng of bearded men, in sad-coloured garments", '"ON A FIELD, SABLE, THE LETTER A, GULES"'),
    "36_the_war_of_the_worlds": (
        "No one would have believed in the last years of the nineteenth century",
        "and that she has counted me, among the dead.",
    ),
    "4051_lady_bridget_in_the_nevernever_land_a_story_of_australian_life": (
        "Mrs Gildea had settled early to her morning's work",
        "all the past pride and bitterness were transmuted into a great abiding Peace.",
    ),
    "41286_miss_marjoribanks": (
        "Miss Marjoribanks lost her mother when she was only fifteen,",
        "can reconcile to the fact that after all it was Tom.",
    ),
    "4300_ulysses": ("Stately, plump Buck Mulligan came from the stairhead,", "and yes I said yes I will Yes.\n\nTrieste-Zurich-Paris"),
    "432_the_ambassadors": (
        "Strether's first question, when he reached the hotel, was about his friend;",
        '"Then there we are!" said Strether.',
    ),
    "434_the_circular_staircase": (
        "This is the story of how a middle-aged spinster lost her mind,",
        "and I don't care if it has a Circular Staircase.",
    ),
    "45_anne_of_green_gables": ("MRS. Rachel Lynde lived just where the Avonlea main road dipped down", "whispered Anne softly."),
    "472_the_house_behind_the_cedars": ("Time touches all things with destroying hand;", "\"Mis' Molly Walden's daughter Rena.\""),
    "502_desert_gold": ("A FACE haunted Cameron—a woman's face.", '"Lluvia d\'oro"—"Shower of Gold."'),
    "521_the_life_and_adventures_of_robinson_crusoe": (
        "I was born in the year 1632, in the city of York, of a good family,",
        "I shall give a farther account of in the Second Part of my Story.",
    ),
    "5348_ragged_dick_or_street_life_in_new_york_with_the_bootblacks": (
        '"Wake up there, youngster," said a rough voice.',
        "THE PROGRESS OF RICHARD HUNTER.",
    ),
    "550_silas_marner": (
        "In the days when the spinning-wheels hummed busily in the farmhouses",
        'what a pretty home ours is! I think nobody could be happier than we are."',
    ),
    "599_vanity_fair": (
        "While the present century was in its teens,",
        "let us shut up the box and the puppets, for our play is played out.",
    ),
    "62_a_princess_of_mars": ("I am a very old man; how old I do not know.", "and something tells me that I shall soon know."),
    "711_allan_quatermain": (
        "A week had passed since the funeral of my poor boy Harry,",
        "so I presume that they are lost or destroyed.\n\nGeorge Curtis",
    ),
    "730_oliver_twist": ("Among other public buildings in a certain town,", "and she was weak and erring."),
    "73_the_red_badge_of_courage_an_episode_of_the_american_civil_war": (
        "The cold passed reluctantly from the earth,",
        "a golden ray of sun came through the hosts of leaden rain clouds.",
    ),
    "74_the_adventures_of_tom_sawyer": ('"TOM!"\n\nNo answer.', "not to reveal any of that part of their lives at present."),
    "78_tarzan_of_the_apes": ("I had this story from one who had no business to tell it to me,", 'I never knew who my father was."'),
    "829_gullivers_travels_into_several_remote_nations_of_the_world": (
        "The author gives some account of himself and family.",
        "that they will not presume to come in my sight.",
    ),
    "876_life_in_the_ironmills_or_the_korl_woman": (
        "A cloudy day: do you know what that is in a town of iron-works?",
        "God has set the promise of the Dawn.",
    ),
    "8867_the_magnificent_ambersons": ('Major Amberson had "made a fortune" in 1873,', "Her eyes would look wistful no more."),
    "932_the_fall_of_the_house_of_usher": (
        "During the whole of a dull, dark, and soundless day",
        'silently over the fragments of the "House of Usher".',
    ),
    "95_the_prisoner_of_zenda": (
        '"I wonder when in the world you\'re going to do anything, Rudolf?"',
        "for the other side, I must pray a dreamless sleep.",
    ),
    "DaisyMiller": ("At the little town of Vevey, in Switzerland,", "much interested in a very clever foreign lady."),
    "HardTimes": ('"NOW, what I want is, Facts.', "to see the ashes of our fires turn gray and cold."),
    "HowardsEnd": ("One may as well begin with Helen s letters to her sister.", 'such a crop of hay as never!"'),
    "MansfieldPark": (
        "About thirty years ago Miss Maria Ward, of Huntingdon,",
        "within the view and patronage of Mansfield Park had long been.",
    ),
    "Persuasion": (
        "Sir Walter Elliot, of Kellynch Hall, in Somersetshire,",
        "more distinguished in its domestic virtues than in its national importance.",
    ),
    "PrideAndPrejudice": ("It is a truth universally acknowledged,", "had been the means of uniting them."),
    "SenseAndSensibility": ("The family of Dashwood had long been settled in Sussex.", "or producing coolness between their husbands."),
    "TheInvisibleMan": ("The stranger came early in February, one wintry day,", "And none other will know of them until he dies."),
    "TheMysteriousAffairAtStyles": (
        'The intense interest aroused in the public by what was known at the time as "The Styles Case"',
        'We may hunt together again, who knows? And then "',
    ),
    "ThePictureOfDorianGray": (
        "The artist is the creator of beautiful things.",
        "It was not till they had examined the rings that they recognized who it was.",
    ),
    "TheSportOfTheGods": (
        "Fiction has said so much in regret of the old days",
        "they knew they were powerless against some Will infinitely stronger than their own.",
    ),
    "TheSunAlsoRises": ("Robert Cohn was once middleweight boxing champion of Princeton.", '"Isn\'t it pretty to think so?"'),
    "WhereAngelsFearToTread": ("They were all at Charing Cross to see Lilia off", "lest the smuts should get into Harriet s eyes."),
    "WinnieThePooh": ("Here is Edward Bear, coming downstairs now,", "going up the stairs behind him."),
}
