"""An Airflow DAG that keeps a copy of the brand's records in SQLite. The file belongs into Airflow's folder of DAGs."""

import os
from datetime import datetime, timedelta, timezone

from airflow.sdk import dag, task
from airflow.sdk.exceptions import AirflowFailException

from brand_records import BrandRecords, BrandRecordsError, SqliteStore


@dag(schedule="15 2 * * *", start_date=datetime(2026, 1, 1, tzinfo=timezone.utc), catchup=False, max_active_runs=1)
def brand_records_copy() -> None:
    @task(retries=3, retry_delay=timedelta(minutes=30))
    def copy_records() -> str:
        """A run that is tried again goes on after the last page. Returns as of when the copy is."""
        url, key = os.environ.get("BRAND_RECORDS_URL"), os.environ.get("BRAND_RECORDS_KEY")
        try:
            with BrandRecords(url, key) as records, SqliteStore(os.environ.get("COPY", "copy.db")) as store:
                return records.sync(store)
        except BrandRecordsError as error:
            if error.is_temporary:
                raise
            raise AirflowFailException(f"{error.code}: {error}") from error

    copy_records()


copy = brand_records_copy()
