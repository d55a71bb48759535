"""Made tables as people keep them: abbreviated names, years, codes, one row for each car, day, person or state."""

from __future__ import annotations

import random
from datetime import date, timedelta

from kedge.kinds.tables.schema import ColumnType

Row = tuple[object, ...]

CARS = [
    ("Name", ColumnType.TEXT),
    ("mpg", ColumnType.REAL),
    ("Cylinders", ColumnType.INTEGER),
    ("Displacement", ColumnType.REAL),
    ("Horsepower", ColumnType.INTEGER),
    ("Weight_in_lbs", ColumnType.INTEGER),
    ("Year", ColumnType.DATE),
    ("Origin", ColumnType.CATEGORY),
    ("Doors", ColumnType.CATEGORY),
]
RENTALS = [
    ("rental_id", ColumnType.ID),
    ("the_date", ColumnType.DATE),
    ("customer_id", ColumnType.ID),
    ("tool_id", ColumnType.ID),
    ("tool_name", ColumnType.CATEGORY),
    ("shop_id", ColumnType.ID),
    ("shop_name", ColumnType.CATEGORY),
    ("shop_sales", ColumnType.REAL),
    ("unit_sales", ColumnType.INTEGER),
    ("units_per_case", ColumnType.INTEGER),
    ("MSRP", ColumnType.REAL),
    ("Profit", ColumnType.REAL),
    ("Cost Other", ColumnType.INTEGER),
    ("Cost Repair", ColumnType.INTEGER),
    ("Cost Total $", ColumnType.INTEGER),
    ("Torque MAX in newtons", ColumnType.REAL),
    ("Tool Courier Operator", ColumnType.CATEGORY),
    ("Time of day", ColumnType.CATEGORY),
    ("promo_id", ColumnType.ID),
    ("promo_name", ColumnType.CATEGORY),
    ("Ship Mode", ColumnType.CATEGORY),
    ("Shipped Date", ColumnType.DATE),
    ("rental_amount", ColumnType.INTEGER),
    ("lead_time", ColumnType.INTEGER),
    ("days_in_waiting_list", ColumnType.INTEGER),
    ("helpers", ColumnType.INTEGER),
    ("dogs", ColumnType.INTEGER),
    ("grade", ColumnType.CATEGORY),
    ("remark", ColumnType.CATEGORY),
]
MINDERS = [
    ("minder_number", ColumnType.ID),
    ("employee_id", ColumnType.ID),
    ("full_name", ColumnType.TEXT),
    ("first_name", ColumnType.CATEGORY),
    ("last_name", ColumnType.CATEGORY),
    ("base_id", ColumnType.ID),
    ("base_description", ColumnType.CATEGORY),
    ("since", ColumnType.DATE),
    ("salary", ColumnType.INTEGER),
    ("total_day_charge", ColumnType.REAL),
    ("total_eve_charge", ColumnType.REAL),
    ("animal", ColumnType.CATEGORY),
    ("animal_name", ColumnType.CATEGORY),
]
ORDERS = [
    ("Order No", ColumnType.ID),
    ("Order Date", ColumnType.DATE),
    ("Cust No", ColumnType.ID),
    ("Prod Code", ColumnType.ID),
    ("Product Line", ColumnType.CATEGORY),
    ("Qty Ordered", ColumnType.INTEGER),
    ("Qty in Stock", ColumnType.INTEGER),
    ("Price Each (USD)", ColumnType.REAL),
    ("Buy Price (USD)", ColumnType.REAL),
    ("Status", ColumnType.CATEGORY),
    ("YearsWithClerk", ColumnType.INTEGER),
    ("Role", ColumnType.CATEGORY),
]
INHABITANTS = [
    ("Place", ColumnType.CATEGORY),
    ("Year", ColumnType.INTEGER),
    ("Sex", ColumnType.CATEGORY),
    ("AgeGrp", ColumnType.CATEGORY),
    ("Value", ColumnType.INTEGER),
]
PAYMENTS = [
    ("Payer", ColumnType.CATEGORY),
    ("Payment Date", ColumnType.DATE),
    ("Country", ColumnType.CATEGORY),
    ("Amount", ColumnType.INTEGER),
]
BAKERY = [
    ("id", ColumnType.ID),
    ("date", ColumnType.DATE),
    ("name", ColumnType.CATEGORY),
    ("type", ColumnType.CATEGORY),
    ("price", ColumnType.REAL),
]
WEATHER = [
    ("date", ColumnType.DATE),
    ("precip", ColumnType.REAL),
    ("temp_max", ColumnType.REAL),
    ("temp_min", ColumnType.REAL),
    ("wind", ColumnType.REAL),
    ("weather", ColumnType.CATEGORY),
]
INQUEST = [
    ("first_name", ColumnType.TEXT),
    ("last_name", ColumnType.TEXT),
    ("age", ColumnType.INTEGER),
    ("gender", ColumnType.CATEGORY),
    ("death_date", ColumnType.DATE),
    ("district", ColumnType.CATEGORY),
    ("smoker", ColumnType.CATEGORY),
]
REGIONS = [
    ("", ColumnType.TEXT),
    ("region", ColumnType.CATEGORY),
    ("pop", ColumnType.INTEGER),
    ("medianincome", ColumnType.REAL),
    ("lat", ColumnType.REAL),
    ("class", ColumnType.CATEGORY),
]
FILMS = [
    ("title", ColumnType.TEXT),
    ("year", ColumnType.INTEGER),
    ("length", ColumnType.INTEGER),
    ("min_price", ColumnType.REAL),
    ("price", ColumnType.REAL),
    ("Comedy", ColumnType.INTEGER),
    ("screens", ColumnType.INTEGER),
    ("country", ColumnType.CATEGORY),
]


