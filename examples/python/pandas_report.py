"""Prints what was paid to creators, by month and campaign, as CSV.

python pandas_report.py > paid.csv
"""

import os
import sys

import pandas as pd

from brand_records import BrandRecords, Payout

with BrandRecords(os.environ.get("BRAND_RECORDS_URL"), os.environ.get("BRAND_RECORDS_KEY")) as records:
    # The columns are there also if there are no payouts. Whole numbers stay whole beside nulls.
    payouts = pd.DataFrame(records.payouts(status="paid"), columns=list(Payout.__annotations__)).convert_dtypes()

# Months as people in Manila count them.
paid_at = pd.to_datetime(payouts["paid_at"], utc=True).dt.tz_convert("Asia/Manila")
paid = payouts.assign(month=paid_at.dt.strftime("%Y-%m")).groupby(["month", "campaign_id"])
report = paid.agg(payouts=("id", "count"), creators=("creator_id", "nunique"), centavos=("amount_centavos", "sum"))
report.to_csv(sys.stdout)
