#!/usr/bin/env python3
"""A messy table of a hospital, the same for the same seed: messy_csv.py [ROWS] [SEED] [--utf8] [--comma] > klinik.csv

Windows-1252, semicolons, decimal commas, dates in two layouts, codes as those of ICD, missing cells under several names, several rows a
person, a case number that is another in every row. --utf8 writes UTF-8, --comma commas between the cells (and quotes around decimals).
"""

import random
import sys

CODES = {"I21": 3.0, "I50": 2.0, "J18": 1.5, "J44": 0.5, "K35": -1.0, "S72": 0.0, "N39": -0.5, "E11": 0.3}
STATIONS = ["Innere", "Chirurgie", "Köln-Süd", "Notaufnahme"]


def missing(draw, text, share=0.06):
    return draw.choice(["", "?", "NA"]) if draw.random() < share else text


def date(draw):
    year, month, day = draw.randint(2016, 2023), draw.randint(1, 12), draw.randint(1, 28)
    return f"{day:02d}.{month:02d}.{year}" if draw.random() < 0.5 else f"{year}-{month:02d}-{day:02d}"


def rows(count, seed):
    draw = random.Random(seed)
    for i in range(count):
        age, crp = draw.randint(18, 95), min(draw.expovariate(1 / 30), 400)
        code = draw.choice(list(CODES))
        ill = (age - 55) / 12 + (crp - 25) / 20 + CODES[code] + draw.gauss(0, 1)
        yield [f"F-{seed}{i:06d}", f"P{draw.randint(1, count // 3)}", missing(draw, str(age), 0.03),
               draw.choice(["m", "w", "d"] if draw.random() < 0.1 else ["m", "w"]), date(draw),
               missing(draw, f"{crp:.1f}".replace(".", ",")), f"{code}.{draw.randint(0, 29)}", draw.choice(STATIONS),
               f"{draw.choice(['Müller', 'Šimek', 'Groß', 'O’Neil'])}, „{draw.randint(1, 9)}“", "schlecht" if ill > 1 else "gut"]


def main(arguments):
    numbers = [int(a) for a in arguments if a.isdigit()] + [20000, 1][len([a for a in arguments if a.isdigit()]):]
    between = "," if "--comma" in arguments else ";"
    names = ["Fall", "Patient", "Alter", "Geschlecht", "Aufnahme", "CRP", "Diagnose", "Station", "Ärztin", "Ausgang"]
    lines = [between.join(f'"{c}"' if between in c else c for c in row) for row in [names, *rows(*numbers)]]
    text = "\r\n".join(lines) + "\r\n"
    sys.stdout.buffer.write(text.encode("utf-8" if "--utf8" in arguments else "cp1252"))


if __name__ == "__main__":
    main(sys.argv[1:])
