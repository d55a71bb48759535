"""Made tables of different kinds, the same in every run, and what is known of their columns."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta

import duckdb

from kedge.kinds.tables.schema import ROW, Column, ColumnType, Table
from tests.kinds.tables.made_plain import PLAIN

Row = tuple[object, ...]
_BATCH = 100
_SQL = {
    ColumnType.INTEGER: "BIGINT",
    ColumnType.REAL: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIME: "TIMESTAMP",
    ColumnType.CLOCK: "BIGINT",
}

SHOP = [
    ("Invoice No", ColumnType.ID),
    ("OrderDate", ColumnType.DATE),
    ("customer", ColumnType.CATEGORY),
    ("City", ColumnType.CATEGORY),
    ("article", ColumnType.CATEGORY),
    ("product_group", ColumnType.CATEGORY),
    ("qty", ColumnType.INTEGER),
    ("unit_price", ColumnType.REAL),
    ("rating", ColumnType.INTEGER),
    ("paid_by", ColumnType.CATEGORY),
    ("returned", ColumnType.BOOLEAN),
]
SAILINGS = [
    ("year", ColumnType.INTEGER),
    ("month", ColumnType.INTEGER),
    ("day", ColumnType.INTEGER),
    ("wday", ColumnType.CATEGORY),
    ("logged_at", ColumnType.TIME),
    ("dep_time", ColumnType.CLOCK),
    ("arr_time", ColumnType.CLOCK),
    ("dep_delay", ColumnType.INTEGER),
    ("line", ColumnType.CATEGORY),
    ("name", ColumnType.CATEGORY),
    ("port", ColumnType.CATEGORY),
    ("distance", ColumnType.INTEGER),
    ("passengers", ColumnType.INTEGER),
    ("captain_id", ColumnType.ID),
    ("nameFirst", ColumnType.CATEGORY),
    ("nameLast", ColumnType.CATEGORY),
    ("rating", ColumnType.REAL),
    ("tour", ColumnType.BOOLEAN),
]
HOSPITAL = [
    ("visit_id", ColumnType.ID),
    ("patient_id", ColumnType.ID),
    ("admitted_at", ColumnType.TIME),
    ("ward", ColumnType.CATEGORY),
    ("doctor", ColumnType.CATEGORY),
    ("diagnosis", ColumnType.CATEGORY),
    ("age", ColumnType.INTEGER),
    ("sex", ColumnType.CATEGORY),
    ("length_of_stay", ColumnType.INTEGER),
    ("total_cost", ColumnType.REAL),
    ("insurance", ColumnType.CATEGORY),
    ("emergency", ColumnType.BOOLEAN),
]
FOOTBALL = [
    ("match_id", ColumnType.ID),
    ("kickoff", ColumnType.DATE),
    ("season", ColumnType.CATEGORY),
    ("competition", ColumnType.CATEGORY),
    ("team", ColumnType.CATEGORY),
    ("opponent", ColumnType.CATEGORY),
    ("venue", ColumnType.CATEGORY),
    ("goals_scored", ColumnType.INTEGER),
    ("goals_conceded", ColumnType.INTEGER),
    ("possession", ColumnType.REAL),
    ("attendance", ColumnType.INTEGER),
    ("result", ColumnType.CATEGORY),
]

FLIGHTS = [
    ("flight_number", ColumnType.ID),
    ("departure_time", ColumnType.TIME),
    ("airline", ColumnType.CATEGORY),
    ("origin_airport", ColumnType.CATEGORY),
    ("destination_airport", ColumnType.CATEGORY),
    ("distance_km", ColumnType.INTEGER),
    ("dep_delay_minutes", ColumnType.REAL),
    ("passengers", ColumnType.INTEGER),
    ("ticket_price", ColumnType.REAL),
    ("aircraft_type", ColumnType.CATEGORY),
    ("cancelled", ColumnType.BOOLEAN),
]
STAFF = [
    ("EmployeeID", ColumnType.ID),
    ("FullName", ColumnType.TEXT),
    ("Department", ColumnType.CATEGORY),
    ("JobTitle", ColumnType.CATEGORY),
    ("HireDate", ColumnType.DATE),
    ("Salary", ColumnType.REAL),
    ("Bonus", ColumnType.REAL),
    ("Office", ColumnType.CATEGORY),
    ("Gender", ColumnType.CATEGORY),
    ("PerformanceScore", ColumnType.INTEGER),
    ("YearsOfExperience", ColumnType.INTEGER),
]

TICKETS = [
    ("Ticket", ColumnType.ID),
    ("Created At", ColumnType.TIME),
    ("Closed At", ColumnType.TIME),
    ("Priority", ColumnType.CATEGORY),
    ("Status", ColumnType.CATEGORY),
    ("Agent", ColumnType.CATEGORY),
    ("Product Line", ColumnType.CATEGORY),
    ("Channel", ColumnType.CATEGORY),
    ("Satisfaction", ColumnType.INTEGER),
    ("Response Hours", ColumnType.REAL),
    ("Refund Amount", ColumnType.REAL),
    ("Country", ColumnType.CATEGORY),
]


def _shop() -> list[Row]:
    dice = random.Random(11)
    people = [
        f"{first} {last}" for first in ("Ada", "Bo", "Cleo", "Dan") for last in ("Lovelace", "Nakamura", "O'Brien")
    ]
    towns = ["Lisbon", "Porto", "New York", "York", "Zürich"]
    goods = {
        "Desk Lamp": ("Lighting", 39.9),
        "Floor Lamp": ("Lighting", 89.0),
        "Oak Table": ("Furniture", 349.0),
        "Office Chair": ("Furniture", 129.5),
        "Wool Blanket": ("Textiles", 59.0),
        "Cotton Curtain": ("Textiles", 45.0),
        "Tea Set": ("Kitchen & Dining", 75.0),
    }
    rows: list[Row] = []
    for number in range(1500):
        name = dice.choice(list(goods))
        group, price = goods[name]
        day = date(2021, 1, 1) + timedelta(days=dice.randrange(730))
        rows.append(
            (
                str(90000 + number // 3),
                day,
                dice.choice(people),
                dice.choice(towns),
                name,
                group,
                dice.randrange(1, 9),
                round(price * dice.choice([0.8, 0.9, 1.0, 1.1]), 2),
                dice.choice([None, 1, 2, 3, 4, 5]),
                dice.choice(["Card", "Cash", "Invoice"]),
                dice.random() < 0.1,
            )
        )
    return rows


def _sailings() -> list[Row]:
    """Local days, and the moments of them in a zone seven hours behind; codes of lines with their names."""
    dice = random.Random(17)
    lines = {"NX": "Norlund Ferries", "BV": "Blue Voyage Ltd", "SK": "Skerry Lines"}
    ports = ["Harwick", "Lund", "OR", "WA"]
    people = [(f"cap{n:03}", first, last) for n, (first, last) in enumerate(_captains())]
    rows: list[Row] = []
    for _ in range(1500):
        start = datetime(2018, 1, 1) + timedelta(minutes=dice.randrange(2 * 365 * 24 * 60))
        line = dice.choice(["NX", "NX", "NX", "BV", "BV", "SK"])
        end = start + timedelta(minutes=dice.randrange(30, 300))
        late = dice.choice([-3, 0, 4, 15, 45, 80]) + (10 if line == "SK" else 0)
        rows.append(
            (
                start.year,
                start.month,
                start.day,
                start.strftime("%a"),
                start + timedelta(hours=7),
                start.hour * 100 + start.minute,
                end.hour * 100 + end.minute,
                late if dice.random() > 0.05 else None,
                line,
                lines[line],
                dice.choice(ports),
                dice.randrange(12, 2600),
                dice.randrange(4, 900),
                *dice.choice(people),
                dice.choice([1.0, 2.5, 4.0, 4.5, 5.0]),
                dice.random() < 0.2,
            )
        )
    return rows


def _captains() -> list[tuple[str, str]]:
    return [(first, last) for first in ("Ada", "Bo", "Cleo") for last in ("Marsh", "Nolan")]


def _hospital() -> list[Row]:
    dice = random.Random(12)
    rows: list[Row] = []
    for number in range(1200):
        start = datetime(2019, 1, 1) + timedelta(minutes=dice.randrange(365 * 24 * 60))
        rows.append(
            (
                str(number + 1),
                str(dice.randrange(400)),
                start,
                dice.choice(["Cardiology", "Oncology", "Surgery", "Paediatrics", "Neurology"]),
                dice.choice(["Dr. Gray", "Dr. House", "Dr. Quinn", "Dr. Zhang"]),
                dice.choice(["Fracture", "Pneumonia", "Migraine", "Heart Failure", "Asthma", None]),
                dice.randrange(1, 95),
                dice.choice(["female", "male"]),
                dice.randrange(0, 30),
                round(dice.uniform(100, 20000), 2),
                dice.choice(["public", "private", "none"]),
                dice.random() < 0.3,
            )
        )
    return rows


def _football() -> list[Row]:
    dice = random.Random(13)
    clubs = ["Red Rovers", "Blue United", "Green City", "White Wanderers", "Black Athletic", "Golden Town"]
    rows: list[Row] = []
    for number in range(900):
        team, other = dice.sample(clubs, 2)
        year = dice.choice([2020, 2021, 2022])
        scored, conceded = dice.randrange(6), dice.randrange(5)
        rows.append(
            (
                str(number + 1),
                date(year, 1, 1) + timedelta(days=dice.randrange(365)),
                f"{year}/{str(year + 1)[2:]}",
                dice.choice(["League", "Cup", "Friendly"]),
                team,
                other,
                dice.choice(["home", "away"]),
                scored,
                conceded,
                round(dice.uniform(30, 70), 1),
                dice.randrange(800, 60000),
                "win" if scored > conceded else "loss" if scored < conceded else "draw",
            )
        )
    return rows


def _flights() -> list[Row]:
    dice = random.Random(14)
    airports = ["Oslo", "Madrid", "Rome", "Vienna", "Dublin", "Athens"]
    rows: list[Row] = []
    for number in range(1300):
        start, end = dice.sample(airports, 2)
        cancelled = dice.random() < 0.05
        rows.append(
            (
                f"FL{number % 200:03d}",
                datetime(2023, 6, 1) + timedelta(minutes=dice.randrange(120 * 24 * 60)),
                dice.choice(["Polar Air", "Sunwing", "Alpine Jet"]),
                start,
                end,
                dice.randrange(400, 3200),
                None if cancelled else float(dice.randrange(-10, 180)),
                0 if cancelled else dice.randrange(40, 190),
                round(dice.uniform(39, 420), 2),
                dice.choice(["A320", "B737", "E190"]),
                cancelled,
            )
        )
    return rows


def _staff() -> list[Row]:
    dice = random.Random(15)
    firsts = "Amir Beth Chen Dora Emil Fay Gus Hana Ivo Jill Kofi Lena Mats Nora Omar Pia".split()
    lasts = "Abel Baker Cruz Doe Evans Ford Green Hall".split()
    rows: list[Row] = []
    for number in range(128):
        rows.append(
            (
                str(1000 + number),
                f"{firsts[number % 16]} {lasts[number // 16]}",
                dice.choice(["Sales", "Engineering", "Human Resources", "Marketing", "Finance"]),
                dice.choice(["Manager", "Analyst", "Engineer", "Assistant"]),
                date(2010, 1, 1) + timedelta(days=dice.randrange(4800)),
                float(dice.randrange(30, 150) * 1000),
                dice.choice([None, 1000.0, 2500.0, 5000.0]),
                dice.choice(["Berlin", "London", "Remote"]),
                dice.choice(["F", "M"]),
                dice.randrange(1, 6),
                dice.randrange(0, 35),
            )
        )
    return rows


def _tickets() -> list[Row]:
    dice = random.Random(16)
    rows: list[Row] = []
    for number in range(1000):
        made = datetime(2024, 1, 1) + timedelta(minutes=dice.randrange(366 * 24 * 60))
        status = dice.choice(["Open", "Closed", "Closed", "Waiting"])
        rows.append(
            (
                f"T-{number:04d}",
                made,
                made + timedelta(hours=dice.randrange(1, 200)) if status == "Closed" else None,
                dice.choice(["Low", "Medium", "High", "Critical"]),
                status,
                dice.choice(["Priya", "Marco", "Yuki", "Sven"]),
                dice.choice(["Cloud Storage", "Mail", "Video Calls"]),
                dice.choice(["email", "phone", "chat"]),
                dice.choice([None, 1, 2, 3, 4, 5]),
                round(dice.uniform(0.1, 72), 1),
                dice.choice([0.0, 0.0, 10.0, 25.5]),
                dice.choice(["Canada", "Mexico", "Peru", "South Korea"]),
            )
        )
    return rows


MADE = {
    "sailings": (SAILINGS, _sailings),
    "shop_sales": (SHOP, _shop),
    "hospital_visits": (HOSPITAL, _hospital),
    "football_matches": (FOOTBALL, _football),
    "flights": (FLIGHTS, _flights),
    "staff": (STAFF, _staff),
    "support_tickets": (TICKETS, _tickets),
    **PLAIN,
}


def store(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: Sequence[tuple[str, ColumnType]],
    rows: Sequence[Row],
    relation: str = "r1",
) -> Table:
    """Write rows as the table store does, under names of our own, with figures of every column."""
    types = ", ".join(f"c{number} {_SQL.get(kind, 'VARCHAR')}" for number, (_, kind) in enumerate(columns))
    connection.execute(f"CREATE TABLE {relation} ({ROW} BIGINT, {types})")
    marks = "(" + ", ".join("?" * (len(columns) + 1)) + ")"
    numbered = [(number, *row) for number, row in enumerate(rows, 1)]
    for start in range(0, len(numbered), _BATCH):
        batch = numbered[start : start + _BATCH]
        cells = [cell for row in batch for cell in row]
        connection.execute(f"INSERT INTO {relation} VALUES {', '.join([marks] * len(batch))}", cells)
    known = []
    for number, (title, kind) in enumerate(columns):
        cell = f"c{number}"
        distinct, filled, lowest, highest = connection.execute(
            f"SELECT count(DISTINCT {cell}), count({cell}), min({cell}), max({cell}) FROM {relation}"
        ).fetchall()[0]
        known.append(Column(title, cell, kind, distinct, len(rows) - filled, lowest, highest))
    return Table(name, relation, known, len(rows))


def made(connection: duckdb.DuckDBPyConnection, name: str) -> Table:
    """One of the made tables, with a view `t` under its own column names for hand-written SQL."""
    columns, rows = MADE[name]
    table = store(connection, name, columns, rows())
    named = ", ".join(f'{column.field} AS "{column.name or "name"}"' for column in table.columns)
    connection.execute(f"CREATE VIEW t AS SELECT {named} FROM {table.relation}")
    return table