def _cars() -> list[Row]:
    dice = random.Random(21)
    makes = "Alba Brio Corsa Dardo Elan Fides Gala Hera Ibis Juno".split()
    return [
        (
            f"{makes[number % 10]} {100 + number}",
            None if number % 40 == 0 else round(dice.uniform(9, 46), 1),
            dice.choice([4, 4, 6, 8]),
            float(dice.randrange(70, 450)),
            50 + number,
            1600 + 7 * ((number * 37) % 400),
            date(dice.randrange(1970, 1983), 1, 1),
            dice.choice(["Japan", "Europe", "USA"]),
            dice.choice(["2", "4", "5"]),
        )
        for number in range(400)
    ]


def _weather() -> list[Row]:
    dice = random.Random(22)
    rows: list[Row] = []
    for number in range(800):
        low = round(dice.uniform(-8, 18), 1)
        rows.append(
            (
                date(2012, 1, 1) + timedelta(days=number),
                round(dice.choice([0, 0, dice.uniform(0, 40)]), 1),
                round(low + dice.uniform(2, 16) + number / 1000, 3),
                low,
                round(dice.uniform(0, 10), 1),
                dice.choice(["rain", "sun", "fog", "snow", "drizzle"]),
            )
        )
    return rows


def _inquest() -> list[Row]:
    dice = random.Random(23)
    firsts = "Ana Ben Cora Dion Elsa Finn Gwen Hugo Iris Jan".split()
    lasts = "Moss Nash Ogden Pike Quill Reed Shaw Todd".split()
    return [
        (
            firsts[number % 10],
            lasts[number // 10],
            15 + number if number % 9 else None,
            dice.choice(["Female", "Male"]),
            date(1992, 4, 1) + timedelta(days=dice.randrange(60)),
            dice.choice(["Harbour", "Old Town", "Mill Hill"]),
            dice.choice(["Yes", "No"]),
        )
        for number in range(80)
    ]


def _regions() -> list[Row]:
    dice = random.Random(24)
    codes = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IA KS KY ME MD MA MI MN NV NY OH TX UT VT WA WI WY".split()
    return [
        (
            code,
            dice.choice(["North", "South", "West"]),
            dice.randrange(400, 30000),
            round(dice.uniform(20, 60), 2),
            20 + round(number * 1.3, 2),
            dice.choice(["A", "B"]),
        )
        for number, code in enumerate(codes)
    ]


def _films() -> list[Row]:
    dice = random.Random(25)
    return [
        (
            f"The {number}th Story",
            1930 + number % 75,
            60 + (number * 53) % 211,
            round(dice.uniform(1, 4), 2),
            round(5 + number * 0.03, 2),
            int(number % 3 == 0),
            dice.choice([1, 2, 3, 5]),
            dice.choice(["Germany", "France", "Italy"]),
        )
        for number in range(600)
    ]


def _rentals() -> list[Row]:
    """Lines of several rentals each, with figures of the lines and figures of the tools, as several files joined."""
    dice = random.Random(21)
    tools = {
        number: (name, dice.randrange(2, 40), round(dice.uniform(20, 900), 2))
        for number, name in enumerate(("Drill", "Saw", "Sander", "Mixer", "Ladder", "Pump", "Welder", "Jack"), 1)
    }
    promos = ("No Promo", "Spring Days", "Double Week", "Cash Back")
    rows: list[Row] = []
    for line in range(900):
        tool, shop, promo = dice.randrange(1, 9), dice.randrange(1, 7), dice.randrange(4)
        name, case, price = tools[tool]
        other, repair = dice.choice([0, 0, 0, 40, 75]), dice.choice([0, 0, 120, 300])
        day = date(2022, 1, 1) + timedelta(days=dice.randrange(600))
        rows.append(
            (
                f"R{line // 3:03d}",
                day,
                f"K{dice.randrange(60):02d}",
                f"T{tool}",
                name,
                f"S{shop}",
                f"Shop {shop}",
                round(dice.uniform(5, 300), 2),
                dice.randrange(1, 7),
                case,
                price,
                round(dice.uniform(-40, 90), 2),
                other,
                repair,
                other + repair,
                dice.choice([None, round(dice.uniform(1, 80), 1)]),
                dice.choice([f"{who} COURIERS" for who in ("NORTH", "BAY", "HILL", "RIVER", "OAK", "MILL")]),
                dice.choice(["Day", "Night", "Dusk"]),
                f"P{promo}",
                promos[promo],
                dice.choice(["First Class", "Same Day", "Freight"]),
                day + timedelta(days=3),
                dice.randrange(10, 500),
                dice.randrange(0, 365),
                dice.randrange(0, 300),
                dice.choice([0, 0, 1, 2]),
                dice.choice([0, 0, 0, 1]),
                dice.choice(["A", "B", "C"]),
                dice.choice(["fine", "late", "booth keeper/painter"]),
            )
        )
    return rows


def _minders() -> list[Row]:
    """People who mind animals, two of whom have one name; ids of bases with what they are called."""
    dice = random.Random(33)
    bases = ("Harbour Office", "Hill Farm", "Old Mill", "Station Yard")
    firsts, lasts = ("Ada", "Bo", "Cleo", "Dag", "Eva", "Finn", "Gro", "Hal"), ("Ash", "Beck", "Cole", "Dunn", "Eck")
    rows: list[Row] = []
    for number in range(400):
        first, last = dice.choice(firsts), f"{dice.choice(lasts)}{chr(97 + number // 16)}{chr(97 + number % 16)}"
        if number == 399:
            first, last = str(rows[0][3]), str(rows[0][4])
        base = dice.randrange(4)
        rows.append(
            (
                f"M{number if number < 398 else 5:04d}",
                f"E{number:04d}",
                f"{first} {last}",
                first,
                last,
                f"B{base}",
                bases[base],
                date(2001, 1, 1) + timedelta(days=17 * number),
                21_000 + 37 * ((number * 7) % 400),
                round(dice.uniform(5, 60), 2),
                round(dice.uniform(5, 60), 2),
                dice.choice(["Cat", "Dog", "Dog", "Goat"]),
                dice.choice(["Luna", "Rex", "Momo", "Dog"]) if number else "Cat",
            )
        )
    return rows


def _orders() -> list[Row]:
    """Lines of orders: each order has one date and one customer, each product one price to buy it for and one stock."""
    dice = random.Random(44)
    products = [
        (f"P{n:02d}", dice.choice(["Cars", "Ships", "Trains"]), dice.randrange(900), dice.uniform(5, 60))
        for n in range(30)
    ]
    rows: list[Row] = []
    for order in range(120):
        day = date(2003, 1, 5) + timedelta(days=6 * order)
        customer, status = f"C{dice.randrange(25):02d}", dice.choice(["Shipped", "Shipped", "Cancelled"])
        for _ in range(dice.randrange(1, 9)):
            code, line, stock, buy = dice.choice(products)
            price = round(buy * dice.uniform(1.2, 2), 2)
            role = dice.choice(["Clerk", "Agent", "Single"])
            ordered = dice.randrange(1, 50)
            numbers = (ordered, stock, price, round(buy, 2))
            rows.append((str(10100 + order), day, customer, code, line, *numbers, status, dice.randrange(20), role))
    return rows


def _inhabitants() -> list[Row]:
    dice = random.Random(45)
    return [
        (place, year, sex, ages, dice.randrange(1000, 90_000))
        for place in ("Lund", "Oslo", "Bergen", "Tromso")
        for year in range(1950, 2001, 5)
        for sex in ("Male", "Female")
        for ages in ("0-4", "5-9", "10-14")
    ]


def _payments() -> list[Row]:
    dice = random.Random(46)
    payers = [(f"Payer {n}", dice.choice(["Norway", "Spain", "USA"])) for n in range(40)]
    rows: list[Row] = []
    for day in range(260):
        payer, country = dice.choice(payers)
        rows.append((payer, date(2003, 1, 1) + timedelta(days=3 * day), country, dice.randrange(100, 9000)))
    return rows


def _bakery() -> list[Row]:
    """One row for each loaf sold; an order of several has one id and one date."""
    dice = random.Random(47)
    loaves = [("rye", "dark", 4.5), ("baguette", "white", 2.2), ("miche", "dark", 7.9), ("bun", "white", 0.9)]
    rows: list[Row] = []
    for order in range(200):
        for _ in range(dice.randrange(1, 5)):
            name, kind, price = dice.choice(loaves)
            rows.append((f"B{order:03d}", date(2015, 1, 1) + timedelta(days=order), name, kind, price))
    return rows


PLAIN = {
    "orders": (ORDERS, _orders),
    "inhabitants": (INHABITANTS, _inhabitants),
    "payments": (PAYMENTS, _payments),
    "bakery": (BAKERY, _bakery),
    "minders": (MINDERS, _minders),
    "rentals": (RENTALS, _rentals),
    "cars": (CARS, _cars),
    "town-weather": (WEATHER, _weather),
    "inquest": (INQUEST, _inquest),
    "overview": (REGIONS, _regions),
    "movies": (FILMS, _films),
}
