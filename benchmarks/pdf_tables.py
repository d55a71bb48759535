"""Whether cells of PDF tables can be read: label, column header and value together in one statement.

    python -m benchmarks.pdf_tables FOLDER [--misses]

FOLDER holds the PDFs of `CELLS` (below it, anywhere). Each cell was read off the page by eye. A cell counts where one
statement of the document's text holds the words of its label, of its header and the value right after that header.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from kedge.ingest.parse.pdf import parse_pdf
from kedge.text.statements.cut import statements
from kedge.text.statements.statement import Statement


class Expected(NamedTuple):
    """A cell as a person reads it."""

    file: str
    label: str
    header: str
    value: str


CELLS = tuple(
    Expected(*(part.strip() for part in line.split("|")))
    for line in """
2022 Q3 AAPL | Research and development | Three Months Ended June 25, 2022 | $6,797
2022 Q3 AAPL | Selling, general and administrative | Nine Months Ended June 26, 2021 | $16,357
2022 Q3 AAPL | Total other income/(expense), net | Three Months Ended Change | (104)%
2022 Q3 AAPL | Total other income/(expense), net | Nine Months Ended June 25, 2022 | $(97)
2022 Q3 AAPL | Interest expense | Nine Months Ended June 26, 2021 | (1,973)
2022 Q3 AAPL | Effective tax rate | Three Months Ended June 26, 2021 | 10.8%
2022 Q3 AAPL | Current and non-current term debt | September 25, 2021 | $(17,857)
2022 Q3 AAPL | Accumulated depreciation and amortization | June 25, 2022 | (71,516)
2022 Q3 AAPL | Other non-current liabilities | September 25, 2021 | 28,636
2022 Q3 AAPL | Total other non-current liabilities | June 25, 2022 | $53,629
2023 Q1 AAPL | Net sales: Products | Three Months Ended December 31, 2022 | $96,388
2023 Q1 AAPL | Cost of sales: Services | December 25, 2021 | 5,393
2023 Q1 AAPL | Selling, general and administrative | Three Months Ended December 25, 2021 | 6,449
2023 Q1 AAPL | Earnings per share: Diluted | Three Months Ended December 31, 2022 | $1.88
2023 Q1 AAPL | Shares used Basic | Three Months Ended December 25, 2021 | 16,391,724
2023 Q2 AAPL | Open market and privately negotiated purchases February 5, 2023 | Average Price Paid Per Share | $150.33
2023 Q2 AAPL | Open market and privately negotiated purchases January 1, 2023 | Total Number of Shares | 36,980
2023 Q2 AAPL | Total | Approximate Dollar Value | $22,570
2023 Q3 AAPL | Current assets Cash and cash equivalents | July 1, 2023 | $28,408
2023 Q3 AAPL | Vendor non-trade receivables | September 24, 2022 | 32,748
2023 Q3 AAPL | Current liabilities Accounts payable | July 1, 2023 | $46,699
2023 Q3 AAPL | Common stock and additional paid-in capital shares issued | September 24, 2022 | 64,849
2023 Q3 AAPL | Retained earnings/(Accumulated deficit) | July 1, 2023 | 1,408
2023 Q3 AAPL | iPhone | Nine Months Ended June 25, 2022 | $162,863
2023 Q3 AAPL | Wearables, Home and Accessories | Three Months Ended July 1, 2023 | 8,284
2023 Q3 AAPL | Corporate debt securities | July 1, 2023 Unrealized Losses | (6,079)
2023 Q3 AAPL | Total | July 1, 2023 Fair Value | $166,543
2023 Q3 AAPL | U.S. Treasury securities | July 1, 2023 Non-Current Marketable Securities | 12,844
2023 Q3 AAPL | Greater China | Three Months Ended Change | 8%
2023 Q3 AAPL | Japan | Nine Months Ended Change | (8)%
2023 Q3 AAPL | Americas | Nine Months Ended July 1, 2023 | $122,445
2023 Q2 AAPL | Net income | Six Months Ended April 1, 2023 | 54,158
2023 Q2 AAPL | Accounts payable | Six Months Ended March 26, 2022 | (1,750)
2023 Q2 AAPL | Purchases of marketable securities | Six Months Ended April 1, 2023 | (11,197)
2023 Q2 AAPL | Proceeds from/(Repayments of) commercial paper, net | March 26, 2022 | 999
2023 Q2 AAPL | ending balances | April 1, 2023 | $27,129
2023 Q2 AAPL | Cash paid for interest | March 26, 2022 | $1,406
2023 Q1 AAPL | Segment operating income | Three Months Ended December 31, 2022 | $45,405
2023 Q1 AAPL | Research and development expense | December 25, 2021 | (6,306)
2023 Q1 AAPL | Total operating income | Three Months Ended December 31, 2022 | $36,016
2022 Q3 AAPL | U.S. Treasury securities | June 25, 2022 Unrealized Losses | (1,328)
2022 Q3 AAPL | Corporate debt securities | June 25, 2022 Non-Current Marketable Securities | 73,732
2022 Q3 AAPL | Certificates of deposit and time deposits | June 25, 2022 Cash and Cash Equivalents | 3,374
2022 Q3 AAPL | Total | June 25, 2022 Fair Value | $179,308
2022 Q3 AAPL | Mutual funds | September 25, 2021 Unrealized Gains | 11
2022 Q3 AAPL | U.S. Treasury securities | September 25, 2021 Non-Current Marketable Securities | 12,682
ALCE | ChatGPT VANILLA (5-psg) | Fluency (MAUVE) | 66.6
ALCE | SUMM (10-psg) | Correct. (EM Rec.) | 43.3
ALCE | w/ INTERACT | Citation Rec. | 73.4
ALCE | CLOSEDBOOK | Correctness Rec.-5 | 32.9
ALCE | LLaMA-13B | Citation Prec. | 7.1
ALCE | SNIPPET (10-psg) | Correct. (Claim) | 14.3
ALCE | w/ RERANK | Citation Prec. | 67.8
ALCE | Open-source Alpaca-7B | Fluency (MAUVE) | 84.2
ALCE | ChatGPT (3-psg) | Citation Rec. | 72.8
ALCE | Vicuna-13B SUMM (10-psg) | ROUGE-L | 36.7 (0.2)
ALCE | LLaMA-7B VANILLA (3-psg) | Length | 61.3 (14.3)
ALCE | ORACLE(5-psg) | Citation Prec. | 72.7 (1.0)
ALCE | Top-1 passage | Fluency (MAUVE) | 20.8
ALCE | GTR | R@20 | 70.3
ALCE | DPR | R@5 | 17.6
nutrients-13-01241 | Sex Women | Total | 849 (54.2)
nutrients-13-01241 | Smoking Status Ex-smoker | Coffee Consumption >1 Cup/Day | 117 (18.5)
nutrients-13-01241 | Hypertension | ≤1 Cup/Day | 100 (16.9)
nutrients-13-01241 | Body Mass Index ≥30 kg | p 1 | 0.11
nutrients-13-01241 | Follow-up at 18 Years Multivariable | p-Trend | 0.001
nutrients-13-01241 | Follow-up at 12 Years HR Multivariable | >1 Cup/Day | 0.67 (0.46–0.98)
nutrients-13-01241 | Follow-up at 6 Years Person-years | No. | 1971.3
nutrients-13-01241 | Follow-up at 12 years HR Age and sex adjusted | Caffeinated Coffee | 0.68 (0.49–0.95)
nutrients-13-01241 | Follow-up at 18 years Multivariable | p-Value | 0.002
react_paper | CoT-SC | HotpotQA (EM) | 33.4
react_paper | Act | Fever (Acc) | 58.9
react_paper | Hallucination | CoT | 56%
react_paper | Reasoning error | ReAct | 47%
react_paper | ReAct (best of 6) | Heat | 96
react_paper | BUTLER (best of 8) | Pick 2 | 24
react_paper | ReAct-IM (avg) | All | 48
react_paper | IL+RL | Avg Score | 62.4
react_paper | Human | Success | 59.6
""".strip().split("\n")
)


def holds(statement: Statement, cell: Expected) -> bool:
    """Whether a statement says the cell: its value after its header, its label before."""
    read = " ".join(statement.read.split())
    label, dash, values = read.partition(" — ")
    if not dash or not all(word in label for word in cell.label.split()):
        return False
    for said in values.split("; "):
        header, colon, value = said.rpartition(": ")
        same = value.replace(" ", "") == cell.value.replace(" ", "")
        if colon and same and all(word in header for word in cell.header.split()):
            return True
    return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--misses", action="store_true", help="name the cells that were not found")
    asked = parser.parse_args()
    found: Counter[str] = Counter()
    asked_of = Counter(cell.file for cell in CELLS)
    for name in asked_of:
        path = next(asked.folder.rglob(f"{name}.pdf"))
        began = time.process_time()
        document = parse_pdf(path)
        seconds = time.process_time() - began
        said = [one for one in statements(document.text) if one.kind == "row"]
        for cell in CELLS:
            if cell.file == name:
                hit = any(holds(one, cell) for one in said)
                found[name] += hit
                if asked.misses and not hit:
                    print("   missed:", *cell, sep=" | ")
        print(f"{name:24} {found[name]:3} of {asked_of[name]:3}   {seconds:.2f} s to parse")
    print(f"{'all':24} {found.total():3} of {len(CELLS):3}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
